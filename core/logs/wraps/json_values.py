"""Objects a line with names of their own: ``{"v": "info", "ms": 1795369765265, "txt": "listening", "port": 7411}``.

No name tells what a field is for, but its values do: a time rises from line to line and is of this century, a level is
one of a few words, a message is a text. They are read as a logger's then, under the names that those have; some have no
time.
"""

import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from core.logs.wraps.fields import LEVELS, MEANINGS, Meaning
from core.logs.wraps.json_objects import as_bytes, names_of, read_object
from core.logs.wraps.peeled import Peeled, Wrap, evenly
from core.logs.wraps.records import read_record
from core.logs.wraps.stamps import epoch, iso

_LEAST = 0.05  # of all lines, as for loggers that are known (``json_lines``): tracebacks of many lines stand beside
_NEARLY = 0.9  # of the objects have a field and keep to what it is for
_MIN_LINES = 2  # what a field is for is told by how it changes
_FEW = 0.5  # kinds of events an object; of more, the values are data
_FEW_NAMES = 0.75  # and so many where most are names as programs have them ("ckpt.end"): a file of 20 lines has 12
_LEVELS = frozenset((*LEVELS, "trace", "debug", "info", "warning", "error", "critical", "fatal"))
_OURS = frozenset({"message", "level"})  # names that a field of another meaning must not have
_LATE = 0.4  # of the lines are earlier than the one above: several write, and one may be a little late
_INTERLEAVED, _MIN_EACH = 0.2, 5  # changes of speaker a line, and lines of each (as in core.logs.wraps.speaker_heads)
_NAME = re.compile(r"[A-Za-z0-9][\w.-]{0,63}")
_CLOCK = re.compile(r"(?<!\d)\d\d:\d\d:\d\d(?:[.,]\d{1,9})?")  # the rest of "22/17:57:37.90"


@dataclass(frozen=True, slots=True)
class _Reading:
    """Names of the fields by what they are for; a class, because functions that are made cannot be sent elsewhere."""

    time: str | None
    message: str
    level: str | None
    speaker: str | None
    is_rank: bool = False  # what the speaker's field holds is a number, no name

    def peel(self, line: bytes) -> Peeled | None:
        """What the program told."""
        record = read_object(line)
        if record is None or self.message not in record or (self.time is not None and self.time not in record):
            return None
        names = {self.message: "message", self.level: "level", self.speaker: "rank" if self.is_rank else "node"}
        clock = str(record.pop(self.time)) if self.time is not None else ""
        ours = frozenset(names.values()) if self.speaker else _OURS
        fields = {names.get(name, f"{name}_" if name in ours else name): record[name] for name in record}
        if not clock:
            return read_record(fields)
        if _stamp(clock):
            return read_record(fields | {"time": clock})
        bare = _CLOCK.search(clock)
        return read_record(fields | {"message": f"{bare[0] if bare else clock} {fields.get('message', '')}"})


def fit(lines: Sequence[bytes]) -> Wrap | None:
    """Most lines are objects with a text or a word that tells one from another."""
    alike = [line for line in lines if line.startswith(b"{")]
    if len(alike) < max(_MIN_LINES, _LEAST * len(lines)):
        return None
    tried = evenly(alike)
    records = [record for line in tried if (record := read_object(line)) is not None]
    if len(records) < _NEARLY * len(tried):
        return None
    time = _first(records, _is_time)
    level = _first(records, _is_level, but=(time,))
    speaker = None if _names_speaker(records[0]) else _first(records, _is_speaker, but=(time, level))
    known = (time, level, speaker)
    message = _first(records, _is_text, but=known) or _first(records, _is_word, but=known)
    if message is None:
        return None
    is_rank = speaker is not None and all(str(record.get(speaker, "0")).isdecimal() for record in records)
    return Wrap("JSON by its values", _Reading(time, message, level, speaker, is_rank).peel, layout=names_of)


def _names_speaker(record: Mapping[str, Any]) -> bool:
    """Whether a field of a name that is known tells who speaks; words that take turns are parts of a step then."""
    return any(MEANINGS.get(name, (None, 0))[0] in (Meaning.RANK, Meaning.NODE) for name in record)


def _first(
    records: Sequence[Mapping[str, Any]], fits: Callable[[Sequence[Any]], bool], but: Sequence[str | None] = ()
) -> str | None:
    """The first field that nearly all records have, and whose values fit."""
    for name in records[0]:
        values = [record[name] for record in records if name in record]
        if name not in but and len(values) >= _NEARLY * len(records) and fits(values):
            return name
    return None


def _is_time(values: Sequence[Any]) -> bool:
    """Of this century, and never earlier than the line above; or with a clock in it."""
    known = [stamp for value in values if (stamp := _stamp(value))]
    if len(known) == len(values):
        falls = sum(one > other for one, other in pairwise(known))
        return falls <= _LATE * len(known) and known[0] < known[-1]
    return all(isinstance(value, str) and _CLOCK.search(value) for value in values)


def _stamp(value: Any) -> bytes:
    """A time as it sorts; nothing where there is none."""
    return iso(as_bytes(str(value).strip())).text or epoch(value).text


def _is_speaker(values: Sequence[Any]) -> bool:
    """One of a few names that come again and again between each other, each about as often: of events few are."""
    names = Counter(value for value in values if isinstance(value, str) and _NAME.fullmatch(value))
    if names.total() < len(values) or not 2 <= len(names) <= _FEW * len(values):
        return False
    changes = sum(one != other for one, other in pairwise(values))
    even = sum(count * 2 >= max(names.values()) for count in names.values())
    return changes >= _INTERLEAVED * len(values) and even > _FEW * len(names) and min(names.values()) >= _MIN_EACH


def _is_level(values: Sequence[Any]) -> bool:
    return all(isinstance(value, str) and value.lower() in _LEVELS for value in values)


def _is_text(values: Sequence[Any]) -> bool:
    """Mostly of several words."""
    return sum(isinstance(value, str) and " " in value.strip() for value in values) * 2 > len(values)


def _is_word(values: Sequence[Any]) -> bool:
    """One of a few words, and not the same one always."""
    words = {value for value in values if isinstance(value, str) and not any(letter.isdigit() for letter in value)}
    most = _FEW_NAMES if sum("." in word or "_" in word for word in words) * 2 > len(words) else _FEW
    return 2 <= len(words) <= max(2, most * len(values)) and all(isinstance(value, str) for value in values)
