"""The judge that names nodes: those that the most telling evidence points to, unless it concerns most of the job."""

from collections.abc import Sequence

from core.answer.confidence import RIVAL, SUPPORTED, Support, confidence, grounds_of, rivals
from core.answer.findings import (
    HELD_UP,
    MAX_SUSPECTS,
    MIN_VOICES,
    Findings,
    Verdict,
    alike_on_most,
    check_of,
    compared,
    course_of,
    held_up,
    is_stop,
    may_have_hung,
    same_ground,
    second_opinion,
    what_broke,
)
from core.facts import Blame
from core.failure_kinds import OF_THE_PROGRAM, Kind
from core.job import Status
from core.judge.candidates import Candidate, is_about_numbers
from core.judge.rank_rows import ranks_of_nodes
from core.model import Role, Scope
from core.naming import of_several, together
from core.nodes.sign import Sign, Suspicion
from core.nodes.spatial import is_local

_MEETING = frozenset({Kind.RENDEZVOUS, Kind.UNREACHABLE})
_CHOSEN = frozenset({Kind.PORT_IN_USE})  # by the job's settings: another one there may have it by right
_WRITTEN = frozenset({Kind.STORAGE, Kind.DISK_FULL, Kind.PERMISSION})
_WAITED_FOR = frozenset({"peers", "named"})  # by others: so is who works on alone
_MIN_OTHERS = 7  # of the eight of one server
_IMPLICIT = frozenset({"lacks", "no answer", "contrast", "behind", "lag"})


def of_nodes(findings: Findings) -> Verdict | None:
    """Few nodes to which the most telling evidence points, or which held up a job that hung or was slow."""
    roots = findings.roots
    ended = bool(findings.ending.repeats) and held_up(findings)  # how those who waited were ended broke nothing
    gave_up = ended or _gave_up(findings) or _never_came(findings) or _all_but_one(findings)
    lenient = gave_up or held_up(findings) or may_have_hung(findings) or _left_open(findings) or _met_in_vain(findings)
    level = HELD_UP if lenient else SUPPORTED
    accused = _accused(findings, () if gave_up else roots, level)
    if accused and _parted(findings, accused[0]):
        return None  # who waits elsewhere than the others is not stuck: the program let them part
    if not accused or MIN_VOICES <= len(findings.nodes) <= len(accused) or alike_on_most(findings):
        return None  # all of them, or most: nobody is special
    names, first = together([suspicion.node for suspicion in accused]), accused[0]
    broke = [root for root in roots if not gave_up and root.fact.says and not root.fact.stop and _is_of(root, first)]
    root = next((root for root in broke if not _is_guess(root) or _named_by(root, first)), None)
    text = what_broke(root) if root else "it went silent while the others waited for it"
    if root is None or root.fact.blame is Blame.NOBODY or not is_local(root, findings.nodes):  # what the others suffer
        text = first.signs[0].says or text
    text = of_several(text) if len(accused) > 1 else text
    support = Support(
        first.score,
        grounds_of(first.signs),
        findings.voices,
        rivals(accused, findings.suspicions),
        completed=findings.completed,
        of_program=root is not None and (root.fact.kind in OF_THE_PROGRAM | _CHOSEN or _alone_writes(findings, root)),
    )
    support = compared(findings, support, {suspicion.node for suspicion in accused})
    look = f"Look at {names} itself: process state, kernel log, power, network; take it out and restart."
    alone = accused[0].node if len(accused) == 1 and findings.unit == "node" else ""
    check = check_of(root.fact.check, alone) if root else first.signs[0].check or look
    course = (course_of(findings.ending),) if held_up(findings) else ()
    since = first.signs[0].iteration
    when = f", from iteration {since} on" if root is None and since is not None else _when(findings)
    headline = f"Look at {names}: {text}{when}."
    why = (*(sign.because for sign in first.signs), *course, *second_opinion(support))
    return Verdict(Scope.NODE, confidence(support), headline, why, tuple(accused), (check,))


def _alone_writes(findings: Findings, root: Candidate) -> bool:
    """Whether a file cannot be written, as the first rank says: it writes for all, and where to all nodes may share."""
    table, manifest = findings.parsed.table, findings.parsed.job.manifest
    homes = [node for node, ranks in ranks_of_nodes(table, manifest.node_ranks).items() if 0 in ranks]
    is_first = root.ranks == (0,) or (not root.ranks and list(root.nodes) == homes)
    return root.fact.kind in _WRITTEN and is_first


def _parted(findings: Findings, first: Suspicion) -> bool:
    """Whether the program let ranks part, or one work alone, and nothing but that points to a node."""
    alone = findings.alone if findings.alone is not None and findings.alone.node == first.node else None
    explained = all(
        sign.channel in _IMPLICIT | {"silence"}
        or _tells_of_mismatch(findings, sign)
        or (alone is not None and (sign.event == alone.event or sign.channel in _WAITED_FOR))
        for sign in first.signs
    )
    let_part = findings.mismatch is not None or alone is not None
    return (let_part and explained) or (bool(findings.crossed) and _only_implicit(first))


def _tells_of_mismatch(findings: Findings, sign: Sign) -> bool:
    """Whether a vote is about nothing but ranks that wait in another collective: they count otherwise, too."""
    parts = findings.mismatch.operations[1:] if findings.mismatch is not None else ()
    apart = {rank for _, ranks in parts for rank in ranks}
    return sign.channel == "votes" and bool(sign.ranks) and apart.issuperset(sign.ranks)


def _is_of(root: Candidate, suspicion: Suspicion) -> bool:
    return suspicion.node in root.nodes or any(sign.event == root.event for sign in suspicion.signs)


def _gave_up(findings: Findings) -> bool:
    """Whether all that broke was said in words that nobody knows, when a job had long stood still: who waited gave up.

    By others than the first suspect: what it says itself is what broke there.
    """
    roots = [root for root in findings.roots if not is_stop(root)]
    if not roots or not findings.ending.hung or not findings.suspicions or any(root.fact.known for root in roots):
        return False
    return all(findings.suspicions[0].node not in root.nodes for root in roots if not _is_guess(root))


def _never_came(findings: Findings) -> bool:
    """Whether processes waited to meet, as all that spoke say, and one node was never heard, or they name it."""
    roots = [root for root in findings.roots if not (is_stop(root) or _is_guess(root))]
    if not roots or not findings.suspicions or any(root.fact.kind != Kind.RENDEZVOUS for root in roots):
        return False
    first = findings.suspicions[0].signs[0]
    return first.channel in _WAITED_FOR | {"missing"} and first.weight >= HELD_UP


def _all_but_one(findings: Findings) -> bool:
    """Whether what broke was said by every rank but one, which others waited for, and the first suspect said nothing.

    All others gave up waiting for it, in whatever words. Of few ranks one that says nothing may have been ended first.
    """
    roots = [root for root in findings.roots if not (is_stop(root) or _is_guess(root))]
    if not roots or not findings.suspicions:
        return False
    waited = findings.ending.hung or any(item.role is Role.PROPAGATED and item.ranks for item in findings.candidates)
    table, manifest = findings.parsed.table, findings.parsed.job.manifest
    known = set(table.ranks).union(*ranks_of_nodes(table, manifest.node_ranks).values())
    ranks = max(len(known), manifest.world_size or 0)
    said = len(roots[0].ranks) or roots[0].count
    quiet = findings.suspicions[0].signs[0].channel in _IMPLICIT | {"silence"}
    return waited and quiet and said == ranks - 1 >= _MIN_OTHERS


def _left_open(findings: Findings) -> bool:
    """Whether the logs stop while few ranks lack what the others said or ended otherwise, and nothing tells what broke.

    Of a job that failed, or of which nobody tells how it ended.
    """
    untold = (
        findings.parsed.job.status in (Status.FAILED, Status.RUNNING, Status.UNKNOWN) and not findings.ending.ordered
    )
    signs = [sign for suspicion in findings.suspicions for sign in suspicion.signs]
    odd = any(sign.channel == "lacks" or (sign.channel == "exit" and sign.weight >= HELD_UP) for sign in signs)
    return untold and not findings.roots and odd


def _met_in_vain(findings: Findings) -> bool:
    """Whether processes waited to meet, and few lack what all others said until then: for those they waited."""
    roots = [root for root in findings.roots if not (is_stop(root) or _is_guess(root))]
    if not roots or roots[0].fact.kind not in _MEETING or not findings.suspicions:
        return False
    return any(sign.channel == "lacks" for sign in findings.suspicions[0].signs)


def _when(findings: Findings) -> str:
    """Where in its course the job failed, and that it hung or was slow, if it did."""
    ending = findings.ending
    if not held_up(findings):
        return findings.place
    if ending.slow is not None and not ending.hung:
        return f"; the job was slow from iteration {ending.slow.iteration} on"
    return f"; the job hung{findings.place}"


def _accused(findings: Findings, roots: Sequence[Candidate], level: float) -> tuple[Suspicion, ...]:
    """Suspects worth naming: none when the leading root concerns more than a part of the nodes."""
    suspicions, nodes = findings.suspicions, findings.nodes
    if not suspicions or suspicions[0].score < level:
        return ()
    roots = [root for root in roots if not (is_stop(root) or _is_guess(root))]
    shared = bool(roots) and bool(roots[0].nodes) and not is_local(roots[0], nodes)
    if shared and not (_named_by(roots[0], suspicions[0]) or _spread_from(roots[0], suspicions[0])):
        return ()
    if roots and not roots[0].nodes and _only_implicit(suspicions[0]) and roots[0].score >= SUPPORTED:
        return ()  # what the job itself raised is told; who stood still then waited for it
    if roots and _concerns_all(roots[0], told_by_ranks=bool(findings.parsed.table.ranks)):
        return ()
    waits = bool(roots) and roots[0].fact.blame is Blame.NOBODY and suspicions[0].node in roots[0].nodes
    if waits and not _named_by(roots[0], suspicions[0]):
        return ()  # who reports that somebody is missing is not the one who is
    top = suspicions[0]
    as_likely = [
        other
        for place, other in enumerate(suspicions[1:], start=1)
        if (place < MAX_SUSPECTS or other.node in top.signs[0].group)
        and other.score >= RIVAL * top.score
        and same_ground(top, other)
    ]
    return (top, *as_likely)


def _concerns_all(root: Candidate, *, told_by_ranks: bool) -> bool:
    """Whether a driver tells it, of a program that none of its processes could run, or of a service, as the first rank.

    Those alone talk to trackers and hubs, for all.

    Args:
        told_by_ranks: whether the job's logs tell ranks apart: who is none of them drives them.
    """
    of_driver = root.fact.blame is Blame.NOBODY and not root.nodes and root.fact.kind in OF_THE_PROGRAM
    first = root.ranks == (0,) or (not root.ranks and told_by_ranks)
    return of_driver or (root.fact.kind == Kind.REMOTE_SERVICE and first)


def _is_guess(root: Candidate) -> bool:
    """Whether nothing but its level makes it a failure: words that nobody knows, and that all say, excuse no node."""
    return not root.fact.known and root.score < SUPPORTED


def _only_implicit(suspicion: Suspicion) -> bool:
    """Whether nothing but what a rank did not say points to it."""
    return all(sign.channel in _IMPLICIT for sign in suspicion.signs)


def _named_by(root: Candidate, suspicion: Suspicion) -> bool:
    return any(sign.event == root.event for sign in suspicion.signs)


def _spread_from(root: Candidate, suspicion: Suspicion) -> bool:
    """Whether all have what one had first: a nan, which the next gradient carries to the others."""
    return is_about_numbers([root]) and any(sign.channel == "agreement" for sign in suspicion.signs)
