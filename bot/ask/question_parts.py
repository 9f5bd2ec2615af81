"""The questions in a question: "which checkpoint, and how many steps are lost?" asks two things."""

import re
from collections.abc import Callable
from dataclasses import replace

from bot.ask.about_events import telling_words
from bot.ask.clauses import BETWEEN, LEADS, begins_as_question, is_topic
from bot.ask.question import Question
from bot.ask.wanted_value import MOMENT, Wanted, head_of, wanted, yes_or_no
from bot.ask.word_lists import stop_words

MAX_BARE = 3  # words of a name that is asked for by itself; chosen: "final eval loss"
MAX_PARTS = 3  # of which each gets its sentence: more do not fit an answer of five lines
_LAST = re.compile(r"\s{1,8}(?:and|und|plus|sowie|but|aber|&|\+)\s{0,8}$", re.IGNORECASE)
_LIST = re.compile(r"[,;]?\s{1,8}(?:and|und|&|\+|/)\s{1,8}|[,;]\s{1,8}|和", re.IGNORECASE)
ELSE = re.compile(r"\b(?:others?|the rest|everyone else|anderen?|übrigen?)\b|其他|其它|别的", re.IGNORECASE)
_REFERS = re.compile(r"\b(?:that|it|they|this|those|these|them|das|es|sie|daran)\b", re.IGNORECASE)
_NUMBER = re.compile(r"#?[0-9][0-9.,]{0,12}")
_TAIL = re.compile(
    r"\s(?:at|@|bei|in|on|of|for|vs\.?|versus|compared|before|after|during|von|vor|nach|auf)\s.{1,80}$", re.IGNORECASE
)
_HEAD = re.compile(
    r"^(?:(?:what|which|how (?:much|many)|final|last|first|average|avg|mean|max|min|the|was|is|are)\b\s{0,3}){1,5}",
    re.IGNORECASE,
)


def parts_of(question: Question, read: Callable[[str], Question]) -> list[Question]:
    """Its parts in their order, each with the names of those before it where it names nobody; none where it is one.

    Args:
        read: reads a part as a question of its own.
    """
    pieces = BETWEEN.split(question.text)
    texts: list[str] = []
    for text, mark in zip(pieces[::2], [*pieces[1::2], ""], strict=True):
        bare = LEADS.sub("", text.strip())
        asks = begins_as_question(bare) or ("?" in mark and bool(texts) and texts[-1].rstrip().endswith("?"))
        if bare and (not texts or (asks and _stands_alone(texts[-1]))):
            texts.append(bare + mark)
        elif texts:
            texts[-1] += text + mark
    if len(texts) > 1 and is_topic(texts[0]) and begins_as_question(texts[1]):
        texts[:2] = [f"{texts[0].strip(' ?')}, {texts[1]}"]  # "slow? which worker" is one question
    if len(texts) > 1 and not (telling_words(first := read(texts[0])) or wanted(first) or begins_as_question(texts[0])):
        texts[:2] = [f"{texts[0].strip(' ?')} {texts[1]}"]  # "and rank 4? also killed?" is one question
    parts: list[Question] = []
    for text in texts[:MAX_PARTS] if len(texts) > 1 else ():
        part = read(_LAST.sub("", with_noun(text, parts[0]) if parts else text).strip(" ,;.:\uff0c\uff1b\u3002"))
        empty = not (telling_words(part) or wanted(part)) and part.plain.endswith((" it", " that"))
        if not parts or not empty:  # "and which one was it" asks for nothing else
            parts.append(_with_names(part, parts[-1]) if parts else part)
    return parts if len(parts) > 1 else []


def listed_of(question: Question, read: Callable[[str], Question]) -> list[Question]:
    """The things that are asked for in one breath, as "final loss and eval score"; none where there is one only.

    What stands behind the last one is of all: "tps and mfu at step 230".
    """
    pieces = [piece.strip() for piece in _LIST.split(question.text) if piece.strip()]
    if not 1 < len(pieces) <= MAX_PARTS or any(
        _NUMBER.fullmatch(piece.split(" ")[0].strip("?.")) for piece in pieces[1:]
    ):
        return []
    asking = begins_as_question(pieces[1])
    no_value = wanted(question)[:1] in ((Wanted.WHO,), (Wanted.WHEN,)) or yes_or_no(question)
    if question.asking != question.plain and (no_value or len(pieces[0].split()) > MAX_BARE):
        return []  # "deadline exceeded on 7 hosts, whos missing": what is said before is no name of a value
    if asking and _REFERS.search(pieces[1]):  # "found a stale lock file, does that matter?" is one question
        return []
    head, tail = None if asking else _HEAD.match(pieces[0]), None if asking else _TAIL.search(pieces[-1])
    texts = [f"{head[0] if head and at else ''}{piece}" for at, piece in enumerate(pieces)]
    texts = [*(f"{text}{tail[0] if tail and not _TAIL.search(text) else ''}" for text in texts[:-1]), texts[-1]]
    return [_with_names(read(text), question) for text in texts]


def main_of(question: Question, read: Callable[[str], Question]) -> Question | None:
    """The question without the clause that only tells the moment ("... when it blew up"); None where it has none."""
    match = MOMENT.match(question.text)
    return _with_names(read(match[1]), question) if match else None


def with_noun(text: str, before: Question) -> str:
    """The text with what a question before speaks of, where it only says "it" or "an older one"; else as it is."""
    noun = " ".join(word for word in head_of(before) if word not in _NO_NOUNS) or next(
        (
            word
            for pattern in (_OF_ARTICLE, _NOUN)
            for word in pattern.findall(before.text)
            if word.casefold() not in stop_words() | _NO_NOUNS
        ),
        "",
    )
    it = _IT.search(text)
    it = it if it and text[it.end() :].strip(" ?.!") else None  # "which process was it" is of the job
    pronoun = _ONE.search(text) or it
    if not noun or pronoun is None or _OF_ITSELF.search(text):
        return text
    lead = text[: pronoun.start()]
    lead = re.sub(r"\b(before|after) that $", r"\1 that, ", lead, flags=re.IGNORECASE)  # a moment of its own
    return f"{lead}{noun}{text[pronoun.end() :]}"


_ONE = re.compile(r"\b(?:th(?:at|is) )?ones?\b", re.IGNORECASE)
_IT = re.compile(r"\b(?:it|they|those|these)\b(?! (?:safe|worth|my|our|the)\b)", re.IGNORECASE)
# What "it" does when it is the job: runs, fails, is stopped
_OF_ITSELF = re.compile(
    r"\b(?:re)?start|\bresum|\bsubmit|\bfail|\bcrash|\bhang|\bhung|\bdie[ds]?\b|\bstop|\bended?\b|\bkill|\bbr[eo]ke|\bstuck"
    r"|\bslow"
    r"|\b(?:which|what|who)\b.{0,12}\bone\b|\b(?:no|any|some|every) ?one\b|\bone (?:node|rank|of)\b|\bmatter|\bmean",
    re.IGNORECASE,
)
_OF_ARTICLE = re.compile(r"\b(?:the|an?|my|our|this|that) ([A-Za-z_][\w./-]{2,60})", re.IGNORECASE)
_NOUN = re.compile(r"[A-Za-z_][\w./-]{2,60}")
_NO_NOUNS = frozenset(
    "good bad newest latest broken slow whats there old long iteration step time rank node".split()  # noqa: SIM905
)


def _stands_alone(text: str) -> bool:
    """Whether what stands before a question asks something itself: it ends with a mark, or begins as questions do."""
    return "?" in text or "\uff1f" in text or begins_as_question(text.strip())


def _with_names(part: Question, whole: Question) -> Question:
    """A part that speaks of nobody by name speaks of whom the whole speaks, but not where it asks for the others."""
    named = part.nodes or part.ranks or part.unknown or ELSE.search(f"{part.text} {part.plain}")
    part = part if named else replace(part, nodes=whole.nodes, ranks=whole.ranks, unknown=whole.unknown)
    return replace(
        part,
        iterations=part.iterations or whole.iterations,
        ids=part.ids or whole.ids,
        jobs=part.jobs or whole.jobs,
        quoted=part.quoted or whole.quoted,
    )
