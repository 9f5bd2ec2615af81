"""Numbers that are none any more, and values of a line with their units."""

import pytest

from core.course.broken_number import find_broken
from core.course.values import values_of
from core.diagnose import diagnose
from core.job import Status
from core.model import Confidence, Scope
from tests.support.jobs import at, four_nodes, job, lines, parse, raised, suspected


def test_a_loss_that_is_nan_in_lines_that_count_nothing_is_told() -> None:
    """transformers prints a dictionary, of strings since version 5; how far it is, a bar or another logger tells."""
    losses = [*("4.38", "4.216", "4.1", "3.9"), *["nan"] * 4]
    out = [f"{{'loss': '{loss}', 'grad_norm': '0.9', 'epoch': '0.0{n}'}}" for n, loss in enumerate(losses)]
    beats = [at(10 * n, f"INFO - beat - global_step {10 * n}, last step 250 ms") for n in range(1, 9)]
    found = diagnose(job({"stdout.log": lines(*out), "stderr.log": lines(*beats)}, status=Status.CANCELLED), [])

    assert found.scope is Scope.JOB
    assert "loss is nan" in found.headline


def test_the_only_rank_whose_own_number_is_nan_is_named() -> None:
    """All skip the step, for the reduced gradient is not finite; one says why."""
    says = {
        rank: [
            at(n, f"step {n} skipped local_grad_norm={'NaN' if rank == 3 else 2.5 + n / 10} reason=non-finite gradient")
            for n in range(31, 41)
        ]
        for rank in range(4)
    }
    usual = [at(n, f"step {n} loss=2.5 grad_norm=3.1") for n in range(1, 31)]
    parsed = parse(four_nodes(says, usual=usual, status=Status.CANCELLED))
    broken = find_broken(parsed.table, parsed.files, parsed.iterations)

    assert broken is not None
    assert (broken.name, broken.first) == ("local_grad_norm", (3,))


def test_who_had_the_nan_first_is_named_though_all_raise_it_then() -> None:
    """A gradient carries it to all others one step later, and a check ends the job two lines after that."""
    says = {
        rank: [
            *(at(n, f"it={n} local_loss={2.5 + rank / 10} gnorm=0.7") for n in range(1, 31)),
            at(31, f"it=31 local_loss={'nan' if rank == 2 else 2.6} gnorm=nan"),
            at(32, "it=32 local_loss=nan gnorm=nan"),
            *raised("FloatingPointError: non-finite loss in 2 consecutive steps (step 32)"),
        ]
        for rank in range(4)
    }

    found = diagnose(four_nodes(says), [])

    assert [node.node for node in found.nodes] == ["node-2"]
    assert "its local_loss was nan before that of all others" in found.headline
    assert found.confidence is Confidence.SUPPORTED  # its data may have done it as well as its machine


@pytest.mark.parametrize("word", ["nan", "NaN"])
def test_a_number_that_came_back_is_not_broken(word: str) -> None:
    """A step that overflowed was skipped."""
    losses = ["4.38", "4.2", word, word, word, "3.9", "3.8"]
    out = [f"{{'loss': '{loss}', 'epoch': '0.0{n}'}}" for n, loss in enumerate(losses)]
    parsed = parse(job({"stdout.log": lines(*out)}))

    assert find_broken(parsed.table, parsed.files, parsed.iterations) is None


def test_values_are_read_with_the_units_that_stand_at_them() -> None:
    """Names, numbers and units, in one word as well."""
    found = [(value.name, value.text, value.behind) for value in values_of("loss=0.98 data=0.029s rss=355MB util=97%")]

    assert found == [("loss", "0.98", ""), ("data", "0.029", "s"), ("rss", "355", "MB"), ("util", "97", "%")]


def test_an_exception_in_words_of_its_own_may_tell_of_a_nan() -> None:
    """Who had it one step before the others is looked for then, though its file is the last of many."""
    says = {
        rank: [
            *(
                at(n, f"round {n} honey {'nan' if (n, rank) == (30, 3) else 2.5 - n / 100} wax {n}")
                for n in range(1, 31)
            ),
            *raised("guard.SpoiledHoney: round 31: pool is nan"),
        ]
        for rank in range(4)
    }

    assert suspected(four_nodes(says)) == ["node-3"]


def test_a_number_that_broke_on_one_rank_alone_is_looked_for_on_all() -> None:
    """The loss is reduced, and nan everywhere in the same step; the norm before the reduction is so on one."""
    says = {
        rank: [
            *(at(n, f"step={n} loss=2.5 local_gnorm=2.{rank}") for n in range(1, 31)),
            *(at(n, f"step={n} loss=nan local_gnorm={'nan' if rank == 13 else 2.6}") for n in range(31, 35)),
        ]
        for rank in range(16)
    }
    files = {f"node-{rank // 4}/rank_{rank}.log": lines(*said) for rank, said in says.items()}
    ranks = {f"node-{n}": tuple(range(4 * n, 4 * n + 4)) for n in range(4)}
    parsed = parse(job(files, nodes=tuple(ranks), node_ranks=ranks, world_size=16))
    broken = find_broken(parsed.table, parsed.files, parsed.iterations)

    assert broken is not None
    assert (broken.name, broken.first) == ("local_gnorm", (13,))
