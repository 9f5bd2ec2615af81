"""What the network saw of a job whose logs were read: signs of nodes, sentences for the rest (docs/how-to/flows.md)."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from core.flows.answer import FlowFinding, FlowsAnswer, JobAnswer
from core.judge.candidates import Candidate
from core.judge.rank_rows import last_words
from core.model import Diagnosis, Role, Skipped
from core.nodes.blame import Names
from core.nodes.sign import Sign
from core.parsed import Parsed

# Chance that the named one is at fault: of ten that were named by these kinds in 30 sets of real jobs ten were; less is
# taken, for all were one kind of network, and most had been looked at while the rules were written (docs/LOG.md)
WEIGHT = {"hang": 0.65, "slow_nic": 0.7, "slow_compute": 0.65, "drift": 0.6}
SAYS = {
    "hang": "its network interface fell silent first, with connections open",
    "slow_nic": "its link is slow",
    "slow_compute": "its own work takes longer than that of the others",
    "drift": "it gets slower and slower",
}
CHECKS = {
    "hang": "Dump the stacks of the processes there (py-spy dump) and see what they wait for.",
    "slow_nic": "Look at the link: its speed, errors and drops (ethtool -S), cable and optics, the switch port.",
    "slow_compute": "Look at clocks, temperature and power of the accelerators there, and at what else runs there.",
    "drift": "Look at what grows there: memory, files, threads, temperature.",
}
ZONES_US = 14 * 3_600_000_000  # microseconds that the clock of a log may be off without a zone
MOST = 0.5  # of the NICs of a job in the flows, that belong to nodes of this one


@dataclass(frozen=True, slots=True)
class FlowEvidence:
    """Signs of the channel "network", sentences that name no node, and why there is no more."""

    signs: tuple[Sign, ...] = ()
    remarks: tuple[str, ...] = ()
    skipped: tuple[Skipped, ...] = ()


def find_flow_evidence(parsed: Parsed, candidates: Sequence[Candidate], seen: FlowsAnswer | None) -> FlowEvidence:
    """Evidence of the flows for the job of the logs; nothing where no flows were given."""
    if seen is None:
        return FlowEvidence()
    names = Names(parsed.table, parsed.job.manifest)
    ours = [job for job in seen.jobs if _share(names, job) > MOST]
    if not ours:
        reason = f"None of the {len(seen.jobs)} jobs in the flows has a NIC or server that job.json or the logs name."
        return FlowEvidence(skipped=(Skipped("network", reason),))
    if not _same_time(parsed, seen):
        return FlowEvidence(skipped=(Skipped("network", "The flows are of another time than the logs."),))
    spoke = {node for candidate in candidates if candidate.role is Role.ROOT for node in candidate.nodes}
    signs, sentences = [], []
    for job in ours:
        for finding in job.findings:
            node = _node(names, finding)
            if node is not None and finding.kind in WEIGHT:
                quiet = "" if node in spoke or node not in parsed.table.nodes else " Its own log says nothing of it."
                because = f"The network, {job.id}: {finding.because}{quiet}"
                weight, says, check = WEIGHT[finding.kind], SAYS[finding.kind], CHECKS[finding.kind]
                signs.append(Sign(node, "network", weight, because, says=says, check=check))
            else:
                sentences.append(f"The network, {job.id}: {finding.because}")
    reasons = tuple(
        Skipped(f"network: {skipped.step}", skipped.reason)
        for skipped in seen.skipped
        if not _of_another(skipped.reason, {job.id for job in ours})
    )
    return FlowEvidence(tuple(signs), tuple(sentences), reasons)


def with_network(answer: Diagnosis, network: FlowEvidence) -> Diagnosis:
    """The answer with what the network tells of the job as a whole, and what it could not tell."""
    if not network.remarks and not network.skipped:
        return answer
    return replace(answer, why=(*answer.why, *network.remarks), skipped=(*answer.skipped, *network.skipped))


def _share(names: Names, job: JobAnswer) -> float:
    return sum(names.node(nic) is not None for nic in job.nics) / len(job.nics) or sum(
        names.node(server) is not None for server in job.servers
    ) / max(1, len(job.servers))


def _node(names: Names, finding: FlowFinding) -> str | None:
    subject = finding.subject
    if subject is None:
        return None
    return next((node for name in (subject.nic, subject.server) if name and (node := names.node(name))), None)


def _same_time(parsed: Parsed, seen: FlowsAnswer) -> bool:
    """Whether the flows may be of the time of the logs; where no clock is read, nobody knows better."""
    last = last_words(parsed.table).values()
    return not last or (min(last) - ZONES_US <= seen.span[1] and seen.span[0] <= max(last) + ZONES_US)


def _of_another(reason: str, ours: set[str]) -> bool:
    """Whether a reason begins with the id of another job of the flows."""
    job = reason.partition(":")[0]
    return job.startswith("J") and job[1:].isdigit() and job not in ours
