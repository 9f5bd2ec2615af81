"""A bounded table of distinct messages: what is many gives way, what is rare stays word for word."""

import io
import random
import string
from collections.abc import Iterable, Iterator
from functools import partial
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core.diagnose import diagnose
from core.job import Job, LogFile, Manifest, Status
from core.logs import fold, messages, voice_lines
from core.logs.blocks import BLOCK_MARK, find_blocks, python_traceback
from core.logs.blocks.found_block import FoundBlock
from core.logs.columns import Columns
from core.logs.fold import (
    ALL_TEXTS,
    ANY,
    FEW,
    JOB_CHARACTERS,
    JOB_TEXTS,
    LEAST_TEXTS,
    MAX_VOICES,
    STEPS,
    Look,
    fold_chunk,
    fold_file,
    fold_texts,
    folding,
    key,
    limits,
    without_crowd,
)
from core.logs.lines import Format
from core.logs.messages import Grouping, find_messages
from core.logs.refine import refine
from core.logs.scan import scan_blocks
from core.logs.stream import blocks
from core.logs.telling_words import guard
from core.logs.voice_lines import VoiceLines
from core.model import Scope
from core.parsed import parse_job
from core.parsing.templates import find_templates
from tests.support.jobs import job, lines, raised

RARE = "<TS> ERROR NVRM: Xid (PCI:<NUM>:<NUM>e:<NUM>): 79, pid=<NUM>, GPU has fallen off the bus."
QUIET = "<TS> INFO node gpu was drained by admin"

TOKENS = st.sampled_from(
    [
        *(
            "node",
            "was",
            "drained",
            "<TS>",
            "<NUM>",
            "[INFO]",
            "ERROR",
            "WARNING",
            "a.b.c",
            "pod=x-y",
            "/data/x/y",
            "up",
        ),
        *(
            "timed",
            "out",
            "exit",
            "code",
            "9",
            "[Errno",
            "113]",
            "failed",
            "signal:",
            "15",
            '"key":',
            '"run_start"',
            "(",
        ),
        *("/data/failed/x.jpg", "level=ERROR,state:DOWN", "a.b_lost"),
        *("Xid", "(PCI:<NUM>:<NUM>):", "79,", "", "状態", "E<TS>", "x.cpp:<NUM>]", ANY, "w" * 30),
    ]
)
TEXTS = st.lists(TOKENS, max_size=140).map(" ".join)
MARKED = st.tuples(st.sampled_from(["", BLOCK_MARK]), TEXTS).map("".join)


def words(count: int, seed: int = 1) -> list[str]:
    """Sentences that have nothing in common but their length."""
    chance = random.Random(seed)
    known = ["".join(chance.choices(string.ascii_lowercase, k=6)) for _ in range(3000)]
    return [f"sample text: {' '.join(chance.choices(known, k=8))}" for _ in range(count)]


def pods(count: int) -> list[str]:
    """Lines that differ in a name that a program made."""
    return [f"<TS> INFO pod=trainer-{number:06} scheduled after <NUM> s" for number in range(count)]


@given(MARKED)
def test_the_key_of_a_key_is_itself(text: str) -> None:
    """A table that was folded can be folded again, and its keys are found in it."""
    for number, step in enumerate(STEPS):
        name = key(text, step)
        assert key(name, step) == name
        for coarser in STEPS[number:]:
            assert key(name, coarser) == key(text, coarser)


@given(MARKED)
def test_a_key_says_what_tells_its_messages_apart(text: str) -> None:
    """Slots, outcomes and the name of a structured message are in the key of any step but the last."""
    short = " ".join(text.split(" ")[:20])
    for step in STEPS[:-1]:
        assert guard(key(short, step)).split("|")[2:] == guard(short).split("|")[2:]
        assert key(short, step).count(" ") == short.count(" ")


@given(MARKED)
def test_refining_changes_no_key(text: str) -> None:
    """A chunk is folded before its file is read on, a file after it: both call the same message the same."""
    clean = refine(text)
    for step in STEPS:
        name = key(clean, step)
        assert refine(name) == name.strip()


@pytest.mark.parametrize("limit", [30, 200, 1000])
def test_what_is_many_is_folded_and_what_is_rare_is_not(limit: int) -> None:
    """The largest groups give way; a line in a small one keeps its words."""
    texts = [*words(3000), *pods(2000), RARE, QUIET, *(f"phase {name} begins" for name in "abc")]

    called = folding(texts, limit)

    left = {called.get(text, text) for text in texts}
    assert len(left) <= limit
    assert {RARE, QUIET, "phase a begins", "phase b begins", "phase c begins"} <= left
    assert f"<TS> INFO {ANY} scheduled after <NUM> s" in left


def test_an_outcome_in_a_name_is_kept_without_the_name() -> None:
    """A path that happens to hold such a word is folded like any other, and the outcome still tells lines apart."""
    lost = [f"wrote /mnt/lost+found/{number}.bin in <NUM> s" for number in range(300)]
    failed = [f"job={number} state=FAILED on this node at <NUM>" for number in range(300)]

    called = folding([*lost, *failed, "ERROR link of port <NUM> is down"], 50)

    assert set(called.values()) == {f"wrote {ANY}(lost) in <NUM> s", f"{ANY} {ANY}(FAILED) on this node at <NUM>"}


def test_a_table_that_fits_stays_as_it_is() -> None:
    """Usual logs are never folded, to the last word."""
    assert folding(words(100), 100) == {}
    file = find_messages([0], lambda _: (np.zeros(0, np.uint32), np.zeros(0, np.uint32)), [b"a", b"b"])
    assert fold_file(file, 2) is file


@given(st.lists(MARKED, unique=True, max_size=60), st.integers(1, 20))
@settings(deadline=None, max_examples=200)
def test_any_table_is_bounded(texts: list[str], limit: int) -> None:
    """Whatever is said, no two lines of one length and mark are left beyond the limit."""
    called = folding(texts, limit)
    left = {called.get(text, text) for text in texts}

    loose = {name for name in left if not name.startswith(BLOCK_MARK)}
    assert len(left) <= limit or len(loose) <= len({name.count(" ") for name in loose})


@given(st.lists(MARKED, unique=True, max_size=60), st.integers(1, 20), st.randoms())
@settings(deadline=None)
def test_the_order_of_texts_changes_nothing(texts: list[str], limit: int, chance: random.Random) -> None:
    """Files may be read in any order, by any number of workers."""
    shuffled = chance.sample(texts, len(texts))

    assert folding(shuffled, limit) == folding(texts, limit)


def test_a_key_of_one_table_takes_its_members_in_another() -> None:
    """A line that was folded in a good job is not new in the failed one."""
    name = f"<TS> INFO {ANY} scheduled after <NUM> s"
    found = find_templates({name: 5000, "<TS> INFO pod=trainer-x scheduled after <NUM> s": 1, QUIET: 1})

    assert found["<TS> INFO pod=trainer-x scheduled after <NUM> s"] == found[name]
    assert found[QUIET].text == QUIET


def test_blocks_give_way_last() -> None:
    """Exceptions are folded only when nothing else is left, and keep their type and what is telling."""
    tracebacks = [f"{BLOCK_MARK}FileNotFoundError: [Errno 2] No such file: '/data/{name}.jpg'" for name in range(300)]

    called = folding([*tracebacks, *words(3000)], 320)
    assert not {text for text in called if text.startswith(BLOCK_MARK)}

    called = folding(tracebacks, 10)
    assert set(called.values()) == {f"{BLOCK_MARK}FileNotFoundError: [Errno 2] No such file: {ANY}"}


def test_of_long_messages_fewer_are_kept() -> None:
    """Every rule searches every message: their characters together are bounded, not their number alone."""
    long = tuple(f"{text} {'x' * 2000}" for text in words(2000))

    (folded,) = fold_texts([long])

    assert sum(map(len, set(folded))) <= JOB_CHARACTERS < sum(map(len, long))
    assert fold_texts([long[:100]]) == [long[:100]]


def test_a_crowd_is_looked_at_up_to_a_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of far too many different lines most are told by their length alone; what may tell of the failure stays."""
    chunk = columns(
        *words(6000),
        *raised("MyProblem: the disk of this node is gone"),
        "<TS> ERROR the switch is gone",
        *words(6000, seed=2),
    )
    looked: list[str] = []

    def look(text: str) -> Look:
        looked.append(text)
        return Look.of(text)

    monkeypatch.setattr(fold, "Look", SimpleNamespace(of=look))

    folded = fold_chunk(chunk, 2000)

    assert len(looked) <= 2 * 2000 < len(chunk.bodies)
    assert {b"MyProblem: the disk of this node is gone", b"<TS> ERROR the switch is gone"} <= {
        text.strip() for text in folded.bodies
    }
    assert without_crowd(chunk, len(chunk.bodies)) is chunk


def test_what_tells_does_not_give_way_to_what_is_plain() -> None:
    """Plain messages of nine words that gave way in one file do not take an error of nine words with them."""
    failure = "RuntimeError: CUDA error: an illegal memory access was encountered"
    plain_ones = " ".join([ANY] * (failure.count(" ") + 1))

    assert find_templates({plain_ones: 5000, failure: 1})[failure].text == failure


def test_later_speakers_of_too_many_are_nobody() -> None:
    """A file of a million ranks costs what so many ranks cost as are read, every line is there, and it is told."""
    said = lines(*(f"[rank{rank}]: step 1" for rank in range(MAX_VOICES + 5)))
    read = parse_job(job({"all.log": said}), (), cache=None, workers=1, progress=None)

    assert len(read.table.ranks) == MAX_VOICES
    assert len(read.table) == MAX_VOICES + 5
    assert read.reading.capped == (
        "logs/all.log has more than 16,384 speakers before its lines: what the 5 later ones say was taken as nobody's.",
    )


def test_what_was_taken_for_one_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    """An answer says when messages were folded, and nothing of it when none were."""
    few, many = job({"all.log": lines(*words(500))}), job({"all.log": lines(*words(3000))})
    monkeypatch.setattr(fold, "JOB_TEXTS", 1024)

    told = [one.reason for one in diagnose(many, ()).skipped if one.step == "reading"]

    assert told == ["logs/all.log holds more than 1,024 different messages: those that are alike were taken for one."]
    assert "reading" not in {one.step for one in diagnose(few, ()).skipped}


def test_the_texts_of_all_files_share_one_limit() -> None:
    """A job of many dirty files has no more distinct messages than Drain can take, place by place."""
    tables = [tuple(words(1500, seed)) for seed in range(4)]

    folded = fold_texts(tables, 3000)

    assert [len(texts) for texts in folded] == [1500] * 4
    assert len(set().union(*folded)) <= 3000
    assert fold_texts(tables, 8000) == tables


def test_limits_shrink_with_the_number_of_files() -> None:
    """A thousand dirty files take no more memory than a few, and none less than real logs need."""
    assert limits([1000], 1 << 23).file == JOB_TEXTS
    assert limits([1000] * 256, 1 << 23).file == ALL_TEXTS // 256
    assert limits([1000] * 100_000, 1 << 23).file == LEAST_TEXTS
    assert limits([1 << 30], 1 << 23).chunk == ALL_TEXTS // 129
    assert FEW < LEAST_TEXTS


def columns(*texts: str) -> Columns:
    """A chunk of these lines."""
    return scan_blocks(blocks(io.BytesIO(lines(*texts).encode())), Format())


def test_blocks_of_a_chunk_that_is_folded_stay_whole() -> None:
    """What belongs to a traceback keeps its words, however many other lines give way, and every row keeps its place."""
    said = [f"sample text: {' '.join(text.split()[2:])}" for text in words(3900)]
    failure = raised("MyProblem: the disk of this node is gone")
    chunk = columns(*said[:3000], *failure, *said[3000:])

    folded = fold_chunk(chunk, 2000)

    assert len(folded.bodies) <= 2000 < len(chunk.bodies)
    assert [folded.bodies[at] for at in folded.body[3000 : 3000 + len(failure)].tolist()] == [
        chunk.bodies[at] for at in chunk.body[3000 : 3000 + len(failure)].tolist()
    ]
    assert fold_chunk(chunk, len(chunk.bodies)) is chunk
    whole = fold_chunk(folded, 2000)
    assert (whole.bodies, whole.body.tolist()) == (folded.bodies, folded.body.tolist())


@pytest.mark.parametrize("number", [6000, 3600])
def test_blocks_of_a_chunk_are_looked_for_up_to_its_limit(number: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """A file of endless exceptions would look for all of them in each chunk, and once more; 20 MB took ten seconds."""
    chunk = columns(*(line for text in words(number) for line in raised(f"MyProblem: {text}")))
    looked: list[int] = []

    def find(lines: VoiceLines, starts: Iterable[int]) -> Iterator[FoundBlock]:
        for found in find_blocks(lines, starts):
            looked.append(found.start)
            yield found

    monkeypatch.setattr(messages, "find_blocks", find)

    folded = fold_chunk(chunk, 2000)

    assert len(looked) <= 2000 < number
    assert len(folded) == len(chunk)


@pytest.mark.slow
def test_a_failure_among_endless_different_lines_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """One line tells of the fault, four times as many others as a table takes are all different: it is the answer."""
    monkeypatch.setattr(fold, "JOB_TEXTS", 4096)
    texts = words(3 * 4096)
    made = [f"INFO pod=trainer-{number:x}z scheduled after {number} s" for number in range(4096)]
    random.Random(3).shuffle(made)
    failure = "ERROR NVRM: Xid (PCI:0000:4e:00): 79, pid=1234, GPU has fallen off the bus."
    said = [*texts, *made, "INFO node gpu was drained by admin"]
    clean = lines(*("2026-11-21 04:00:00,000 " + text for text in said[:1000])).encode()
    dirty = lines(*("2026-11-21 04:00:01,000 " + text for text in said), f"2026-11-21 04:00:02,000 {failure}").encode()
    logs = tuple(
        LogFile(f"logs/node-{number}/rank_{number}.log", len(text), str(number), partial(io.BytesIO, text))
        for number, text in enumerate((clean, dirty, clean))
    )
    manifest = Manifest(job_id="j1", status=Status.FAILED, nodes=("node-0", "node-1", "node-2"))

    found = diagnose(Job(manifest, logs), ())

    assert found.scope is Scope.NODE
    assert [one.node for one in found.nodes] == ["node-1"]
    assert "fallen off the bus" in found.events[0].template


@pytest.mark.slow
def test_folded_files_are_read_the_same_by_any_number_of_workers(monkeypatch: pytest.MonkeyPatch) -> None:
    """Threads change nothing, also where tables are too large."""
    monkeypatch.setattr(fold, "JOB_TEXTS", 1500)
    texts = words(4000)
    files = {f"rank_{number}.log": lines(*texts[number * 1000 :]) for number in range(2)}

    one, two = (parse_job(job(files), (), cache=None, workers=workers, progress=None).table for workers in (1, 2))

    assert [template.id for template in one.templates] == [template.id for template in two.templates]
    assert one.event.tolist() == two.event.tolist()
    assert len(one.templates) < 1500


def _grouped(bodies: list[bytes], body: list[int], prefix: list[int]) -> Grouping:
    of_rows = np.array(body, np.uint32), np.array(prefix, np.uint32)
    return find_messages([len(body)], lambda _: of_rows, bodies)


TRACE = [b"Traceback (most recent call last):", b'  File "a.py", line <NUM>, in f', b"ValueError: x"]


def test_of_too_many_tracebacks_the_first_and_the_last_are_read(monkeypatch: pytest.MonkeyPatch) -> None:
    """A log of endless tracebacks costs what so many cost as are looked for; the job ends with its reason."""
    monkeypatch.setattr(messages, "MAX_OPENERS", 4)

    found = _grouped(TRACE, [0, 1, 2] * 10, [0] * 30)

    assert found.skipped == 6
    assert found.rows.tolist() == [*range(6), *range(24, 30)]
    assert _grouped(TRACE, [0, 1, 2] * 4, [0] * 12).skipped == 0


def test_tracebacks_without_an_exception_are_not_one(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where exceptions were folded, the first head was read over all rows of the log, with a dozen looks at each."""
    monkeypatch.setattr(python_traceback, "MOST_OPEN", 8)

    found = _grouped([*TRACE[:2], b"<ANY> <ANY>"], [0, 1, 2] * 80, [0] * 240)

    assert int(found.head.sum()) == 9
    assert found.unended
    assert not _grouped([*TRACE[:2], b"<ANY> <ANY>"], [0, 1, 2] * 8, [0] * 24).unended


def test_an_answer_tells_of_tracebacks_of_which_none_ended(monkeypatch: pytest.MonkeyPatch) -> None:
    """Which exception ended which traceback is not known there; of as many that end nothing is told."""
    monkeypatch.setattr(python_traceback, "MOST_OPEN", 8)
    head = 'Traceback (most recent call last):\n  File "a.py", line 3, in f\n'

    (told,) = parse_job(job({"all.log": head * 10}), (), cache=None, workers=1, progress=None).reading.capped
    ended = parse_job(job({"all.log": f"{head}ValueError: x\n" * 10}), (), cache=None, workers=1, progress=None)

    assert "tracebacks that began before one of them ended" in told
    assert ended.reading.capped == ()


def test_tracebacks_that_were_not_looked_for_are_told(monkeypatch: pytest.MonkeyPatch) -> None:
    """An answer says at how many lines no traceback was looked for, and nothing of it when there were few."""
    monkeypatch.setattr(messages, "MAX_OPENERS", 4)
    one = 'Traceback (most recent call last):\n  File "a.py", line 3, in f\nValueError: x\n'

    told = parse_job(job({"all.log": one * 10}), (), cache=None, workers=1, progress=None).reading.capped
    few = parse_job(job({"all.log": one * 4}), (), cache=None, workers=1, progress=None).reading.capped

    (sentence,) = told
    assert sentence.endswith("may begin a traceback or a dump: 6 of them were read as lines of their own.")
    assert few == ()


def test_heads_that_come_to_no_exception_are_not_read_to_the_end_from_each(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of heads behind bars, below each of which all others stand, the rows are looked at once."""
    looked = 0
    get = VoiceLines.__getitem__

    def counted(lines: VoiceLines, at: int) -> str:
        nonlocal looked
        looked += 1
        return get(lines, at)

    monkeypatch.setattr(VoiceLines, "__getitem__", counted)
    heads = [b" <NUM>%| Traceback (most recent call last):", TRACE[1]]
    costs = []
    for count in (200, 800):
        looked = 0
        assert _grouped(heads, [0, 1] * count, [0] * (2 * count)).skipped == 0
        costs.append(looked)

    assert costs[1] < 6 * costs[0], costs


def test_what_would_be_looked_for_too_often_is_left_as_lines(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where rows were looked at more often than blocks need, no further block is looked for."""
    monkeypatch.setattr(voice_lines, "_LEAST_LOOKS", 0)
    monkeypatch.setattr(voice_lines, "_LOOKS", 0)
    bodies = [b"Traceback (most recent call last):", TRACE[1], b"ValueError: x"]

    assert _grouped(bodies, [0, 1, 2] * 20, [0] * 60).skipped == 19


def test_rows_of_many_speakers_are_those_of_few(monkeypatch: pytest.MonkeyPatch) -> None:
    """Speakers whose rows are found all at once have the same blocks as those that are looked for one by one."""
    chance = random.Random(7)
    prefix = [chance.randrange(9) for _ in range(300)]
    said = [0] * 9
    body = []
    for speaker in prefix:
        body.append(said[speaker] % 3)
        said[speaker] += chance.choice((1, 1, 1, 2))

    one_by_one = _grouped(TRACE, body, prefix)
    monkeypatch.setattr(messages, "_SCANNED", 0)
    at_once = _grouped(TRACE, body, prefix)

    assert len(one_by_one.rows) > 100
    for name in ("rows", "message", "head", "key"):
        assert np.array_equal(getattr(one_by_one, name), getattr(at_once, name)), name
    assert one_by_one.texts == at_once.texts
