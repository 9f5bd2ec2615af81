"""Who held up a job that hung: what few ranks lack of what their peers said last, or do not answer.

In a hang it is absence that tells: a rank lacks what its peers said last, stands elsewhere, or does not answer the
order to stop that its peers answer.
"""

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from core.course.iterations import NO_ITERATION
from core.course.pace import SECOND
from core.course.patience import HANG_SECONDS
from core.events.row_text import read_rows
from core.events.table import EventTable, rows_by
from core.facts import complains
from core.judge.ending import Ending
from core.judge.phrase import phrase, words_of_names
from core.judge.rank_rows import last_rows, last_words
from core.judge.ranking import quote
from core.judge.survived_errors import WENT_ON
from core.logs.lines import NO_TIME
from core.nodes.sign import Sign, short
from core.parsed import Parsed
from core.shares import MAJORITY, MIN_RANKS, are_few

LACKS = 0.4  # like a rank that is behind by an iteration
ALIKE_WORDS = 2  # with which two messages begin: one alone may be the name of a program
LONG = 140  # characters of a quote whose end tells: a stack that a watchdog prints into one line
NO_ANSWER = 0.45  # a stopped process does not answer; one that waits in native code may not either


# Ray's driver prints what several processes say once: "[repeated 31x across cluster]" (ray_logging/__init__.py, 2.40)
_REPEATED = "x across cluster]"


def stall_signs(parsed: Parsed, ending: Ending, home: Mapping[int, str], judged: Collection[int]) -> list[Sign]:
    """Signs for the nodes of the few ranks that held up a job that hung.

    Args:
        home: node of each rank.
        judged: events that tell of the failure: who never said those is told elsewhere.
    """
    unclear = ending.progressed is None and ending.stopped is not None  # never began, or no clock tells when
    unsaid = ending.undated and ending.slow is None  # nobody tells when it was ended: it may have stood still before
    if len(home) < MIN_RANKS or not (ending.hung or ending.pausing or ending.vague or unsaid or unclear):
        return []
    if any(_REPEATED in template.sample for template in parsed.table.templates):
        return []  # one may have said for all what the others did not print
    lacking = (
        _lacks(parsed, ending, home, judged)
        or _stands_elsewhere(parsed, ending, home)
        or _says_otherwise(parsed, ending, home)
    )
    return [*lacking, *_unanswered(parsed, ending, home)]


def _lacks(parsed: Parsed, ending: Ending, home: Mapping[int, str], judged: Collection[int]) -> list[Sign]:
    """Ranks that lack what most of the others said once more, since the last progress and before the stop."""
    table = parsed.table
    marks = set(np.unique(table.event[parsed.iterations.marks]).tolist())  # who is behind by an iteration is told
    names = words_of_names(table.nodes)
    counts: dict[int, dict[int, int]] = {}
    same: dict[str, list[int]] = {}
    for event, count_of in sorted(_counts(table).items()):
        sample = table.templates[event].sample
        says_nothing = not any(map(str.isalnum, sample))  # rulers, and empty lines
        if event in marks or says_nothing or (complains(sample) and not _is_of_the_hang(parsed, event, ending, judged)):
            continue
        alike = same.setdefault(phrase(sample, names) or sample, [])  # names of speakers make several events of it
        alike.append(event)
        merged = counts.setdefault(alike[0], {})
        for rank, heads in count_of.items():
            merged[rank] = merged.get(rank, 0) + heads
    same_events = {alike[0]: alike for alike in same.values()}
    lacking: dict[int, list[int]] = {}
    for event, of_rank in counts.items():
        if len(of_rank) <= len(home) * MAJORITY:
            continue
        times = [of_rank.get(rank, 0) for rank in home]
        usual = int(np.bincount(times).argmax())
        few = [rank for rank in home if of_rank.get(rank, 0) < usual]
        if few and not all(rank in of_rank for rank in few) and _was_said_before(parsed, same_events[event], ending):
            few = [rank for rank in few if rank in of_rank]  # who never said what the others always did does other work
        few = few if are_few(few, home, home) else [rank for rank in few if rank in of_rank]  # others do other work
        if few and usual and are_few(few, home, home) and times.count(usual) > len(home) * MAJORITY:
            lacking[event] = few
    first_lacking = {event: alike[0] for alike in same.values() for event in alike if alike[0] in lacking}
    late = sorted({first_lacking[event] for event in _said_late(parsed, sorted(first_lacking), ending)})
    rows = {event: _last_of_others(table, count_of, lacking[event]) for event, count_of in table.rows_of(late).items()}
    texts = read_rows(parsed.files, table, sorted(rows.values())) if rows else {}
    signs = []
    for event in late:
        text = short(quote(texts.get(rows[event], "")) or table.templates[event].sample)
        for node in sorted({home[rank] for rank in lacking[event]}):
            own = sorted(rank for rank in lacking[event] if home[rank] == node)
            instead = said_instead(parsed, table.rows_of([event])[event], own)
            because = f"{table.called(own, node)} never came to \u201c{text}\u201d; the others did.{instead}"
            signs.append(_stuck(node, "lacks", LACKS, because, own))
    return signs


def said_instead(parsed: Parsed, rows: NDArray[np.intp], ranks: Sequence[int]) -> str:
    """A sentence with what these ranks alone said that begins like a message, of which they said less; else nothing.

    Args:
        rows: of the message. What was said before all of them is no answer to the same moment.
    """
    table = parsed.table
    words = phrase(table.templates[int(table.event[rows[:1]][0])].sample, ()).split()
    alike: dict[int, int] = {}
    for event, count_of in _counts(table).items():
        if set(count_of) <= set(ranks):
            own = phrase(table.templates[event].sample, ()).split()
            differ = (n for n, (one, other) in enumerate(zip(words, own, strict=False)) if one != other)
            alike[event] = next(differ, min(len(words), len(own)))
    best = max(alike, key=lambda event: (alike[event], event), default=None)
    if best is None or alike[best] < ALIKE_WORDS:
        return ""
    row = int(table.rows_of([best])[best][-1])
    if bool(table.timed[np.array([row])][0]) and int(table.time[np.array([row])][0]) < int(table.time[rows].min()):
        return ""
    said = short(quote(read_rows(parsed.files, table, [row]).get(row, "")), LONG)
    return f" It said \u201c{said}\u201d instead." if said else ""


def _was_said_before(parsed: Parsed, events: Sequence[int], ending: Ending) -> bool:
    """Whether it was said while the job still made progress."""
    rows = np.concatenate(list(parsed.table.rows_of(events).values()))
    return ending.progressed is not None and bool((parsed.table.time[rows] < ending.progressed - SECOND).any())


def _is_of_the_hang(parsed: Parsed, event: int, ending: Ending, judged: Collection[int]) -> bool:
    """Whether a complaint was first made when the job stood still; who made none of a failure is told elsewhere."""
    usual = parsed.usual is not None and parsed.table.templates[event].id in parsed.usual.anywhere
    return not (event in judged or usual or _was_said_before(parsed, [event], ending))


def _last_of_others(table: EventTable, rows: NDArray[np.intp], few: Sequence[int]) -> int:
    """The last of some rows that another rank than these wrote, of the first file by its name; else of all."""
    others = rows[~np.isin(table.rank[rows], few)]
    others = others if len(others) else rows
    last = others[table.time[others] == table.time[others].max()]
    first = min(table.files[file] for file in table.file[last].tolist())
    return int(
        max(row for row, file in zip(last, table.file[last].tolist(), strict=True) if table.files[file] == first)
    )


def _stands_elsewhere(parsed: Parsed, ending: Ending, home: Mapping[int, str]) -> list[Sign]:
    """Ranks whose last words before the stop are others than those of most.

    Words of its own say nothing of the first rank, which speaks for all. What is said in the second of the stop may be
    said because of it: a process that stood still goes on when it is signalled, and many clocks show whole seconds.
    """
    table = parsed.table
    until = ending.stopped - SECOND if ending.stopped is not None else np.iinfo(np.int64).max
    last = _last_rows(parsed, home, until, by_clock=not ending.repeats)
    if len(last) < MIN_RANKS or _before_training(parsed, list(last.values())):
        return []
    words = _words(parsed, last, home)
    if words is None:
        return []
    counts = _counts(table)
    odd = [rank for rank in words.odd if _is_elsewhere(table, last, rank, words.odd, until)]
    saying = {rank: set(counts.get(int(table.event[last[rank]]), {})) for rank in odd}
    alone = {rank for rank, ranks in saying.items() if len({home.get(one) for one in ranks}) == 1}  # one node says it
    own = {rank for rank in alone if saying[rank] <= set(odd) and rank != min(home)}
    odd = [rank for rank in odd if rank in own or len(saying[rank]) > len(home) * MAJORITY]
    odd = [rank for rank in odd if rank not in own or not _went_on_after(parsed, int(table.event[last[rank]]))]
    return _apart(parsed, words, odd, home, "The last word of {who} was", "that of ")


def _says_otherwise(parsed: Parsed, ending: Ending, home: Mapping[int, str]) -> list[Sign]:
    """Ranks that say otherwise than most what most say once nobody makes progress: where each stands."""
    table = parsed.table
    shared = [event for event, of_rank in sorted(_counts(table).items()) if len(of_rank) > len(home) * MAJORITY]
    late = [] if ending.progressed is None else _said_late(parsed, shared, ending)
    signs = []
    for event in late:
        if _was_said_before(parsed, [event], ending):
            continue
        rows = table.rows_of([event])[event]
        words = _words(parsed, {int(rank): int(own[-1]) for rank, own in rows_by(table.rank, rows)}, home)
        if words is not None and words.odd != [min(home)]:  # the first rank speaks for all
            signs += _apart(parsed, words, words.odd, home, "{who} said", "")
    return signs


@dataclass(frozen=True, slots=True)
class _Words:
    """What ranks said last: the texts of all by rank, what most of them said, how many these are, and who did not."""

    texts: Mapping[int, str]
    usual: str
    count: int
    odd: list[int]


def _words(parsed: Parsed, rows: Mapping[int, int], home: Mapping[int, str]) -> _Words | None:
    """What ranks said in these rows, when most said the same in words and few did not; else None."""
    known = read_rows(parsed.files, parsed.table, sorted(rows.values()))
    names = words_of_names(parsed.table.nodes)
    texts = {rank: quote(known.get(row, "")) for rank, row in sorted(rows.items()) if rank in home}
    phrases = {rank: phrase(known.get(rows[rank], ""), names) for rank in texts}
    usual, count = Counter(phrases.values()).most_common(1)[0] if phrases else ("", 0)
    # what begins like the others' words and ends before they do was cut off with its log; the first rank speaks for all
    odd = sorted(rank for rank, words in phrases.items() if not usual.startswith(words))
    first = min(home)
    alone = Counter(phrases.values())[phrases.get(first, "")] == 1
    odd = [rank for rank in odd if not (alone and len(odd) > 1 and rank == first)]
    text = next((texts[rank] for rank, words in phrases.items() if words == usual), "")
    if count <= len(home) * MAJORITY or not are_few(odd, home, home) or not any(map(str.isalnum, text)):
        return None
    return _Words(texts, text, count, odd)


def _apart(
    parsed: Parsed, words: _Words, odd: Sequence[int], home: Mapping[int, str], begins: str, others: str
) -> list[Sign]:
    """Signs for the nodes of the odd ranks, with what they said and what most did."""
    signs = []
    most = f"{others}{words.count} of {len(home)} {parsed.table.speakers} \u201c{short(words.usual, LONG)}\u201d"
    for node in sorted({home[rank] for rank in odd}):
        own = [rank for rank in odd if home[rank] == node]
        text = short(words.texts[own[0]], LONG)
        if any(map(str.isalpha, text)):  # a blank line is no word, nor is the clock of a line that was cut off
            who = begins.format(who=parsed.table.called(own, node))
            signs.append(_stuck(node, "lacks", LACKS, f"{who} \u201c{text}\u201d; {most}.", own))
    return signs


def _went_on_after(parsed: Parsed, event: int) -> bool:
    """Whether the job made progress after this was said before: who saves for all says it each time, and others not."""
    iterations, first = parsed.iterations, parsed.table.rows_of([event])[event][:1]
    return iterations.last is not None and bool(NO_ITERATION < iterations.of_row[first][0] < iterations.last)


def _before_training(parsed: Parsed, rows: Sequence[int]) -> bool:
    """Whether most of these were said before the first iteration of a job that came further: set-up has no order.

    Nobody knows when any of them was said that has no clock, and stands in no file that counts iterations.
    """
    table, counted = parsed.table, np.unique(parsed.table.file[parsed.iterations.marks])
    known = [row for row in rows if table.timed[row] or table.file[row] in counted]
    if not known:
        return parsed.iterations.last is not None
    before = np.count_nonzero(parsed.iterations.of_row[np.sort(np.array(known, np.intp))] == NO_ITERATION)
    return parsed.iterations.last is not None and bool(before > len(rows) * MAJORITY)


def _is_elsewhere(table: EventTable, last: Mapping[int, int], rank: int, odd: Sequence[int], until: int) -> bool:
    """Whether a rank said less of what the others said last, or more of its own last words, than any of them did.

    Else its last words only came in another order.
    """
    own = int(table.event[last[rank]])
    usual = {int(table.event[row]) for other, row in last.items() if other not in odd}
    if own in usual:
        return True  # one message in other words, which are not counted
    for event, rows in sorted(table.rows_of([own, *sorted(usual)]).items()):
        ranks = table.rank[rows[table.time[rows] <= until]]
        most = int(np.bincount(ranks[~np.isin(ranks, odd) & (ranks >= 0)], minlength=1).max())
        mine = np.count_nonzero(ranks == rank)
        if mine > most if event == own else mine < most:
            return True
    return False


def _last_rows(parsed: Parsed, home: Mapping[int, str], until: int, *, by_clock: bool) -> dict[int, int]:
    """The last head row of each rank before a time, of what tells of no failure and of no end.

    Args:
        by_clock: else by their places, of a job whose last words have no clock.
    """
    table = parsed.table
    voices = np.flatnonzero(table.is_rank & (table.rank_of_voice >= 0))
    rows = table.rows_of_voices(voices.tolist())
    rows = rows[table.head[rows] & ~np.isin(table.event[rows], list(parsed.telling))]
    rows = rows[table.time[rows] <= until]
    rows = rows[np.lexsort((rows, table.time[rows]))] if by_clock else np.sort(rows)
    return {rank: int(rows[mine[-1]]) for rank, mine in rows_by(table.rank[rows], np.arange(len(rows))) if rank in home}


def _counts(table: EventTable) -> dict[int, dict[int, int]]:
    """How often each rank says each event, of events that point to no failure or do, alike."""
    found: dict[int, dict[int, int]] = {}
    rank = table.rank_of_voice[table.counts.voice]
    for event, who, heads in zip(table.counts.event.tolist(), rank.tolist(), table.counts.heads.tolist(), strict=True):
        if who >= 0:
            of_rank = found.setdefault(event, {})
            of_rank[who] = of_rank.get(who, 0) + heads
    return found


def _said_late(parsed: Parsed, events: Sequence[int], ending: Ending) -> list[int]:
    """Events whose last occurrence came after the last progress and before the stop.

    Where no clock tells of progress, events that stand below the last iteration alone. Where none is counted, long
    before the stop, and little was said by any rank after them: else the job went on.
    """
    table, since, until = parsed.table, ending.progressed, ending.stopped
    if until is None or not events:
        return []
    if since is None and (last := parsed.iterations.last) is not None:
        below = {event: parsed.iterations.of_row[rows] >= last for event, rows in table.rows_of(events).items()}
        return [event for event, own in below.items() if own.all() and not ending.ordered]
    times = {event: int(table.time[rows].max()) for event, rows in table.rows_of(events).items()}
    if since is not None:
        end = until if ending.ordered else until + 1  # the last line of all may be what most said
        return [event for event, last in times.items() if since - SECOND <= last and NO_TIME < last < end]
    said = np.sort(table.time[table.head & (table.rank_of_voice[table.voice] >= 0) & (table.time < until)])
    went_on = len(said) - np.searchsorted(said, list(times.values()), side="right")
    quiet = until - int(HANG_SECONDS * SECOND)
    return [
        event
        for (event, last), more in zip(times.items(), went_on.tolist(), strict=True)
        if NO_TIME < last < quiet and more <= WENT_ON * MIN_RANKS
    ]


def _unanswered(parsed: Parsed, ending: Ending, home: Mapping[int, str]) -> list[Sign]:
    """Ranks that said nothing after the order to stop, while most of the others did, or in the end of a job that hung.

    Who had ended with a complaint before was not there any more to answer.
    """
    if not (ending.ordered or ending.hung) or ending.stopped is None:
        return []
    last = last_words(parsed.table)
    ended = {rank for rank, row in last_rows(parsed.table).items() if int(parsed.table.event[row]) in parsed.telling}
    answered = {rank for rank in home if last.get(rank, 0) >= ending.stopped - SECOND}
    silent = sorted(set(home) & set(last) - answered - ended)
    if not silent or len(answered) <= len(home) * MAJORITY or not are_few(silent, home, home):
        return []
    signs = []
    for node in sorted({home[rank] for rank in silent}):
        own = [rank for rank in silent if home[rank] == node]
        who, most = parsed.table.called(own, node), f"{len(answered)} of {len(home)} {parsed.table.speakers}"
        because = (
            f"{who} did not answer {'the order to stop' if ending.ordered else 'when the job was ended'}; {most} did."
        )
        signs.append(_stuck(node, "no answer", NO_ANSWER, because, own))
    return signs


def _stuck(node: str, channel: str, weight: float, because: str, ranks: Sequence[int]) -> Sign:
    check = f"Collect stacks on {node} (py-spy dump), and look at its processes, kernel log, storage and network."
    return Sign(node, channel, weight, because, says="a process there is stuck", check=check, ranks=tuple(ranks))
