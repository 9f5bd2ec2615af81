"""A program on each node that loads torch once, and runs every test that it is asked for in a fresh process there."""

import json
import os
import select
import time
from collections import Counter
from collections.abc import Collection, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from bot.commandline.check_nodes.run import AT_ONCE, Node, NodeRunner, Started

PROGRAM = Path(__file__).parent / "scripts" / "node.py"
START_S = 300.0  # to load torch from a busy file system; at a load of 71 on two cores it took more than 120
GRACE_S = 30.0  # beyond the limit of a test until its answer is here
TRIES = 2  # times that a session on one node is opened: a lost connection is none of its faults
LONGEST_LINE = 1 << 16  # bytes: an answer has a few hundred
_TOLD = 120  # characters of what a node says in place of an answer

Answer = dict[str, Any]


class Session:
    """The program on one node. trouble: why it answers no more; empty while it does."""

    def __init__(self, started: Started) -> None:
        self._program = started
        self._read = b""
        self._tests = 0
        self._last = ""
        self.trouble = ""

    def started(self, seconds: float = START_S) -> bool:
        """Whether torch is loaded, within so many seconds."""
        return self._line("ready", None, time.monotonic() + seconds) is not None

    def ask(self, kind: str, limit: float, **wanted: object) -> int:
        """Ask for a test, of so many seconds at most; its number."""
        self._tests += 1
        asked = json.dumps({"test": self._tests, "kind": kind, "limit": limit, **wanted})
        try:
            os.write(self._program.asks, f"{asked}\n".encode())
        except OSError as error:
            self._over(f"it cannot be asked any more: {error.strerror}")
        return self._tests

    def answer(self, test: int, until: float) -> Answer | None:
        """The next line about a test, or that its process is over; None where none came until then."""
        return self._line("test", test, until)

    def close(self) -> None:
        """End it. What it started on the node ends when nobody asks any more."""
        self._program.end()

    def _line(self, key: str, value: int | None, until: float) -> Answer | None:
        """The next line of JSON that has this; whatever else stands in the output is not looked at."""
        while not self.trouble:
            line, found, after = self._read.partition(b"\n")
            if found:
                self._read = after
                answer = _document(line)
                if key in answer and value in (None, answer[key]):
                    return answer
                self._last = line.decode("utf-8", "replace").strip()[:_TOLD] or self._last
            else:
                self._more(until)
        return None

    def _more(self, until: float) -> None:
        poll = select.poll()  # of any number: select has 1,024 at most
        poll.register(self._program.answers, select.POLLIN)
        if not poll.poll(max(0.0, until - time.monotonic()) * 1000):
            self._over("it did not answer in time")
            return
        new = os.read(self._program.answers, LONGEST_LINE)
        if not new:
            self._over(self._last or "it ended without a word")
        self._read += new
        if len(self._read) > 2 * LONGEST_LINE:
            self._over("it says more than an answer has")

    def _over(self, trouble: str) -> None:
        """What comes too late would be taken for the answer to another test."""
        self.trouble = self.trouble or trouble


class Sessions:
    """The sessions of one run, opened when they are needed; all are closed at the end."""

    def __init__(self, runner: NodeRunner, python: str) -> None:
        self._runner, self._words = runner, (python, "-c", PROGRAM.read_text(encoding="utf-8"))
        self._open: dict[str, Session] = {}
        self._troubles: dict[str, str] = {}
        self._failed: Counter[str] = Counter()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._close(set(self._open))

    def of(self, nodes: Sequence[Node]) -> dict[str, Session]:
        """A session on each of these nodes that answers, all of them started side by side; few are kept open."""
        self._close({name for name, session in self._open.items() if session.trouble})
        if len(self._open.keys() | {node.name for node in nodes}) > AT_ONCE:
            self._close(set(self._open))
        missing = [node for node in nodes if node.name not in self._open and self._failed[node.name] < TRIES]
        for node in missing:
            try:
                self._open[node.name] = Session(self._runner.start(node, self._words))
            except OSError as error:
                self._failed[node.name] += 1
                self._troubles[node.name] = f"could not be started: {error.strerror or error}"
        new = [self._open[node.name] for node in missing if node.name in self._open]
        with ThreadPoolExecutor(max(1, len(new))) as pool:
            list(pool.map(Session.started, new))
        found = {node.name: self._open[node.name] for node in nodes if node.name in self._open}
        return {name: session for name, session in found.items() if not session.trouble}

    def why_not(self, node: str) -> str:
        """Why a node did not answer the last time; empty where it never was so."""
        session = self._open.get(node)
        return session.trouble if session is not None and session.trouble else self._troubles.get(node, "")

    def _close(self, names: Collection[str]) -> None:
        for name in names:
            session = self._open.pop(name)
            if session.trouble:
                self._failed[name] += 1
                self._troubles[name] = session.trouble
            session.close()


def _document(line: bytes) -> Answer:
    try:
        found = json.loads(line) if line.startswith(b"{") else {}
    except (ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}
