"""Who speaks, however the logs of several machines are laid out and labelled: told by what labels and files do."""

from collections.abc import Callable

import pytest

from core.diagnose import diagnose
from core.events.table import EventTable
from core.job import Job, Manifest, Status
from core.logs.voices import Origin
from tests.support.jobs import at, job, lines, parse, suspected
from tests.support.wrapped_logs import wrapped

HOSTS = ("rack1-7", "rack2-10")
EACH = 4  # ranks of each machine
STEPS = 9
BATCH = "07cb6c96981fa72fb0f51aa64fda7324", "51bfa983f7d0b6acba6b582d8fb8839f"
NOMAD = "0081a33b-2ef3-daa2-0ce6-c7687a2801e3", "65fd0e61-7d26-0385-81b7-c1d3610a0887"


def said(label: Callable[[int], str], ranks: range) -> list[str]:
    """Steps of some ranks, which take turns."""
    return [f"{label(rank)}step {step} loss 2.{step}{rank}" for step in range(STEPS) for rank in ranks]


def table_of(files: dict[str, list[str]], nodes: tuple[str, ...] = ()) -> EventTable:
    """These logs as they are read from a folder."""
    logs = tuple(wrapped(f"logs/{name}", lines(*own).encode()) for name, own in sorted(files.items()))
    return parse(Job(Manifest(job_id="j1", status=Status.FAILED, nodes=nodes), logs)).table


def speakers(files: dict[str, list[str]]) -> set[tuple[str | None, int | None, int | None]]:
    """Node, rank and local rank of all who say a step."""
    table = table_of(files)
    steps = [event for event, template in enumerate(table.templates) if "step <NUM> loss" in template.sample]
    voices: list[Origin] = [table.origins[voice] for voice in table.voice[table.all_rows_of(steps)].tolist()]
    return {(origin.node, origin.rank, origin.local_rank) for origin in voices}


@pytest.mark.parametrize(
    "label",
    [
        "({r}, {h}) ",
        "{h}:{r} ",
        "{r}@{h} | ",
        "[{h}:{r}] ",
        "<{h} {r}> ",
        "{h} rank{r}: ",
        "{h}/r{r}: ",
        "{h} [{r}] ",
    ],
)
@pytest.mark.parametrize("hosts", [HOSTS, ("10.12.1.7", "10.12.2.10")])
def test_a_label_of_machine_and_rank_is_read_in_either_order(label: str, hosts: tuple[str, ...]) -> None:
    """In one file of all, around or between whatever signs, also of machines that go by their addresses."""
    log = said(lambda rank: label.format(h=hosts[rank // EACH], r=rank), range(2 * EACH))

    found = speakers({"train.log": log})

    assert {(node, rank) for node, rank, _ in found} == {(hosts[rank // EACH], rank) for rank in range(2 * EACH)}


@pytest.mark.parametrize("label", ["<{r:02d}> ", "({r}) ", "[{r}] ", "{r}| ", "<sft r{r:02d}> "])
def test_ranks_of_one_machine_need_no_word_before_them(label: str) -> None:
    """The second machine's file has the second half of them."""
    files = {
        f"{host}.log": said(lambda rank: label.format(r=rank), range(EACH * n, EACH * (n + 1)))
        for n, host in enumerate(HOSTS)
    }

    found = speakers(files)

    assert {(node, rank) for node, rank, _ in found} == {(HOSTS[rank // EACH], rank) for rank in range(2 * EACH)}


@pytest.mark.parametrize("label", ["g{l}| ", "[{l}] ", "({l}) "])
def test_labels_that_begin_anew_in_each_machines_file_are_its_processes(label: str) -> None:
    """g0 to g3 in both, whose machines the files name when they begin."""
    files = {
        f"alloc/{name}/stdout.0": [f"kiln 0.31.2 host={host}", *said(lambda rank: label.format(l=rank), range(EACH))]
        for name, host in zip(NOMAD, HOSTS, strict=True)
    }

    files |= {f"alloc/{name}/events.txt": ["Started  Task started by client"] for name in NOMAD}

    found = speakers(files)

    assert {(node, local) for node, _, local in found} == {(host, local) for host in HOSTS for local in range(EACH)}


def test_a_folder_that_is_called_after_an_identifier_is_the_machine_that_it_names() -> None:
    """All its files, those too that do not name it; where nobody names any, the identifier is the only name."""
    told = {
        f"alloc/{name}/stdout.0": [f"kiln host={host}", *said(str, range(1))]
        for name, host in zip(NOMAD, HOSTS, strict=True)
    }
    silent = {f"alloc/{name}/events.txt": ["Started  Task started by client"] for name in NOMAD}
    nobody = {f"awslogs/{name}.log": [at(n, f"step {n} loss 2.{n}") for n in range(STEPS)] for name in BATCH}

    table = table_of({**told, **silent})

    assert table.nodes == HOSTS
    assert {origin.node for origin in table.origins} == set(HOSTS)
    assert table_of(nobody).nodes == BATCH


def test_a_file_that_is_called_after_an_identifier_names_a_machine_of_job_json() -> None:
    """The one that it names and that not all of them do; no other name is one."""
    files = {
        f"awslogs/{name}.log": [f"master rack1-7 and host {host}", *said(str, range(1))]
        for name, host in zip((*BATCH, "0" * 8 + "5bf85ed563334e1d099bb4"), (*HOSTS, "rack3-1"), strict=True)
    }

    table = table_of(files, nodes=(*HOSTS, "rack3-1"))

    assert table.nodes == (*HOSTS, "rack3-1")


def test_numbered_files_that_begin_with_their_machines_name_are_its() -> None:
    """log.0, log.1: nobody's machine is called so."""
    files = {
        f"log.{n}": [f"+ hostname={host}", *[at(k, f"step {k} loss 2.{k}") for k in range(STEPS)]]
        for n, host in enumerate(HOSTS)
    }

    assert table_of(files).nodes == HOSTS


def test_a_file_whose_labels_name_one_rank_is_that_ranks() -> None:
    """Where such files together have each rank once: the lines before its traceback have no label."""
    files = {
        f"w/{name}/stderr": [*[at(k, f"step {k} loss 2.{k}") for k in range(STEPS)], f"[rank{n}]: gave up"]
        for n, name in enumerate(("east", "north", "west"))
    }

    assert {rank for _, rank, _ in speakers(files)} == {0, 1, 2}


def test_a_list_of_all_ranks_behind_sruns_label_is_told_by_one() -> None:
    """Megatron-LM's times of all ranks (megatron/core/timers.py), which the last rank prints: no heads of lines."""
    steps = [f"{n:2d}: step {k} loss 2.{k}" for k in range(3) for n in range(12)]
    listed = [f"11:      rank {n:2d}: {1000 + n}.25" for _ in range(20) for n in range(12)]

    table = table_of({"slurm-1.out": [*steps, *listed]})

    row = next(event for event, template in enumerate(table.templates) if template.sample.startswith("rank"))
    assert table.ranks == tuple(range(12))
    assert {table.origins[voice].rank for voice in table.voice[table.all_rows_of([row])].tolist()} == {11}


def test_a_machine_before_a_colon_is_taken_off_with_it() -> None:
    """What stands behind an address is read as any line is: torch's own label."""
    hosts = ("10.140.20.25", "10.140.20.91", "10.140.20.111")
    log = [f"{hosts[(n + k) % 3]}: [rank{(n + k) % 3}]: step {k} loss 2.{k}" for k in range(STEPS) for n in range(3)]

    assert {(node, rank) for node, rank, _ in speakers({"console.txt": log})} == set(zip(hosts, range(3), strict=True))


def test_who_lacks_what_most_said_below_the_last_step_is_suspected_without_a_clock() -> None:
    """In whatever language: three gave up, one still says that it waits for its input."""
    names = ("fink-01", "fink-02", "fink-03", "fink-04")
    ends = dict.fromkeys(names[1:], "Abbruch: 180 s ohne Fortschritt") | {names[0]: "warte: Eingabe 30 s"}
    files = {
        f"{name}/rank_{n}.log": lines(*(f"step {k} loss 2.{k}" for k in range(9)), ends[name])
        for n, name in enumerate(names)
    }
    files["sched.log"] = lines(at(300, "job finished with code 1"))
    ranks = {name: (n,) for n, name in enumerate(names)}

    assert suspected(job(files, nodes=names, node_ranks=ranks, world_size=4)) == ["fink-01"]


def test_who_had_to_be_killed_while_all_others_ended_by_themselves_is_suspected() -> None:
    """srun's report: what most did together is no direct trace of any."""
    nodes = {f"node-{n}": (2 * n, 2 * n + 1) for n in range(4)}
    steps = [f"{n}: step {k} loss 2.{k}" for k in range(6) for n in range(8)]
    ends = [f"srun: error: node-{n}: tasks {2 * n}-{2 * n + 1}: Exited with exit code 4" for n in range(3)]
    ends += ["srun: error: node-3: task 6: Exited with exit code 4", "srun: error: node-3: task 7: Killed"]
    told = job({"slurm-77.out": lines(*steps, *ends)}, nodes=tuple(nodes), node_ranks=nodes, world_size=8)

    found = diagnose(told, [])

    assert [node.node for node in found.nodes] == ["node-3"]


def test_an_error_above_the_first_clock_of_its_file_may_have_ended_the_job() -> None:
    """LSF's mail puts the clocks of the job below what mpirun said last; who trained on after them tells nothing."""
    orte = (  # open-mpi/ompi orte/mca/errmgr/base/help-errmgr-base.txt (4.1)
        "ORTE has lost communication with a remote daemon.",
        "",
        "  HNP daemon   : [[56637,0],0] on node cn-01",
        "  Remote daemon: [[56637,0],1] on node cn-02",
    )
    names = tuple(f"cn-{n:02d}" for n in range(1, 5))
    steps = [at(5 * k, f"step {k} loss 2.5") for k in range(1, 40)]
    files: dict[str, str | bytes] = {f"{name}/rank_{n}.log": lines(*steps) for n, name in enumerate(names)}
    files["lsf.77.o"] = lines(*orte, "", at(1, "Started"), at(300, "Terminated"))
    ranks = {name: (n,) for n, name in enumerate(names)}

    assert suspected(job(files, nodes=names, node_ranks=ranks, world_size=4)) == ["cn-02"]


def test_a_launchers_set_up_that_names_one_node_accuses_nobody() -> None:
    """Its lines have no clock, and its file counts nothing: nobody knows that they came since the last step."""
    names = tuple(f"inst-{n}" for n in range(4))
    store = "INFO:composer.cli.launcher:Distributed KV store: tcp://inst-0:20022"
    files: dict[str, str | bytes] = {
        f"{name}/launcher.txt": lines(store, "INFO:composer.cli.launcher:Starting distributed environment")
        for name in names
    }
    for n, name in enumerate(names):
        files[f"{name}/rank_{n}.log"] = lines(*(f"step {k} loss 2.5" for k in range(9)))
    ranks = {name: (n,) for n, name in enumerate(names)}

    assert suspected(job(files, nodes=names, node_ranks=ranks, world_size=4, status=Status.CANCELLED)) == []
