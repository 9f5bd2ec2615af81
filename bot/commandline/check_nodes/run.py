"""Commands on nodes: argument lists, each in a process group of its own that is ended when its time is over."""

import os
import re
import shlex
import signal
import subprocess
import tempfile
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from enum import StrEnum
from typing import TypeVar

from bot.text.harmless import harmless
from core.checks.catalogue import Check
from core.checks.check_verdict import Ran
from core.errors import BadSettings

MAX_OUTPUT = 1 << 20  # bytes of a command that are read: nvidia-smi -q of eight GPUs has 100 kB
AT_ONCE = 32  # connections that are open at a time
_T = TypeVar("_T")
_S = TypeVar("_S")


class NodeAccess(StrEnum):
    """How a command comes to a node."""

    LOCAL = "local"
    SSH = "ssh"
    SRUN = "srun"
    KUBECTL = "kubectl"


@dataclass(frozen=True, slots=True)
class Node:
    """A node, and the address by which others reach it. fabrics: its addresses by the name of a fabric, if several."""

    name: str
    address: str
    fabrics: tuple[tuple[str, str], ...] = ()


class Started:
    """A command that is written to and read while it runs. asks, answers: descriptors of its input and its output."""

    def __init__(self, words: Sequence[str]) -> None:
        self._process = subprocess.Popen(  # noqa: S603 our own program, on a node that a person named
            words,
            bufsize=0,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
        self._pipes = [pipe for pipe in (self._process.stdin, self._process.stdout) if pipe is not None]
        self.asks, self.answers = (pipe.fileno() for pipe in self._pipes)

    def end(self) -> None:
        """End it, and all that it started here."""
        if self._process.poll() is None:
            os.killpg(self._process.pid, signal.SIGKILL)  # a session of its own, whose leader is still there
        self._process.wait()
        for pipe in self._pipes:
            pipe.close()


@dataclass(frozen=True, slots=True)
class NodeRunner:
    """Runs commands on nodes. prefix: words of another way to a node, with {node}; empty: ``through`` decides."""

    through: NodeAccess = NodeAccess.LOCAL
    prefix: tuple[str, ...] = ()

    def words(self, node: Node, command: Sequence[str], *, asks: bool = False) -> list[str]:
        """The whole argument list. ssh hands its words to a shell on the node, so each is quoted for it.

        Args:
            asks: whether the command is written to while it runs.
        """
        if self.prefix:
            return [*(word.replace("{node}", node.name) for word in self.prefix), *command]
        if self.through is NodeAccess.SSH:
            quoted = shlex.join(command)
            return ["ssh", "-o", "BatchMode=yes", "-o", "ConnectTimeout=10", "--", node.name, quoted]
        if self.through is NodeAccess.SRUN:
            return ["srun", "--nodes=1", "--ntasks=1", "--overlap", f"--nodelist={node.name}", "--", *command]
        if self.through is NodeAccess.KUBECTL:
            return ["kubectl", "exec", *(["--stdin"] if asks else []), node.name, "--", *command]
        return [*command]

    def start(self, node: Node, command: Sequence[str]) -> "Started":
        """A command on a node that is written to and read while it runs. Raises OSError."""
        return Started(self.words(node, command, asks=True))

    def run(self, node: Node, command: Sequence[str], seconds: float) -> Ran:
        """Run a command on a node; whatever happens to it, an answer comes."""
        with tempfile.TemporaryFile() as output:
            try:
                process = subprocess.Popen(  # noqa: S603 the command of a check, on a node that a person named
                    self.words(node, command),
                    stdin=subprocess.DEVNULL,
                    stdout=output,
                    stderr=subprocess.STDOUT,
                    start_new_session=True,
                )
            except OSError as error:
                return Ran(None, "", f"could not be started: {error.strerror or error}")
            trouble = ""
            try:
                code: int | None = process.wait(seconds)
            except subprocess.TimeoutExpired:
                code, trouble = None, f"did not end within {seconds:.0f} s"
                os.killpg(process.pid, signal.SIGKILL)  # a session of its own, whose leader is still there
                process.wait()
            output.seek(0)
            return Ran(code, output.read(MAX_OUTPUT).decode("utf-8", "replace"), trouble)


def each(function: Callable[[_S], _T], values: Sequence[_S], at_once: int = AT_ONCE) -> list[_T]:
    """The function of each value, so many side by side, in their order."""
    with ThreadPoolExecutor(max(1, min(at_once, AT_ONCE, len(values)))) as pool:
        return list(pool.map(function, values))


# Of a name that becomes part of a word, which a command may take for more.
_PLAIN = re.compile(r"[A-Za-z0-9_.:-]{1,253}")
PLACEHOLDERS = ("node", "address", "peer", "peer_address", "nodes", "addresses", "count")


def filled(check: Check, node: Node, *, peer: Node | None = None, group: Sequence[Node] = ()) -> tuple[str, ...]:
    """The words of a command for a node, a pair, or a group that a node begins.

    Raises:
        BadSettings: a name is filled in that has other characters than names and addresses have.
    """
    known: dict[str, tuple[str, ...]] = {"node": (node.name,), "address": (node.address,)}
    if peer is not None:
        known |= {"peer": (peer.name,), "peer_address": (peer.address,)}
    if group:
        known |= {
            "nodes": tuple(member.name for member in group),
            "addresses": tuple(member.address for member in group),
            "count": (str(len(group)),),
        }
    return tuple(_word(word, known) for word in check.command)


def _word(word: str, known: Mapping[str, tuple[str, ...]]) -> str:
    for name in PLACEHOLDERS:
        if f"{{{name}}}" in word and name in known:
            if bad := next((value for value in known[name] if not _PLAIN.fullmatch(value)), None):
                raise BadSettings(f"{harmless(bad, 60)} is no name or address that a command can be given.")
            word = word.replace(f"{{{name}}}", ",".join(known[name]))
    return word
