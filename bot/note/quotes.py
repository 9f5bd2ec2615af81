"""What of a log line may be quoted in a sentence, and which sentences may be shown: no markup, link, mention or order.

Log lines in full stand in the evidence, as code. In a sentence of ours an order would read like our advice.
"""

import re

from bot.text.harmless import harmless

QUOTE = 90  # characters of a log line, as the core quotes
# Characters; chosen: "NCCL error 3" is the shortest that says something, some words tell it.
_SHORTEST, _TELLING = 12, 30
# What a quote must not hold, and source files in brackets, which say nothing at 3 a.m.
_BREAKS = re.compile("[<>`\"'\u201c\u201d\u2018\u2019|\u2026\ufffd]+|\\[[^\\]\\s]*/[^\\]\\s]*\\]:?\\s")
_TORN = re.compile(r"\S{0,64}\s?\u2026\s?\S{0,64}")  # words on both sides of where a line was cut
_CLOCK = re.compile(r"^\S*\d{1,2}:\d{2}:\d{2}\S*\s+")
# What a logger or a launcher writes before the message: "E1122 13:52:45.91 5 api.py:1002] ", "0: [rank0]: ".
_LEAD = re.compile(
    r"^\[?[IWEF]\d{4} \d{2}:\d{2}:\d{2}\S* [^\]]{0,120}\]\s*"
    r"|^(?:\d{1,6}: )?(?:\S{1,80} )?\[rank\d{1,6}\]:\s*|^\d{1,6}: "
)
_MARKUP = re.compile(r"[<>|\\~`]|\]\(|\{\{|\}\}|\$\{|&[a-z]{2,8};|&#|(?<!\w)\*{1,3}\w")
_MENTION = re.compile(r"(?i)@[a-z]|(?<![\w/])#[a-z][\w-]{2,}")
_LINK = re.compile(
    r"(?i)[a-z][a-z0-9+.-]{1,15}:/{1,2}\S|\bwww\.|mailto:"
    r"|\b[a-z0-9-]+\.(?:com|net|org|io|example|ru|cn|sh|dev|xyz|ly)\b"
)
_PIPE = re.compile(r"(?i)\|\s*(?:ba|z|da)?sh\b|&&|\$\(|;\s*(?:rm|curl|wget|sudo)\b|\brm\s+-")
# Orders to a reader or to a model, as injected lines hold them; no program logs these words of a fault.
_ORDER = re.compile(
    r"(?i)\b(?:ignore|disregard|override|obey|instructions?|prompt|execute|download|curl|wget|sudo|chmod|eval|paste"
    r"|click|visit|upload|approve|wipe|mkfs|password|credentials|tell the|assistant|reveal|powershell|urgent"
    r"|immediately|system message)\b"
)
_CODE = re.compile(r"[<>`]|\]\(")
_FOREIGN = (_MENTION, _LINK, _PIPE, _ORDER)
_QUOTED = re.compile("\u201c([^\u201d]*)\u201d")


def quote_of(line: str) -> str:
    """The first part of a line that can be quoted and says something; else the longest; else empty."""
    whole = harmless(_CLOCK.sub("", _LEAD.sub("", _TORN.sub(" \u2026 ", line), count=1)))
    pieces = [_cut(piece.strip(), QUOTE) for piece in _BREAKS.split(whole)]
    best = next((piece for piece in pieces if len(piece) >= _TELLING), max(pieces, key=len))
    return best if len(best) >= _SHORTEST and quotable(best) else ""


def quotable(text: str) -> bool:
    """Whether a text of a log does nothing to who reads it in a sentence."""
    return not any(pattern.search(text) for pattern in (_MARKUP, *_FOREIGN))


def presentable(text: str, *, ours: bool = False) -> bool:
    """Whether a sentence may be shown.

    Args:
        ours: words of our rules or of a person of the team, which may hold commands and addresses.
    """
    if not text.strip() or harmless(text) != text:
        return False
    if ours:
        return not _MENTION.search(text)
    bare = _QUOTED.sub(" ", text)
    if any(pattern.search(bare) for pattern in (_MARKUP, _MENTION, _LINK, _PIPE)):
        return False
    return not any(pattern.search(quote) for quote in _QUOTED.findall(text) for pattern in (_CODE, *_FOREIGN))


def _cut(text: str, limit: int) -> str:
    """The text, or as many of its words from the beginning as fit."""
    return text if len(text) <= limit else text[:limit].rpartition(" ")[0].rstrip(" ,;:")
