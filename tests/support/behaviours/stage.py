"""Where the behaviours are shown, and the table that each row enters itself into."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from slacksim import Message
from tests.support.scene import Scene, serving


@dataclass
class Stage:
    """The bot, f01 answered in a channel where nothing else was said, and channels for more."""

    scene: Scene
    rooms: Iterator[str]
    answer: Message
    place: Path

    def room(self) -> str:
        return next(self.rooms)

    def fresh(self, job: str = "f01", *, by: str = "alice") -> Message:
        return self.scene.diagnosed(job, self.room(), by=by)

    @contextmanager
    def other(self, name: str, **settings: Any) -> Iterator[Scene]:
        """A bot with other settings and a state of its own, in place of the first as long as it runs."""
        folders = replace(self.scene.folders, home=self.place / name)
        try:
            with serving(self.scene.slack, folders, **settings) as scene:
                yield scene
        finally:
            self.scene.slack.use_http(f"http://127.0.0.1:{self.scene.bot.request_port}/slack/events")


Row = Callable[[Stage], None]
ROWS: dict[int, Row] = {}


def row(number: int) -> Callable[[Row], Row]:
    def kept(check: Row) -> Row:
        ROWS[number] = check
        return check

    return kept
