"""A short question of a thread made whole: "and rank 25?" asks of rank 25 what was asked of rank 24 before."""

import re
from collections.abc import Callable, Sequence

from bot.ask.model_intent import Turn
from bot.ask.question import UNITS, Question, named_nodes
from bot.ask.question_parts import ELSE, with_noun
from bot.ask.wanted_value import Wanted, wanted

MAX_WORDS = 8  # of a question that may hang on the one before; chosen: longer ones say what they are about
MAX_OTHERS = 8  # nodes that are named one by one for "the others"
_LEADS = re.compile(
    r"^(?:(?:and|und|n|also|but|aber|ok|so|what about|how about|what.?s with|was ist mit"
    r"|wie sieht es (?:bei|mit)|那么|那|还有)\b[\s,]{0,4}){1,3}",
    re.IGNORECASE,
)
_PRONOUN = re.compile(r"\b(?:it|its|there|that one|this one|that rank|that worker|dort|da)\b", re.IGNORECASE)
_OF_JOB = re.compile(  # what "it" does when it is the job
    r"\b(?:is|was) it (?:safe|my|our|the|a|an|really|worth)\b"
    r"|\b(?:kill|stop|cancel|end|drain) it\b"
    r"|\b(?:re)?start|\bresum|\bsubmit|\bfail|\bcrash|\bhang|\bhung",
    re.IGNORECASE,
)
_OPPOSITE = (("even", "odd"), ("first", "last"), ("before", "after"), ("highest", "lowest"), ("slowest", "fastest"))
_RANK = re.compile(r"\branks?\s{0,3}#?[0-9]{1,6}\b", re.IGNORECASE)
_NUMBER = re.compile(r"#?([0-9]{1,6})\W{0,4}")
_STEP = re.compile(r"\b(?:iteration|iter|step|update|schritt)s?\s{0,3}#?[0-9]{1,9}\b", re.IGNORECASE)
_FILLS = re.compile(
    r"\b(?:the|at|on|in|of|for|node|rank|too|also|then|der|die|das|auf|bei|von|auch|呢)\b|[\W_]", re.IGNORECASE
)


def made_whole(  # noqa: PLR0911 a way of leaving something out each
    text: str, thread: Sequence[Turn], nodes: Sequence[str], read: Callable[[str], Question]
) -> str:
    """The text, with what it leaves to the question before: that question of another name, or the name it speaks of.

    Args:
        nodes: of the job.
        read: reads a text as a question.
    """
    if not thread or len(text.split()) > MAX_WORDS:
        return text
    before = thread[-1].question
    if other := _opposite(text, before):
        return other
    if _FROM_STEP.fullmatch(text.strip()) and _OF_START.search(before):
        return "from which checkpoint do we resume"
    named = _names(before, nodes) or _answered(text, thread[-1], nodes, read)
    bare = _LEADS.sub("", text.strip())
    first, _, remark = bare.partition("?")
    if remark.strip() and "?" not in remark and _names(first, nodes) and not _names(remark, nodes):
        bare, text = first, f"and {first}?"  # "and gpu-16? looks noisy too"
    own = _names(bare, nodes)
    if named and not own and (number := _NUMBER.fullmatch(bare)):  # "and 21?" behind "rank 20 last line?"
        same = next((name for name in named if _kind(name) == "unit" and name[-1].isdigit()), named[0])
        return before.replace(same, re.sub(r"[0-9]{1,9}$", number[1], same))
    rest = _FILLS.sub(" ", _without(bare, own)).strip()
    if named and not rest and own:
        same = next((name for name in named if _kind(name) == _kind(own[0])), named[0])
        return before.replace(same, own[0])
    if named and ELSE.search(bare) and not ELSE.sub("", _FILLS.sub(" ", bare)).strip():
        return before.replace(named[0], _others(named[0], nodes))
    asked = read(text)
    open_ = not (own or asked.nodes or asked.unknown or asked.jobs or _OF_JOB.search(text))
    if named and open_ and _PRONOUN.search(bare):
        return f"{text.rstrip(' ?')} {named[0]}"
    return with_noun(text, read(before)) if open_ else text


def _answered(text: str, turn: Turn, nodes: Sequence[str], read: Callable[[str], Question]) -> list[str]:
    """The node that the question before asked for and its answer names first: "whos missing", "what did it do last"."""
    if Wanted.WHO not in wanted(read(turn.question))[:1] or _OF_COURSE.search(text):
        return []
    return _names(turn.answer.partition("\n")[0], nodes)[:1]


_OF_COURSE = re.compile(r"\b(?:stop|end|reach|start|begin|train|take|took|run|ran|loss|get to|got to)", re.IGNORECASE)
# "from which step then?" behind "can I restart" asks where it would go on
_FROM_STEP = re.compile(
    r"(?:(?:and|so|ok|then|und|also)[ ,]{1,3}){0,2}(?:from|at|with|ab|von) (?:which|what|welche\w{0,2}) "
    r"(?:step|iteration|checkpoint|ckpt|point|schritt)(?: (?:then|on|again|now|dann))?\W{0,4}",
    re.IGNORECASE,
)
_OF_START = re.compile(r"restart|resum|re-?submit|requeue|re-?run|start\b|checkpoint|ckpt|neu ?start", re.IGNORECASE)


def _opposite(text: str, before: str) -> str:
    """The question before with a word's opposite ("and the odd ones" behind "where are the even ranks"); else empty."""
    bare = re.sub(r"\bones?\b", " ", _FILLS.sub(" ", _LEADS.sub("", text.strip()))).strip().casefold()
    pairs = [pair if bare == pair[1] else pair[::-1] for pair in _OPPOSITE if bare in pair]
    words = before.split(" ")
    turned = (" ".join(own if word.casefold() == old else word for word in words) for old, own in pairs)
    return next((new for new in turned if new != before), "")


def _names(text: str, nodes: Sequence[str]) -> list[str]:
    """The spellings of nodes, ranks, other counted units and iterations in a text, in its order."""
    found = [*named_nodes(text, nodes).values()]
    for pattern in (_RANK, UNITS, _STEP):
        found += [match[0] for match in pattern.finditer(text) if not any(match[0] in name for name in found)]
    return sorted(found, key=text.find)


def _kind(name: str) -> str:
    return "step" if _STEP.fullmatch(name) else "unit"


def _without(text: str, names: Sequence[str]) -> str:
    for name in names:
        text = text.replace(name, " ")
    return text


def _others(name: str, nodes: Sequence[str]) -> str:
    """The other nodes by their names; else the others than who is named."""
    rest = [node for node in nodes if node not in named_nodes(name, nodes)]
    return " and ".join(rest) if 0 < len(rest) <= MAX_OTHERS and len(rest) < len(nodes) else f"the others than {name}"
