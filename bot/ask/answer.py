"""The story of a question: read it, see what it wants to know, answer from the diagnosis, then from raw lines.

A model may choose what is answered; every word of the answer is code's, or stands in a log line that is quoted.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from bot.ask.about_lines import find, in_evidence
from bot.ask.about_topics import presence, topic_of, topics
from bot.ask.chatter import is_chatter
from bot.ask.choose import Choice, Turn, choose
from bot.ask.classify import LEAST, SURE, Classifier, IntentGuess, by_letters
from bot.ask.intents import ANSWERS, CHATTER, ELSEWHERE, HELP
from bot.ask.question import Question, read_question
from bot.ask.reply_lines import MAX_ANSWER_LINES, Lines
from bot.ask.subject import Subject
from bot.ask.unknown import NOT_A_QUESTION, NOT_OF_THE_JOB, NOTHING_HOLDS, with_offers
from bot.chat.model import ChatModel, Usage

_NOTHING = Usage()
_TWO = 2  # intents that one question may have
NEAR = 0.2  # margins: two intents that are as near, of which none is sure, are both answered
_FIRST = 3  # lines of the first of them
_OF_WORDS = ("find", "presence", "count", "explain", "harmless", "around")  # intents that quoted words may belong to
_OF_LINES = ("presence", "count", "find", "last")  # intents that may end in "no line holds it"
_OF_TROUBLES = ("ended", "blame")  # intents that may ask for a trouble by name
_OF_NODES = {"verdict": "suspect"}  # what a question about all becomes when it names a node or a rank


@dataclass(frozen=True, slots=True)
class Reply:
    """At most five lines. author: "logs"; older versions also kept a model's words, "model".

    looks: the intents that were answered. answered: whether the question was; a denial, a refusal or help is no answer.
    """

    lines: tuple[str, ...]
    looks: tuple[str, ...] = ()
    author: Literal["model", "logs"] = "logs"
    model: str = ""
    usage: Usage = _NOTHING
    refused: tuple[str, ...] = ()
    unavailable: str = ""
    answered: bool = True


def ask(
    question: str,
    subject: Subject,
    model: ChatModel | None = None,
    *,
    thread: Sequence[Turn] = (),
    classifier: Classifier | None = None,
) -> Reply:
    """Answer a question about a job from its evidence and its lines.

    Args:
        thread: what was asked and answered before; a model that chooses is told the end of it.
        classifier: by which code sees what a question wants; without it letters alone decide.
    """
    jobs = [manifest.job_id for manifest in subject.beside.manifests()]
    asked = read_question(question, subject.parsed.nodes, jobs, subject.parsed.job.id)
    if is_chatter(question) or not asked.text.strip("?\uff1f!. "):
        return Reply(tuple(with_offers(NOT_A_QUESTION, subject)), answered=False)
    choice = choose(asked, subject, model, thread=thread) if model else Choice()
    if choice.intent:
        lines = ANSWERS[choice.intent][1](subject, choice.question or asked)
        if lines:
            return _reply(lines, (choice.intent,), choice, model)
    guesses = (classifier or by_letters()).guesses(asked.plain)
    lines, intents = by_code(asked, subject, guesses)
    if not lines:
        top = guesses[0].intent if guesses[0].margin >= SURE else ""
        says = NOT_A_QUESTION if top in (HELP, CHATTER) else NOT_OF_THE_JOB if top == ELSEWHERE else NOTHING_HOLDS
        return Reply(
            tuple(with_offers(says, subject)), answered=False, unavailable=choice.unavailable, usage=choice.usage
        )
    return _reply(lines, intents, choice, model)


def by_code(asked: Question, subject: Subject, guesses: Sequence[IntentGuess]) -> tuple[Lines, tuple[str, ...]]:
    """Lines and intents, without a model: the diagnosis first, then evidence and lines by the question's own words."""
    told: list[str] = []
    intents: list[str] = []
    for guess in _meant(asked, guesses):
        lines = _answer(guess.intent, subject, asked)
        if not lines:
            continue
        new = [line for line in lines if line not in told]
        told = [*told[: _FIRST if new else MAX_ANSWER_LINES], *new]
        intents.append(guess.intent)
        if len(intents) == _TWO:
            break
    if told:
        return told, tuple(intents)
    if guesses[0].intent in (HELP, CHATTER) and guesses[0].margin >= SURE:
        return (), ()
    for name, answer in (("evidence", in_evidence), ("find", find)):
        if lines := answer(subject, asked):
            return lines, (name,)
    return (), ()


def _answer(intent: str, subject: Subject, asked: Question) -> Lines | None:
    """The lines of an intent; where a trouble is asked for by name ("killed by an OOM"), whether it is there."""
    topic = topic_of(asked) if intent in _OF_TROUBLES else None
    if intent == "numbers" and topic_of(asked) is topics()["oom"]:
        return presence(subject, asked)
    if topic is not None and topic.special:
        found = presence(subject, asked) or []
        return found if intent == "ended" else [*(ANSWERS[intent][1](subject, asked) or [])[:2], *found]
    return ANSWERS[intent][1](subject, asked)


def _meant(asked: Question, guesses: Sequence[IntentGuess]) -> Iterator[IntentGuess]:
    """The intents that are tried: those that are surely meant, else the likeliest ones until one can be answered."""
    named = asked.nodes or asked.ranks or asked.unknown
    if asked.quoted and guesses[0].intent not in _OF_WORDS:
        yield IntentGuess("find", LEAST)
    if guesses[0].intent not in ANSWERS and guesses[0].margin >= SURE:
        return
    sure = [guess for guess in guesses if guess.margin >= SURE]
    likely = [guess for guess in guesses[:_TWO] if guess.margin >= LEAST]
    if len(likely) == _TWO and likely[0].margin - likely[1].margin > NEAR:
        likely = likely[:1]
    for guess in sure or likely or _by_names(asked):
        intent = _OF_NODES.get(guess.intent, guess.intent) if named else guess.intent
        if intent in ANSWERS:
            yield IntentGuess(intent, guess.margin)


def _by_names(asked: Question) -> list[IntentGuess]:
    """What a question is about by nothing but the names in it."""
    if asked.ids:
        return [IntentGuess("explain", LEAST)]
    if asked.nodes or asked.ranks:
        asks = asked.plain.startswith(("is ", "was ", "are ", "were ", "does ", "did ", "could ", "why "))
        return [IntentGuess("suspect" if asks else "last", LEAST)]
    topic = topic_of(asked)
    if topic is not None and topic.special:
        return [IntentGuess("presence", LEAST)]
    return [IntentGuess("reached", LEAST)] if asked.iterations else []


def _reply(lines: Lines, intents: tuple[str, ...], choice: Choice, model: ChatModel | None) -> Reply:
    name = model.name if model else ""
    told = tuple(line for line in lines if line)[:MAX_ANSWER_LINES]
    denied = intents[0] in _OF_LINES and told[0].startswith(("No line", "No log"))
    return Reply(told, intents, "logs", name, choice.usage, unavailable=choice.unavailable, answered=not denied)
