"""Answers to "this or that": my code or the hardware, bad data or a bad GPU, a crash or the time limit."""

import re

from bot.ask import about_verdict
from bot.ask.about_relation import ended_well
from bot.ask.question import Question
from bot.ask.reply_lines import Lines, cited, lower
from bot.ask.subject import Subject
from bot.text import wording
from core.model import Scope

_OR = re.compile(r"(.{2,80}?)\bor\b(.{2,80})")
_SIDES = {
    "program": r"code|scripts?|programs?|configs?|configuration|settings?|framework|model|bugs?|software|lr|us|me",
    "data": r"data|dataset|shards?|batch|tokens?|samples?",
    "machine": r"gpus?|hardware|hw|nodes?|machines?|box|hosts?|servers?|cable|nics?|cards?|rams?|dimms?|cpus?|nodename",
    "network": r"network|fabric|switch|ib|infiniband|links?|rdma|ethernet|nccl",
    "storage": r"storage|bucket|disks?|filesystem|nfs|lustre|s3|fs",
    "cluster": r"cluster|infra\w{0,12}|platform|scheduler|slurm|kubernetes|k8s|ops|cloud",
    "end": r"walltime|wall time|time limit|out of time|preempt\w{0,4}|cancel\w{0,4}|finish\w{0,2}|complet\w{0,3}",
    "crash": r"crash\w{0,2}|fail\w{0,2}|die[ds]?",
}
_ENDS = {"end", "crash"}


def either(subject: Subject, question: Question) -> Lines | None:
    """Which of two it was; None where a question does not choose between two that may be at fault."""
    match = _OR.search(question.plain)
    if match is None or question.says("sure", "confident", "certain"):
        return None
    one, other = _side(match[1], last=True), _side(match[2], last=False)
    if not one or not other or one == other:
        return None
    diagnosis, lead = subject.diagnosis, subject.leading
    if {one, other} <= _ENDS:
        return [cited(ended_well(subject, badly=True)), *about_verdict.verdict(subject, question)[1:]]
    lines = about_verdict.blame(subject, question)
    kind = diagnosis.next.kind if diagnosis.next else ""
    one_of_many = diagnosis.scope is Scope.NODE and diagnosis.nodes and len(subject.parsed.nodes) > 1
    alone = one_of_many and kind not in about_verdict.NODE_KINDS
    if alone and {"program", "data"} & {one, other}:
        suspect = diagnosis.nodes[0]
        ranks = lead.ranks if lead and len(lead.ranks) == 1 else suspect.ranks
        own = f" ({wording.ranks(ranks)})" if ranks and not suspect.node.startswith("rank") else ""
        says = f"Rather {suspect.node}{own} itself than code or data that all share: what failed shows there and "
        says += f"not on the others, which run the same: {lower(diagnosis.headline)}."
        return [cited(says, suspect.id, *([lead.id] if lead else [])), *lines[1:]]
    return lines


def _side(text: str, *, last: bool) -> str:
    """Which part of a job a clause speaks of: the last one before the "or", the first one behind it."""
    found = [
        (match.start(), side) for side, words in _SIDES.items() for match in re.finditer(rf"\b(?:{words})\b", text)
    ]
    return (max(found) if last else min(found))[1] if found else ""
