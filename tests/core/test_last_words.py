"""When an untimed complaint was said: after the line above it, and often long after."""

import numpy as np
import pytest

from core.diagnose import diagnose
from core.model import Scope, Stage
from tests.support.jobs import at, exited, job, lines, lost, parse, raised, steps

FATAL = raised("OSError: [Errno 30] Read-only file system: '/ckpt/x'")
NODES = {f"node-{n}": (n,) for n in range(4)}


def split(own: list[str], *, last: int = 60) -> dict[str, str]:
    """torchrun's folders: iterations on standard output, and on standard error a start-up line and what rank 1 says."""
    files = {}
    for n in range(4):
        folder = f"node-{n}/run/attempt_0/0"
        said = own if n == 1 else [at(last + 9, "W socket.cpp:1] closing"), *lost(1)]
        files[f"{folder}/stdout.log"] = lines(*steps(last))
        files[f"{folder}/stderr.log"] = lines(at(0, "W socket.cpp:207] the hostname of the client is unknown"), *said)
    return files


def test_an_exception_below_an_old_line_ended_its_process() -> None:
    """Standard error holds a warning of the start and an hour later the traceback; the job did not go on after it."""
    found = diagnose(job(split(FATAL), nodes=tuple(NODES), node_ranks=NODES), [])

    assert (found.scope, [node.node for node in found.nodes]) == (Scope.NODE, ["node-1"])
    assert "storage failed" in found.headline
    assert found.events[0].lines[0].text.startswith("OSError")


def test_a_traceback_below_its_own_timed_message_keeps_that_time() -> None:
    """A logger prints the time, the message and then the traceback: caught, and survived."""
    caught = [at(3, "ERROR loader: retrying after a failure"), *FATAL]

    parsed = parse(job(split(caught), nodes=tuple(NODES), node_ranks=NODES))
    table = parsed.table

    row = next(
        row
        for row in range(len(table))
        if table.templates[table.event[row]].sample.startswith("OSError") and table.head[row]
    )
    assert parsed.iterations.of_row[np.array([row])].item() < 10


def test_what_follows_in_the_file_is_the_latest_that_it_can_be() -> None:
    """Where others speak in the same file, the next timed line tells; the end of the speaker may be hours away."""
    said = lines(at(0, "start"), "cat: notes: No such file or directory", at(1, "training"), *steps(50, first=2))

    table = parse(job({"train.log": said})).table

    assert int(table.time[1]) == int(table.time[2])


@pytest.mark.parametrize("clock", [True, False])
def test_the_stage_of_a_late_exception_is_that_of_the_end(clock: bool) -> None:
    """Not that of the start-up line above it, and not that of no line at all."""
    files = split(raised("ValueError: boom"))
    if not clock:
        name = "node-1/run/attempt_0/0/stderr.log"
        files[name] = lines(*raised("ValueError: boom"))

    assert diagnose(job(files, nodes=tuple(NODES), node_ranks=NODES), []).stage is Stage.TRAINING


def test_the_launcher_speaks_for_nobody_else() -> None:
    """What is no rank's has no other file to look into: an untimed error of a script stays where it stands."""
    files = {"run.log": lines(at(0, "start"), "ERROR: no config"), "node-0/agent.log": lines(exited(500, 1))}

    table = parse(job(files)).table
    rows = [row for row in range(len(table)) if table.files[table.file[row]].endswith("run.log")]

    assert len({int(table.time[row]) for row in rows}) == 1


def test_where_nobody_tells_ranks_a_node_is_one_and_ends_when_its_output_does() -> None:
    """A folder a machine, standard error apart from standard output: the exception ended what made progress."""
    err = {
        f"gpu-{n}/stderr.log": lines(at(0, "W socket.cpp:207] no name"), *(FATAL if n == 1 else [])) for n in range(4)
    }
    out = {f"gpu-{n}/stdout.log": lines(*steps(60)) for n in range(4)}

    found = diagnose(job(err | out), [])

    assert (found.scope, [node.node for node in found.nodes]) == (Scope.NODE, ["gpu-1"])
    assert [iteration.iteration for iteration in found.iterations] == [60]
