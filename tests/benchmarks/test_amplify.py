"""Grown jobs: roles, names and truth keep to what the small job says."""

import json
import tarfile
from pathlib import Path

import pytest

from benchmarks.amplify.__main__ import LAB, main
from benchmarks.amplify.alone import MeasuredAnswer, diagnose_alone
from benchmarks.amplify.cast import FIRST, CannotGrow, Cast, Original, choose_cast
from benchmarks.amplify.grow import grow, read_original
from benchmarks.amplify.measure import GrownJob, Outcome, make_plans, seen_by_ranks
from benchmarks.amplify.script import Speaker, lost_peer, write_script
from benchmarks.amplify.table import tables
from benchmarks.quality.labels import parse_truth
from benchmarks.unpack import unpack

NODES = 12
USED = ("f01", "f02", "f07", "f19", "f25", "f34", "s02")


@pytest.fixture(scope="module")
def lab(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The labelled jobs that are grown here."""
    folder = tmp_path_factory.mktemp("lab")
    with tarfile.open(LAB) as packed:
        wanted = [one for one in packed.getmembers() if any(f"/{job}" in f"/{one.name}" for job in USED)]
        unpack(packed, folder, wanted)
    return folder


def original(lab: Path, job_id: str) -> Original:
    return read_original(lab / "jobs", lab / "truth", job_id)


def grown(lab: Path, job_id: str, out: Path, faulty: int = 1) -> tuple[Cast, Path]:
    cast = choose_cast(original(lab, job_id), NODES, faulty, seed=3)
    grow(cast, out / "jobs", out / "truth")
    return cast, out / "jobs" / job_id


def spoken(line: str, cast: Cast, place: int, local_rank: int | None = None) -> str:
    script = write_script(line, cast.original, frozenset({"7413"}))
    return script.speak(Speaker(cast, place, local_rank))[0]


def test_first_last_and_faulty_nodes_keep_their_parts(lab: Path) -> None:
    """The first and the last node speak their own lines, the faulty one stands in between, all others are healthy."""
    cast = choose_cast(original(lab, "f07"), NODES, 2, seed=1)
    others = {cast.plays[place] for place in range(1, NODES - 1) if place not in cast.faulty}
    assert (cast.plays[FIRST], cast.plays[-1]) == (0, 3)
    assert [cast.plays[place] for place in cast.faulty] == [1, 1]
    assert others == {2}


def test_the_same_seed_is_the_same_job_and_others_stand_elsewhere(lab: Path) -> None:
    """Where the fault stands is drawn from the seed and nothing else."""
    job = original(lab, "f07")
    places = [choose_cast(job, NODES, 1, seed).faulty for seed in range(6)]
    assert places == [choose_cast(job, NODES, 1, seed).faulty for seed in range(6)]
    assert len(set(places)) > 1


def test_what_cannot_grow_honestly_is_refused(lab: Path) -> None:
    """Two nodes have no middle, and the first node's fault has no second place."""
    with pytest.raises(CannotGrow, match="between its first and its last"):
        choose_cast(original(lab, "s02"), NODES, 1, seed=0)
    with pytest.raises(CannotGrow, match="there is only one"):
        choose_cast(original(lab, "f34"), NODES, 2, seed=0)


def test_names_ranks_and_sizes_are_renamed_and_a_name_that_nobody_bears_is_not(lab: Path) -> None:
    """A clone speaks of itself by its own names, and of the first node by that node's."""
    cast = choose_cast(original(lab, "f07"), NODES, 1, seed=3)
    clone = next(place for place in range(1, NODES) if cast.plays[place] == 2)
    line = "[rank5] rank 5/8 host node-02 pid 7413 store node-00:29400 master node-40 of --nnodes 4"
    said = spoken(line, cast, clone)
    rank = cast.ranks(clone)[1]
    assert said.startswith(f"[rank{rank}] rank {rank}/24 host {cast.name(clone)} pid ")
    assert said.endswith("store node-0000:29400 master node-40 of --nnodes 12")
    assert " 7413 " not in said


def test_times_of_a_node_never_change_their_order(lab: Path) -> None:
    """All of a node comes later by the same time, and the fault itself by none."""
    cast = choose_cast(original(lab, "f07"), NODES, 1, seed=3)
    clone = next(place for place in range(1, NODES) if cast.delays[place])
    lines = ["2026-11-21 03:59:30,990 a", "2026-11-21 03:59:30,999 b", "[W1121 03:59:59.999999999 c.cpp:1] c"]
    assert [spoken(line, cast, cast.faulty[0]) for line in lines] == lines
    later = [spoken(line, cast, clone).split(" ")[1] for line in lines]
    assert later == sorted(later)
    assert later[0] > "03:59:30,990"


def test_in_a_ring_each_names_the_neighbour_on_the_side_of_the_fault(lab: Path) -> None:
    """Only neighbours of the faulty rank name its node, as in the real job."""
    cast = choose_cast(original(lab, "f01"), NODES, 1, seed=3)
    fault = cast.faulty_ranks[0]
    named = {
        rank: lost_peer(Speaker(cast, rank // 2, rank % 2))
        for rank in range(cast.world)
        if rank // 2 not in cast.faulty
    }
    assert not cast.original.names_far
    assert all(peer in {(rank + 1) % cast.world // 2, (rank - 1) % cast.world // 2} for rank, peer in named.items())
    naming = {rank for rank, peer in named.items() if peer == fault // 2}
    assert naming == {(fault // 2 * 2 - 1) % cast.world, (fault // 2 * 2 + 2) % cast.world}


def test_in_a_barrier_more_than_neighbours_name_the_fault(lab: Path) -> None:
    """Where the real job shows it, ranks that are a power of two away name it too, and no others."""
    cast = choose_cast(original(lab, "f19"), NODES, 1, seed=3)
    fault = cast.faulty_ranks[0]
    assert cast.original.names_far
    for step in (2, 4, 8):
        rank = (fault + step) % cast.world
        assert lost_peer(Speaker(cast, rank // 2, rank % 2)) == fault // 2
    rank = (fault + 6) % cast.world
    assert lost_peer(Speaker(cast, rank // 2, rank % 2)) != fault // 2


def test_labels_stand_at_the_lines_that_they_quote(lab: Path, tmp_path: Path) -> None:
    """The truth follows: every label's file and line hold its text, and the faulty node has its new name."""
    cast, job = grown(lab, "f07", tmp_path, faulty=2)
    truth = json.loads((tmp_path / "truth" / "f07.json").read_text())
    assert truth["faulty_nodes"] == [cast.name(place) for place in cast.faulty]
    assert {label["role"] for label in truth["labels"]} == {"root", "propagated", "teardown"}
    for label in truth["labels"]:
        lines = (job / label["file"]).read_text(encoding="utf-8").split("\n")
        assert lines[label["line"] - 1] == label["text"]


def test_the_scheduler_tells_of_every_node_in_the_order_of_time(lab: Path, tmp_path: Path) -> None:
    """All nodes register, the faulty one alone is lost, and the first failure is told once."""
    cast, job = grown(lab, "f07", tmp_path)
    lines = (job / "logs" / "controller.log").read_text().splitlines()
    assert sum(" registered" in line for line in lines) == NODES
    assert next(line for line in lines if "marking it DOWN" in line).count(cast.name(cast.faulty[0])) == 1
    assert sum("other tasks will be terminated" in line for line in lines) == 1
    assert [line[:24] for line in lines] == sorted(line[:24] for line in lines)


def test_a_copy_of_the_last_node_does_not_log_for_the_last_rank(lab: Path, tmp_path: Path) -> None:
    """The report of iterations is written by the last rank only, also when its node has the fault."""
    _, job = grown(lab, "f25", tmp_path, faulty=2)
    writing = {path.parts[-6] for path in job.rglob("stdout.log") if "elapsed time per iteration" in path.read_text()}
    assert writing == {f"node-{NODES - 1:04}"}


def test_the_grown_job_is_diagnosed(lab: Path, tmp_path: Path) -> None:
    """The program reads a grown job as it does the small one, and finds the fault where it was put."""
    cast, job = grown(lab, "f07", tmp_path)
    answer = diagnose_alone(job.parent, "f07")
    assert (answer.scope, answer.nodes) == ("node", (cast.name(cast.faulty[0]),))
    assert answer.peak > 0


def test_plans_leave_out_what_cannot_grow(lab: Path) -> None:
    """A job-wide fault and a healthy job are grown once, the first node's fault with one node only."""
    jobs = [original(lab, job_id) for job_id in ("f01", "f34", "s02")]
    plans = [(plan.job_id, plan.faulty) for plan in make_plans(jobs, (NODES,), (1, 2), (0,))]
    assert plans == [("f01", 1), ("f01", 2), ("f34", 1)]
    assert [seen_by_ranks(job) for job in jobs] == [True, True, False]


def test_tables_count_hits_misses_and_silence() -> None:
    """A first suspect counts when it is at fault; a job without an answer is a miss."""
    truth = parse_truth(
        {"job_id": "f1", "failed": True, "kind": "link", "faulty_nodes": ["b", "c"], "labels": [], "stage": None}
    )
    answer = MeasuredAnswer("node", ("b", "x"), "Look at b.", lines=1_000, read=5, seconds=2.0, cpu=1.0, peak=3_000_000)
    plan = GrownJob("f1", 64, 2, 0)
    text = tables([Outcome(plan, truth, 2_000_000, answer), Outcome(plan, truth, 2_000_000, None, "no answer")])
    assert "| 64 | 2 | 2 | 0.50 | 0.50 | 0.25 | 0.50 | 2.0 | 1.0 | 3 | 1,000 | 2.0 |" in text
    assert "| link | f1 | 1/2 |" in text


def test_make_writes_a_job_and_refuses_what_cannot_grow(
    lab: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """`make` is what its help says, and a job without a middle is an error in one line."""
    options = ["--lab", str(lab), "make", "--nodes", "8", "--out", str(tmp_path), "--job"]
    assert main([*options, "f02"]) == 0
    assert "f02: 49 files" in capsys.readouterr().out
    assert main([*options, "s02"]) == 2
    assert "has no healthy node" in capsys.readouterr().err
