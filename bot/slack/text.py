"""Text for Slack: foreign text that cannot format, link or ping, and the one ``clip``.

Slack's mrkdwn has no escape for ``*``, ``_`` and the like, so what could format or link is shown as code, as log text
is. Zero-width and direction marks go first (``harmless``): they could hide between ``<`` and ``!channel>``.
"""

import re
from datetime import UTC, datetime
from itertools import groupby
from operator import itemgetter

from bot.text.harmless import harmless
from bot.text.wording import minute

ELLIPSIS = "…"
NO_LINKS = {"unfurl_links": False, "unfurl_media": False, "link_names": False, "parse": "none"}  # of chat.postMessage
MAX_NAME = 60  # characters of a person's or model's name
_QUOTE = re.compile("“([^”]*)”")
_CHANNEL = re.compile(r"[CG][A-Z0-9]{2,20}", re.ASCII)
_USER = re.compile(r"[UW][A-Z0-9]{2,20}", re.ASCII)
# What mrkdwn would format, link or turn into a picture in a word: marks, addresses, `_` at an edge, `:name:`. A clock
# (03:59:44) and a name with `_` inside stay as they are.
_ODD = re.compile(
    r"[`*~<>@|]|://|^\W*www\.|(?<![A-Za-z0-9])_|_(?![A-Za-z0-9])|^\W*#"
    r"|:[a-z0-9_+'-]*[a-z][a-z0-9_+'-]*:|(?<![0-9]):[0-9]+:(?![0-9])|^mailto:",
    re.IGNORECASE,
)
_ADDRESS = re.compile(r"https?://[^\s|<>]{1,2000}")
_EDGES = re.compile(r"^([(\[]*)(.*?)([.,;:!?)\]]*)$", re.DOTALL)
_LOOKED_AT = 4  # times the limit: what ``harmless`` removes is nearly always far less
_HALF = re.compile(r"(?:&[a-z]{0,4}|<[^<>]*)$")


def escape(text: str) -> str:
    """The three characters that Slack reads as its own."""
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def clip(text: str, limit: int) -> str:
    """The text, or as much of its beginning as fits; no half entity or mention, no open code span."""
    if len(text) <= limit:
        return text
    for room in range(limit - len(ELLIPSIS), 0, -1):
        cut = _HALF.sub("", text[:room]).rstrip()
        if cut.count("`") % 2:
            cut = cut.removesuffix("`") if cut.endswith("`") else cut + "`"
        if len(cut) + len(ELLIPSIS) <= limit:
            return cut + ELLIPSIS
    return ELLIPSIS[:limit]


def literal(text: str, limit: int) -> str:
    """Foreign text where Slack reads no markup: plain text, rich text, buttons, inputs."""
    return harmless(text, limit).strip()


def code(text: str, limit: int) -> str:
    """Foreign text as code: log lines and names. Empty when there is nothing to show."""
    shown = harmless(text, limit).replace("`", "'").strip()
    return f"`{escape(shown)}`" if shown else ""


def prose(text: str, limit: int) -> str:
    """A sentence that may quote or name what is foreign: what it quotes, and words that Slack would obey, as code."""
    parts = _QUOTE.split(in_words(harmless(text[: limit * _LOOKED_AT]).strip(), limit))
    shown = (code(part, limit) if number % 2 else _words(part) for number, part in enumerate(parts))
    return "".join(shown)


def in_words(text: str, limit: int) -> str:
    """The text, or its beginning: whole sentences when they are most of what fits, else whole words."""
    if len(text) <= limit:
        return text
    head = text[: limit - len(ELLIPSIS) - ("“" in text[:limit])]  # a quote may have to be closed
    stop = max(head.rfind(". "), head.rfind("; "))
    kept = f"{head[: stop + 1]} " if stop > limit // 2 else head.rpartition(" ")[0].rstrip(",;: ")
    if len(kept) < limit // 2:
        kept = head  # one word that is longer than a line
    closing = "”" if kept.count("“") > kept.count("”") else ""
    return kept + ELLIPSIS + closing


def moment(at: datetime) -> str:
    """A time of what people and the bot did: Slack shows it in the reader's own zone, and as "today"."""
    return f"<!date^{int(at.timestamp())}^{{date_short_pretty}} at {{time}}|{minute(at)}>"


def day(iso: str) -> str:
    """The day of such a time, given as ISO 8601; empty when it is none."""
    try:
        at = datetime.fromisoformat(iso)
    except ValueError:
        return ""
    at = at if at.tzinfo else at.replace(tzinfo=UTC)
    return f"<!date^{int(at.timestamp())}^{{date_short_pretty}}|{at:%Y-%m-%d}>"


def fallback(text: str, limit: int) -> str:
    """Foreign text for a message's ``text``, which notifications show: no markup, a sentence that stands alone."""
    return clip(escape(harmless(text, limit).replace("`", "'").strip()), limit)


def person(who: str) -> str:
    """Somebody by Slack's id, as a mention that shows the name; anybody else by name."""
    return f"<@{who}>" if _USER.fullmatch(who) else prose(who, MAX_NAME) or "somebody"


def conversation(channel: str) -> str:
    """A channel by Slack's id, which shows its name to whoever may read it; direct messages in words."""
    return f"<#{channel}>" if _CHANNEL.fullmatch(channel) else "direct messages"


def link(address: str, label: str) -> str:
    """A link of Slack's own, such as to a message; only the label when the address is none."""
    shown = escape(harmless(label, 200)).replace("|", "/").strip()
    return f"<{escape(address)}|{shown}>" if _ADDRESS.fullmatch(address) and shown else shown


def _words(text: str) -> str:
    """Words as they are, and runs of odd ones as code; spaces stay."""
    runs = groupby(_marked(re.split(r"(\s+)", text)), key=itemgetter(0))
    joined = ((odd, "".join(piece for _, piece in run)) for odd, run in runs)
    return "".join(_as_code(words) if odd else escape(words) for odd, words in joined)


def _marked(pieces: list[str]) -> list[tuple[bool, str]]:
    """Each piece and whether it is odd; a space between two odd words is odd as well."""
    odd = [bool(_ODD.search(piece)) for piece in pieces]
    for at in range(1, len(pieces) - 1, 2):  # every second piece is space
        odd[at] = odd[at - 1] and odd[at + 1]
    return list(zip(odd, pieces, strict=True))


def _as_code(words: str) -> str:
    """Code, with brackets and stops outside."""
    match = _EDGES.match(words)
    before, inner, after = match.groups() if match else ("", words, "")
    return f"{before}{code(inner, len(inner) + 1)}{after}" if inner.strip() else escape(words)
