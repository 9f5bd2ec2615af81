"""Who speaks in files, by what their lines do in whatever words, by their numbers, and by what other logs tell."""

import pytest

from core.job import Manifest
from core.logs.voices import FileSpeaker
from core.parsing.file_names import called_after
from core.parsing.file_numbers import numbered_as_ranks
from core.parsing.identified_files import find_identified
from core.parsing.introductions import find_introductions, homes_of_ranks, slots_of
from tests.support.jobs import at, job, lines, parse, steps

NOBODY = Manifest("j1")


def says(*texts: str) -> bytes:
    """The first bytes of a file of these lines."""
    return lines(*texts).encode()


def heads(form: str, count: int = 8) -> dict[str, bytes]:
    """Files that say such a line once, of two ranks a machine, and the same lines else."""
    return {
        f"rang_{rank:03d}.prot": says(
            form.format(rank=rank, host=f"knoten{7 * (rank // 2):02d}", local=rank % 2, own=f"knoten{rank:02d}"),
            *(f"  {n}.5 | Schritt {n} Verlust 2.{n}" for n in range(9)),
        )
        for rank in range(count)
    }


def test_a_number_that_counts_the_files_beside_a_name_that_several_share() -> None:
    """No word of that line is known; few files may lack it."""
    told = heads("  0.59 | Rang {rank} von 8 auf {host}, Gerät {local}, Aufbau 4.11.2")
    told["rang_005.prot"] = b""

    found = find_introductions(told, NOBODY)

    assert found["rang_006.prot"] == FileSpeaker("knoten21", 6)
    assert sorted(found) == sorted(set(told) - {"rang_005.prot"})


@pytest.mark.parametrize(
    "form",
    ["rang {rank} auf {own}", "rang {rank} in pp{local}", "rang {rank} liest teil 4711"],
    ids=["a name each", "a stage", "the same everywhere"],
)
def test_lines_that_tell_no_machine_of_several_ranks(form: str) -> None:
    """A name that each has alone may be that of a file; stages and groups are of ranks, and are no machines."""
    assert find_introductions(heads(form), NOBODY) == {}


def test_the_number_of_a_process_tells_its_machine_as_well() -> None:
    """Where it begins anew with each of them: which rank that is nobody says."""
    assert find_introductions(heads("auf {host}, Gerät {local}"), NOBODY)["rang_003.prot"] == FileSpeaker("knoten07")


def test_names_of_machines_need_no_digit() -> None:
    """What most files say are words of the program; the others may be names."""
    told = {
        f"out.{rank}": says(f"hallo von {name}, ich bin {rank} von 8", "Schritt 1 Verlust 2.5")
        for rank, name in enumerate(["amsel"] * 4 + ["dohle"] * 4)
    }

    assert find_introductions(told, NOBODY)["out.5"] == FileSpeaker("dohle", 5)


def test_names_of_job_json_are_the_only_ones() -> None:
    """What looks like a machine and is none of its nodes may be a switch."""
    told = heads("Rang {rank} auf {host}")
    named = Manifest("j1", nodes=("knoten00", "knoten07", "knoten14", "knoten21"))

    assert find_introductions(told, named)["rang_002.prot"].node == "knoten07"
    assert find_introductions(told, Manifest("j1", nodes=("gpu-1", "gpu-2"))) == {}


def test_ranks_may_be_dealt_out_in_turn() -> None:
    """As mpirun --map-by node does; a machine with more of them than others is none."""
    in_turn = {rank: slots_of(f"rank {rank} host n{rank % 3}x") for rank in range(6)}
    uneven = {rank: slots_of(f"rank {rank} host n{min(rank, 1)}x") for rank in range(6)}

    assert homes_of_ranks(in_turn)[4] == "n1x"
    assert homes_of_ranks(uneven) == {}


def test_ranks_of_one_log_tell_their_machines_in_any_words() -> None:
    """Where labels tell ranks and nothing tells nodes."""
    said = [f"[rank{rank}]: Prozess {rank} von 8 startet bei knoten{rank // 2 + 3}" for rank in range(8)]
    said += [f"[rank{rank}]: {at(n, f'step {n} loss 2.5')}" for n in range(9) for rank in range(8)]

    parsed = parse(job({"run.log": lines(*said)}))

    assert (parsed.unit, parsed.table.nodes) == ("node", ("knoten3", "knoten4", "knoten5", "knoten6"))


def test_files_of_a_node_each_have_ranks_that_no_other_has() -> None:
    """Whatever else they say: one holds a traceback, and the last rank alone prints the loss."""
    own = {
        f"nemo_8b_55441_h200-676-{17 * node:03d}.out": [
            *(f"[rank{rank}]: {at(rank, 'using device 0')}" for rank in range(4 * node, 4 * node + 4)),
            *(steps(20) if node == 2 else ()),
        ]
        for node in range(3)
    }

    parsed = parse(job({name: lines(*said) for name, said in own.items()}))

    assert parsed.table.nodes == ("h200-676-000", "h200-676-017", "h200-676-034")
    assert set(parsed.table.ranks) == set(range(12))


def test_files_that_are_numbered_as_all_ranks_are_of_these() -> None:
    """Beside a log whose labels name them; of fewer or more they are something else."""
    tables = [f"metriken/rang_{rank:02d}.csv" for rank in range(6)]

    assert numbered_as_ranks([*tables, "lauf.log"], range(6)) == {name: rank for rank, name in enumerate(tables)}
    assert numbered_as_ranks(tables, range(8)) == {}
    assert numbered_as_ranks(tables[:2], range(2)) == {}


def test_files_are_called_after_machines_that_others_name() -> None:
    """All that are called alike but for it."""
    files = ["logs/nemotron_9164_cw-013.out", "logs/nemotron_9164_cw-015.out", "logs/sbatch_9164.out"]

    assert called_after(files, {"cw-013", "cw-015"}) == {files[0]: "cw-013", files[1]: "cw-015"}
    assert called_after(files, {"cw-013"}) == {}


# nomad alloc status ID (hashicorp/nomad command/alloc_status.go, 1.7)
ALLOCATION = """ID                  = {id}-ddee-8b10-907e-ea0cfd4b94dc
Eval ID             = 56d093e2
Name                = marlin.ring[{rank}]
Node ID             = 05f8bb09
Node Name           = {node}
Job ID              = marlin
"""


def test_a_log_gives_identifiers_to_machines() -> None:
    """Below each identifier the machine stands in the same place; the identifiers beside it are none."""
    ids = ["0eac1f71", "23d4b87e", "abcdefab", "91adb91d"]
    files = {f"alloc/{own}/trainer.stdout.0": b"" for own in ids}
    told = "\n".join(ALLOCATION.format(id=own, rank=n, node=f"met-08{n // 2}.dc2") for n, own in enumerate(ids))

    found = find_identified(files, {"status.txt": told.encode()})

    assert [found[name] for name in files] == ["met-080.dc2", "met-080.dc2", "met-081.dc2", "met-081.dc2"]
    assert find_identified(files, {"status.txt": told.partition("91adb91d")[0].encode()}) == {}

    files["alloc/23d4b87e/trainer.stderr.0"] = b""
    assert find_identified(files, {"status.txt": told.encode()})["alloc/23d4b87e/trainer.stderr.0"] == "met-080.dc2"
    files["old/23d4b87e/trainer.stdout.0"] = b""  # of whom the other folder is, nobody tells
    assert "alloc/23d4b87e/trainer.stderr.0" not in find_identified(files, {"status.txt": told.encode()})


def test_pods_of_one_job_are_no_ranks_of_one_machine() -> None:
    """titan-worker is no host: a third pod may never have started."""
    said = {f"titan-8b-worker-{n}.log": lines(*steps(9)) for n in range(2)}

    assert parse(job(said, extra={"num_nodes": 3})).table.nodes == ("titan-8b-worker-0", "titan-8b-worker-1")
