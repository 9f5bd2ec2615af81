"""Evidence: each claim has its number, its sentence and lines that can be looked up."""

from dataclasses import replace

import pytest

from core.diagnose import diagnose
from core.job import Job, Status
from core.logs.label import Label, as_people_write, write_label
from core.model import Diagnosis, EventEvidence, Role, Stage
from tests.support.jobs import at, example, four_nodes, job, lines, lost, raised, steps, timed_out
from tests.support.wrapped_logs import wrapped

DISK = raised("OSError: [Errno 5] Input/output error")


def first(one: Job, *baseline: Job) -> EventEvidence:
    return diagnose(one, list(baseline)).events[0]


def raw(one: Job, file: str, line: int) -> str:
    """A line as everybody counts them."""
    (log,) = (log for log in one.logs if log.name == file)
    with log.open() as stream:
        return as_people_write(stream.read().split(b"\n")[line - 1]).decode("utf-8", "replace")


def test_a_time_without_a_year_is_cited_as_syslog_has_it() -> None:
    """Not in the form in which the wrapper hands it on; a line with a clock of its own keeps that alone."""
    label = write_label(Label(nodes=(b"gn04",)))

    assert (
        as_people_write(b"1114 08:01:34.0 " + label + b"kernel: link down")
        == b"Nov 14 08:01:34 gn04: kernel: link down"
    )
    assert as_people_write(b"0104 08:01:34.25 " + label + b"up") == b"Jan  4 08:01:34.25 gn04: up"


def test_a_line_is_cited_by_file_and_number() -> None:
    """The cited line of a traceback is the one that says what happened."""
    failed = four_nodes({1: DISK}, usual=steps(9))

    (line,) = first(failed).lines

    assert (line.file, line.line) == ("logs/node-1/rank_1.log", 15)
    assert line.text == raw(failed, line.file, line.line) == "OSError: [Errno 5] Input/output error"


@pytest.mark.parametrize("job_id", ["f02", "f07", "f15", "f42"])
def test_every_cited_line_of_a_real_job_exists_and_says_so(job_id: str) -> None:
    """A reader who opens the file finds the text there."""
    failed = example(job_id)

    cited = [line for event in diagnose(failed, []).events for line in event.lines]

    assert cited
    for line in cited:
        assert line.text
        assert line.text in raw(failed, line.file, line.line)


def test_a_line_with_carriage_returns_is_cited_by_its_newlines() -> None:
    """A progress bar and the error at its end are one physical line."""
    bar = "\r".join(f"{n:3d}%|##   | {n}/100 [00:01<00:02]" for n in range(50))
    failed = four_nodes({1: [bar + "\rOSError: [Errno 5] Input/output error"]}, usual=["hello"])

    (line,) = first(failed).lines

    assert (line.line, line.text) == (2, "OSError: [Errno 5] Input/output error")


def test_the_number_of_cited_lines_is_bounded_and_each_node_is_among_them() -> None:
    """Of thirty times on three nodes the earliest of each node."""
    failed = four_nodes({n: [text for _ in range(10) for text in lost(2)] for n in (0, 1, 3)}, usual=steps(9))

    told = first(failed)

    assert (told.count, len(told.lines)) == (30, 3)
    assert {line.file for line in told.lines[:3]} == {f"logs/node-{n}/rank_{n}.log" for n in (0, 1, 3)}
    assert {line.line for line in told.lines[:3]} == {15}


@pytest.mark.parametrize(
    ("failed", "because"),
    [
        (
            four_nodes({1: DISK}, usual=steps(9)),
            "Rank 1 on node-1 logged this once, after iteration 9. Storage failed.",
        ),
        (
            four_nodes({1: DISK * 3}, usual=["hello"]),
            "Rank 1 on node-1 logged this 3 times. Storage failed.",
        ),
        (
            four_nodes(dict.fromkeys(range(4), DISK), usual=["hello"]),
            "4 of 4 nodes logged this 4 times. Storage failed.",
        ),
        (
            job({"slurmctld.log": lines("error: Nodes node-2 not responding")}, nodes=("node-1", "node-2")),
            "slurmctld.log logged this once. The node stopped answering.",
        ),
    ],
)  # fmt: skip
def test_the_sentence_holds_who_how_often_and_when(failed: Job, because: str) -> None:
    """Numbers stand in words, beside the score."""
    assert first(failed).because == because


def test_names_are_written_as_they_are() -> None:
    """A node called alpha is not Alpha at the start of a sentence."""
    files = {
        name: lines("hello", *(DISK if name.startswith("alpha") else [])) for name in ("alpha/x.log", "beta/x.log")
    }
    found = diagnose(job(files, nodes=("alpha", "beta")), [])

    assert found.events[0].because.startswith("alpha logged this once")
    assert found.nodes[0].because.startswith("alpha logged")


def test_the_sentence_holds_what_good_jobs_say() -> None:
    """Never, or less often, and in how many of them."""
    good = [four_nodes({}, usual=["hello"], job_id=name, status=Status.COMPLETED) for name in ("s1", "s2")]
    retried = [four_nodes({1: DISK * 2}, usual=["hello"], job_id="s1", status=Status.COMPLETED)]
    failed = four_nodes({1: DISK * 9}, usual=["hello"])

    assert "; never in 2 successful jobs." in first(failed, *good).because
    assert "; less often in 1 successful job." in first(failed, *retried).because


def test_an_event_tells_where_and_when_it_was() -> None:
    """Nodes, stage, iterations and time are those of its rows."""
    told = first(four_nodes({1: [*steps(3), at(3.25, "ERROR disk"), *DISK]}, usual=["building GPT model ..."]))

    assert (told.role, told.nodes, told.stage, told.iterations) == (Role.ROOT, ("node-1",), Stage.TRAINING, (3,))
    assert told.first_time == 1_795_233_603_250_000


def test_without_a_clock_an_event_has_no_time() -> None:
    """None is not 1970."""
    assert first(four_nodes({1: DISK}, usual=["hello"])).first_time is None


def test_a_suspect_names_the_events_that_speak_against_it() -> None:
    """By the ids under which the events are shown."""
    found = diagnose(four_nodes({1: DISK, **{n: lost(1) for n in (0, 2, 3)}}, usual=steps(9)), [])

    (suspect,) = found.nodes
    (direct,) = (event for event in found.events if event.id in suspect.events)
    assert direct.template == "OSError: [Errno 5] Input/output error"
    assert (suspect.id, suspect.node, suspect.ranks) == ("N1", "node-1", (1,))
    assert suspect.because[0].isupper() or suspect.because.startswith("node-1")


def test_the_last_iteration_names_the_roots_that_came_after_it() -> None:
    """What happened when the job stopped making progress."""
    found = diagnose(four_nodes({1: DISK}, usual=steps(9)), [])

    assert [(one.id, one.iteration, one.events) for one in found.iterations] == [("I1", 9, ("E1",))]


def everything(found: Diagnosis) -> list[float]:
    return [one.score for one in (*found.events, *found.nodes, *found.iterations)]


@pytest.mark.parametrize("job_id", ["f02", "f07", "f15", "f22", "f42"])
def test_scores_are_within_bounds_and_lists_are_ranked(job_id: str) -> None:
    """Higher is more anomalous, everywhere, and the most telling comes first."""
    found = diagnose(example(job_id), [])

    assert all(0 <= score <= 1 for score in everything(found))
    for role in Role:
        scores = [event.score for event in found.events if event.role is role]
        assert scores == sorted(scores, reverse=True)
    for ranked in ([node.score for node in found.nodes], [one.score for one in found.iterations]):
        assert ranked == sorted(ranked, reverse=True)


@pytest.mark.parametrize(
    ("one", "step", "reason"),
    [
        (four_nodes({1: DISK}), "cross-job", "no successful job with these settings"),
        (four_nodes({1: DISK}), "temporal", "No line of the logs counts iterations"),
        (job({"a/rank_0.log": "x\n"}, nodes=("a",)), "spatial", "nobody to compare it with"),
        (job({"a.log": "x\n"}), "cross-job", "no successful job"),
    ],
)
def test_a_step_that_could_not_run_says_so(one: Job, step: str, reason: str) -> None:
    """Thin data is an answer."""
    assert any(skip.step == step and reason in skip.reason for skip in diagnose(one, []).skipped)


def test_coverage_tells_what_was_read_and_what_is_missing() -> None:
    """Files, lines, bytes, ranks and nodes; who should have spoken and did not."""
    files = {f"node-{n}/rank_{n}.log": lines("hello", *timed_out()) for n in range(3)}
    ranks = {f"node-{n}": (n,) for n in range(4)}
    one = job(files, nodes=tuple(ranks), node_ranks=ranks, world_size=4)

    read = diagnose(one, []).coverage

    assert (read.files, read.lines, read.bytes) == (3, 21, sum(log.size for log in one.logs))
    assert (read.ranks, read.ranks_expected, read.ranks_missing) == (3, 4, (3,))
    assert (read.nodes, read.nodes_missing) == (3, ("node-3",))
    assert read.baseline_jobs == 0


def test_lines_that_are_no_text_are_counted() -> None:
    """They are read all the same, and cited with replacements."""
    failed = job({"a/rank_0.log": b"\xff\xfe\x00\n" + "\n".join(DISK).encode() + b" \xff\n"})

    found = diagnose(failed, [])

    assert found.coverage.undecodable_lines == 2
    assert found.events[0].lines[0].text == "OSError: [Errno 5] Input/output error \ufffd"


def test_lines_whose_wrapper_is_broken_are_counted_and_read() -> None:
    """Half a record at the end of what a full disk left: its text is there, and the answer says how many."""
    text = "".join(f"2026-11-22T04:49:3{n}.177137210Z stderr F {line}\n" for n, line in enumerate(DISK))
    one = job({})
    failed = replace(one, logs=(wrapped("logs/a/rank_0.log", (text + "2026-11-22T04:49").encode()),))

    found = diagnose(failed, [])

    assert found.coverage.broken_lines == 1
    assert found.events[0].lines[0].text == "2026-11-22T04:49:35.177137Z OSError: [Errno 5] Input/output error"


def test_pictures_show_what_is_told() -> None:
    """Marks carry the ids of shown events, bars the nodes that spoke, series the numbers of the logs."""
    found = diagnose(four_nodes({1: DISK, **{n: lost(1) for n in (0, 2, 3)}}, usual=steps(9)), [])

    assert {mark.event for mark in found.pictures.marks} <= {event.id for event in found.events}
    assert [bar.node for bar in found.pictures.nodes] == [f"node-{n}" for n in range(4)]
    assert {bar.node: bar.score for bar in found.pictures.nodes}["node-1"] == found.nodes[0].score
    assert {one.name for one in found.pictures.series} >= {"loss"}
    assert all(bar.last_iteration == 9 for bar in found.pictures.nodes)


def test_a_suspects_own_line_is_cited_before_those_of_others() -> None:
    """All nodes say it, the suspect last; who reads the first line reads its own."""
    said = {rank: [at(10 + (rank == 2), "ERROR OSError: [Errno 5] Input/output error")] for rank in (0, 2)}
    found = diagnose(four_nodes({**said, 2: [*said[2], at(30, "kernel: NVRM: Xid (PCI:0000:41:00): 79, pid=1")]}), [])
    shared = [event for event in found.events if len(event.nodes) > 1]

    assert found.nodes[0].node == "node-2"
    assert shared
    assert all("2" in event.lines[0].file for event in shared)
