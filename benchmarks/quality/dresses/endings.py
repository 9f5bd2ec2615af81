"""How each node of a job ended, as the undressed job tells: by its torchrun, else by job.json."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from benchmarks.quality.dresses.wearer import Wearer

_FAILED = re.compile(rb"failed \(exitcode: (?P<code>-?\d+)\) local_rank: (?P<local>\d+) \(pid: (?P<pid>\d+)\)")
_OF_SHELL = 128  # a shell's code of a process that a signal ended: 128 and the signal's number


@dataclass(frozen=True, slots=True)
class Ending:
    """How the part of a job on a node ended.

    code: of the node's launcher, or of its only process: above zero it ended by itself, below zero a signal ended it,
    None: nobody knows. process: code of the process that failed first on the node. time: of the node's last line.
    at_fault: the fault itself ended it.
    """

    node: str
    place: int
    ranks: tuple[int, ...]
    code: int | None
    process: int | None
    local_rank: int
    pid: int
    time: int
    at_fault: bool

    @property
    def by_itself(self) -> bool:
        """Whether its launcher, or its only process, ended before anybody ended it."""
        return (self.code or 0) > 0

    @property
    def was_ended(self) -> bool:
        """Whether it was there until somebody ended it, which was not the fault."""
        return not self.by_itself and not self.at_fault and self.process is not None

    @property
    def rank(self) -> int:
        """Of the process that failed first."""
        return self.ranks[self.local_rank] if self.local_rank < len(self.ranks) else self.place


def endings(wearer: Wearer) -> tuple[Ending, ...]:
    """One for each node: whom the fault ended, then who ended by themselves in the order of time, then the others."""
    found = sorted(
        _endings(wearer), key=lambda ending: (not ending.at_fault, not ending.by_itself, ending.time, ending.place)
    )
    return tuple(found)


def _endings(wearer: Wearer) -> Iterator[Ending]:
    manifest, truth = wearer.manifest, wearer.case.truth
    hung = "hang" in (truth.kind or "")
    for place, node in enumerate(wearer.nodes):
        exit_code = manifest.exit_codes.get(node)
        code = _OF_SHELL - exit_code if exit_code is not None and exit_code > _OF_SHELL else exit_code
        process, local, pid, time = code, 0, 4100 + 100 * place, 0
        for stream in wearer.by_node.get(node, ()):
            for line in stream.lines:
                time = max(time, line.time)
                if match := _FAILED.search(line.text):
                    process, local, pid = int(match["code"]), int(match["local"]), int(match["pid"])
        ranks = manifest.node_ranks.get(node, (place,))
        at_fault = node in truth.faulty_nodes and not hung and process is not None and process < 0
        yield Ending(node, place, ranks, code, process, local, pid, time or wearer.end, at_fault)
