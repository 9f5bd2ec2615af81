"""Who is missing from the last round of a message that tells of all ranks, one after the other.

``rank 31 wrote shard 31`` of one saver, ``[12] it 38 exchange enter`` of every rank: whoever is told of as often as all
others but for the last time had not come so far when the job ended. What is told without a clock, or of others than its
speaker, no channel of ``core.nodes.stall`` sees.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from core.events.row_text import each_row
from core.facts import complains
from core.job import Status
from core.judge.ending import Ending
from core.judge.ranking import quote
from core.nodes.sign import Sign, short
from core.nodes.told_subjects import NAMED_RANK
from core.parsed import Parsed
from core.shares import MAJORITY, MIN_RANKS, are_few

MISSING = 0.4  # like what a rank lacks of its peers' last words (core.nodes.stall.LACKS), which is the same
MAX_ROWS = 20_000  # of messages that name their rank: rounds of hundreds of ranks, a tenth of a second to read
MAX_EVENTS = 32  # that are read so, the last ones


def last_round_signs(parsed: Parsed, ending: Ending, home: Mapping[int, str]) -> list[Sign]:
    """Signs for the nodes of the few ranks that are missing from the last round, when nobody made progress after it.

    Args:
        home: node of each rank.
    """
    # who is stopped from outside may be cut off within a round
    untold = parsed.job.status not in (Status.COMPLETED, Status.CANCELLED) and not ending.ordered
    no_clock = ending.allowed is None and ending.slow is None and untold
    if len(home) < MIN_RANKS or not (ending.hung or no_clock):
        return []
    signs = []
    for event, times in _rounds(parsed, home):
        usual = Counter(times[rank] for rank in home).most_common(1)[0][0]
        few = sorted(rank for rank in home if times[rank] == usual - 1)
        if any(_is_cut_off(parsed, rank) for rank in few):
            continue
        came = sum(times[rank] == usual for rank in home)
        if not few or came + len(few) < len(home) or came <= len(home) * MAJORITY or not are_few(few, home, home):
            continue
        row = int(parsed.table.rows_of([event])[event][-1])
        text = next((quote(text) for _, text in each_row(parsed.files, parsed.table, np.array([row]))), "")
        for node in sorted({home[rank] for rank in few}):
            own = [rank for rank in few if home[rank] == node]
            who = parsed.table.called(own, node)
            because = f"{who} is missing from the last \u201c{short(text)}\u201d, which tells of {came} of {len(home)}."
            check = f"Look at {node}: what its process waits for (py-spy dump), its storage and its network."
            says = "it never came so far as the others in the end"
            signs.append(Sign(node, "lacks", MISSING, because, says=says, check=check, ranks=tuple(own)))
    return signs


def _is_cut_off(parsed: Parsed, rank: int) -> bool:
    """Whether a rank's log ends before others counted two iterations more: ranks that wait for each other cannot."""
    iterations = parsed.iterations
    last = iterations.of_rank.get(rank)
    return last is not None and len(np.unique(iterations.numbers[iterations.numbers > last])) > 1


def _rounds(parsed: Parsed, home: Mapping[int, str]) -> Iterator[tuple[int, Counter[int]]]:
    """Messages after which no iteration was completed, and how often each tells of each rank."""
    table = parsed.table
    spoken: dict[int, Counter[int]] = {}
    ranks = table.rank_of_voice[table.counts.voice]
    for event, rank, heads in zip(
        table.counts.event.tolist(), ranks.tolist(), table.counts.heads.tolist(), strict=True
    ):
        spoken.setdefault(event, Counter())[rank] += heads
    of_all, named = list[int](), list[int]()
    for event, times in sorted(spoken.items()):
        sample = table.templates[event].sample
        if -1 not in times and len(times) > len(home) * MAJORITY and max(times.values()) > 1:
            of_all.append(event)
        elif len(times) == 1 and times.total() <= MAX_ROWS and NAMED_RANK.search(sample.replace("<NUM>", "0")):
            named.append(event)
    templates = {event: table.templates[event] for event in of_all + named}
    told = [event for event, template in templates.items() if not (template.block or complains(template.sample))]
    last = _last_ones(parsed, told)
    yield from ((event, spoken[event]) for event in of_all if event in last)
    for event in [event for event in named if event in last][-MAX_EVENTS:]:
        found = Counter(_named(parsed, event))
        if set(found) <= set(home):
            yield event, found


def _named(parsed: Parsed, event: int) -> Sequence[int]:
    rows = parsed.table.rows_of([event])[event]
    texts = (NAMED_RANK.search(text) for _, text in each_row(parsed.files, parsed.table, rows))
    return [int(match["number"]) for match in texts if match is not None]


def _last_ones(parsed: Parsed, events: Sequence[int]) -> set[int]:
    """Those of some events that were said after all iterations that were counted, but for the one that was begun."""
    iterations = parsed.iterations
    if iterations.last is None:
        return set(events)
    rows = {event: int(own[-1]) for event, own in parsed.table.rows_of(events).items()}
    reached = iterations.of_row[np.array(list(rows.values()), np.intp)].tolist()
    return {event for event, number in zip(rows, reached, strict=True) if int(number) >= iterations.last}
