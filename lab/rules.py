"""Which role a message has: root by the traces of the job's fault, else propagated or teardown by its words."""

import re
from dataclasses import dataclass

from lab.messages import Line, Message
from lab.model import Fault, PlannedJob, Trace

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
    ("torchrun: a local worker failed", r"no error file defined for parent"),
    ("Slurm ends the job", r"^srun: |^slurmstepd\S*: "),
    (
        "Slurm's controller ends the job",
        r"(REQUEST_KILL_JOB|_job_complete:|Time limit exhausted for|Killing|preempted|error: Nodes ).*",
    ),
    ("Lightning was told to stop", r"Received SIGTERM: 15"),
    (
        "supervisord: a program ended, or is ended",
        r"INFO (?:\w+ )?exited: train \((?!exit status 0)|WARN (?:exited|killing|stopped|received SIGTERM)",
    ),
    ("a stack, printed when the rank was told to end", r"^(Current thread|Thread) 0x"),
    (
        "left over at the end",
        (
            r"resource_tracker|leaked semaphore|DataLoader worker .* killed by signal: Terminated|"
            r"destroy_process_group\(\) was not called|terminate called"
        ),
    ),
)
LAUNCHER = "torch/distributed/run.py"  # in every traceback of torchrun itself
NATIVE = "[W"  # how torch's own C++ log begins; a block of it has a stack


@dataclass(frozen=True, slots=True)
class Verdict:
    """A message's role, and the line of it that says so."""

    role: str  # root, propagated, teardown
    reason: str
    line: Line


class Rules:
    """The rules of one job."""

    def __init__(self, plan: PlannedJob, fault: Fault) -> None:
        self._plan = plan
        self._fault = fault
        self._traces = tuple((trace, _words(plan, trace)) for trace in fault.traces)

    def judge(self, message: Message) -> Verdict | None:
        """Root rules first; the first rule that fits decides."""
        return self._root(message) or self._by_words(message) or self._command(message)

    def is_trace(self, line: Line) -> bool:
        """Whether a line alone would be a trace."""
        return any(re.search(words, line.text) for _, words in self._traces)

    def _root(self, message: Message) -> Verdict | None:
        for trace, words in self._traces:
            struck = message.node == self._plan.node
            if not (struck or trace.anywhere or "NODE" in trace.pattern):
                continue
            line = next((line for line in _errors_first(message) if re.search(words, line.text)), None)
            if line is not None:
                return Verdict("root", trace.reason, line)
        return None

    def _by_words(self, message: Message) -> Verdict | None:
        lines = _errors_first(message)
        if len(lines) > 1 and lines[0].text.startswith(NATIVE):
            waiting = "failed to connect" in lines[0].text
            return Verdict("propagated" if waiting else "teardown", "the store does not answer", lines[0])
        report = next((line for line in lines if "ChildFailedError" in line.text), None)
        if report is not None:  # it quotes its workers' errors: it stays the end of the job, whatever it quotes
            return Verdict("teardown", "torchrun's report", report)
        # after a failure, launchers lose each other as well; only in the set-up does that tell something
        launcher = message.rank < 0 and any(LAUNCHER in line.text for line in lines)
        victim = "teardown" if launcher and self._fault.stage != "initialization" else "propagated"
        rules = [(victim, rule) for rule in PROPAGATED if message.is_error]
        for role, (reason, words) in (*rules, *(("teardown", rule) for rule in TEARDOWN)):
            for line in lines:
                if re.search(words, line.text):
                    return Verdict(role, reason, line)
        return None

    def _command(self, message: Message) -> Verdict | None:
        line, mistake = message.lines[0], self._fault.in_command
        if mistake and re.search(mistake, line.text):
            return Verdict("teardown", "the command line holds the mistake: neutral", line)
        return None


def _words(plan: PlannedJob, trace: Trace) -> str:
    """Regular expression of a trace, with the names of this job."""
    words = trace.pattern.replace("NODE", re.escape(plan.node))
    return words.replace("MASTER", re.escape(plan.settings.nodes[0]))


def _errors_first(message: Message) -> list[Line]:
    """Errors before the frames and sources that quote them."""
    return sorted(message.lines, key=lambda line: line.text.startswith((" ", "frame #")))
