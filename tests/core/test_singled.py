"""Who is singled out while a job stands still: by a name in others' new lines, or by being left out of a list."""

import pytest

from core.job import Job, Status
from core.nodes import sole_named_peer
from core.nodes.aliases import find_aliases
from tests.support.jobs import at, job, lines, parse, signs_of, suspected

NODES = ("ps-0", "tr-0", "tr-1", "tr-2")


def stands_still(*waits: str, ends: str = "") -> Job:
    """A server and three trainers that come to round 9; then the server says these lines, each four seconds."""
    files = {
        f"tr-{n}.log": lines(at(0, f"trainer {n} here"), *(at(k, f"round {k} busy 20 ms") for k in range(1, 10)))
        for n in range(3)
    }
    server = [at(0, "server up"), *(at(k, f"step {k} of 90 closed") for k in range(1, 10))]
    said = [at(20 + 4 * k, text) for k, text in enumerate(waits)]
    files["ps-0.log"] = lines(*server, *said, *([at(60, ends)] if ends else []))
    return job(dict(files), nodes=NODES, status=Status.CANCELLED)


def named(one: Job) -> list[str]:
    return [sign.node for sign in signs_of(one) if "alone" in sign.because and sign.channel == "named"]


@pytest.mark.parametrize(
    "text",
    [
        "still open, outstanding: trainer-1@tr-1",
        "waiting for Trainer 1 since 6 s",
        "2/3 parts: r9.tr-0.npy r9.tr-2.npy",
        "have trainer[0] trainer[2]",
    ],
)
def test_whom_new_lines_name_alone_or_alone_leave_out_is_waited_for(text: str) -> None:
    """By its name, within a file's name, or by what it calls itself."""
    one = stands_still(*[text] * 3)

    assert named(one) == ["tr-1"]
    assert suspected(one) == ["tr-1"]


@pytest.mark.parametrize(
    "texts",
    [
        ("tr-1 sent its part",),
        ("tr-0 sent its part", "tr-1 sent its part", "tr-2 sent its part"),
        ("step 9 of 90 is open", "step 9 of 90 is open"),
    ],
)
def test_what_is_said_once_or_of_each_in_turn_tells_of_none(texts: tuple[str, ...]) -> None:
    """Who takes leave of a peer names it as well."""
    assert named(stands_still(*texts)) == []


def test_what_was_said_while_the_job_made_progress_tells_of_none() -> None:
    """A leader's line about one peer in every round is no waiting for it."""
    files = {f"tr-{n}.log": lines(*(at(k, f"round {k} busy 20 ms") for k in range(1, 10))) for n in range(3)}
    files["ps-0.log"] = lines(*(at(k * 2, f"step {min(k, 9)} of 90 closed, slowest tr-1") for k in range(1, 30)))

    assert named(job(dict(files), nodes=NODES, status=Status.CANCELLED)) == []


def test_nodes_are_known_by_what_they_call_themselves() -> None:
    """A word with a number of its own in the first lines of each; a round's number is the same everywhere."""
    aliases = find_aliases(parse(stands_still()))

    assert aliases == {("trainer", n): f"tr-{n}" for n in range(3)}


def test_a_server_that_falls_silent_while_all_its_trainers_wait_is_waited_for() -> None:
    """It does other work, and counts the rounds."""
    trainers = {
        f"tr-{n}.log": lines(
            at(0, "ready"), *(at(20 + 5 * k, f"waiting for parameters since {5 * k} s") for k in range(5))
        )
        for n in range(3)
    }
    server = lines(at(0, "server up"), *(at(k, f"round {k}: |w| 0.04, gradients in") for k in range(1, 15)))
    assert suspected(job({**trainers, "ps-0.log": server}, nodes=NODES, status=Status.CANCELLED)) == ["ps-0"]


def test_who_waits_for_ranks_of_its_own_is_the_one() -> None:
    """The others are done; it says which of its ranks are not."""
    roll = [f"(W pid={70 + n}, ip=10.0.4.1{n // 2}) rank {n} local {n % 2} ready" for n in range(6)]
    done = [f"(W pid={70 + 2 * k}, ip=10.0.4.1{k}) step {n} reward 2.5" for n in range(1, 10) for k in range(3)]
    waits = [f"(W pid=72, ip=10.0.4.11) waiting for engine of ranks 2,3 ({9 * k}s)" for k in range(1, 5)]

    assert named(job({"driver.log": lines(*roll, *done, *waits)}, status=Status.CANCELLED)) == ["10.0.4.11"]


def test_of_too_many_new_lines_the_first_messages_are_read(monkeypatch: pytest.MonkeyPatch) -> None:
    """A service that names peers without end costs no more than so many lines."""
    one = stands_still(*["still open, outstanding: trainer-1@tr-1"] * 3)
    monkeypatch.setattr(sole_named_peer, "MAX_LINES", 2)

    assert named(one) == []


def test_a_node_may_have_several_numbers_of_a_word() -> None:
    """Engines of two devices are called after the first of each, and a driver waits for one."""
    files: dict[str, str | bytes] = {
        f"tr-{n}.log": lines(*(at(k, f"engine {4 * n + e} did part {k}") for k in range(1, 6) for e in (0, 2)))
        for n in range(3)
    }

    aliases = find_aliases(parse(job(files, nodes=NODES[1:])))

    assert {number: node for (word, number), node in aliases.items() if word == "engine"} == {
        4 * n + e: f"tr-{n}" for n in range(3) for e in (0, 2)
    }
    assert not any(word == "part" for word, _ in aliases), "all nodes count those"
