"""Who leaves what all ranks agreed on: checksums, sizes and losses of which nobody complains."""

import pytest

from core.diagnose import diagnose
from core.job import Job, Status
from core.model import Action, Confidence, Diagnosis, Scope
from tests.support.jobs import at, four_nodes, lines, log_file, signs_of

RANKS = range(4)


def steps(says: dict[int, list[str]], status: Status = Status.COMPLETED) -> Job:
    """Four ranks that all print an iteration a second, each with its own words behind it."""
    return four_nodes(
        {rank: [at(n, f"step {n} {words}") for n, words in enumerate(said, 1)] for rank, said in says.items()},
        status=status,
    )


def checksums(odd: int | None, since: int = 12, total: int = 20) -> dict[int, list[str]]:
    """Weights of replicas, by their checksum: another one in each iteration, and the same on all ranks."""
    return {
        rank: [f"weights_crc={(7919 * n + (rank == odd and n >= since)):08x}a" for n in range(1, total + 1)]
        for rank in RANKS
    }


def nodes(found: Diagnosis) -> list[str]:
    return [node.node for node in found.nodes]


def test_a_replica_whose_checksum_left_the_others_is_named() -> None:
    """Nothing complains, and the job completes: still it is told, where and since when, and never as certain."""
    found = diagnose(steps(checksums(2)), [])

    assert found.scope is Scope.NODE
    assert nodes(found) == ["node-2"]
    assert found.iterations[0].iteration == 12
    assert "from iteration 12 on" in found.headline
    assert found.confidence is Confidence.SUPPORTED
    assert [line.text.split()[2:4] for line in found.nodes[0].lines] == [["step", "12"]] * 2
    assert {line.file for line in found.nodes[0].lines} == {"logs/node-0/rank_0.log", "logs/node-2/rank_2.log"}
    assert found.next is not None
    assert found.next.action is Action.CHECK
    assert "bit by bit" in found.next.because


def test_replicas_that_agree_are_well() -> None:
    """Of a job that completed nothing is told."""
    assert diagnose(steps(checksums(None)), []).scope is Scope.NONE


@pytest.mark.parametrize(
    "says",
    [
        checksums(2, since=19),
        checksums(2, since=3),
        {rank: [f"loss={2.0 - n / 50 + rank / 1000:.3f}" for n in range(20)] for rank in RANKS},
        {rank: [f"mem={512 + 64 * (rank == 1 and n > 9)}" for n in range(20)] for rank in RANKS},
        {rank: [f"took {3 + (rank == 1 and n > 9)} s" for n in range(20)] for rank in RANKS},
        {rank: [f"part={120.0 if rank != 1 or n < 10 else 190.0}" for n in range(20)] for rank in RANKS},
        {rank: [f"seen={n * 8 + (rank > 1 and n > 9)}" for n in range(20)] for rank in RANKS},
        {rank: [f"at 2026-11-21 04:{n:02d}:{30 + (rank == 1 and n > 9)}" for n in range(20)] for rank in RANKS},
        {rank: [f"queue_id={n + (rank == 1 and n in (10, 12, 15))}" for n in range(20)] for rank in RANKS},
        {rank: [f"round {n + (rank == 1 and n > 9)}" for n in range(20)] for rank in RANKS},
    ],
    ids=[
        "twice",
        "from the beginning",
        "each its own",
        "memory",
        "a duration",
        "a short number",
        "half of them",
        "a clock",
        "now and then",
        "a count",
    ],
)
def test_numbers_that_may_differ_name_nobody(says: dict[int, list[str]]) -> None:
    """What never agreed, what each machine measures, and who comes back."""
    assert "agreement" not in {sign.channel for sign in signs_of(steps(says))}


@pytest.mark.parametrize(
    "form",
    [
        "{n} | acc 0.7{n} | canary {crc} | ms 19{rank}",
        "{n} is done: canary is {crc}, ms is 19{rank}.",
        "{n}, canary: {crc}, ms: 19{rank}",
    ],
)
def test_a_value_is_told_by_its_name_however_a_line_is_written(form: str) -> None:
    """The name of the next value is no unit of this one."""
    says = {
        rank: [
            at(n, "step " + form.format(n=n, rank=rank, crc="0.0081" if rank == 2 and n > 12 else "0.15173"))
            for n in range(1, 21)
        ]
        for rank in RANKS
    }

    found = diagnose(four_nodes(says, status=Status.COMPLETED), [])

    assert nodes(found) == ["node-2"]
    assert "its canary is 0.0081, that of all others 0.15173" in found.headline


def test_parts_of_a_checkpoint_are_of_one_size() -> None:
    """A full disk that the program does not look at: the parts of one node become short."""
    says = {
        rank: [
            line
            for n in range(1, 81)
            for line in (
                at(n, f"lead {n}: rmse {0.1 + n / 1000:.4f}"),
                *(
                    [at(n, f"part {rank} on disk, {0 if rank == 3 and n > 40 else 262144} bytes")]
                    if n % 10 == 0
                    else ()
                ),
            )
        ]
        for rank in RANKS
    }

    found = diagnose(four_nodes(says, status=Status.COMPLETED), [])

    assert nodes(found) == ["node-3"]
    assert "its bytes is 0, that of all others 262144" in found.headline


def test_whose_loss_breaks_first_is_named() -> None:
    """Its gradient carries it to all others in the next iteration."""
    says = {rank: ["loss 2.5"] * (11 if rank == 1 else 12) + ["loss nan"] * 10 for rank in RANKS}
    alike = {rank: ["loss 2.5"] * 12 + ["loss nan"] * 10 for rank in RANKS}

    first, all_at_once = diagnose(steps(says), []), diagnose(steps(alike), [])

    assert nodes(first) == ["node-1"]
    assert first.iterations[0].iteration == 12
    assert first.next is not None
    assert "gradients" in first.next.because
    assert (all_at_once.scope, nodes(all_at_once)) == (Scope.JOB, [])


def test_what_a_file_without_a_clock_says_was_not_survived_for_that() -> None:
    """Nobody knows how far the job was when it was said."""
    link = "2: eth0@if852: <BROADCAST,MULTICAST{up}> mtu 1500 qdisc noqueue state {state} mode DEFAULT group default"
    says = {rank: [at(n, f"step {n} of 99") for n in range(1, 30)] for rank in RANKS}
    others = {
        f"node-{rank}.iplink": [
            link.format(up="" if down else ",UP,LOWER_UP", state="DOWN" if down else "UP")
            for n in range(8)
            for down in [rank == 2 and n > 3]
        ]
        for rank in RANKS
    }
    found = diagnose(four_nodes(says, others=others), [])

    assert nodes(found) == ["node-2"]
    assert "link" in found.headline


def test_the_lines_that_all_have_may_be_of_no_rank() -> None:
    """A message of daemons has no ranks: nothing is compared."""
    daemons = tuple(
        log_file(f"logs/node-{n}/slurmd.log", lines(*(at(k, f"heartbeat {k} of {n}") for k in range(30))))
        for n in RANKS
    )
    quiet = four_nodes({}, usual=[at(0, "starting")])

    assert "agreement" not in {sign.channel for sign in signs_of(Job(quiet.manifest, (*quiet.logs, *daemons)))}
