"""job.json: what is usable is kept, each lie costs one sentence, nothing crashes."""

import io
import json
from collections.abc import Sequence
from typing import Any, BinaryIO

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.job import Manifest, Status
from sources.layout import StoredFile, assemble, read_manifest
from sources.limits import Limits
from sources.manifest import parse_manifest

GOOD: dict[str, Any] = {
    "job_id": "j",
    "status": "FAILED",
    "start": "2026-11-21T03:55:00Z",
    "end": "2026-11-21T04:55:00Z",
    "model": "gpt",
    "framework": "PyTorch",
    "software": {"torch": "2.13.0"},
    "settings_id": "mg4x2",
    "nodes": ["n0", "n1"],
    "world_size": 4,
    "node_ranks": {"n0": [0, 1], "n1": [3, 2]},
    "node_addresses": {"n0": "10.0.0.1", "n1": ["10.0.0.2", "fe80::2"]},
    "total_iterations": 80,
    "owner": "anna",
}


def parsed(**changes: Any) -> tuple[Manifest, tuple[str, ...]]:
    return parse_manifest("j", json.dumps(GOOD | changes).encode())


def test_a_good_manifest_is_kept_whole() -> None:
    """Each known field arrives typed, everything is in extra, and there is nothing to complain about."""
    manifest, problems = parsed()

    assert problems == ()
    assert manifest == Manifest(
        job_id="j",
        status=Status.FAILED,
        start="2026-11-21T03:55:00Z",
        end="2026-11-21T04:55:00Z",
        model="gpt",
        framework="PyTorch",
        settings_id="mg4x2",
        nodes=("n0", "n1"),
        world_size=4,
        node_ranks={"n0": (0, 1), "n1": (2, 3)},
        node_addresses={"n0": ("10.0.0.1",), "n1": ("10.0.0.2", "fe80::2")},
        total_iterations=80,
        extra=GOOD,
    )


@pytest.mark.parametrize(
    ("said", "status"),
    [
        ("failed", "FAILED"),
        ("Completed ", "COMPLETED"),
        ("CANCELLED by 1000", "CANCELLED"),
        ("TIMEOUT", "CANCELLED"),
        ("NODE_FAIL", "FAILED"),
        ("Succeeded", "COMPLETED"),
        (None, "UNKNOWN"),
        ("", "UNKNOWN"),
    ],
)
def test_a_status_is_read_in_any_case(said: str | None, status: str) -> None:
    """Schedulers write states in their own case, and Slurm says who cancelled."""
    manifest, problems = parsed(status=said)

    assert (manifest.status, problems) == (status, ())


@pytest.mark.parametrize(
    ("changes", "field", "value", "sentence"),
    [
        ({"job_id": "k"}, "job_id", "j", "calls the job 'k', its folder 'j': the folder's name is used"),
        ({"status": "REQUEUE_HOLD"}, "status", "UNKNOWN", "has the status 'REQUEUE_HOLD', which is none of"),
        ({"status": ["FAILED"]}, "status", "UNKNOWN", "has a status that is no text: it was left out"),
        ({"model": {"a": 1}}, "model", None, "has a model that is no text: it was left out"),
        ({"start": True}, "start", None, "has a start that is no text: it was left out"),
        ({"nodes": [1, [2]], "node_ranks": {}}, "nodes", (), "has a nodes that is no text: it was left out"),
        ({"nodes": ["n0", "n1", "n0"]}, "nodes", ("n0", "n1"), "names a node twice in nodes: it is counted once"),
        ({"nodes": ["n0"]}, "nodes", ("n0", "n1"), "has nodes in node_ranks that are not in nodes: n1 were added"),
        ({"world_size": "many"}, "world_size", None, "has a world_size that is no count: it was left out"),
        ({"world_size": 0}, "world_size", None, "has a world_size that is not between 1 and 1,000,000"),
        ({"world_size": -4}, "world_size", None, "has a world_size that is no count"),
        ({"world_size": 10**12}, "world_size", None, "has a world_size that is not between 1 and 1,000,000"),
        ({"world_size": 2}, "world_size", 4, "has world_size 2, but node_ranks has rank 3: 4 is used"),
        (
            {"node_ranks": {"n0": [0, 1], "n1": [1, 2]}},
            "node_ranks",
            {"n0": (0,), "n1": (2,)},
            "gives the same ranks to several nodes: 1 were taken from all of them",
        ),
        (
            {"node_ranks": {"n0": [0], "n1": ["x"]}},
            "node_ranks",
            {"n0": (0,)},
            "has node_ranks that make no sense for n1",
        ),
        (
            {"node_ranks": {"n0": [0], "n1": [-1]}},
            "node_ranks",
            {"n0": (0,)},
            "has node_ranks that make no sense for n1",
        ),
        ({"node_ranks": [[0, 1]]}, "node_ranks", {}, "has a node_ranks that is no object: it was left out"),
        (
            {"node_addresses": {"n0": 5, "n1": None}},
            "node_addresses",
            {"n0": ("5",)},
            "has node_addresses that make no sense",
        ),
        (
            {"total_iterations": 1.5},
            "total_iterations",
            None,
            "has a total_iterations that is no count: it was left out",
        ),
    ],
)
def test_a_lie_costs_one_sentence_and_no_other_field(
    changes: dict[str, Any], field: str, value: object, sentence: str
) -> None:
    """What is wrong is left out or repaired with one sentence; the rest stays."""
    manifest, problems = parsed(**changes)

    assert getattr(manifest, field) == value
    assert len(problems) == 1
    assert problems[0].startswith(f"job.json {sentence}")
    assert problems[0].endswith(".")
    assert manifest.settings_id == "mg4x2"


def test_numbers_are_read_from_text_and_single_values_as_lists() -> None:
    """What is unambiguous needs no sentence."""
    manifest, problems = parsed(world_size="4", total_iterations=80.0, nodes="n0", node_ranks={"n0": 0}, settings_id=7)

    assert problems == ()
    assert (manifest.world_size, manifest.total_iterations, manifest.settings_id) == (4, 80, "7")
    assert (manifest.nodes, manifest.node_ranks) == (("n0",), {"n0": (0,)})


@pytest.mark.parametrize(
    "said",
    [
        {"lr": 0.1, "micro-batch-size": 4, "bf16": None},
        "train.py --lr 0.1 --micro-batch-size=4 --bf16",
        ["train.py", "--lr", "0.1", "--micro-batch-size", "4", "--bf16"],
    ],
)
def test_arguments_are_a_mapping_or_a_command_line(said: object) -> None:
    """Options have the same names and values in any of the three."""
    arguments = parsed(arguments=said, run="llama", attempt="3", code="abc", spares=2, checkpoint_every=50)[0].arguments

    assert (arguments["lr"], arguments["micro-batch-size"]) == ("0.1", "4")
    assert "bf16" in arguments


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("arguments", {"a": {"b": 1}}),
        ("arguments", 'a "b'),
        ("parallel", "tp8"),
        ("spares", -1),
        ("checked", "perhaps"),
        ("attempt", "x"),
        ("run", []),
    ],
)
def test_what_makes_no_sense_of_a_run_costs_one_sentence(name: str, said: object) -> None:
    """And no other field."""
    manifest, problems = parsed(**{name: said})

    assert [name in problem for problem in problems] == [True]
    assert not getattr(manifest, name)
    assert manifest.nodes == ("n0", "n1")


def test_nodes_are_taken_from_the_ranks_when_nothing_else_names_them() -> None:
    """A manifest with node_ranks only has nodes."""
    manifest, problems = parsed(nodes=None)

    assert (manifest.nodes, problems) == (("n0", "n1"), ())


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        (b"", "job.json is not valid JSON"),
        (b'{"job_id": "j"', "job.json is not valid JSON"),
        (b"[1, 2]", "job.json is not a JSON object"),
        (b"null", "job.json is not a JSON object"),
        (b"\x00\xff\x1f\x8b", "job.json is not valid JSON"),
        (b'{"world_size": ' + b"9" * 5000 + b"}", "job.json is not valid JSON"),
        (b"[" * 200_000, "job.json is nested too deeply"),
    ],
)
def test_what_is_no_manifest_is_left_out(content: bytes, sentence: str) -> None:
    """A file that is no JSON object costs one sentence."""
    manifest, problems = parse_manifest("j", content)

    assert manifest == Manifest("j")
    assert len(problems) == 1
    assert problems[0].startswith(sentence)


def test_text_that_cannot_be_printed_is_made_printable() -> None:
    """Half a surrogate pair, a byte order mark and bytes that are not UTF-8 do not break the answer later."""
    manifest, problems = parse_manifest(
        "j", b'\xef\xbb\xbf{"nodes": ["n\\ud800"], "model": "caf\xe9", "node_ranks": {"n\\ud800": [0]}}'
    )

    assert problems == ()
    for text in (*manifest.nodes, *manifest.node_ranks, manifest.model or ""):
        assert text.encode()
    assert manifest.nodes == tuple(manifest.node_ranks)


_json = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda below: st.lists(below, max_size=4) | st.dictionaries(st.sampled_from(["n0", "n1", "n2"]), below, max_size=3),
    max_leaves=8,
)


@given(st.dictionaries(st.sampled_from(sorted(GOOD)), _json))
def test_no_manifest_crashes_and_what_is_kept_is_consistent(fields: dict[str, Any]) -> None:
    """Whatever stands in the fields, ranks are unique, below the world size, and on known nodes."""
    manifest, _ = parse_manifest("j", json.dumps(fields).encode())

    ranks = [rank for of_node in manifest.node_ranks.values() for rank in of_node]
    assert len(ranks) == len(set(ranks))
    assert set(manifest.node_ranks) <= set(manifest.nodes)
    if manifest.world_size is not None:
        assert all(0 <= rank < manifest.world_size for rank in ranks)


def test_a_manifest_that_cannot_be_read_is_told() -> None:
    """A job.json without permission costs one sentence, not the job."""

    def forbidden() -> BinaryIO:
        raise PermissionError(13, "Permission denied")

    assert read_manifest("j", StoredFile("job.json", 10, "", forbidden), Limits()) == (
        Manifest("j"),
        ("job.json may not be read.",),
    )


def test_a_rank_of_thousands_of_digits_has_no_exit_code() -> None:
    """Python reads no number of more than 4,300 digits; the other ranks keep theirs."""
    manifest, _ = parse_manifest("j1", json.dumps({"rank_exit_codes": {"9" * 5000: 1, "3": -9}}).encode())
    assert manifest.rank_exit_codes == {3: -9}


def test_of_too_many_files_some_are_read_and_the_job_says_so() -> None:
    """Evenly over their names: each of three nodes is heard; as many as are allowed are all read."""

    def stored(name: str) -> StoredFile:
        return StoredFile(name, 1, "1", lambda: io.BytesIO(b"x"))

    logs = [stored(f"logs/node-{node}/rank_{rank}.log") for node in range(3) for rank in range(4)]
    dumps = [stored(f"dumps/rank_{rank}.txt") for rank in range(7)]

    job = assemble("j", [*logs, *dumps], place="here", limits=Limits(log_files=6))

    assert [file.name[5:-4] for file in job.logs] == [
        "node-0/rank_0", "node-0/rank_2", "node-1/rank_0", "node-1/rank_2", "node-2/rank_0", "node-2/rank_2",
    ]  # fmt: skip
    assert len(job.dumps) == 6
    assert job.problems == (
        "The job has 12 log files: 6 of them were read, evenly over their names.",
        "The job has 7 dumps: 6 of them were read, evenly over their names.",
    )
    assert assemble("j", logs, place="here", limits=Limits(log_files=12)).problems == ()


@pytest.mark.parametrize(
    ("sizes", "read"),
    [
        ([100] * 12, 12),  # as many as are read in any case
        ([100] * 13, 13),  # and one for each 1,000 bytes
        ([100] * 100, 12),  # where more are left out than that, it is a sample anyway
        ([100] * 23, 11),  # where some are left out, half of them at least
        ([1_000] * 100, 100),
    ],
)
def test_of_tiny_files_fewer_are_read(sizes: Sequence[int], read: int) -> None:
    """Each costs what many lines cost; few that are missing would be taken for ranks that fell silent."""
    logs = [
        StoredFile(f"logs/rank_{rank:03}.log", size, "1", lambda: io.BytesIO(b"x")) for rank, size in enumerate(sizes)
    ]
    limits = Limits(log_files_at_least=12, log_file_bytes=1_000)

    job = assemble("j", logs, place="here", limits=limits)

    assert len(job.logs) == read
    assert bool(job.problems) == (read < len(sizes))


def test_of_too_many_files_the_odd_ones_are_read() -> None:
    """The rank that alone tells of an error says more than the others, or less."""
    sizes = {77: 4_000, 78: 3}
    logs = [
        StoredFile(f"logs/rank_{rank:03}.log", sizes.get(rank, 100), "1", lambda: io.BytesIO(b"x"))
        for rank in range(100)
    ]

    job = assemble("j", logs, place="here", limits=Limits(log_files=10))

    assert {"logs/rank_077.log", "logs/rank_078.log"} < {file.name for file in job.logs}
    how = "evenly over their names, and those of rare sizes"
    assert job.problems == (f"The job has 100 log files: {len(job.logs)} of them were read, {how}.",)


def test_names_of_nodes_are_as_long_as_a_machine_can_be_called() -> None:
    """A name of a megabyte would stand in each sentence and picture of the answer."""
    longest, longer = "n" * 253, "m" * 254

    manifest, lies = parsed(nodes=["n0", "n1", longest, longer], node_ranks={"n0": [0], longer: [1]})

    assert manifest.nodes == ("n0", "n1", longest)
    assert manifest.node_ranks == {"n0": (0,)}
    assert any("names of more than 253 characters" in lie for lie in lies)
    assert max(map(len, lies)) < 1_000
