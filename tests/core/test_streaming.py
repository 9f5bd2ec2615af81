"""Templates by streaming Drain: the events of a job are those that drain3 gives its messages one by one."""

import pytest
from drain3.drain import Drain
from hypothesis import given, settings
from hypothesis import strategies as st

from core.baseline import profile_job
from core.job import Job
from core.logs.file_rows import HEAD
from core.logs.messages import plain
from core.parsed import Parsed, parse_job
from core.parsing.parse import read_job
from tests.support.jobs import at, example, job, lines, raised


def parse(one: Job, *baseline: Job, memory: int | None = None) -> Parsed:
    """The job as streaming Drain sees it."""
    return parse_job(one, baseline, drain="streaming", cache=None, workers=1, memory=memory, progress=None)


def by_drain3(one: Job) -> list[str]:
    """The template of each message, in the order of files and lines, by drain3 itself."""
    drain = Drain()
    clusters = []
    for scan in read_job(one).scans:
        for part in scan.parts:
            heads = part.marks[:] & HEAD != 0
            clusters += [drain.add_log_message(scan.texts[text])[0] for text in part.message[:][heads].tolist()]
    return [plain(cluster.get_template()) for cluster in clusters]


def templates(parsed: Parsed) -> list[str]:
    """The template of each message of the table."""
    table = parsed.table
    return [table.templates[event].text for event in table.event[table.head[:]].tolist()]


SAID = st.lists(st.lists(st.sampled_from("abcdef"), min_size=3, max_size=5).map(" ".join), min_size=1, max_size=40)


@pytest.mark.slow
@settings(deadline=None)  # a job is read twice
@given(st.lists(SAID, min_size=1, max_size=3))
def test_a_job_has_the_events_of_drain3(files: list[list[str]]) -> None:
    """Several files, texts that come again in all of them, templates that change: row by row the same."""
    one = job({f"{number}.log": lines(*said) for number, said in enumerate(files)})
    parsed = parse(one)

    assert templates(parsed) == by_drain3(one)
    assert int(parsed.table.counts.heads.sum()) == len(templates(parsed))


def test_an_example_has_the_events_of_drain3() -> None:
    """So does a real job, with its tracebacks, labels and many files, and its counts are those of its rows."""
    one = example("f07")
    parsed = parse(one, example("s01"), memory=0)
    table, said = parsed.table, parsed.table.counts

    assert templates(parsed) == by_drain3(one)
    heads = table.head[:]
    pairs = list(zip(table.voice[heads].tolist(), table.event[heads].tolist(), strict=True))
    counted = zip(said.voice.tolist(), said.event.tolist(), said.heads.tolist(), strict=True)
    assert {(voice, event): count for voice, event, count in counted} == {
        pair: pairs.count(pair) for pair in dict.fromkeys(pairs)
    }


def test_a_text_whose_cluster_changes_is_several_events() -> None:
    """Drain may answer otherwise when the same line comes again; each row keeps the answer that it got."""
    said = ["x b b b c", "x b c d a", "x a b b d", "x b b b c"]
    one = job({"a.log": lines(*said), "b.log": lines(said[0], "another one", said[0])})

    parsed = parse(one)

    before, after = "x b <*> <*> <*>", "x <*> b b <*>"
    assert templates(parsed) == [before, before, after, after, after, "another one", after]
    assert templates(parsed) == by_drain3(one)
    first, last = (parsed.table.message[row] for row in (0, 3))
    assert first != last
    assert {parsed.table.event[row] for row in (3, 4, 6)} == {parsed.table.event[3]}
    counted = {parsed.table.templates[event].text: 0 for event in parsed.table.counts.event.tolist()}
    for event, heads in zip(parsed.table.counts.event.tolist(), parsed.table.counts.heads.tolist(), strict=True):
        counted[parsed.table.templates[event].text] += heads
    assert counted == {before: 2, after: 4, "another one": 1}


def test_a_good_job_explains_what_it_says_alike() -> None:
    """What a good job says has the event of the cluster that it would join, and joins nothing by that."""
    good = job({"a.log": lines("saved checkpoint to disk three in time")}, job_id="s1")
    failed = job({"a.log": lines("saved checkpoint to disk one in time", "saved checkpoint to disk two in time")})
    parsed = parse(failed, good)

    (text,) = profile_job(good, cache=None, workers=1, progress=None).texts()
    assert parsed.templates[text].text == "saved checkpoint to disk <*> in time"
    assert set(templates(parsed)) == {"saved checkpoint to disk <*> in time"}


def test_the_two_ways_differ_where_drain_does() -> None:
    """Streaming Drain merges exit codes, as drain3 does; ours keeps them apart."""
    said = [at(1, "worker 3 of the pool ended with exit code 1"), at(2, "worker 3 of the pool ended with exit code 9")]
    one = job({"a.log": lines(*said, *raised("ValueError: boom"))})

    ours = parse_job(one, (), cache=None, workers=1, progress=None)

    assert len(set(templates(parse(one)))) == 2
    assert len(set(templates(ours))) == 3
