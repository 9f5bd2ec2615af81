"""Refused credentials: those of all are nobody's fault, those of one machine are its own."""

import pytest

from core.diagnose import diagnose
from core.model import Scope
from tests.support.jobs import at, four_nodes

REFUSED = (
    "botocore.exceptions.ClientError: An error occurred (ExpiredToken) when calling the GetObject operation:"
    " The provided token has expired."
)
LOST = (
    "RuntimeError: [/__w/pytorch/pytorch/third_party/gloo/gloo/transport/tcp/pair.cc:553]"
    " Connection closed by peer [10.0.0.2]:38020"
)


@pytest.mark.parametrize(
    ("refused", "scope", "accused"), [({2}, Scope.NODE, ["node-2"]), ({0, 1, 2, 3}, Scope.JOB, [])], ids=["one", "all"]
)
def test_who_meets_refused_credentials_alone_is_named(refused: set[int], scope: Scope, accused: list[str]) -> None:
    """The others only lost it as a peer."""
    says = {rank: [at(9 + (rank not in refused), REFUSED if rank in refused else LOST)] for rank in range(4)}

    found = diagnose(four_nodes(says, usual=[at(0, "NCCL version 2.27.3")]), [])

    assert (found.scope, [node.node for node in found.nodes]) == (scope, accused)


@pytest.mark.parametrize(
    ("path", "scope"),
    [("gs://corpus/part-00438", Scope.JOB), ("/scratch/part-00438", Scope.NODE)],
    ids=["store", "disk"],
)
def test_who_met_a_broken_object_of_a_store_had_its_turn(path: str, scope: Scope) -> None:
    """What lies in an object store all read."""
    error = f"corpus.reader.CorruptRecord: {path} record 12: checksum does not match the manifest"
    usual = [at(n, f"step {n} loss 2.5") for n in range(9)]

    assert diagnose(four_nodes({2: [at(9, error)]}, usual=usual), []).scope is scope
