"""Which role a message has: root by the traces of the job's fault, else propagated or teardown by its words."""

import re
from dataclasses import dataclass

from lab.messages import Line, Message
from lab.model import Fault, PlannedJob, Trace
from lab.wording import pattern

PROPAGATED = (
    (
        "healthy rank lost its connection to a dead peer",
        r"Connection closed by peer|Connection reset by peer|Broken pipe \[",
    ),
    ("collective timed out waiting for a peer", r"Timed out waiting \d+ms for|Socket Timeout|Application timeout"),
    (
        "no answer from peers during set-up",
        r"wait timeout after \d+ms|DistStoreError|Timed out after \d+ seconds waiting for clients",
    ),
    (
        "the store or a peer cannot be reached",
        r"DistNetworkError|RendezvousConnectionError|RendezvousTimeoutError|connectFullMesh failed",
    ),
)
TEARDOWN = (
    (
        "torchrun stops its other workers",
        r"Sending process \d+ closing signal|Received \d+ death signal|SignalException",
    ),
    ("torchrun: a local worker failed", r"failed \(exitcode: -?\d+\) local_rank|ChildFailedError"),
    (
        "torchrun gives up or starts again",
        r"Unable to shutdown process|has failed to shutdown the rendezvous|\[default\] (starting|stopping) workers",
    ),
    (
        "the rendezvous or store went away",
        (
            r"RendezvousClosedError|RendezvousGracefulExitError|closing the rendezvous|Failed to recv|"
            r"(recvValue|recvVector|sendBytes|waitForInput)\w*( failed|:)"
        ),
    ),
    ("the launcher ends the job", r"^srun: |^slurmstepd: "),
    (
        "left over at the end",
        (
            r"resource_tracker|leaked semaphore|DataLoader worker .* killed by signal: Terminated|"
            r"destroy_process_group\(\) was not called|terminate called"
        ),
    ),
)
NATIVE = "[W"  # how torch's own C++ log begins; a block of it has a stack
ENDINGS = ("failed", "killing", "ended", "exited", "signalled", "stop", "hard", "limit", "lost", "unheard", "link")


@dataclass(frozen=True, slots=True)
class Verdict:
    """A message's role, and the line of it that says so."""

    role: str  # root, propagated, teardown
    reason: str
    line: Line


class Rules:
    """The rules of one job; messages are judged in their order, because a trace may be that something comes again."""

    def __init__(self, plan: PlannedJob, fault: Fault) -> None:
        self._plan = plan
        self._fault = fault
        self._traces = tuple((trace, *_words(plan, trace)) for trace in fault.traces)
        self._seen: set[str] = set()

    def judge(self, message: Message) -> Verdict | None:
        """Root rules first; the first rule that fits decides."""
        return self._root(message) or self._by_words(message) or self._by_event(message) or self._command(message)

    def is_trace(self, line: Line) -> bool:
        """Whether a line alone would be a trace."""
        return any(trace.pattern and re.search(words, line.text) for trace, _, words in self._traces)

    def _root(self, message: Message) -> Verdict | None:
        for trace, event, words in self._traces:
            line = self._trace_line(message, trace, event, words)
            if line is None:
                continue
            if trace.again and trace.event not in self._seen:
                self._seen.add(trace.event)
            else:
                return Verdict("root", trace.reason, line)
        return None

    def _trace_line(self, message: Message, trace: Trace, event: str, words: str) -> Line | None:
        """The line that a trace means, if it is the struck node's or names it."""
        struck = message.node == self._plan.node
        if event:
            possible = message.rank < 0 and (struck or not message.node)
        else:
            possible = struck or trace.anywhere or "NODE" in trace.pattern
        if not possible:
            return None
        return next((x for x in _errors_first(message) if re.search(event, x.text) and re.search(words, x.text)), None)

    def _by_words(self, message: Message) -> Verdict | None:
        lines, block = _errors_first(message), len(message.lines) > 1
        if block and lines[0].text.startswith(NATIVE):
            waiting = "failed to connect" in lines[0].text
            return Verdict("propagated" if waiting else "teardown", "the store does not answer", lines[0])
        report = next((line for line in lines if "ChildFailedError" in line.text), None)
        if report is not None:  # it quotes its workers' errors: it stays the end of the job, whatever it quotes
            return Verdict("teardown", "torchrun's report", report)
        # after a failure, launchers lose each other as well; only in the set-up does that tell something
        victim = "propagated" if message.rank >= 0 or self._fault.stage == "initialization" else "teardown"
        rules = [(victim, rule) for rule in PROPAGATED if block] + [("teardown", rule) for rule in TEARDOWN]
        for role, (reason, words) in rules:
            for line in lines:
                if re.search(words, line.text):
                    return Verdict(role, reason, line)
        return None

    def _by_event(self, message: Message) -> Verdict | None:
        line = message.lines[0]
        for event in ENDINGS if message.rank < 0 else ():
            if re.search(pattern(self._plan.settings.dialect, event), line.text) and "COMPLETED" not in line.text:
                return Verdict("teardown", f"scheduler or daemon: {event}", line)
        return None

    def _command(self, message: Message) -> Verdict | None:
        line, mistake = message.lines[0], self._fault.in_command
        if mistake and re.search(mistake, line.text):
            return Verdict("teardown", "the command line holds the mistake: neutral", line)
        return None


def _words(plan: PlannedJob, trace: Trace) -> tuple[str, str]:
    """Regular expressions of a trace: its event (empty: none), and its words with the names of this job."""
    nodes = plan.settings.nodes
    port = f"port{nodes.index(plan.node)}" if plan.node else "port"
    words = trace.pattern.replace("NODE", re.escape(plan.node)).replace("PORT", port)
    event = pattern(plan.settings.dialect, trace.event, node=plan.node) if trace.event else ""
    return event, words.replace("MASTER", re.escape(nodes[0]))


def _errors_first(message: Message) -> list[Line]:
    """Errors before the frames and sources that quote them."""
    return sorted(message.lines, key=lambda line: line.text.startswith((" ", "frame #")))
