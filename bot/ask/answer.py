"""The story of a question: read it, see what it wants to know, answer from the diagnosis, then from raw lines.

A model may choose what is answered; every word of the answer is code's, or stands in a log line that is quoted.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain, zip_longest
from typing import Literal

from bot.ask.about_clocks import at_clock
from bot.ask.about_events import BY_NOBODY, names_error
from bot.ask.about_lines import find, in_collectives
from bot.ask.about_pace import asks_pace
from bot.ask.about_relation import has_clock
from bot.ask.about_topics import presence, quantity, topic_of, topics
from bot.ask.about_values import told_values
from bot.ask.about_verdict import is_either
from bot.ask.asked_parts import asked_parts
from bot.ask.chatter import asks_of_bot, is_chatter
from bot.ask.classify import ALMOST, LEAST, SURE, IntentGuess, is_sure, learnt
from bot.ask.complete_answer import completed, from_values
from bot.ask.counted_units import last_of_unit
from bot.ask.direct_answers import direct
from bot.ask.first_sentence import put_right
from bot.ask.follow_up import made_whole
from bot.ask.honest import absent, is_denial, unheard, without_denial
from bot.ask.intents import ANSWERS, BY_WAY, CHATTER, ELSEWHERE, HELP
from bot.ask.meant_node import with_meant
from bot.ask.model_intent import Choice, Turn, choose
from bot.ask.question import Question, read_question
from bot.ask.question_parts import main_of
from bot.ask.reply_lines import MAX_ANSWER_LINES, Lines, lower
from bot.ask.subject import Subject
from bot.ask.terms import terms_of
from bot.ask.unknown import NOT_A_QUESTION, NOT_KNOWN, NOT_OF_THE_JOB, NOTHING_HOLDS, OF_THE_BOT, with_offers
from bot.ask.wanted_value import Wanted, asks, asks_if_cause, wanted, yes_or_no
from bot.ask.word_lists import stop_words
from bot.ask.word_weights import WordWeights
from bot.chat.model import ChatModel, Usage
from core.model import Scope

_NOTHING = Usage()
_TWO = 2  # intents that one question may have
NEAR = 0.2  # margins: two intents that are as near, of which none is sure, are both answered
_FIRST = 3  # lines of the first of them
_OF_WORDS = ("find", "presence", "count", "explain", "harmless", "around")  # intents that quoted words may belong to
_OF_LINES = ("presence", "count", "find", "last")  # intents that may end in "no line holds it"
_OF_TROUBLES = ("ended", "blame")  # intents that may ask for a trouble by name
VALUES = "values"  # no intent either: a value that lines tell under its name
QUANTITY = "quantity"  # no intent of the classifier: what is seldom logged, known by its words
# "is it the driver or our code": one of two is to be blamed; "is it there or not" asks no such thing
_EITHER = re.compile(r"\b(?:is|was) (?:it|this|that)\b.{1,60}\bor\b(?! (?:not|should|can|do|is)\b)")
# Intents by the way of asking alone (words.toml, [ways])
_BY_WAY = {
    "resume_at": "lost",
    "since_step": "began", "about_one": "suspect", "changeable": "find", "own_code": "own_code", "in_what": "stacks",
    "slow_since": "numbers", "how_slow": "numbers", "alive": "hung", "any_other": "others", "bad_one": "suspect",
    "of_side": "blame", "by_whom": "ended", "order": "order", "hung": "hung", "lost": "lost", "source": "last",
    "named_by": "find", "stopped_where": "stopped_where",
    "saved_whole": "lost", "any_saved": "lost", "several": "several", "wasted": "ran",
    "remains": "reached", "by_person": "by_person",
}  # fmt: skip
_ENDERS = ("slurm", "schedul", "user", "admin", "some", "human", "person", "limit", "walltime", "cancel")
_ACCUSES = ("culprit", "guilty", "blame", "fault")  # of a node that is named such a word asks whether it is at fault
_OF_ANYBODY = (  # that any question with a node's name looks like
    "last", "setup", "reached", "presence", "find", "suspect", "fate", "explain",
)  # fmt: skip
_OF_UNITS = ("suspect", "verdict")  # intents beside which it may be asked what a process was doing
_OF_COUNTED = ("last", "stacks", "fate", "others", "hung")  # what may be asked of "worker 13"
_OF_ANY_NOUN = ("setup", "find", "numbers", "reached")  # that ask for a thing by its noun, which has to stand there
_OF_TIMES = ("presence", "verdict", "blame", "find", "fate")  # what was at a time of day is judged by that time
_ADVICE = ("restart", "next", "drain")  # intents that no reader of values may answer
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
) -> Reply:
    """Answer a question about a job from its evidence and its lines.

    Args:
        thread: what was asked and answered before; a model that chooses is told the end of it.
    """
    jobs = [manifest.job_id for manifest in subject.beside.manifests()]

    def read(text: str) -> Question:
        return with_meant(read_question(text, subject.parsed.nodes, jobs, subject.parsed.job.id), subject)

    whole = made_whole(question, thread, subject.parsed.nodes, read)
    asked = read(whole)
    if asks_of_bot(question):
        return Reply(tuple(with_offers(OF_THE_BOT, subject)), answered=False)
    if is_chatter(question) or not asked.text.strip("?\uff1f!. "):
        return Reply(tuple(with_offers(NOT_A_QUESTION, subject)), answered=False)
    choice = choose(asked, subject, model, thread=thread) if model else Choice()
    if choice.intent:
        lines = ANSWERS[choice.intent][1](subject, choice.question or asked)
        if lines:
            return _reply(AnsweredPart(lines, (choice.intent,)), choice, model)
    parts = [
        AnsweredPart(told, (VALUES,)) if told else _part(part, subject)
        for part, told in asked_parts(asked, subject, read, one=bool(_of_way(asked, subject)))
    ]
    if whole != question and not any(part.answered for part in parts):  # what the short question asks by itself
        parts = [_part(read(question), subject)]
    known = [part for part in parts if part.intents]
    if len(known) < len(parts):  # half of a question may not stand alone: "and how many were left"
        known.append(_part(asked, subject) if len(parts) > 1 else parts[0])
    return _reply(_joined(known), choice, model)


@dataclass(frozen=True, slots=True)
class AnsweredPart:
    """The answer to one question: its lines, the intents that were answered, whether it was."""

    lines: Lines
    intents: tuple[str, ...] = ()
    answered: bool = True


def _part(asked: Question, subject: Subject) -> AnsweredPart:
    """The answer to one question by code: a quantity that is seldom logged, else from all that is known."""
    main = main_of(asked, lambda text: with_meant(read_question(text, subject.parsed.nodes), subject))
    alone, *readings = [learnt().guesses(item.plain) for item in (asked.asked, asked, main) if item]
    guesses = max([alone, *readings], key=lambda found: found[0].margin)
    guesses = alone if alone[0].margin >= ALMOST else guesses  # what asks tells more than what is stated
    advised = guesses[0].intent in _ADVICE and guesses[0].margin >= SURE
    name, lines = ("", ()) if advised else direct(subject, asked)  # "just resubmit on all nodes" asks not who had it
    if lines:
        return AnsweredPart(lines, (name,), name != "presence" or not _is_denied(lines, (name,)))
    if not (asked.quoted or asked.ids) and (found := quantity(subject, asked)):
        lines, known = found
        return AnsweredPart(lines if known else with_offers(lines[0], subject), (QUANTITY,), known)
    open_ = not is_sure(guesses) or guesses[0].intent in _OF_ANYBODY + _OF_TIMES
    if open_ and (none := absent(subject, asked, heads=_by_noun(guesses))):
        return AnsweredPart(with_offers(none, subject), (), answered=False)
    lines, intents = by_code(asked, subject, guesses)
    if lines:
        unknown = unheard(subject, asked) if VALUES not in intents else ""
        part = _checked(subject, asked, lines, intents)
        return replace(part, lines=(unknown, *part.lines)) if unknown else part
    top = guesses[0].intent if guesses[0].margin >= LEAST else ""  # nothing is known that a question would ask for
    says = NOT_A_QUESTION if top in (HELP, CHATTER) else NOT_OF_THE_JOB if top == ELSEWHERE else NOTHING_HOLDS
    return AnsweredPart(with_offers(says.format(lower(subject.diagnosis.headline)), subject), (), answered=False)


def _by_noun(guesses: Sequence[IntentGuess]) -> bool:
    return not is_sure(guesses) and guesses[0].intent in _OF_ANY_NOUN


def _checked(subject: Subject, asked: Question, lines: Lines, intents: tuple[str, ...]) -> AnsweredPart:
    """An answer by code that denies nothing which lines hold."""
    kept = without_denial(subject, asked, lines, intents)
    return AnsweredPart(kept, intents, kept is not lines or not _is_denied(lines, intents))


def _joined(parts: Sequence[AnsweredPart]) -> AnsweredPart:
    """The first line of each part, then their others in turn; of parts without an answer only that there is none."""
    if len(parts) == 1:
        return parts[0]
    firsts = [part.lines[0] for part in parts]
    rest = [part.lines[1:] if part.intents else () for part in parts]
    others = [line for lines in zip_longest(*rest) for line in lines if line]
    intents = tuple(dict.fromkeys(intent for part in parts for intent in part.intents))
    return AnsweredPart(tuple(dict.fromkeys((*firsts, *others))), intents, any(part.answered for part in parts))


def by_code(asked: Question, subject: Subject, guesses: Sequence[IntentGuess]) -> tuple[Lines, tuple[str, ...]]:
    """Lines and intents, without a model: the diagnosis first, then evidence and lines by the question's own words."""
    if guesses[0].intent in _OF_COUNTED and (told := last_of_unit(subject, asked)):
        return told, ("last",)
    sentences: list[str] = []
    intents: list[str] = []
    way = _of_way(asked, subject)
    for intent in chain([way] if way else [], _wanted(asked, guesses)):
        if intent in intents or (intent == "lost" and asks(asked, "damaged")):  # which one is damaged an error tells
            continue
        lines = _answer(intent, subject, asked)
        if not lines:
            continue
        new = [line for line in lines if line not in sentences]
        sentences = [*sentences[: _FIRST if new else MAX_ANSWER_LINES], *new]
        intents.append(intent)
        if len(intents) == _TWO or intent in BY_WAY or intent == "around" or (intent == "harmless" and asked.quoted):
            break
    if sentences:
        sure = bool(way) or is_sure(guesses)
        return completed(subject, asked, sentences, intents, sure=sure), tuple(intents)
    bare = guesses[0].intent in (HELP, CHATTER) and guesses[0].margin >= SURE  # "lr": hardly a question, but a name
    if bare:
        weights = WordWeights(subject, asked)
        known = weights.known(weights.words) == weights.words
        lines = told_values(weights, ()) if known else ()
        return (lines, (VALUES,)) if lines else ((), ())
    if not asked.quoted and (lines := from_values(subject, asked)):
        return lines, (VALUES,)
    if lines := find(subject, asked):
        return put_right(subject, asked, lines, ("find",)), ("find",)
    return (), ()


def _wanted(asked: Question, guesses: Sequence[IntentGuess]) -> Iterator[str]:
    """The intents that are answered, by the question's words and by what it was taken for."""
    whole = _of_named(asked, guesses[0].intent) if guesses[0].margin >= SURE else ""
    accuses = asked.says(*_ACCUSES) or asks(asked, "why_complains")
    unsure = guesses[0].margin < LEAST or guesses[0].intent in _OF_ANYBODY
    if (asked.nodes or asked.ranks) and unsure and accuses:
        yield "suspect"
    if (guesses[0].intent in _OF_WORDS and _EITHER.search(asked.plain)) or is_either(asked):
        yield "blame"
    first = wanted(asked)[:1]
    if first == (Wanted.WHEN,) and "=hang" in terms_of(asked.plain) and asked.asked is not asked:
        yield "hung"  # "hang? since when"
    if first == (Wanted.WHO,) and asked.asked is not asked and not _content(asked.asked):
        yield "suspect"  # "slow? which worker"
    if asks_pace(asked) and whole != "numbers":
        yield "numbers"
    for guess in _meant(asked, guesses):
        yield guess.intent
    if whole in _OF_UNITS and asked.says("doing", "busy"):
        yield "stacks"


def _content(asked: Question) -> set[str]:
    """The words of a question that say anything but who."""
    return set(asked.plain.split()) - stop_words() - _UNITS


_UNITS = frozenset("worker machine host gpu pod box server process task one".split())  # noqa: SIM905


def _of_way(asked: Question, subject: Subject) -> str:
    """The intent that a question has by the way it asks, whatever it is about; empty where it has none."""
    if asks_if_cause(asked) or is_either(asked.asked):
        return "harmless" if asks_if_cause(asked) else "ended" if asked.asked.says(*_ENDERS) else "blame"
    if asks(asked, "why_slow") and subject.diagnosis.scope in (Scope.NODE, Scope.JOB):
        return "suspect" if subject.diagnosis.scope is Scope.NODE or asked.nodes else "verdict"
    if asked.ranks and asks(asked, "differs") and in_collectives(subject):
        return "stacks"
    if asks(asked, "whats_that") and (names_error(asked) or asked.quoted):
        return "explain"
    named = topic_of(asked)
    if named is not None and named.special and asks(asked, "exists"):
        return "presence"
    known = named is not None and named.special and any(map(named.in_text, map(str, subject.diagnosis.events)))
    ways = (way for way in _BY_WAY if way != "any_other" or not known)
    return next((_BY_WAY[way] for way in ways if asks(asked, way)), "")


def _of_named(asked: Question, intent: str) -> str:
    """An intent, or what becomes of it when the question names a node or a rank."""
    return _OF_NODES.get(intent, intent) if asked.nodes or asked.ranks or asked.unknown else intent


def _answer(intent: str, subject: Subject, asked: Question) -> Lines | None:
    """The lines of an intent or a way of asking; where a trouble is named ("killed by an OOM"), whether it is there."""
    if intent in BY_WAY:
        return BY_WAY[intent](subject, asked)
    if intent in _OF_TIMES and not yes_or_no(asked) and (told := at_clock(subject, asked)):
        return told
    if intent in _OF_TIMES and has_clock(asked) and (lines := ANSWERS["harmless"][1](subject, asked)):
        return lines
    if intent == "numbers" and topic_of(asked) is topics()["oom"]:
        sentences = ANSWERS[intent][1](subject, asked) or []
        return sentences or presence(subject, asked)
    topic = topic_of(asked) if intent in _OF_TROUBLES else None
    if topic is not None and topic.special and not asks(asked, "by_whom"):
        found = presence(subject, asked) or []
        beside = [] if intent == "ended" else list(ANSWERS[intent][1](subject, asked) or [])[:2]
        return [*beside, *(line for line in found if not (beside and is_denial(line)))]
    return ANSWERS[intent][1](subject, asked)


def _meant(asked: Question, guesses: Sequence[IntentGuess]) -> Iterator[IntentGuess]:
    """The intents that are tried: those that are surely meant, else the likeliest ones until one can be answered."""
    if asked.quoted and guesses[0].intent not in _OF_WORDS:
        yield IntentGuess("find", LEAST)
    if guesses[0].intent not in ANSWERS and guesses[0].margin >= SURE:
        return
    sure = [guess for guess in guesses if guess.margin >= SURE]
    likely = [guess for guess in guesses[:_TWO] if guess.margin >= LEAST]
    if len(likely) == _TWO and likely[0].margin - likely[1].margin > NEAR:
        likely = likely[:1]
    counts = Wanted.HOW_MANY in wanted(asked)  # "how many are missing" asks of the job, not of the diagnosis
    for guess in sure or likely or _by_names(asked):
        intent = _of_named(asked, guess.intent)
        intent = "suspect" if intent in ("hung", "missing") and Wanted.WHO in wanted(asked)[:1] else intent
        if intent in ANSWERS and not (counts and intent == "missing"):
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
    if asked.plain.startswith(("why ", "how come ")):
        return [IntentGuess("verdict", LEAST)]
    return [IntentGuess("reached", LEAST)] if asked.iterations else []


def _is_denied(sentences: Lines, intents: Sequence[str]) -> bool:
    """Whether an answer says that there is none."""
    first = sentences[0]
    return first.startswith((BY_NOBODY, NOT_KNOWN)) or (intents[0] in _OF_LINES and is_denial(first))


def _reply(part: AnsweredPart, choice: Choice, model: ChatModel | None) -> Reply:
    name, lines = model.name if model else "", tuple(filter(None, part.lines))[:MAX_ANSWER_LINES]
    return Reply(
        lines, part.intents, model=name, usage=choice.usage, unavailable=choice.unavailable, answered=part.answered
    )
