"""Lines that are made alike: once one of them is understood, the next ones need not be.

A line of a form is a row of tokens: bytes that are always the same, and runs that may differ (a clock, a number, a
text). What unwrapping makes of the runs is found out by unwrapping: lines are made that differ in all runs, and where
their contents come out is where any content will. ``core.logs.kernel.forms`` does that for whole blocks, compiled; a
line of no known form is unwrapped by ``core.logs.wraps.unwrap``, which both must equal, and may be a new form.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from enum import IntEnum
from functools import lru_cache
from typing import Protocol


class RunKind(IntEnum):
    """What a run is made of; see ``_CONTENTS`` for what each may be."""

    REST = 0  # all up to the end of the line, but what is tidied first: carriage returns, escapes, marks
    TEXT = 1  # of a JSON string without escapes
    PLAIN = 2  # TEXT without white space, equals sign; at least one byte
    QUOTED = 3  # TEXT with one of them
    NAME = 4  # TEXT of visible ASCII letters; at least one
    HOST = 5  # letters, digits, dots, hyphens and underscores, the first a letter or digit
    DIGITS = 6  # so many at most, or none
    COUNT = 7  # a whole number without zeros before it
    NUMBER = 8  # of JSON
    SHAPE = 9  # fixed: a digit for each 9
    SOME = 10  # TEXT, at least one byte
    BARE = 11  # NAME without an equals sign


@dataclass(frozen=True, slots=True, eq=False)
class Run:
    """A part of a line that may differ; ``most`` bytes. shape: that of a SHAPE."""

    kind: RunKind
    most: int = 1 << 16
    shape: bytes = b""


Token = bytes | Run

# That what follows is no object, and no end of one: the logger did not write it. A token of its own, of no bytes.
NO_OBJECT = Run(RunKind.REST, 0)


@dataclass(frozen=True, slots=True)
class Cut:
    """A line as tokens before and behind what stands inside; None where nothing does, and the tokens are all of it."""

    before: tuple[Token, ...]
    inner: bytes | None = None
    behind: tuple[Token, ...] = ()


@dataclass(frozen=True, slots=True)
class Form:
    """What lines of a form are made of, and what becomes of them: bytes, and numbers of runs."""

    tokens: tuple[Token, ...]
    pieces: tuple[bytes | int, ...]


_Say = Callable[[bytes], bytes]


def make_form(line: bytes, tokens: Sequence[Token], say: _Say) -> Form | None:
    """The form of a line; None when what becomes of it does not follow from its runs.

    Args:
        line: an example.
        tokens: of it.
        say: unwraps a line.
    """
    runs = [token for token in tokens if isinstance(token, Run) and token is not NO_OBJECT]
    for salt in range(_TRIES):
        contents = _contents(runs, 2 * salt)
        pieces = _pieces(say(_filled(tokens, contents)), contents)
        others = _contents(runs, 2 * salt + 1)
        if say(_filled(tokens, others)) == put_together(pieces, others):
            form = Form(tuple(tokens), pieces)
            own = match(form, line)
            return form if own is not None and say(line) == put_together(pieces, own) else None
    return None


def put_together(pieces: Sequence[bytes | int], contents: Sequence[bytes]) -> bytes:
    """What becomes of a line with these contents."""
    return b"".join(piece if isinstance(piece, bytes) else contents[piece] for piece in pieces)


def match(form: Form, line: bytes) -> list[bytes] | None:
    """The contents of the runs of a line; None when it is not of the form. The specification of the compiled one."""
    contents: list[bytes] = []
    at = 0
    for token in form.tokens:
        if isinstance(token, bytes):
            if not line.startswith(token, at):
                return None
            at += len(token)
        elif token is NO_OBJECT:
            if line[at:].lstrip(b" \t\n\v\f\r").startswith(b"{") or line.endswith(b'"}'):
                return None
        else:
            found = _pattern(token).match(line, at)
            if found is None or len(found[0]) > token.most:
                return None
            contents.append(found[0])
            at = found.end()
    return contents if at == len(line) else None


_TEXT = rb'[^"\\\x00-\x1f]'
_PATTERNS = {
    RunKind.REST: re.compile(rb"[^\n\r\x1b\x1e]*"),
    RunKind.TEXT: re.compile(_TEXT + rb"*"),
    RunKind.PLAIN: re.compile(rb'[^"\\\x00-\x20=]++(?![ =])'),
    RunKind.QUOTED: re.compile(rb"(?=" + rb'[^"\\\x00-\x20=]*[ =])' + _TEXT + rb"+"),
    RunKind.NAME: re.compile(rb"[!#-\[\]-~]+"),
    RunKind.BARE: re.compile(rb"[!#-<>-\[\]-~]++(?!=)"),
    RunKind.HOST: re.compile(rb"[A-Za-z0-9][A-Za-z0-9_.-]*"),
    RunKind.DIGITS: re.compile(rb"[0-9]*"),
    RunKind.SOME: re.compile(_TEXT + rb"+"),
    RunKind.COUNT: re.compile(rb"(?:0|[1-9][0-9]*)(?![0-9])"),
    RunKind.NUMBER: re.compile(rb"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][-+]?[0-9]+)?"),
}


def tokens_of_line(line: bytes, layers: Sequence["Layer"]) -> tuple[Token, ...] | None:
    """A line as tokens, layer by layer; None when it is not as simple as that."""
    before, behind = list[Token](), list[Token]()
    for layer in layers:
        cut = layer.cut(line) if layer.cut else None
        if cut is None:
            if layer.beside is None or layer.peel(line) is not None or behind:
                return None
            before.append(layer.beside)
            continue
        before += cut.before
        behind = [*cut.behind, *behind]
        if cut.inner is None:
            return (*before, *behind) if layer is layers[-1] else None
        line = cut.inner
    return (*before, Run(RunKind.TEXT if behind else RunKind.REST), *behind)


class Layer(Protocol):
    """What a form needs to know of a layer; see ``core.logs.wraps.peeled``."""

    @property
    def cut(self) -> Callable[[bytes], Cut | None] | None:
        """Makes tokens of a line."""
        ...

    @property
    def beside(self) -> Run | None:
        """What stands for a line that is not wrapped so."""
        ...

    @property
    def peel(self) -> Callable[[bytes], object | None]:
        """Unwraps a line."""
        ...


def _pattern(run: Run) -> re.Pattern[bytes]:
    return _of_shape(run.shape) if run.kind is RunKind.SHAPE else _PATTERNS[run.kind]


@lru_cache(maxsize=256)  # those of clocks, of which a job has a few
def _of_shape(shape: bytes) -> re.Pattern[bytes]:
    return re.compile(re.escape(shape).replace(b"9", b"[0-9]"))


# --- made-up lines ------------------------------------------------------------------------------------------------

_TRIES = 3  # contents may turn up where they do not belong


def _contents(runs: Sequence[Run], salt: int) -> list[bytes]:
    """Something for each run that is like nothing else in the line, and other things for another salt."""
    return [_content(run, 7919 * (number + 1) + 104_729 * salt) for number, run in enumerate(runs)]


def _content(run: Run, seed: int) -> bytes:
    digits = b"%d" % (1_234_567_891 * (seed + 3) % 10**18 + 10**18)
    word = digits.translate(bytes.maketrans(b"0123456789", b"bcdfghjkmp"))[1:12]
    if run.kind is RunKind.SHAPE:
        figures = iter(digits[-1:0:-1] * 3)
        return bytes(next(figures) if letter == ord("9") else letter for letter in run.shape)
    if run.kind in (RunKind.DIGITS, RunKind.COUNT):
        return (b"7" + digits[:2:-1])[: min(run.most, 6)]
    if run.kind is RunKind.NUMBER:
        return b"8%s.%s" % (digits[5:10], digits[11:15])
    if run.kind in (RunKind.REST, RunKind.TEXT, RunKind.SOME, RunKind.QUOTED):
        return word + b" " + word[::-1]
    return word


def _filled(tokens: Sequence[Token], contents: Sequence[bytes]) -> bytes:
    left = iter(contents)
    return b"".join(
        token if isinstance(token, bytes) else b"" if token is NO_OBJECT else next(left) for token in tokens
    )


def _pieces(text: bytes, contents: Sequence[bytes]) -> tuple[bytes | int, ...]:
    """What was said, with the numbers of the contents in their places: the longest are looked for first."""
    pieces: list[bytes | int] = [text]
    for number in sorted(range(len(contents)), key=lambda number: -len(contents[number])):
        content = contents[number]
        pieces = [part for piece in pieces for part in _split(piece, content, number)]
    return tuple(piece for piece in pieces if piece != b"")


def _split(piece: bytes | int, content: bytes, number: int) -> Iterator[bytes | int]:
    if isinstance(piece, int) or not content:
        yield piece
        return
    first, *others = piece.split(content)
    yield first
    for part in others:
        yield number
        yield part
