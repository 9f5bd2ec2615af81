"""What no sentence of a note may look like, whatever it says: markup, links, mentions, orders, talk of itself."""

import re
from collections.abc import Iterator

from bot.harmless import harmless
from bot.note.words import words

_ALLOWED = frozenset("\u201c\u201d\u2018\u2019\u2026\u2013")  # quotes, an ellipsis and a dash of our own wording
_MARKUP = re.compile(
    r"[<>|\\~*]|```|__|^\s*(?:#{1,6}\s|[-+]\s|\d+[.)]\s|>)|\]\(|\{\{|\}\}|\$\{|\[[^\]]{0,80}\]\s*\(|&[a-z]{2,8};|&#"
)
_MENTION = re.compile(r"(?i)@[a-z]|<[!@#]|(?<![\w/])#[a-z][\w-]{2,}")
_LINK = re.compile(
    r"(?i)[a-z][a-z0-9+.-]{1,15}:/{1,2}\S|\bwww\.|mailto:|\bhttps?\b|\b[a-z0-9-]+\.(?:com|net|org|io|example|ru|cn|sh|dev|xyz|ly)\b"
)
_PIPE = re.compile(r"(?i)\|\s*(?:ba|z|da)?sh\b|&&|\$\(|;\s*(?:rm|curl|wget|sudo)\b|\brm\s+-")


def bad_form(text: str, trusted: str) -> Iterator[str]:
    """Reasons to refuse a sentence by its form; its quotes are judged by ``bad_quote``.

    Args:
        text: the sentence without its quotes.
        trusted: what our checks and people's fault patterns say among the evidence that it cites.
    """
    if harmless(text) != text or not text.strip():
        yield "it is empty or holds characters that do not print"
    if strange := sorted({character for character in text if not character.isascii() and character not in _ALLOWED}):
        yield f"it holds characters that no name here has: {' '.join(map(ascii, strange[:4]))}"
    if match := _MARKUP.search(text):
        yield f"it holds markup: {match[0]!r}"
    yield from _reaching_out(text, trusted)
    for match in words().orders.finditer(text):
        if not re.search(rf"(?i)(?<![\w-]){re.escape(match[0])}(?![\w-])", trusted):
            yield f"\u201c{match[0]}\u201d orders the reader about, and no check and no fault pattern says it"
    if match := words().leakage.search(text):
        yield f"\u201c{match[0]}\u201d is no part of a note"


def bad_quote(quote: str, trusted: str) -> Iterator[str]:
    """Reasons to refuse a quote, although the evidence holds it: what it would do where it is shown."""
    if re.search(r"[<>`]|\]\(", quote):
        yield "a quote holds markup"
    yield from _reaching_out(quote, trusted)
    if match := words().not_quoted.search(quote):
        yield f"a quote that orders the reader about: \u201c{match[0]}\u201d"


def _reaching_out(text: str, trusted: str) -> Iterator[str]:
    if match := _MENTION.search(text):
        yield f"it mentions somebody: {match[0]!r}"
    if (match := _LINK.search(text)) and match[0] not in trusted:
        yield "it holds a link"
    if _PIPE.search(text):
        yield "it holds shell syntax"
