"""One run of checks: what may run beside a job on all nodes, the others on idle ones, a tenth of them at a time."""

import sys
from collections.abc import Mapping, Sequence

from bot.commandline.check_nodes.node_checks import ALL_PAIRS, BITS, Chosen, NodeChecks, Results
from bot.commandline.check_nodes.node_file import fabrics_of, on_fabric
from bot.commandline.check_nodes.pairs import Rounds, check_bits, gathers, judge_rounds, waves
from bot.commandline.check_nodes.run import AT_ONCE, Node, each, filled
from bot.commandline.check_nodes.sessions import Sessions
from core.checks.catalogue import Check
from core.checks.check_output import Reading, among, read_check
from core.checks.check_verdict import CheckOutcome, Pair, Ran
from core.checks.links import Link

_BUSY = ("nvidia-smi", "--query-compute-apps=pid", "--format=csv,noheader")
_WHO = ("id", "-u")
_LOOK_S = 20.0  # chosen: both answer in a second or two, nvidia-smi without persistence mode takes some more
_IN_USE: Reading = CheckOutcome.UNKNOWN, "its GPUs are in use", None
_NOT_ROOT: Reading = CheckOutcome.UNKNOWN, "it needs root there", None
_ALONE = CheckOutcome.UNKNOWN, "a pair needs two idle nodes"

Outcomes = Mapping[str, tuple[CheckOutcome, str]]


class Checking:
    """What is asked of nodes once is remembered: who is busy, and where we are root."""

    def __init__(self, wanted: NodeChecks) -> None:
        self._wanted, self._run = wanted, wanted.runner.run
        self._busy: set[str] | None = None
        self._roots: set[str] | None = None

    def all(self, checks: Chosen, results: Results) -> tuple[Link, ...]:
        """Fills results, and gives bad links."""
        links: set[Link] = set()
        for check in checks.checks:
            sys.stderr.write(f"{check.name}: {check.what}\n")
            found, bad = self._one(check)
            results[check.name] = dict(found)
            links |= set(bad)
        with Sessions(self._wanted.runner, self._wanted.how.python) as sessions:
            for name in checks.own:
                sys.stderr.write(f"{name}\n")
                links |= self._own(name, sessions, results)
        return tuple(sorted(links, key=lambda link: (link.nodes, link.says)))

    def _own(self, name: str, sessions: Sessions, results: Results) -> set[Link]:
        """One of our own checks: fills results, and gives bad links."""
        if name == BITS:
            verdicts = check_bits(self._idle(), sessions, self._wanted.side_by_side)
            results[name] = self._padded(_with_reasons(verdicts, sessions), self._wanted.nodes)
            return set()
        links = set()
        for fabric in fabrics_of(self._wanted.nodes):
            found, bad = self._gathers(sessions, fabric, every=name == ALL_PAIRS or self._wanted.meets_all)
            results[f"{name} {fabric}".strip()] = dict(found)
            links |= {Link(link.nodes, f"{fabric}: {link.says}" if fabric else link.says) for link in bad}
        return links

    def _one(self, check: Check) -> tuple[Outcomes, tuple[Link, ...]]:
        if check.scope == "pair":
            return self._judged(self._idle(), self._site_rounds(check), self._wanted.nodes)
        if check.scope == "group":
            return self._group(check), ()
        at_once = self._wanted.side_by_side if check.idle else AT_ONCE
        read = each(lambda node: self._read(check, node), self._wanted.nodes, at_once)
        return among(dict(zip((node.name for node in self._wanted.nodes), read, strict=True)), check), ()

    def _read(self, check: Check, node: Node) -> Reading:
        if check.idle and node.name in self._in_use():
            return _IN_USE
        if "root" in check.needs and node.name not in self._as_root():
            return _NOT_ROOT
        return read_check(self._run(node, filled(check, node), check.timeout_s), check)

    def _group(self, check: Check) -> Outcomes:
        """A check of all idle nodes at once, run on the first: what it says, it says of none of them alone."""
        idle = self._idle() if check.idle else list(self._wanted.nodes)
        if not idle:
            return self._padded({}, self._wanted.nodes)
        words = filled(check, idle[0], group=idle)
        outcome, says, _ = read_check(self._run(idle[0], words, check.timeout_s), check)
        if outcome is CheckOutcome.FAILED:
            outcome, says = CheckOutcome.UNKNOWN, f"the group of {len(idle)} failed: {says}"
        return self._padded({node.name: (outcome, says) for node in idle}, self._wanted.nodes)

    def _site_rounds(self, check: Check) -> Rounds:
        """Rounds of a site's own check of pairs: run on the first of two; who passed took the same time."""
        known = {node.name: node for node in self._wanted.nodes}

        def pair(number: int, nodes: tuple[str, str]) -> Pair:
            first, second = known[nodes[0]], known[nodes[1]]
            if "root" in check.needs and first.name not in self._as_root():
                return Pair(number, nodes, None, unknown=True)
            outcome, _, _ = read_check(self._run(first, filled(check, first, peer=second), check.timeout_s), check)
            return Pair(number, nodes, 1.0 if outcome is CheckOutcome.PASSED else None, outcome is CheckOutcome.UNKNOWN)

        def rounds(number: int, pairs: Sequence[tuple[str, str]]) -> list[Pair]:
            done: list[Pair] = []
            for wave in waves(pairs, min(2 * AT_ONCE, self._wanted.side_by_side)):
                done += each(lambda nodes: pair(number, nodes), wave)
            return done

        return rounds

    def _gathers(self, sessions: Sessions, fabric: str, *, every: bool) -> tuple[Outcomes, tuple[Link, ...]]:
        idle = on_fabric(self._idle(), fabric)
        rounds = gathers(idle, sessions, self._wanted.how, min(AT_ONCE, self._wanted.side_by_side))
        verdicts, links = self._judged(idle, rounds, on_fabric(list(self._wanted.nodes), fabric), every=every)
        return _with_reasons(verdicts, sessions), links

    def _judged(
        self, idle: Sequence[Node], rounds: Rounds, nodes: Sequence[Node], *, every: bool = False
    ) -> tuple[Outcomes, tuple[Link, ...]]:
        if len(idle) < 2:
            return self._padded({}, nodes), ()
        outcomes, links = judge_rounds([node.name for node in idle], rounds, every=every)
        return self._padded(outcomes, nodes), links

    def _padded(self, outcomes: Outcomes, nodes: Sequence[Node]) -> dict[str, tuple[CheckOutcome, str]]:
        """Outcomes of all nodes: what was not run on one is unknown."""
        busy = self._in_use()
        return {node.name: outcomes.get(node.name, _IN_USE[:2] if node.name in busy else _ALONE) for node in nodes}

    def _idle(self) -> list[Node]:
        return [node for node in self._wanted.nodes if node.name not in self._in_use()]

    def _in_use(self) -> set[str]:
        """Nodes with a process on a GPU."""
        if self._busy is None:
            ran = self._asked(_BUSY)
            self._busy = {
                node
                for node, answer in ran.items()
                if answer.code == 0 and any(line.strip().isdigit() for line in answer.output.splitlines())
            }
        return self._busy

    def _as_root(self) -> set[str]:
        """Nodes on which commands run as root."""
        if self._roots is None:
            ran = self._asked(_WHO)
            self._roots = {node for node, answer in ran.items() if answer.code == 0 and answer.output.strip() == "0"}
        return self._roots

    def _asked(self, command: tuple[str, ...]) -> dict[str, Ran]:
        ran = each(lambda node: self._run(node, command, _LOOK_S), self._wanted.nodes)
        return dict(zip((node.name for node in self._wanted.nodes), ran, strict=True))


def _with_reasons(verdicts: Outcomes, sessions: Sessions) -> dict[str, tuple[CheckOutcome, str]]:
    """The same, and of nodes of which nothing is known why: torch is not there, nobody answers."""
    return {
        node: (outcome, why if outcome is CheckOutcome.UNKNOWN and (why := sessions.why_not(node)) else says)
        for node, (outcome, says) in verdicts.items()
    }
