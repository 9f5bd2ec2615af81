"""A fault pattern as a text that people review: one TOML file a pattern, the same bytes for the same pattern.

The fields of ``Pattern`` come first, then what gives it away (``[[must]]``, ``[[must_not]]``, ``[[traits]]``),
``[examples]``, and its ``[life]`` where it has lived in a library. Mistakes are told with the line that they are in.
"""

import re
import tomllib
from collections.abc import Iterator, Sequence
from typing import Any, Final, Literal

import tomli_w
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from core.errors import FirstfaultError
from faultlib.pattern import Clause, Entry, Origin, Pattern, Sighting, Signature, Status, Step, Trait
from faultlib.signature import matches_lines

FORMAT: Final = "firstfault.pattern/1"
MAX_BYTES = 1_000_000  # a file of this size is no pattern
_MAX_TOLD = 5  # mistakes of one file that are told at once
_MAX_PLACED = 100  # whose lines are looked for; a file of a million bytes can hold as many mistakes
_PATTERN = [name for name in Pattern.model_fields if name not in ("signature", "examples")]
_TOML_PLACE = re.compile(r" \(at (?:line (\d+), column \d+|end of document)\)$")
# Thirty-two names with dots between: a table in a table, so deep. tomllib takes the square of their number.
_DEEP = re.compile(
    r"""(?<![\w"'.-])(?:(?:[\w-]++|"[^"\n]{0,64}+"|'[^'\n]{0,64}+')[ \t]{0,64}+\.[ \t]{0,64}+){32}[\w"'-]"""
)
_HEADER = re.compile(r"\s*\[\[?\s*([\w.]+)\s*\]\]?")


class BadPattern(FirstfaultError):
    """A text that should be a fault pattern is none; the message names the file, the lines and the mistakes."""


class _Life(BaseModel):
    model_config = ConfigDict(extra="forbid")

    status: Status
    origin: Origin
    version: int = Field(ge=1)
    revision: int = Field(ge=1)
    superseded_by: str = ""
    history: tuple[Step, ...] = ()
    seen: tuple[Sighting, ...] = ()


class _File(Pattern):
    """A pattern as its file has it: the signature's two lists stand at the top."""

    format: Literal["firstfault.pattern/1"]
    signature: Signature = Field(default=Signature(), exclude=True)
    must: tuple[Clause, ...] = ()
    must_not: tuple[Clause, ...] = ()
    traits: tuple[Trait, ...] = ()
    life: _Life | None = None


def read_pattern(text: str, name: str, *, check_examples: bool = True) -> Pattern:
    """The pattern of a file; what the file says of its life is left out.

    Args:
        name: of the file, for messages.
        check_examples: whether the signature must do what the file's examples say.

    Raises:
        BadPattern: with every mistake, and the line that it is in.
    """
    file = _read(text, name)
    if check_examples:
        _check_examples(file, text, name)
    return _pattern(file)


def read_entry(text: str, name: str) -> Entry:
    """The pattern of a file with the life that it has had; one without is a draft of the team.

    Raises:
        BadPattern: with every mistake, and the line that it is in.
    """
    file = _read(text, name)
    _check_examples(file, text, name)
    life = file.life or _Life(status=Status.DRAFT, origin=Origin.TEAM, version=1, revision=1)
    return Entry(
        pattern=_pattern(file),
        version=life.version,
        revision=life.revision,
        status=life.status,
        origin=life.origin,
        superseded_by=life.superseded_by,
        history=life.history,
        sightings=life.seen,
    )


def write_pattern(pattern: Pattern) -> str:
    """The text of a pattern; ``read_pattern`` gives the same pattern back."""
    return _write(pattern)


def write_entry(entry: Entry) -> str:
    """The text of a pattern with its life; ``read_entry`` gives the same entry back."""
    life = _Life(
        status=entry.status,
        origin=entry.origin,
        version=entry.version,
        revision=entry.revision,
        superseded_by=entry.superseded_by,
        history=entry.history,
        seen=entry.sightings,
    )
    return _write(entry.pattern, life)


def _read(text: str, name: str) -> _File:
    if len(text) > MAX_BYTES:
        raise BadPattern(
            f"{name} is too large for a fault pattern.", "One file holds one pattern, as export writes it."
        )
    try:
        return _File.model_validate(_document(text, name))
    except ValidationError as error:
        faults = error.errors(include_url=False, include_input=False)
        placed = [(_line_of(text, fault["loc"]), _field(fault["loc"]), fault["msg"]) for fault in faults[:_MAX_PLACED]]
        raise _bad(name, placed, len(faults)) from error


def _document(text: str, name: str) -> dict[str, Any]:
    try:
        if _DEEP.search(text):
            raise RecursionError
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        place = _TOML_PLACE.search(str(error))
        line = int(place[1]) if place and place[1] else text.count("\n") + 1
        reason = _TOML_PLACE.sub("", str(error))
        raise BadPattern(f"{name}:{line}: no TOML: {reason}", "Compare it with a file that export wrote.") from error
    except (RecursionError, ValueError) as error:  # brackets without an end, and a number of thousands of digits
        reason = "it is nested too deep" if isinstance(error, RecursionError) else "it holds a value that is too large"
        raise BadPattern(f"{name}: no TOML: {reason}.", "Compare it with a file that export wrote.") from error


def _pattern(file: _File) -> Pattern:
    fields = {field: getattr(file, field) for field in (*_PATTERN, "examples")}
    return Pattern(**fields, signature=Signature(must=file.must, must_not=file.must_not, traits=file.traits))


def _check_examples(file: _File, text: str, name: str) -> None:
    """The signature must match what it says that it matches, and nothing that it says that it does not."""
    signature = Signature(must=file.must, must_not=file.must_not)
    faults_told = [
        (_line_of(text, ("examples", kind)), f"examples.{kind}.{number}", f"the signature {verb} it")
        for kind, lines, wanted, verb in (
            ("match", file.examples.match, True, "does not match"),
            ("differ", file.examples.differ, False, "matches"),
        )
        for number, example in enumerate(lines, start=1)
        if signature.must and matches_lines(signature, example) is not wanted
    ]
    if faults_told:
        raise _bad(name, faults_told, len(faults_told))


def _bad(name: str, faults_told: Sequence[tuple[int, str, str]], count: int) -> BadPattern:
    lines = [f"{name}:{line}: {field}: {reason}" for line, field, reason in sorted(faults_told)[:_MAX_TOLD]]
    if count > _MAX_TOLD:
        lines.append(f"{name}: and {count - _MAX_TOLD} more")
    return BadPattern("\n".join(lines), "Correct these lines; docs/how-to/patterns.md has every field.")


def _field(loc: Sequence[int | str]) -> str:
    return ".".join(str(part + 1) if isinstance(part, int) else part for part in loc)


def _line_of(text: str, loc: Sequence[int | str]) -> int:
    """The line of a field: that of its key below its table, else that of the table, else the first."""
    tables = {len(path): path for path in _prefixes(loc)}
    best = 1
    table: tuple[int | str, ...] = ()
    counts: dict[str, int] = {}
    for number, line in enumerate(text.split("\n"), start=1):
        if header := _HEADER.match(line):
            name = header[1]
            parts: list[int | str] = list(name.split("."))
            if line.lstrip().startswith("[["):
                counts[name] = counts.get(name, -1) + 1
                parts.append(counts[name])
            table = tuple(parts)
            if tables.get(len(table)) == table:
                best = number
        elif tables.get(len(table)) == table and len(loc) > len(table):
            key = loc[len(table)]
            if re.match(rf"\s*\"?{re.escape(str(key))}\"?\s*=", line):
                return number
    return best


def _prefixes(loc: Sequence[int | str]) -> Iterator[tuple[int | str, ...]]:
    return (tuple(loc[:length]) for length in range(len(loc) + 1))


def _write(pattern: Pattern, life: _Life | None = None) -> str:
    document: dict[str, Any] = {"format": FORMAT}
    fields = pattern.model_dump(mode="json")
    signature = fields.pop("signature")
    examples = {kind: lines for kind, lines in fields.pop("examples").items() if lines}
    document |= {field: value for field, value in fields.items() if value not in ("", [])}
    document |= {kind: clauses for kind, clauses in signature.items() if clauses}
    if examples:
        document["examples"] = examples
    if life is not None:
        document["life"] = {
            field: value for field, value in life.model_dump(mode="json").items() if value not in ("", [])
        }
    return tomli_w.dumps(document)
