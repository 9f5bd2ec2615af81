"""Foreign text (log lines, file names, job ids) made harmless for terminals and pages, and cut to fit."""

import re
import unicodedata

# CSI, OSC (until BEL or ST) and the other escape sequences, in their seven-bit and their eight-bit form. One without an
# end hides nothing: only its first bytes go.
_ESCAPES = re.compile(
    r"(?:\x1b\[|\x9b)[0-?]*[ -/]*[@-~]"
    r"|(?:\x1b[\]PX^_]|[\x90\x98\x9d-\x9f])[^\x07\x1b\x9c]{0,512}(?:\x07|\x1b\\|\x9c)"
    r"|\x1b[ -/]*[0-~]?"
)
_UNSEEN = frozenset({"Cf", "Zl", "Zp"})  # direction marks, joiners, byte order marks, line and paragraph separators
_BROKEN = frozenset({"Cc", "Cs", "Co", "Cn"})  # control bytes, lone surrogates, private and unassigned
_MAX_MARKS = 3  # combining marks on one letter; more of them paint over the neighbouring lines
_ROOM_FOR_BOTH = 12  # characters; with less only the head is shown
_LOOKED_AT = 4  # times the limit: what is removed is nearly always far less than three quarters of a text


def harmless(text: str, limit: int | None = None) -> str:
    """One line of plain, left-to-right printable text, cut in the middle when it is longer than ``limit``."""
    if limit is not None and len(text) > limit * _LOOKED_AT:
        half = limit * _LOOKED_AT // 2
        text = text[:half] + text[-half:]
    if not (text.isascii() and text.isprintable()):
        text = _printable(_ESCAPES.sub("", text).replace("\t", "  "))
    return text if limit is None else shorten(text, limit)


def shorten(text: str, limit: int) -> str:
    """The text, or its head and its tail: the end of a log line says what happened as often as its start."""
    if len(text) <= limit:
        return text
    if limit < _ROOM_FOR_BOTH:
        return text[: max(0, limit - 1)] + "…"
    tail = (limit - 3) * 2 // 5
    return f"{text[: limit - 3 - tail].rstrip()} … {text[len(text) - tail :].lstrip()}"


def storable(text: str) -> str:
    r"""Text that is UTF-8 for sure: a byte of a file name that was not is written as ``\udcff``."""
    return text.encode("utf-8", "backslashreplace").decode("utf-8")


def _printable(text: str) -> str:
    kept: list[str] = []
    marks = 0
    for character in text:
        category = unicodedata.category(character)
        marks = marks + 1 if category in ("Mn", "Me") else 0
        if category in _UNSEEN or marks > _MAX_MARKS:
            continue
        kept.append(_visible(character) if category in _BROKEN else character)
    return "".join(kept)


def _visible(character: str) -> str:
    if character == "\r":
        return "⏎"
    return " " if character in "\n\v\f" else "\N{REPLACEMENT CHARACTER}"
