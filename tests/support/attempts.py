"""Logs of attempts that a test makes: an even pace, checkpoints, an error at the end."""

import json
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path

BEGIN = datetime(2026, 11, 20, 10, tzinfo=UTC)
ERROR = "RuntimeError: CUDA error: an illegal memory access was encountered"


class Log:
    """Lines with a clock that a test moves on."""

    def __init__(self, now: datetime = BEGIN) -> None:
        self.now, self.lines, self.start = now, list[str](), now

    def say(self, text: str, after: float = 1.0) -> None:
        """A line, so many seconds after the last."""
        self.now += timedelta(seconds=after)
        self.lines.append(f"{self.now:%Y-%m-%d %H:%M:%S},{self.now.microsecond // 1000:03d} INFO {text}")

    def attempt(self, iterations: Sequence[int], error: str = "") -> None:
        """Twenty seconds of start, an iteration a second, a checkpoint of two seconds every ten, perhaps an error."""
        self.say("initializing process group: rank 0, world size 1", 5)
        self.say("loading checkpoint from /ckpt/latest" if iterations and iterations[0] > 1 else "building model", 10)
        self.say("starting training", 5)
        for number in iterations:
            self.say(f"iteration {number}/60 loss {3 - number / 100:.3f}")
            if number % 10 == 0:
                self.say(f"saving checkpoint at iteration {number} to /ckpt", 0)
                self.say(f"successfully saved checkpoint from iteration {number} to /ckpt", 2)
        if error:
            self.say(error, 3)

    def write(self, folder: Path, **manifest: object) -> Path:
        """A job folder of it."""
        (folder / "logs").mkdir(parents=True)
        (folder / "logs" / "train.log").write_text("\n".join(self.lines) + "\n", encoding="utf-8")
        times = {"start": self.start.isoformat(), "end": self.now.isoformat()}
        (folder / "job.json").write_text(json.dumps(times | manifest), encoding="utf-8")
        return folder
