"""What is only said once a job has stopped making progress: shown as such, and whom it names is where to look."""

from dataclasses import replace

from core.diagnose import diagnose
from core.job import Job, Status
from core.model import Diagnosis, Role, Scope
from tests.support.jobs import at, job, lines, log_file, raised

NODES = ("site-a", "site-b", "site-c", "site-d", "site-e")


def ring(last: dict[str, str], status: Status = Status.UNKNOWN, *, clock: bool = True) -> Job:
    """Five workers that train alike, and what each says at last, in words that nobody knows."""
    files = {}
    for node in NODES:
        told = [(n, f"round {n}: objective {20 / n:.2f}") for n in range(1, 13)]
        told += [(14, last[node])] if node in last else []
        files[f"{node}/worker.log"] = lines(*(at(second, text) if clock else text for second, text in told))
    return job(files, nodes=NODES, node_ranks={node: (n,) for n, node in enumerate(NODES)}, status=status)


def late(found: Diagnosis) -> list[str]:
    """Templates of what is shown as said at last."""
    return [one.template for one in found.events if one.says.startswith("said only once")]


def test_who_is_waited_for_in_a_chain_is_where_to_look() -> None:
    """Each waits for its left neighbour; the one at the end of the chain waits for nobody. No clock, no known word."""
    waits = {one: f"no word from {left} for 6 s" for one, left in zip(NODES, NODES[-1:] + NODES[:-1], strict=True)}
    del waits["site-d"]
    found = diagnose(ring(waits, clock=False), [])

    assert (found.scope, [one.node for one in found.nodes]) == (Scope.NODE, ["site-d"])
    assert found.nodes[0].because.startswith(
        "4 other nodes at last spoke only of peers, and so of site-d, which names none itself."
    )


def test_a_ring_that_waits_all_around_names_nobody() -> None:
    """Without an end of the chain there is none to look at."""
    waits = {one: f"no word from {left} for 6 s" for one, left in zip(NODES, NODES[-1:] + NODES[:-1], strict=True)}

    assert not diagnose(ring(waits, clock=False), []).nodes


def test_a_list_of_peers_accuses_nobody() -> None:
    """Who says whom it knew is no witness against them."""
    found = diagnose(ring({"site-a": "the ring was site-b site-c site-d site-e"}, Status.FAILED), [])

    assert not found.nodes


def test_last_words_are_shown_and_are_no_causes() -> None:
    """In the order in which they came, as what follows from the failure."""
    found = diagnose(ring(dict.fromkeys(NODES, "objective is no longer finite here"), Status.FAILED), [])

    assert late(found) == ["<TS> objective is no longer finite here"]
    assert {one.role for one in found.events} == {Role.PROPAGATED}
    assert found.scope is Scope.JOB
    assert found.headline.startswith("All 5 nodes ended with \u201cobjective is no longer finite")


def test_the_work_of_who_breaks_afterwards_is_no_word_on_others() -> None:
    """A rank that begins an evaluation in words that no good job has, and raises an exception there."""
    trained = [at(n, f"step {n}/100 | loss 5.0") for n in range(1, 10)]
    broke = lines(*trained, at(12, "entering the drawing of metric plots now"), *raised("ValueError: of no use"))
    ranks = {f"node-{n}": (n,) for n in range(4)}
    files = {f"node-{n}/rank_{n}.log": broke if n == 2 else lines(*trained) for n in range(4)}

    found = diagnose(job(files, nodes=tuple(ranks), node_ranks=ranks, status=Status.FAILED), [])

    assert [event.role for event in found.events] == [Role.ROOT]
    assert "drawing" not in "".join(event.template for event in found.events)


def test_what_was_said_while_the_job_made_progress_is_not_late() -> None:
    """The same words between two rounds tell nothing."""
    one = ring(dict.fromkeys(NODES, "objective is no longer finite here"), Status.FAILED)
    early = lines(
        *(at(n, f"round {n}: objective {20 / n:.2f}") for n in range(1, 6)),
        at(6, "objective is no longer finite here"),
        *(at(n, f"round {n}: objective {20 / n:.2f}") for n in range(6, 13)),
    )
    logs = (*(log for log in one.logs if "site-a/" not in log.name), log_file("logs/site-a/worker.log", early))

    assert late(diagnose(replace(one, logs=logs), [])) == []


def test_how_a_healthy_job_leaves_accuses_nobody() -> None:
    """It was stopped at its pace: what it says then is shown as the first sign of the stop, and is no fault."""
    files = {
        f"{node}/worker.log": lines(
            *(at(n, f"round {n}: objective {20 / n:.2f}") for n in range(1, 13)),
            at(13, "told to go, leaving quietly now"),
        )
        for node in NODES
    }
    stopped = job(files, nodes=NODES, node_ranks={node: (n,) for n, node in enumerate(NODES)}, status=Status.CANCELLED)

    found = diagnose(stopped, [])

    assert found.nodes == ()
    assert ["the first sign of the stop" in event.because.lower() for event in found.events] == [True]


def test_a_regular_end_is_no_last_word() -> None:
    """A job that reached its end tells so."""
    found = diagnose(ring(dict.fromkeys(NODES, "training complete, bye everybody"), Status.FAILED), [])

    assert late(found) == []


def test_frames_of_julia_are_no_last_words() -> None:
    """Julia 1.11, base/errorshow.jl: a number and a call, and below it the module and the line."""
    trace = (
        " [1] MPI_Allreduce",
        "   @ MPI ~/.julia/packages/MPI/src/collective.jl:620 [inlined]",
        " [2] sync_grads!(ps::GraphNets.Params)",
        "   @ GraphNets ~/gnn/src/dist.jl:44",
    )
    last = "\n".join(("objective is no longer finite here", *trace))
    found = diagnose(ring(dict.fromkeys(NODES, last), Status.FAILED), [])

    assert late(found) == ["<TS> objective is no longer finite here"]
