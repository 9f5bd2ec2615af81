"""Who holds a job up by work that it began and did not end, while most have ended theirs or wait for it."""

from collections import Counter
from collections.abc import Mapping, Sequence

from core.events.row_text import read_rows
from core.failure_kinds import Kind
from core.job import Status
from core.judge.candidates import Candidate
from core.judge.ending import Ending
from core.judge.phrase import without_head
from core.judge.ranking import quote
from core.judge.work_spans import Span
from core.model import Role
from core.nodes.sign import Sign, short
from core.nodes.stall import said_instead
from core.parsed import Parsed
from core.shares import MAJORITY, MIN_RANKS, are_few, few_of

UNFINISHED = 0.4  # like what it lacks of its peers' last words (core.nodes.stall.LACKS), which is the same


def unfinished_signs(parsed: Parsed, ending: Ending, spans: Sequence[Span], home: Mapping[int, str]) -> list[Sign]:
    """Signs for the nodes of the few ranks that began what they did not end, when most had ended it or waited for them.

    Args:
        home: node of each rank.
    """
    if len(home) < MIN_RANKS or not _is_open_end(parsed, ending):
        return []
    signs, alone_signs = [], []
    for span in spans:
        few = sorted(span.open.keys() & home.keys())
        half = len({home[rank] for rank in few}) == 1  # of two nodes, all of one
        if not few or not (are_few(few, home, home) or half):
            continue
        most = Counter(span.begun.values()).most_common(1)[0][0]
        came = [rank for rank in home if span.begun.get(rank, 0) == most]
        ended = [rank for rank in home if span.ended.get(rank, 0) == most]
        alone = len(span.ended) <= few_of(len(home))  # the end is told by few: it is their own work
        if len(came) <= len(home) * MAJORITY or any(span.begun[rank] != most for rank in few):
            continue
        everyone_else = len(ended) + len(few) == len(home)
        if len(ended) > len(home) * MAJORITY or (everyone_else and ending.hung):
            signs += _signs(parsed, span, few, f"{len(ended)} of {len(home)} {parsed.table.speakers} did", home)
        elif alone and ending.hung:
            rest = "all came so far, and only it had something left to do"
            alone_signs += _signs(parsed, span, few, rest, home)
    return signs or alone_signs  # what waits for all to end comes after what few have not ended


def speechless_signs(parsed: Parsed, candidates: Sequence[Candidate], home: Mapping[int, str]) -> list[Sign]:
    """Signs for the nodes of the few ranks that fell silent with the last progress, while most spoke on.

    Args:
        home: node of each rank.
    """
    late = [
        candidate
        for candidate in candidates
        if candidate.fact.kind == Kind.LAST_WORDS and candidate.role is Role.PROPAGATED
    ]
    speaking = {rank for candidate in late for rank in candidate.ranks} & home.keys()
    reporters = {
        rank for candidate in candidates if candidate.role is Role.ROOT for rank in candidate.ranks
    }  # who is dead says no more
    few = sorted(home.keys() - speaking - reporters)
    if len(home) < MIN_RANKS or len(speaking) <= len(home) * MAJORITY or not few:
        return []
    if not are_few(few, home, home):
        return []
    text = short(quote(late[0].text), 60)
    most = f"{len(speaking)} of {len(home)} {parsed.table.speakers} went on to say such as \u201c{text}\u201d"
    signs = []
    for node in sorted({home[rank] for rank in few}):
        own = [rank for rank in few if home[rank] == node]
        instead = said_instead(parsed, late[0].rows, own)
        lacks = "did not say so" if instead else "said nothing after the last progress"
        because = f"{parsed.table.called(own, node)} {lacks}; {most}.{instead}"
        check = f"See whether its process on {node} still runs; look at the kernel log and the power of that machine."
        says = "it was elsewhere" if instead else "it fell silent"
        says = f"{says} while the others said that they wait"
        signs.append(Sign(node, "lacks", UNFINISHED, because, says=says, check=check, ranks=tuple(own)))
    return signs


def _is_open_end(parsed: Parsed, ending: Ending) -> bool:
    """Whether the job may have stood still in the end: it did by its clock, or nobody tells how it ended."""
    untold = parsed.job.status in (Status.RUNNING, Status.UNKNOWN) and not ending.ordered and ending.failed is None
    at_its_pace = ending.slow is None or ending.slow.than_good_jobs
    return ending.hung or ending.pausing or ending.vague or untold or (ending.undated and at_its_pace)


def _signs(parsed: Parsed, span: Span, few: Sequence[int], rest: str, home: Mapping[int, str]) -> list[Sign]:
    texts = read_rows(parsed.files, parsed.table, [span.open[rank] for rank in few])
    ends = short(without_head(span.ends), 60)
    signs = []
    for node in sorted({home[rank] for rank in few}):
        own = [rank for rank in few if home[rank] == node]
        begins = short(without_head(quote(texts.get(span.open[own[0]], span.begins))), 60)
        because = (
            f"{parsed.table.called(own, node)} said \u201c{begins}\u201d and never came to \u201c{ends}\u201d; {rest}."
        )
        check = f"Look at what that takes on {node}: storage and mounts, the network to it, a process that is stuck."
        says = f"it never got past \u201c{begins}\u201d"
        signs.append(Sign(node, "lacks", UNFINISHED, because, says=says, check=check, ranks=tuple(own)))
    return signs
