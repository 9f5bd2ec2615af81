"""Objects of a logger as tokens of a form: keys, levels and what stands between are fixed, values are runs."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from core.logs.wraps.fields import MEANINGS, Meaning
from core.logs.wraps.line_forms import Cut, Run, RunKind, Token
from core.logs.wraps.stamps import tokens_of

_TEXT = rb'[^"\\\x00-\x1f]'
_MEMBER = re.compile(
    rb'\s*"(?P<key>' + _TEXT + rb'+)"\s*:\s*(?:"(?P<text>' + _TEXT + rb'*)"|(?P<opens>\{)'
    rb"|(?P<number>-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][-+]?[0-9]+)?)(?=[,}\s])|(?P<word>true|false|null|NaN))"
)
_BETWEEN = re.compile(rb"\s*(?P<ends>[}\s]*)(?P<comma>,?)")
_TIME = re.compile(
    rb"[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}(?:\.[0-9]{1,9})?(?:Z|[+-][0-9]{2}:?[0-9]{2})?"
)
_ASCTIME = re.compile(rb"([0-9]{4}-[0-9]{2}-[0-9]{2}) ([0-9]{2}:[0-9]{2}:[0-9]{2}),([0-9]{3})")
_PLAIN = re.compile(rb"[^\s=]+")
_BARE = re.compile(rb"[!#-<>-\[\]-~]+")
_MOST = 900  # bytes of a value, which core.logs.wraps.records keeps whole
_MOST_MEMBERS = 100  # of an object; loggers write a dozen, and data is left to the slow reader


@dataclass(frozen=True, slots=True)
class Member:
    """A value of an object: its path, its bytes between start and end; is_text: they stand between quotes.

    is_word: true, null and the like. is_bare: any text, of a record that is no JSON, without quotes around it.
    """

    path: str
    start: int
    end: int
    value: bytes
    is_text: bool
    is_word: bool = False
    is_bare: bool = False


_KINDS = frozenset({"involvedObject.kind", "regarding.kind"})  # of Kubernetes' events: whose the event is hangs on it
_OF_KINDS = frozenset({"involvedObject.name", "regarding.name"})


def cut_object(line: bytes) -> Cut | None:
    """The tokens of an object; None when a value of it cannot be told by where it stands."""
    members = list(_members(line))
    paths = {member.path for member in members}
    if "fields.message" in paths and "message" not in paths:  # of Rust's tracing (core.logs.wraps.records)
        members = [replace(member, path=_opened(member.path)) for member in members]
    return cut_members(line, members)


def _opened(path: str) -> str:
    """The path of a field of tracing's event, or of the span around it, as if it stood beside them."""
    within = path.removeprefix("fields.") if path.startswith("fields.") else path.removeprefix("span.")
    return path if path == "span.name" else within


def cut_members(line: bytes, members: Sequence[Member]) -> Cut | None:
    """The tokens of a line of these members, in their order."""
    if not members or len({member.path for member in members}) < len(members):
        return None
    tokens, at = list[Token](), 0
    leading = _leading(members)
    for member in members:
        run = _tokens(member, leading)
        if run is None:
            return None
        tokens += [line[at : member.start], *run]
        at = member.end
    return Cut((*tokens, line[at:]))


def _members(line: bytes) -> Iterator[Member]:
    """The members of an object and of those in it; none when anything is not as simple as that."""
    found, path, at = list[Member](), list[str](), 1
    while line[:1] == b"{" and (match := _MEMBER.match(line, at)) is not None and len(found) < _MOST_MEMBERS:
        key = match["key"].decode("utf-8", "replace")
        at = match.end()
        if match["opens"]:
            path.append(key)
            continue
        kind = match.lastgroup or ""
        found.append(Member(".".join((*path, key)), *match.span(kind), match[kind], kind == "text", kind == "word"))
        between = _BETWEEN.match(line, at)
        ends = between["ends"].count(b"}") if between else 0
        at = between.end() if between else at
        if between and between["comma"] and ends <= len(path):
            path[len(path) - ends :] = []
            continue
        if ends == len(path) + 1 and at == len(line):
            yield from found
        return


def _leading(members: Sequence[Member]) -> dict[Meaning, str]:
    """The members that are message and logger: of several the first that is asked for."""
    leading: dict[Meaning, tuple[int, str]] = {}
    for member in members:
        meaning, order = MEANINGS.get(member.path, (None, 0))
        if meaning in (Meaning.MESSAGE, Meaning.LOGGER) and member.value and not member.is_word:
            leading[meaning] = min(leading.get(meaning, (order, member.path)), (order, member.path))
    return {meaning: path for meaning, (_, path) in leading.items()}


def _tokens(member: Member, leading: dict[Meaning, str]) -> tuple[Token, ...] | None:
    """What stands for a value: itself, a run of what it is made of, or None where lines differ in more than that."""
    meaning, _ = (Meaning.NODE, 0) if member.path in _OF_KINDS else MEANINGS.get(member.path, (None, 0))
    if member.is_word or not member.value or meaning is Meaning.LEVEL or member.path in _KINDS:
        return (member.value,)
    if meaning is Meaning.TRACEBACK:
        return None
    if meaning is Meaning.TIME:
        return _time(member.value) if member.is_text or member.is_bare else _duration(member.value)
    if meaning is not None and leading.get(meaning) == member.path and member.is_text:
        return (Run(RunKind.SOME),)
    if member.is_bare and not _BARE.fullmatch(member.value):
        return None
    return (_run(member, meaning),)


def _run(member: Member, meaning: Meaning | None) -> Run:
    if member.is_bare and (meaning not in _RUNS or meaning is Meaning.NOTHING):
        return Run(RunKind.BARE, _MOST)
    if meaning in _RUNS and (member.is_text or member.is_bare or _RUNS[meaning].kind is RunKind.COUNT):
        return _RUNS[meaning]
    if not member.is_text:
        return Run(RunKind.NUMBER, _MOST)
    return Run(RunKind.PLAIN if _PLAIN.fullmatch(member.value) else RunKind.QUOTED, _MOST)


_RUNS = {
    Meaning.RANK: Run(RunKind.COUNT, 6),
    Meaning.LOCAL_RANK: Run(RunKind.COUNT, 6),
    Meaning.NODE: Run(RunKind.NAME, 200),
    Meaning.UNIT: Run(RunKind.NAME, 200),
    Meaning.NOTHING: Run(RunKind.TEXT),
}


def _duration(value: bytes) -> tuple[Token, ...] | None:
    """A number of less than nine digits is no time, whatever it is called."""
    return (Run(RunKind.NUMBER, 8),) if len(value) <= 8 else None


def _time(value: bytes) -> tuple[Token, ...] | None:
    if _TIME.fullmatch(value):
        return tokens_of(value)
    match = _ASCTIME.fullmatch(value)
    if match is None:
        return None
    day, clock, millis = (Run(RunKind.SHAPE, shape=re.sub(rb"[0-9]", b"9", part)) for part in match.groups())
    return (day, b" ", clock, b",", millis)
