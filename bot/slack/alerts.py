"""What another program posts in a channel: Alertmanager, Grafana, PagerDuty; the words in which a job may be named."""

from collections.abc import Iterator, Mapping
from typing import Any

MAX_WORDS = 8_000  # characters; an alert with a hundred instances names its job early
_SPOKEN = frozenset({"text", "fallback", "title", "pretext", "value"})  # where an attachment or a block has words
_RESOLVED = ("[resolved", "resolved:", "[ok]")  # how Alertmanager, PagerDuty and Grafana begin good news
_KINDS = (None, "bot_message")


def is_alert(event: Mapping[str, Any]) -> bool:
    """Whether another program began a thread with it; what the bot itself says Bolt leaves out."""
    by_program = event.get("type") == "message" and event.get("bot_id") and event.get("subtype") in _KINDS
    return bool(by_program and not event.get("thread_ts") and not event.get("hidden"))


def words_of(event: Mapping[str, Any]) -> str:
    """Its text, and that of its attachments and blocks."""
    parts = (str(event.get("text") or ""), *_words(event.get("attachments")), *_words(event.get("blocks")))
    return "\n".join(filter(None, parts))[:MAX_WORDS]


def is_over(words: str) -> bool:
    """Whether it says that all is well again."""
    return words.strip().casefold().startswith(_RESOLVED)


def _words(value: object, depth: int = 12) -> Iterator[str]:
    """What stands to be read at any depth; rich text has no more: a list and an object for each of six levels."""
    if isinstance(value, list) and depth:
        for entry in value:
            yield from _words(entry, depth - 1)
    if isinstance(value, Mapping) and depth:
        for name, entry in value.items():
            if isinstance(entry, str) and name in _SPOKEN:
                yield entry
            else:
                yield from _words(entry, depth - 1)
