"""Whom reports of all ranks name since a job is slow: now this rank, now that one before, always the same node since.

Or whom they rate below all others, as nvidia-resiliency-ext does (``Rank=9 Node=nv-8b Score=0.59``).

Megatron's straggler detector (``MxTmp/Rnk: 87.00C/27``) and many a script print who is the slowest, the hottest, the
last to come. While all are well chance decides, so that one name in each report tells more than any number in it.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Collection, Iterator, Mapping

import numpy as np

from core.course.iterations import NO_ITERATION
from core.events.row_text import each_row
from core.judge.ending import Ending
from core.judge.ranking import quote
from core.nodes.sign import Sign
from core.parsed import Parsed
from core.shares import MAJORITY, MIN_RANKS

NAMED = 0.7  # as sure as a part of a step that the ranks print themselves (core.nodes.slow): somebody measured it
MIN_BEFORE, MIN_SINCE = 4, 4  # reports: of four nodes chance names one four times in 1.6 % of jobs
MIN_RUN = 12  # reports in a row that name one of three nodes by chance once in half a million
ALWAYS = 0.9  # of the reports since then: one may tell of a step that a checkpoint held up
MAX_ROWS = 2_000  # reports of one kind that are read
MAX_KINDS = 64  # of reports, those said most often: a program prints a few (as core.judge.repeats reads files)
BESIDE = 40  # characters before a name that say what it is named for
_TELLS = re.compile(r"rank|rnk|slow|straggl|worker|node|host", re.IGNORECASE)
# A rank by its number: "slowest rank 8", "rank=8", "slowest=rank8", and Megatron's "MnClk/Rnk: 1965.00MHz/8"
_RANK = re.compile(
    r"(?:rank|rnk)(?:\b[^\w|,;]{0,3}(?:\d+(?:\.\d+)?[A-Za-z%]{0,4}/)?)?(\d{1,6})(?![\w.:%])", re.IGNORECASE
)
_NAME = re.compile(r"[A-Za-z0-9][\w.-]*\w")

# nvidia-resiliency-ext, ptl_resiliency/straggler_det_callback.py: how fast a device is, of the fastest or of itself
# The name of a node is taken out of a line that begins with it (core.parsing.speakers)
_SCORE = re.compile(r"\bRank=(?P<rank>\d{1,6})(?: Node=(?P<node>[\w.-]{1,63}))? Score=(?P<score>\d\.\d{1,6})")
MIN_RATED = 3  # reports that rate it so; its detector has measured many steps for each
SLOW_SCORE = 0.75  # its default threshold is .7; the fast ones are within a tenth of each other

Place = tuple[str, int]  # how somebody is named, and at which place of those in the line


def reported_signs(parsed: Parsed, ending: Ending, home: Mapping[int, str]) -> list[Sign]:
    """A sign for the one node that reports name again and again since the job is slow, and did not before.

    Args:
        home: node of each rank.
    """
    slow = ending.slow or ending.drift
    if len(parsed.nodes) < MIN_RANKS or (slow is not None and slow.than_good_jobs):
        return []
    if not ending.steady and (rated := _rated(parsed, slow.iteration if slow is not None else 0, home)) is not None:
        return [rated]
    # node: how many reports name it, one of them, since when, and the row of the first one since then
    named: dict[str, tuple[int, str, int, int]] = {}
    for event in _reports(parsed):
        onset = _onset(parsed, event, home) if slow is None else slow.iteration
        for node, times, text, row in _always(parsed, event, onset, home) if onset is not None else ():
            named[node] = max(named.get(node, (0, "", 0, 0)), (times, text, onset or 0, row))
    if len(named) != 1:
        return []
    ((node, (times, text, since, row)),) = named.items()
    return [
        Sign(
            node,
            "own part",
            NAMED,
            f"Since iteration {since} {times} reports name {node}, such as \u201c{text}\u201d; before they "
            "named now this one, now that.",
            says="reports name it as the slowest ever since",
            check=f"Compare {node} with a healthy node: clocks and throttling, temperature, load of others, network.",
            iteration=since,
            rows=(row,),
        )
    ]


def _onset(parsed: Parsed, event: int, home: Mapping[int, str]) -> int | None:
    """The iteration since which a report names one node until the end, where no pace tells when the job slowed down."""
    table, of_row = parsed.table, parsed.iterations.of_row
    rows = table.rows_of([event])[event]
    named: dict[Place, list[tuple[int, str]]] = defaultdict(list)
    nodes = frozenset(parsed.nodes)
    for row, text in each_row(parsed.files, table, rows[of_row[rows].astype(np.int64) != NO_ITERATION]):
        for place, node, _ in _named(text, home, nodes):
            named[place].append((row, node))
    for _, told in sorted(named.items()):
        last = told[-1][1]
        run = next((n for n, (_, node) in enumerate(reversed(told)) if node != last), len(told))
        if MIN_RUN <= run < len(told):
            return int(of_row[np.array([told[-run][0]])][0])
    return None


def _rated(parsed: Parsed, onset: int, home: Mapping[int, str]) -> Sign | None:
    """A sign for the one node whose ranks are rated below all others since the onset, 0 where nobody knows one."""
    table = parsed.table
    events = [event for event, template in enumerate(table.templates) if "Rank=" in template.sample]
    rows = table.all_rows_of(events)[-MAX_ROWS:]
    since = parsed.iterations.of_row[rows].astype(np.int64) >= onset
    late = rows[since] if since.any() else rows  # of a file that counts no iterations nobody knows when it was
    scores: dict[tuple[str, int], list[float]] = defaultdict(list)
    told: dict[str, int] = {}
    for row, text in each_row(parsed.files, table, late):
        if (found := _SCORE.search(text)) is not None:
            node = found["node"] or home.get(int(found["rank"]), "")
            scores[node, int(found["rank"])].append(float(found["score"]))
            if float(found["score"]) < SLOW_SCORE:
                told.setdefault(node, row)
    middle = {rank: float(np.median(own)) for rank, own in scores.items()}
    slow = sorted(rank for rank, score in middle.items() if score < SLOW_SCORE and len(scores[rank]) >= MIN_RATED)
    rated = {node for node, _ in middle}
    if len({node for node, _ in slow}) != 1 or len(rated) < MIN_RANKS or slow[0][0] not in parsed.nodes:
        return None
    node, ranks = slow[0][0], tuple(rank for _, rank in slow)
    worst = max(middle[rank] for rank in slow)
    rest = min(score for rank, score in middle.items() if rank not in slow)
    since = f" since iteration {onset}" if onset else ""
    rated_as = "are rated" if len(ranks) > 1 else "is rated"
    because = f"{table.called(ranks, node)} {rated_as} {worst:.2f}{since}, all others {rest:.2f} or more."
    check = f"Compare {node} with a healthy node: clocks and throttling, temperature, load of others."
    says = "its devices are rated slower than all others"
    shows = (told[node],)
    return Sign(
        node, "own part", NAMED, because, says=says, check=check, ranks=ranks, iteration=onset or None, rows=shows
    )


def _reports(parsed: Parsed) -> list[int]:
    """Messages that may name the slowest rank, said often enough by few."""
    table = parsed.table
    shapes = {re.sub(r"\d+", "<NUM>", node) for node in parsed.nodes if any(map(str.isdigit, node))}
    speakers = np.bincount(table.counts.event, minlength=len(table.templates))
    found = [
        event
        for event, template in enumerate(table.templates)
        if MIN_BEFORE + MIN_SINCE <= table.heads[event] <= MAX_ROWS
        and speakers[event] <= max(1, len(table.ranks) * (1 - MAJORITY))
        and not template.block
        and (_TELLS.search(template.sample) or any(shape in template.sample for shape in shapes))
    ]
    return sorted(sorted(found, key=lambda event: (-int(table.heads[event]), event))[:MAX_KINDS])


def _always(parsed: Parsed, event: int, onset: int, home: Mapping[int, str]) -> Iterator[tuple[str, int, str, int]]:
    """The nodes that one place of a report names in nearly each since the onset, and in less than half before.

    With how often, in which words, and the row of the first report that does.
    """
    table = parsed.table
    rows = table.rows_of([event])[event]
    number = parsed.iterations.of_row[rows].astype(np.int64)
    known = rows[number != NO_ITERATION]
    late = dict(zip(rows.tolist(), (number >= onset).tolist(), strict=True))
    before: dict[Place, list[str]] = defaultdict(list)
    since: dict[Place, list[str]] = defaultdict(list)
    told: dict[Place, str] = {}
    first: dict[tuple[Place, str], int] = {}
    known_nodes = frozenset(parsed.nodes)
    for row, text in each_row(parsed.files, table, known):
        for place, node, words in _named(text, home, known_nodes):
            (since if late[row] else before)[place].append(node)
            told[place] = words
            if late[row]:
                first.setdefault((place, node), row)
    for place, nodes in since.items():
        node, times = Counter(nodes).most_common(1)[0]
        earlier = before[place]
        apart = len(earlier) >= MIN_BEFORE and earlier.count(node) <= len(earlier) * MAJORITY
        if apart and times >= max(MIN_SINCE, len(nodes) * ALWAYS):
            yield node, times, told[place], first[place, node]


def _named(text: str, home: Mapping[int, str], nodes: Collection[str]) -> Iterator[tuple[Place, str, str]]:
    """Whom a line names, place by place, and in which words."""
    ranks = [match for match in _RANK.finditer(text) if int(match[1]) in home]
    names = [match for match in _NAME.finditer(text) if match[0] in nodes]
    for kind, matches in (("rank", ranks), ("name", names)):
        for place, match in enumerate(matches):
            node = home[int(match[1])] if kind == "rank" else match[0]
            beside = text[max(0, match.start() - BESIDE) : match.start()].partition(" ")[2]
            yield (kind, place), node, quote(beside + match[0])
