"""Things that are valid for a short time only: trigger ids, and response URLs with their five uses."""

import secrets
from dataclasses import dataclass, replace

from slacksim.errors import Refused
from slacksim.limits import Timing
from slacksim.state import State


@dataclass(frozen=True)
class Trigger:
    """The right to open a modal for the person who just did something."""

    user: str
    issued: float
    view_id: str | None = None
    used: bool = False


class Triggers:
    """All trigger ids: valid for three seconds, once."""

    def __init__(self, state: State, timing: Timing) -> None:
        self._state = state
        self._timing = timing
        self._issued: dict[str, Trigger] = {}

    def issue(self, user: str, view_id: str | None = None) -> str:
        """A new trigger id; with the view in which the person acted."""
        name = f"{self._state.new_id('')}.{secrets.token_hex(8)}"
        self._issued[name] = Trigger(user, self._state.clock(), view_id)
        return name

    def use(self, name: object) -> Trigger:
        """Exchange it.

        Raises:
            Refused: it was never given, was used before, or is too old.
        """
        trigger = self._issued.get(str(name))
        if trigger is None:
            raise Refused("invalid_trigger_id")
        if trigger.used:
            raise Refused("exchanged_trigger_id")
        self._issued[str(name)] = replace(trigger, used=True)
        if self._state.clock() - trigger.issued > self._timing.trigger:
            raise Refused("expired_trigger_id")
        return trigger


@dataclass(frozen=True)
class ResponseUrl:
    """The right to answer in one place; ``ts`` is the message on which the person acted."""

    channel: str
    user: str
    issued: float
    ts: str | None = None
    thread_ts: str | None = None
    uses: int = 0


class ResponseUrls:
    """All response URLs: five uses in thirty minutes."""

    def __init__(self, state: State, timing: Timing) -> None:
        self._state = state
        self._timing = timing
        self._issued: dict[str, ResponseUrl] = {}

    def issue(self, channel: str, user: str, *, ts: str | None = None, thread_ts: str | None = None) -> str:
        """A new address."""
        key = secrets.token_urlsafe(16)
        self._issued[key] = ResponseUrl(channel, user, self._state.clock(), ts, thread_ts)
        return f"{self._state.base_url}/respond/{key}"

    def use(self, key: str) -> ResponseUrl:
        """Use it once more.

        Raises:
            Refused: used_url or expired_url.
        """
        place = self._issued.get(key)
        if place is None or self._state.clock() - place.issued > self._timing.response_url:
            raise Refused("expired_url")
        if place.uses >= self._timing.response_url_uses:
            raise Refused("used_url")
        self._issued[key] = replace(place, uses=place.uses + 1)
        return place
