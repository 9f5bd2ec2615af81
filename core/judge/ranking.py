"""Ranking: after the cross-job filter a fifth of the lines is left and 3 % of those matter; order is everything.

A candidate's score is the strength of its fact, less where good jobs say it too. Roots come before what peers tell,
known facts before guesses, and among equals the one that came first.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from core.course.epochs import Epochs
from core.course.iterations import NO_ITERATION, Iterations, named_iteration
from core.course.stages import STAGES, in_train, speaks_of_saving, stage_of_frames, stage_of_path
from core.events.messages import keys_of, rows_of_messages
from core.events.row_text import each_row, read_rows
from core.events.table import EventTable
from core.facts import Fact, complains, in_frames
from core.failure_kinds import Kind
from core.judge.candidates import Candidate
from core.judge.ending import Ending
from core.logs.lines import NO_TIME
from core.model import Role, Stage
from core.parsed import Parsed
from core.shares import MAJORITY

EXCESS_SHARE = 0.3  # of the score hangs on never being said in good jobs
LATE_SHARE = 0.1  # of the score is lost by a root that comes after the first one
LATE_AFTER = 10_000_000  # microseconds: what one fault breaks breaks within seconds, time-outs come after 10 s and more
FIRST_STOP = 0.6  # strength of a teardown line that began the stop: less than the order to stop itself
STRONG = 0.5  # strength from which on an event dates the failure: what peers report and better
MIN_SHARE = 0.5  # of the leading root's score; what is weaker than that explains nothing that it does not
MAX_ROOTS = 6  # a reader looks at few; the lab's faults leave at most six kinds of direct traces
ROUNDS = 5  # times of a message that make a loop: files and shards that are loaded at the start are fewer
LASTS = 0.25  # of the time of a job that a loop goes on for; loops of labelled jobs did for .44 and more (docs/LOG.md)
MAX_FRAMES = 400  # rows of a traceback that are read for its functions
_BEFORE_TRAINING = (Stage.UNKNOWN, Stage.INITIALIZATION, Stage.MODEL_LOADING, Stage.DATA_LOADING)
_WAITING = re.compile(r"\bwait(?:s|ing|ed)?\b", re.IGNORECASE)
_FILE_KINDS = ("missing file", "permission", "corrupt file")
# What a job writes while it trains is a checkpoint; that it cannot is said by whoever writes.
_STORES = frozenset({Kind.DISK_FULL, Kind.PERMISSION, Kind.STORAGE})
_WRITES = re.compile(
    r"\b(?:writ(?:e|ing)|sav(?:e|ing)|snapshot|PutObject|UploadPart|CreateMultipartUpload)\b", re.IGNORECASE
)
_ORDER = {Role.ROOT: 0, Role.PROPAGATED: 1, Role.TEARDOWN: 2, Role.BENIGN: 3}


def rank_candidates(parsed: Parsed, candidates: Sequence[Candidate]) -> tuple[Candidate, ...]:
    """Candidates with score, stage and quote, most telling first."""
    table = parsed.table
    heads = _first_rows(table, candidates)
    places = _places(parsed, heads)
    onset = _onset(candidates, places)
    keys = keys_of(table, heads)
    lines = read_rows(parsed.files, table, sorted({row for head in heads for row in keys[head]}))
    framed = _in_frames(parsed, candidates, heads)
    interval = _interval(parsed.iterations)
    ranked: list[tuple[Candidate, _Place]] = []
    for number, (candidate, place) in enumerate(zip(candidates, places, strict=True)):
        own = keys[place.row]
        frames, text = framed.get(number, _NO_FRAMES), lines.get(own[0], candidate.text)
        raised = (
            replace(candidate, fact=frames.fact)
            if frames.fact is not None and candidate.role is Role.ROOT
            else candidate
        )
        named = _named(raised, place, [lines[row] for row in own if row in lines], interval, parsed.iterations.epochs)
        with_iteration = replace(raised, iteration=named)
        stage = _stage(with_iteration, place, text, frames, began=not parsed.ended_before_training)
        ranked.append(
            (replace(with_iteration, score=_score(with_iteration, place, onset), stage=stage, quote=quote(text)), place)
        )
    ranked.sort(key=lambda pair: (_ORDER[pair[0].role], -pair[0].score, pair[1].time, pair[1].row))
    return tuple(candidate for candidate, _ in ranked)


@dataclass(frozen=True, slots=True)
class _Place:
    """Where a candidate is first said. time: microseconds. timed: whether that is the row's own clock.

    iteration: that was counted last; negative where none was.
    """

    row: int
    time: int
    timed: bool
    stage: Stage
    iteration: int


def _places(parsed: Parsed, heads: Sequence[int]) -> list[_Place]:
    """What stands beside each of these rows; asked for at once, as there may be thousands."""
    rows, table = np.asarray(heads, np.intp), parsed.table
    stages, iterations = parsed.stages[rows].tolist(), parsed.iterations.of_row[rows].tolist()
    columns = (rows.tolist(), table.time[rows].tolist(), table.timed[rows].tolist(), stages, iterations)
    return [
        _Place(row, time, timed, STAGES[stage], iteration)
        for row, time, timed, stage, iteration in zip(*columns, strict=True)
    ]


@dataclass(frozen=True, slots=True)
class _Frames:
    """What the frames of a traceback tell: the fact that it stands for, the stage that they name, the training loop."""

    fact: Fact | None = None
    stage: Stage | None = None
    in_loop: bool = False


_NO_FRAMES = _Frames()


def _in_frames(parsed: Parsed, candidates: Sequence[Candidate], heads: Sequence[int]) -> Mapping[int, _Frames]:
    """What the frames of each traceback tell, by its place among the candidates, read in one pass over the files.

    ENOSPC while a semaphore is made is memory, not a disk.
    """
    table = parsed.table
    blocks = [place for place, candidate in enumerate(candidates) if table.templates[candidate.event].block]
    unread, lines, frames = Counter[int](), defaultdict[int, list[str]](list), dict[int, _Frames]()
    of_row: dict[int, list[int]] = defaultdict(list)
    for place, rows in zip(blocks, rows_of_messages(table, [heads[place] for place in blocks]), strict=True):
        for row in rows[:MAX_FRAMES].tolist():
            of_row[row].append(place)
            unread[place] += 1

    def read(place: int) -> None:
        said_by = lines.pop(place, [])
        fact = in_frames(candidates[place].fact, said_by)
        frames[place] = _Frames(fact, stage_of_frames(said_by), in_train(said_by))

    for row, text in each_row(parsed.files, table, np.array(sorted(of_row), np.intp)):
        for place in of_row[row]:
            lines[place].append(text)
            unread[place] -= 1
            if not unread[place]:  # thousands of long ones are not held at once
                read(place)
    for place in blocks:
        if place not in frames:  # the file can no longer be read to its end
            read(place)
    return frames


def _named(candidate: Candidate, place: _Place, lines: Sequence[str], interval: int, epochs: Epochs) -> int | None:
    """The iteration that a root names in its own words, where each epoch counts anew as the lines that count do."""
    if candidate.role is not Role.ROOT:
        return None
    completed = place.iteration if place.iteration == NO_ITERATION else epochs.within(place.iteration)
    named = named_iteration(lines, completed, interval)
    return None if named is None else named + place.iteration - completed


def _interval(iterations: Iterations) -> int:
    """Iterations between two that the logs print, as a rule; 0 where fewer than two are printed."""
    steps = np.diff(np.unique(iterations.numbers))
    return int(np.median(steps)) if len(steps) else 0


def telling_roots(candidates: Sequence[Candidate]) -> tuple[Candidate, ...]:
    """Roots that explain something: not much weaker than the leading one, and known when that is known."""
    roots = [candidate for candidate in candidates if candidate.role is Role.ROOT]
    return tuple(
        root
        for root in roots
        if root.score >= MIN_SHARE * roots[0].score and (root.fact.known or not roots[0].fact.known)
    )[:MAX_ROOTS]


def _first_rows(table: EventTable, candidates: Sequence[Candidate]) -> list[int]:
    """The earliest head row of each candidate; times are asked for at once, as there may be thousands."""
    times = table.time[np.concatenate([np.zeros(0, np.intp), *(candidate.rows for candidate in candidates)])]
    ends = np.cumsum([0, *(len(candidate.rows) for candidate in candidates)]).tolist()
    return [
        int(candidate.rows[times[at:to].argmin()])
        for candidate, at, to in zip(candidates, ends, ends[1:], strict=False)
    ]


def first_time(table: EventTable, candidate: Candidate) -> int:
    """Time of the first row of a candidate, in microseconds."""
    return int(table.time[candidate.rows].min())


def stage_of_failure(
    parsed: Parsed, candidates: Sequence[Candidate], ending: Ending, standing: Stage | None = None
) -> Stage:
    """Stage in which the job failed: of the leading root, else of what peers told, else where the log ends.

    standing: where the processes stood when they were dumped, which is later than the end of any log.
    """
    for role in (Role.ROOT, Role.PROPAGATED):
        telling = [
            candidate for candidate in candidates if candidate.role is role and candidate.stage is not Stage.UNKNOWN
        ]
        telling = [candidate for candidate in telling if candidate.fact.kind != Kind.LAST_WORDS]  # they come after it
        telling = [candidate for candidate in telling if not _is_apart(parsed, candidate)]
        if telling:
            return _best_placed(parsed.table, telling)
    if standing is not None:
        return standing
    return _stage_of_end(parsed, candidates, ending)


def _is_apart(parsed: Parsed, candidate: Candidate) -> bool:
    """Whether it stands before all training by a clock of its own, of a job that counted iterations without one."""
    iterations, table = parsed.iterations, parsed.table
    if iterations.last is None or candidate.stage not in _BEFORE_TRAINING or table.timed[iterations.marks].any():
        return False
    return not np.isin(table.file[candidate.rows], table.file[iterations.marks]).any()


def _stage_of_end(parsed: Parsed, candidates: Sequence[Candidate], ending: Ending) -> Stage:
    """Stage in which the logs end, of a job in which nobody says what broke."""
    if ending.slow is not None and not ending.hung:
        return Stage.TRAINING  # it went from step to step until the end
    known = _last_known(parsed) if ending.stage is Stage.UNKNOWN else ending.stage
    if parsed.iterations.last is not None and (known is None or known in _BEFORE_TRAINING):
        return Stage.TRAINING  # each iteration that is complete is training
    if known is not None:
        return known
    if not parsed.ended_before_training and _goes_round(parsed):
        return Stage.TRAINING
    # a job that fails before any stage was named fails while it starts
    failed = any(candidate.role in (Role.ROOT, Role.PROPAGATED) for candidate in candidates)
    return Stage.INITIALIZATION if failed else Stage.UNKNOWN


def _goes_round(parsed: Parsed) -> bool:
    """Whether most speakers say something again and again with other numbers: a loop, in words that nobody knows.

    But that they wait, as those do who have not met yet, and what came in a small part of the time, as packages that
    are installed.
    """
    table, counts = parsed.table, parsed.table.counts
    speakers = {origin.node or str(origin.rank) for origin in table.origins}
    again = counts.heads >= ROUNDS
    of_event: dict[int, set[str]] = defaultdict(set)
    for event, voice in zip(counts.event[again].tolist(), counts.voice[again].tolist(), strict=True):
        template, origin = table.templates[event], table.origins[voice]
        if "<NUM>" in template.sample and not template.block and not complains(template.sample):
            of_event[event].add(origin.node or str(origin.rank))
    most = [event for event, who in sorted(of_event.items()) if len(who) > len(speakers) * MAJORITY]
    return any(not _WAITING.search(table.templates[event].sample) and _lasts(table, event) for event in most)


def _lasts(table: EventTable, event: int) -> bool:
    """Whether a message came over a good part of the job, as far as clocks tell when it was said."""
    rows = table.rows_of([event])[event]
    times, spoke = table.time[rows[table.timed[rows]]], table.spoke
    if not len(times) or times.min() == times.max():
        return True
    whole = int(spoke.last.max()) - int(spoke.first[spoke.first != NO_TIME].min())
    return int(times.max() - times.min()) >= LASTS * whole


def _last_known(parsed: Parsed) -> Stage | None:
    """Stage of the last row that has one."""
    for end in range(len(parsed.table), 0, -_ROWS):
        stages = parsed.stages[max(0, end - _ROWS) : end]
        known = stages[stages != STAGES.index(Stage.UNKNOWN)]
        if len(known):
            return STAGES[int(known[-1])]
    return None


_ROWS = 1 << 16  # that are looked through at once, from the end of the job; chosen, not measured


def _best_placed(table: EventTable, candidates: Sequence[Candidate]) -> Stage:
    """Stage of the first one; of several of its kind a traceback's, which names its own, before a line's."""
    first = candidates[0]
    if first.fact.known and not table.templates[first.event].block:
        same = [
            candidate
            for candidate in candidates
            if candidate.fact.kind == first.fact.kind and table.templates[candidate.event].block
        ]
        return same[0].stage if same else first.stage
    return first.stage


def _onset(candidates: Sequence[Candidate], places: Sequence[_Place]) -> int:
    """When the first strong sign of the failure came; tracebacks have no time, and that above them may be old."""
    telling_roles = (Role.ROOT, Role.PROPAGATED)
    every = zip(candidates, places, strict=True)
    strong = [
        place for candidate, place in every if candidate.role in telling_roles and candidate.fact.strength >= STRONG
    ]
    return min((place.time for place in strong if place.timed), default=-1)


def _score(candidate: Candidate, place: _Place, onset: int) -> float:
    strength = candidate.fact.strength
    if candidate.role is Role.ROOT and candidate.fact.role is Role.TEARDOWN:
        strength = FIRST_STOP
    score = strength * (1 - EXCESS_SHARE + EXCESS_SHARE * candidate.excess)
    late = onset >= 0 and place.timed and place.time > onset + LATE_AFTER
    return score * (1 - LATE_SHARE) if late else score


def _stage(candidate: Candidate, place: _Place, text: str, frames: _Frames, *, began: bool) -> Stage:
    """Stage by the functions of a traceback, else by the clock; before any iteration by what the message is about.

    began: whether the job may have begun to train.
    """
    stage, fact = place.stage, candidate.fact
    trains = place.iteration >= 0
    in_loop = frames.in_loop and (trains or (began and (stage not in _BEFORE_TRAINING or stage is Stage.UNKNOWN)))
    named = frames.stage or (Stage.TRAINING if in_loop else None)
    if named not in (None, Stage.TRAINING):
        return named
    if trains and (named or stage) is Stage.TRAINING and _is_of_saving(candidate, text):
        return Stage.CHECKPOINT_SAVING
    if named is not None or ((trains or candidate.iteration is not None) and stage in _BEFORE_TRAINING):
        return Stage.TRAINING  # who fails in or after an iteration has loaded all that is loaded before
    early = stage in _BEFORE_TRAINING or (stage is Stage.TRAINING and not trains)
    if early and fact.kind in _FILE_KINDS and (of_path := stage_of_path(text)) is not None:
        return of_path
    by_clock = stage is not Stage.UNKNOWN and (fact.stage is Stage.UNKNOWN or not early)
    return stage if by_clock else fact.stage


def _is_of_saving(candidate: Candidate, text: str) -> bool:
    if candidate.fact.kind in _STORES and _WRITES.search(text) is not None:
        return True
    return candidate.role in (Role.ROOT, Role.PROPAGATED) and speaks_of_saving(text)


_LABELS = re.compile(
    r"^\s*(?:\[?[IWEF]\d{4} \d\d:\d\d:\d\d\S{0,16} [^\]]{0,120}\]\s*"  # glog: file and line
    r"|\[(?:\d{4}[-/]\d\d[-/]\d\d[T ,-]{1,2})?\d\d:\d\d:\d\d[^\]]{0,60}\]\s*"  # a clock, and what shares its brackets
    r"|\[(?:DEBUG|INFO|WARN|WARNING|ERROR|FATAL)\] ?[A-Z]{2,12}\(\d{1,10},[^)]{1,60}\):[\d.:-]{19,32} \[[^\]]{1,80}\]"
    r"(?:\[\d{1,10}\]|\d{1,10})?\s{1,8}"  # Ascend's plog
    r"|\[\s{0,8}(?:DEBUG|INFO|WARN|WARNING|ERROR|FATAL)\s{0,8}\](?: - | )"
    r"|[\w.-]{1,64}:\d{1,10}:\d{1,10} \[\d{1,3}\] (?=NCCL )"
    r"|\(\w{1,60} pid=\d{1,10}(?:, ip=[\d.]{7,15})?\) "  # Ray
    r"|[\w.-]{1,64}:? (?=\[(?:rank|default)\d)"  # pdsh, a prefix of one's own
    r"|\[\d{1,6},\d{1,6}\]<std(?:out|err)>:"  # mpirun --tag-output
    r"|(?:host|hostname|node|rank|global_rank|local_rank|worker|pid)=[\w.:-]{1,64} "
    r"|\d{1,6}: |\[default\d+\]:|\[rank\d+\]: ?"
    r"|\[?[IWEF]?\d{3,4} (?=\d\d:)|\[?\d{4}[-/.](?:\d\d|[A-Z][a-z]{2})[-/.]\d\d[T ]|[\d:.,]{8,}Z?\]?\s+|:\s|\s+)+"
)


# Of a line that is a JSON object.
# Of the type of an exception that says more than its type
_MODULES = re.compile(
    r"^(?:[a-z_]\w{0,60}\.){1,12}(?=[A-Z]\w{0,60}(?:Error|Exception|Interrupt|Exit|Timeout)\b[^:]{0,80}: ?\S)"
)
_MESSAGE = re.compile(r'^\s{0,8}\{.{0,2000}?"(?:msg|message|error|err|event)"\s?:\s?"((?:[^"\\]|\\.){1,400})')


def quote(line: str) -> str:
    """A raw line for a sentence: printable, without its labels, its time and the modules of an exception's type."""
    line = message[1] if (message := _MESSAGE.match(line)) else line
    unlabelled = _MODULES.sub("", _LABELS.sub("", line, count=1)) or line
    return " ".join("".join(character if character.isprintable() else " " for character in unlabelled).split())
