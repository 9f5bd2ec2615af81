"""How fast Slack lets us: after a 429 nobody calls before its time, and then one after the other."""

import threading
import time
from collections.abc import Callable

# docs.slack.dev/apis/web-api/rate-limits: a post a second and channel, 50 edits a minute
SPACING = {"chat.postMessage": 1.0, "chat.update": 1.2}


class RateLimit:
    """One for all threads. Short bursts are allowed, so nobody waits before Slack has said no."""

    def __init__(
        self, *, clock: Callable[[], float] = time.monotonic, sleep: Callable[[float], None] = time.sleep
    ) -> None:
        self._clock = clock
        self._sleep = sleep
        self._free: dict[tuple[str, str], float] = {}
        self._lock = threading.Lock()

    def wait(self, method: str, place: str, patience: float) -> bool:
        """Wait for a turn; False, at once, when it would come later than in so many seconds."""
        with self._lock:
            now = self._clock()
            turn = self._free.get((method, place), now)
            if turn <= now:
                self._free.pop((method, place), None)
                return True
            if turn - now > patience:
                return False
            self._free[method, place] = turn + SPACING.get(method, 0.0)
        self._sleep(turn - now)
        return True

    def limited(self, method: str, place: str, seconds: float) -> None:
        """Slack has said no: nobody calls it for so long."""
        with self._lock:
            until = self._clock() + seconds
            self._free[method, place] = max(until, self._free.get((method, place), until))
