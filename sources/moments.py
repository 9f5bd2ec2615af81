"""Moments as tables and programs write them: ISO 8601, or a number of seconds or milliseconds since the epoch."""

from datetime import UTC, datetime

_LAST = 4_102_444_800.0  # the year 2100: what is beyond, before 1970 or no number is no time
_MILLISECONDS = 1e11  # numbers beyond are milliseconds: as seconds they are the year 5138


def moment(text: str) -> float | None:
    """Seconds since the epoch; without a zone it is UTC. None of what is no time ("Unknown", "None")."""
    seconds = _seconds(text.strip())
    return seconds if seconds is not None and 0 <= seconds <= _LAST else None


def _seconds(text: str) -> float | None:
    try:
        number = float(text)
    except ValueError:
        pass
    else:
        return number / 1000 if number > _MILLISECONDS else number
    try:
        parsed = datetime.fromisoformat(text)
    except ValueError:
        return None
    return (parsed if parsed.tzinfo else parsed.replace(tzinfo=UTC)).timestamp()
