"""logfmt: ``time="2026-11-22T04:27:10Z" level=info msg="step done" step=31`` of logrus, slog, logfmter and daemons."""

import json
import re

from core.logs.wraps.fields import MEANINGS, Meaning
from core.logs.wraps.json_forms import Member, cut_members
from core.logs.wraps.json_objects import as_text
from core.logs.wraps.line_forms import Cut
from core.logs.wraps.peeled import Peeled, Wrap, usual
from core.logs.wraps.records import read_record

_PAIR = re.compile(r'\s*(?P<key>[A-Za-z_@][\w.@/-]*)=(?P<value>"(?:[^"\\]|\\.)*"|[^\s"]*)(?=\s|$)')
_TELLING = frozenset((Meaning.MESSAGE, Meaning.LEVEL, Meaning.TIME, Meaning.NODE, Meaning.RANK))
_FORMS = {"at": "level", "when": "time"}  # of logfmter


def peel(line: bytes) -> Peeled | None:
    """What the logger was told: nothing but pairs, among them a level or a time, and a message or who spoke."""
    if b"=" not in line:  # to look for it takes a tenth of what the expression takes
        return None
    text, at = as_text(line.rstrip()), 0
    pairs: dict[str, str] = {}
    while match := _PAIR.match(text, at):
        value = _value(match["value"])
        pairs[_FORMS.get(match["key"], match["key"]) if " " not in value else match["key"]] = value
        at = match.end()
    meanings = {MEANINGS[key][0] for key in pairs if key in MEANINGS}
    is_record = not meanings.isdisjoint((Meaning.LEVEL, Meaning.TIME)) and len(meanings & _TELLING) > 1
    return read_record(pairs) if at == len(text) and is_record else None


def _value(written: str) -> str:
    if not written.startswith('"'):
        return written
    try:
        return str(json.loads(written, strict=False))
    except ValueError:  # Go's own escapes: \x1b
        return written[1:-1]


_SIMPLE = re.compile(
    rb'(?P<key>[A-Za-z_@][A-Za-z0-9_.@/-]*)=(?:"(?P<text>[^"\\\x00-\x1f]*)"|(?P<bare>[^\s"\\]*))(?: |$)'
)


def _cut(line: bytes) -> Cut | None:
    """The tokens of a line whose pairs stand one blank apart, without escapes."""
    members, at = list[Member](), 0
    while match := _SIMPLE.match(line, at):
        kind, key = match.lastgroup or "", match["key"].decode()
        if key in _FORMS and b" " in match[kind]:
            return None
        path = _FORMS.get(key, key)
        members.append(Member(path, *match.span(kind), match[kind], kind == "text", is_bare=kind == "bare"))
        at = match.end()
    return cut_members(line, members) if at == len(line) and not line.endswith(b" ") else None


fit = usual(Wrap("logfmt", peel, cut=_cut), 0.3)
