"""Whose processes ended otherwise than those of most: the one that had to be killed, that never ended, or that failed.

A clean-up ends all processes alike. Who is killed among those that stop when they are told did not hear it; who raises
an error among those that are told to stop was first; who is told to stop among those that raise errors was waited for.
"""

from collections import Counter
from collections.abc import Mapping, Sequence

from core.judge.candidates import Candidate
from core.judge.ending import Ending
from core.judge.exits import Exit, Exits
from core.model import Role
from core.naming import called
from core.nodes.sign import Sign
from core.shares import MAJORITY, MIN_RANKS, few_of

ODD = 0.4  # clean-up is a race: who is killed first is not always who failed
KILLED_ALONE = 0.6  # all others ended by themselves, with errors: no clean-up killed it, or it did not hear that one
FORCED = 0.5  # it did not stop when it was told to, while the others did: frozen, or stuck in the kernel
LEFT = 0.45  # it had left without an error before the others were ended, who stood still
NO_CODE = 0.45  # its node never told how it ended
UNREPORTED = 0.6  # as sure as silence, of a launcher
MIN_REPORTS = 2  # of one launcher alone nothing follows about the other
HINT = 0.3  # an error among signals, or a stop among errors
_TOLD, _KILLED = 15, 9  # SIGTERM and SIGKILL
_CRASHES = frozenset({4, 7, 8, 11})  # SIGILL, SIGBUS, SIGFPE, SIGSEGV; who waits in vain ends by SIGABRT as well


def exit_signs(
    exits: Exits, candidates: Sequence[Candidate], ending: Ending, home: Mapping[int, str], nodes: Sequence[str]
) -> list[Sign]:
    """Signs for the nodes whose processes ended otherwise than most.

    Args:
        home: node of each rank.
        nodes: that do the same work; whatever it does, a process ends when it is told to, so that all are asked that.
    """
    return [
        *_of_ranks(exits.of_rank, ending, home),
        *(_crashed(exits.of_node) or _of_nodes(exits.of_node, nodes, hung=ending.hung)),
        *([] if ending.ordered else _of_launchers(exits.of_rank, candidates, home, nodes)),
    ]


def _of_launchers(
    of_rank: Mapping[int, Exit], candidates: Sequence[Candidate], home: Mapping[int, str], nodes: Sequence[str]
) -> list[Sign]:
    """The node whose launcher never reported that its processes failed, which the launchers of all others did.

    Its processes complained like those of the others: it is the launcher that hangs, or has nobody to report to.
    """
    reported = {home[rank] for rank in of_rank if rank in home}
    silent = [node for node in nodes if node not in reported]
    complained = {node for candidate in candidates if candidate.role is Role.PROPAGATED for node in candidate.nodes}
    if len(silent) != 1 or len(reported) < MIN_REPORTS or not complained >= set(nodes):
        return []
    (node,) = silent
    because = (
        f"The launcher of {node} never reported how its processes ended; those of {len(reported)} other nodes did."
    )
    says = "its launcher hung, or could not reach the others"
    check = f"Look at {node}: its network, and whether its launcher still runs."
    return [Sign(node, "exit", UNREPORTED, because, says=says, check=check)]


def _of_ranks(of_rank: Mapping[int, Exit], ending: Ending, home: Mapping[int, str]) -> list[Sign]:
    kinds = {rank: _kind(item) for rank, item in of_rank.items() if rank in home}
    terminated = [rank for rank, kind in kinds.items() if kind == "told"]
    forced = sorted(rank for rank, kind in kinds.items() if kind == "killed")
    failed = [rank for rank, kind in kinds.items() if kind == "error"]
    if len(failed) + len(forced) == len(home) >= MIN_RANKS and 0 < len(forced) <= few_of(len(home)):
        return _signs(forced, home, KILLED_ALONE, f"had to be killed; {len(failed)} of {len(home)} ranks had failed.")
    if len(home) < MIN_RANKS or len(terminated) <= len(home) * MAJORITY:
        return []
    never = sorted(set(home) - set(of_rank)) if ending.ordered else []
    signs = []
    for ranks, does in ((forced, "had to be killed"), (never, "had no end reported")):
        if ranks and len(ranks) <= few_of(len(home)):
            signs += _signs(
                ranks, home, FORCED, f"{does}; {len(terminated)} of {len(home)} ranks stopped when told to."
            )
    return signs


def _of_nodes(of_node: Mapping[str, Exit | None], nodes: Sequence[str], *, hung: bool) -> list[Sign]:
    """Nodes whose exit code in job.json is not that of most.

    Args:
        hung: whether the job stood still: then who had left without an error is waited for.
    """
    known = {node: ending for node, ending in of_node.items() if node in nodes}
    if len(known) < MIN_RANKS:
        return []
    kinds = {node: _kind(ending) for node, ending in known.items()}
    usual, count = Counter(kinds.values()).most_common(1)[0]
    odd = [node for node, kind in kinds.items() if kind != usual]
    killed = [node for node, kind in kinds.items() if kind == "killed"]
    if len(killed) == 1 and set(kinds.values()) == {"killed", "error", "told"}:  # some failed, the others were ended
        odd, usual, count = killed, "error", len(known) - 1
    if count <= len(known) * MAJORITY or len(odd) > few_of(len(known)):
        return []
    by_themselves = set(kinds.values()) == {"killed", "error"}
    signs = []
    for node in odd:
        left = hung and kinds[node] == "zero" and usual in ("killed", "told")
        weight = LEFT if left else _WEIGHTS.get(kinds[node], HINT)
        weight = KILLED_ALONE if by_themselves and kinds[node] == "killed" else weight
        says = "its process had ended without an error before the others were ended" if left else ""
        because = f"{node} ended with {_words(known[node])}; {count} others with {_others(kinds, usual)}."
        signs.append(Sign(node, "exit", weight, because, says=says))
    return signs


def _crashed(of_node: Mapping[str, Exit | None]) -> list[Sign]:
    """The only node whose process crashed: nobody sends such a signal, and the others ended otherwise."""
    crashed = [(node, ending) for node, ending in of_node.items() if ending is not None and ending.signal in _CRASHES]
    if len(of_node) < MIN_RANKS or len(crashed) != 1:
        return []
    ((node, ending),) = crashed
    because = f"A process on {node} crashed (signal {ending.signal}); of {len(of_node) - 1} others none did."
    says = "a process there crashed"
    check = f"Look at the kernel log and the core dumps of {node}, and at native libraries that only it has."
    return [Sign(node, "exit", KILLED_ALONE, because, says=says, check=check)]


_WEIGHTS = {"nothing": NO_CODE, "killed": ODD}


def _kind(ending: Exit | None) -> str:
    if ending is None:
        return "nothing"
    if ending.signal == _KILLED:
        return "killed"
    return (
        "told"
        if ending.signal == _TOLD
        else "crashed"
        if ending.signal is not None
        else "zero"
        if ending.code == 0
        else "error"
    )


def _words(ending: Exit | None) -> str:
    if ending is None:
        return "no exit code"
    return f"signal {ending.signal}" if ending.signal is not None else f"exit code {ending.code}"


def _others(kinds: Mapping[str, str], usual: str) -> str:
    """How most of the other ranks ended, for a sentence."""
    mixed = {kind for kind in kinds.values() if kind != "killed"} == {"error", "told"}
    return "an error or SIGTERM" if mixed else _words_of(usual)


def _words_of(kind: str) -> str:
    return {"nothing": "none", "killed": "SIGKILL", "told": "SIGTERM", "crashed": "another signal", "zero": "0"}.get(
        kind, "an error"
    )


def _signs(ranks: Sequence[int], home: Mapping[int, str], weight: float, does: str) -> list[Sign]:
    signs = []
    for node in sorted({home[rank] for rank in ranks}):
        own = [rank for rank in ranks if home[rank] == node]
        check = f"Look at {node}: is the process still there (state D or T), kernel log, storage, device?"
        says = "a process there did not stop when it was told to"
        signs.append(
            Sign(node, "exit", weight, f"{called(own)} on {node} {does}", says=says, check=check, ranks=tuple(own))
        )
    return signs
