"""What a Web API method is: a function, the scope and token it needs, how often it may be called."""

import base64
import binascii
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

from slacksim.errors import Refused
from slacksim.limits import TIER_3
from slacksim.team import Team
from slacksim.values import Json

MOST_A_PAGE, PAGE = 1000, 100  # docs.slack.dev/apis/web-api/pagination

Run = Callable[[Team, Json], Json]


@dataclass(frozen=True)
class Method:
    """One method; of ``scopes`` any one is enough."""

    run: Run
    scopes: tuple[str, ...] = ()
    per_minute: int = TIER_3
    token: Literal["bot", "app"] = "bot"  # noqa: S105 - a kind of token, no token


def page_of(things: Sequence[Json], args: Json, name: str) -> Json:
    """One page of a list, and the cursor of the next."""
    limit = min(MOST_A_PAGE, number(args, "limit", PAGE))
    start = _place(str(args.get("cursor") or ""))
    more = start + limit < len(things)
    cursor = base64.b64encode(f"next:{start + limit}".encode()).decode() if more else ""
    return {name: list(things[start : start + limit]), "response_metadata": {"next_cursor": cursor}, "has_more": more}


def number(args: Json, name: str, default: int) -> int:
    """A whole number, that forms send as text."""
    try:
        return int(args.get(name) or default)
    except (TypeError, ValueError) as error:
        raise Refused("invalid_arguments") from error


def truth(args: Json, name: str) -> bool:
    """A yes or no, that forms send as text."""
    return str(args.get(name, "")).lower() in ("true", "1")


def _place(cursor: str) -> int:
    try:
        return int(base64.b64decode(cursor).decode().removeprefix("next:") or 0)
    except (ValueError, binascii.Error) as error:
        raise Refused("invalid_cursor") from error
