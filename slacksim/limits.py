"""Rate limits and waiting times, as Slack has them; tests and the demo may set others."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field

TIER_2, TIER_3, TIER_4, SPECIAL = 20, 50, 100, 600  # calls a minute: docs.slack.dev/apis/web-api/rate-limits
POST_BURST = 5  # not documented beyond "short bursts are allowed"; ours, so that a test meets the limit early
UPDATES = 50  # chat.update is tier 3


@dataclass(frozen=True)
class Limits:
    """How often methods may be called; ``per_minute`` overrides single methods, such as conversations.replies."""

    enforced: bool = True
    posts_per_second: float = 1.0  # chat.postMessage, a channel (docs as above)
    post_burst: int = POST_BURST
    per_minute: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True)
class Timing:
    """How long things are valid and how long Slack waits, in seconds."""

    ack: float = 3.0  # docs.slack.dev/interactivity/handling-user-interaction
    retries: tuple[float, ...] = (0.0, 60.0, 300.0)  # docs.slack.dev/apis/events-api: at once, 1 minute, 5 minutes
    trigger: float = 3.0  # docs.slack.dev/interactivity: a trigger_id
    response_url: float = 1800.0  # as above: 30 minutes
    response_url_uses: int = 5  # as above
    ping: float = 10.0  # between the pings of a socket; Slack's own varies


class Buckets:
    """Token buckets: a call takes one, time fills them up again."""

    def __init__(self, limits: Limits) -> None:
        self.limits = limits
        self._levels: dict[tuple[str, str], tuple[float, float]] = {}

    def wait(self, method: str, channel: str, per_minute: int, now: float) -> int:
        """Take a token: 0 when there was one, else the seconds for Retry-After."""
        if not self.limits.enforced:
            return 0
        if method == "chat.postMessage" and method not in self.limits.per_minute:
            key, rate, size = (method, channel), self.limits.posts_per_second, float(self.limits.post_burst)
        else:
            minute = self.limits.per_minute.get(method, per_minute)
            key, rate, size = (method, ""), minute / 60, float(minute)
        level, before = self._levels.get(key, (size, now))
        level = min(size, level + (now - before) * rate)
        if level < 1:
            self._levels[key] = level, now
            return max(1, math.ceil((1 - level) / rate))
        self._levels[key] = level - 1, now
        return 0
