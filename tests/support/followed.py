"""A bot that follows a folder of jobs, and jobs that end there."""

import json
import shutil
from dataclasses import dataclass
from pathlib import Path

from slacksim import Message
from tests.support.places import EXAMPLES
from tests.support.scene import Scene

LIKE = EXAMPLES / "f01"  # a process of it was killed


@dataclass(frozen=True)
class Followed:
    """A bot that follows a folder, and the channel that it tells."""

    scene: Scene
    room: str

    def fails(self, job: str, **more: object) -> None:
        write(self.scene.folders.jobs / job, status="FAILED", **more)

    def look(self) -> None:
        following = self.scene.bot._failed_jobs
        assert following is not None
        following.look()

    def said(self) -> list[Message]:
        now = self.scene.slack.snapshot().messages(self.room)
        return [message for message in now if message.by_app and not message.is_reply]


def write(home: Path, *, status: str, **more: object) -> None:
    shutil.copytree(LIKE, home)
    manifest = json.loads((home / "job.json").read_text(encoding="utf-8"))
    (home / "job.json").write_text(
        json.dumps({**manifest, "job_id": home.name, "status": status, **more}), encoding="utf-8"
    )
