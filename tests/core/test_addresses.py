"""Addresses that ranks ask for: the one that nobody has, and the one that the others do not ask for."""

from collections.abc import Mapping, Sequence

from core.diagnose import diagnose
from core.job import Job
from core.model import Scope
from tests.support.jobs import at, four_nodes, job, lines

ADDRESSES = {f"node-{n}": [f"10.91.7.{10 + n}"] for n in range(4)}
LATE = "torch.distributed.DistStoreError: Timed out after 61 seconds waiting for clients. 3/4 clients joined."


def ring(wrong: dict[int, str]) -> Job:
    """Four programs of a ring; each asks its successor, as its own list of peers has it."""
    files = {}
    for n in range(4):
        peer = wrong.get(n, f"10.91.7.{10 + (n + 1) % 4}")
        said = [at(1, f"INFO connecting to {peer}:7411")]
        if n in wrong:
            said += [at(9, f"ERROR startup failed: dial tcp {peer}:7411: i/o timeout")]
        if n - 1 in wrong:
            said += [at(8, "ERROR startup failed: the one before never connected")]
        files[f"node-{n}/trainer.log"] = lines(*said)
    return job(files, nodes=tuple(ADDRESSES), node_addresses=ADDRESSES)


def meeting(wrong: int | None, usual: str = "10.91.7.10") -> Job:
    """Four ranks that go to the address of the first one, one of them elsewhere; they never all meet."""
    files = {
        f"node-{n}/rank_{n}.log": lines(
            at(1, f"worker {n}: joining {'10.91.7.12' if n == wrong else usual}:29500"), at(61, LATE)
        )
        for n in range(4)
    }
    return job(files, nodes=tuple(ADDRESSES), node_ranks={f"node-{n}": (n,) for n in range(4)})


def test_who_asks_for_an_address_of_nobody_is_at_fault() -> None:
    """Not the one that was never asked, which complains as well, and before."""
    found = diagnose(ring({1: "10.91.7.77"}), [])

    assert (found.scope, [node.node for node in found.nodes]) == (Scope.NODE, ["node-1"])
    assert "node-1 asks for 10.91.7.77, which is no node of the job." in found.nodes[0].because


def test_an_address_of_another_network_is_no_wrong_peer() -> None:
    """A storage or a metrics server: nothing is known of its addresses."""
    found = diagnose(ring({1: "172.16.0.9"}), [])

    assert not any("is no node of the job" in node.because for node in found.nodes)


def test_who_goes_elsewhere_to_meet_the_others_is_at_fault() -> None:
    """All of them wait in vain, and all say so."""
    found = diagnose(meeting(2), [])

    assert [node.node for node in found.nodes] == ["node-2"]
    assert found.headline.startswith("Look at node-2: it went to another address than the others to meet them")


def test_another_port_of_the_same_machine_is_elsewhere_too() -> None:
    """A machine by its name, as JAX logs its coordinator; file and line before it are no place."""
    gone = "RPC: /xla.coordination.CoordinationService/RegisterTask"

    def said(rank: int, port: int) -> list[str]:
        connects = f"distributed.py:172] Connecting to JAX distributed service on v6e-0:{port}"
        return [f"I1123 05:54:44.0{rank}977 1403 {connects}", gone]

    found = diagnose(four_nodes({rank: said(rank, 29600 if rank == 3 else 29500) for rank in range(4)}), [])

    assert [node.node for node in found.nodes] == ["node-3"]
    assert "goes to v6e-0:29600, 3 of 4 ranks to v6e-0:29500" in found.nodes[0].because


def test_one_address_for_all_names_nobody() -> None:
    """Then it may be wrong for all of them."""
    assert diagnose(meeting(None), []).nodes == ()


def transfers(named: Mapping[str, Sequence[str]]) -> Job:
    """Nodes whose transfers to these addresses were retried in vain (NCCL, src/transport/net_ib.cc, 2.21)."""
    form = (
        "{node}:77:78 [0] transport/net_ib.cc:1880 NCCL WARN NET/IB : Got completion from peer {peer}<39765>"
        " with status=12 opcode=0 len=0 vendor err 129 (Send)"
    )
    files = {
        f"{node}.log": lines(
            *(at(n, f"step {n} loss 2.5") for n in range(9)), *(form.format(node=node, peer=peer) for peer in peers)
        )
        for node, peers in named.items()
    }
    return job(files)


def test_the_one_end_of_all_lost_transfers_is_told() -> None:
    """Nobody has to know whose address it is."""
    found = diagnose(transfers({"gpu-1": ("10.253.7.25",), "gpu-2": ("10.253.7.24",), "gpu-3": ("10.253.7.25",)}), [])

    assert [node.node for node in found.nodes] == ["gpu-2"]
    assert "2 others name 10.253.7.25, and gpu-2 names others" in found.nodes[0].because


def test_transfers_without_a_common_end_accuse_nobody() -> None:
    """Of two pairs, or of one in which both name each other, either end may have failed."""
    pairs = {"gpu-1": ("10.253.7.24",), "gpu-2": ("10.253.7.23",), "gpu-3": ("10.253.7.26",), "gpu-4": ("10.253.7.25",)}

    assert not any("is one end" in node.because for node in diagnose(transfers(pairs), []).nodes)
