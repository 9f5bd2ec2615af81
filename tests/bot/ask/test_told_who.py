"""Who is to blame, who waited, who was first: nodes are named where lines name them, and nowhere else."""

import pytest

from bot.ask.about_course import hung
from bot.ask.about_lines import last
from bot.ask.about_nodes import others
from bot.ask.answer import ask
from bot.ask.subject import Subject
from tests.support.asked_jobs import NODES, asked, steps, subject_of


def test_one_of_two_is_blamed(broken: Subject) -> None:
    """Not searched for as words."""
    assert ask("so is it our loss code or gloo?", broken).looks[0] == "blame"


def test_who_was_affected_is_told_with_times(broken: Subject) -> None:
    """How long others took to notice is read off the clocks."""
    lines = others(broken, asked("who else was affected?", broken))
    assert any("first at 13:4" in line for line in lines)


WATCHDOG = (
    "2026-11-20T10:00:50Z [Rank 0] Watchdog caught collective operation timeout: WorkNCCL(OpType=ALLREDUCE, "
    "Timeout(ms)=600000) ran for 600031 milliseconds before timing out.\n"
)


def test_who_waited_is_told_without_a_hang() -> None:
    """The diagnosis may blame somebody who died; the others waited for it all the same."""
    files = {"gpu01/rank_0.log": steps(20) + WATCHDOG, "gpu02/rank_1.log": steps(20) + "ValueError: bad\n"}
    subject = subject_of(files)
    lines = hung(subject, asked("why did gpu01 hang for 10 minutes?", subject))
    assert "hung" not in subject.diagnosis.headline
    assert lines[0].startswith("Some waited: 1 line by gpu01 rank 0")
    assert "the longest of 600 s" in lines[0] or "the longest of 10" in lines[0]
    assert "ran for 600031 milliseconds" in lines[1]
    assert not any("It is not judged a hang" in line for line in lines)


CONTROLLER = "2026-11-20T10:00:2{at}Z jobctl: ERROR node {node} not responding, marking it DOWN\n"


@pytest.mark.parametrize(
    ("text", "by"),
    [
        ("what did the scheduler say last about gpu02?", "marking it DOWN"),
        ("was sagte der Scheduler zuletzt über gpu02", "marking it DOWN"),
        ("what did the kernel of gpu02 say last", "eth0: link is down"),
        ("what did gpu02 log last", "loss"),
    ],
)
def test_who_is_asked_for_is_who_answers(text: str, by: str) -> None:
    """The scheduler's or the kernel's words about a node, not those of the node's training."""
    files = {f"{node}/rank_{rank}.log": steps(20) for rank, node in enumerate(NODES)}
    files["controller.log"] = CONTROLLER.format(at=1, node="gpu02") + CONTROLLER.format(at=2, node="gpu03")
    files["gpu02/kern.log"] = "2026-11-20T10:00:05Z gpu02 kernel: [ 71.770046] eth0: link is down\n"
    subject = subject_of(files)
    lines = last(subject, asked(text, subject))
    assert lines is not None
    assert by in lines[1]
    assert "gpu03" not in lines[1]


@pytest.mark.parametrize("code", ["failed (exitcode: -9) local_rank: 0 (pid: 12207)", "Worker exits. Error code: -9."])
def test_nobody_is_named_where_no_log_names_anybody(code: str) -> None:
    """A SIGKILL leaves no sender; the kernel, a time limit or a cancellation would be told."""
    line = f"2026-11-20T10:00:21Z {code}\n"
    subject = subject_of({"gpu01/out.log": steps(20) + line})
    reply = ask("who killed it??", subject)
    assert reply.lines[0].startswith("No log tells by whom: none of 21 lines of 1 file names")
    assert not reply.answered
    limit = line + "slurmstepd: error: *** JOB 7 ON gpu01 CANCELLED AT 2026-11-20T10:00:41 DUE TO TIME LIMIT ***\n"
    named = subject_of({"gpu01/out.log": steps(20) + limit})
    assert "DUE TO TIME LIMIT" in "\n".join(ask("by whom was it killed?", named).lines)


@pytest.mark.parametrize(
    "text",
    [
        'theres a ton of "pushgateway ... refused" errors, is that what killed us?',
        "ist die Meldung “push to pushgateway” schuld?",
        "are the pushgateway errors to blame?",
    ],
)
def test_noise_is_told_from_the_cause(text: str) -> None:
    """A no with its reasons, not a list of what is harmless."""
    noise = "2026-11-20T10:00:02Z ERROR push to  pushgateway http://10.0.0.1:9091 failed: Connection refused\n"
    end = "2026-11-20T10:00:21Z RuntimeError: CUDA error: device-side assert triggered\n"
    files = {f"{node}/rank_{rank}.log": noise + steps(20) for rank, node in enumerate(NODES)}
    files["gpu02/rank_1.log"] += end
    subject = subject_of(files)
    lines = ask(text, subject).lines
    assert lines[0].startswith("No, by what the logs tell that is not what failed")
    assert "iterations were completed after it first came" in lines[0]


def test_the_first_by_more_than_clocks_differ_is_told() -> None:
    """Each node's first line of it, the earliest in front."""
    files = {
        f"{node}/rank_{rank}.log": steps(20) + f"2026-11-20T10:00:{21 + 3 * rank}Z AssertionError: NaN in grad norm\n"
        for rank, node in enumerate(NODES)
    }
    subject = subject_of(files)
    reply = ask("which node failed first?", subject).lines[0]
    assert reply.startswith("gpu01 was first, by 3.0 s: gpu01 10:00:21, gpu02 10:00:24, gpu03 10:00:27.")


def test_which_node_was_first_may_not_be_told() -> None:
    """Tracebacks carry no clock: an honest "no log tells"."""
    end = (
        'Traceback (most recent call last):\n  File "/app/t.py", line 3, in f\nAssertionError: found NaN in grad norm\n'
    )
    subject = subject_of({f"{node}/rank_{rank}.log": steps(20) + end for rank, node in enumerate(NODES)})
    for text in ("Auf welchem Knoten kam das NaN zuerst?", "which node failed first?", "哪个节点最先出错?"):
        reply = ask(text, subject)
        assert "order" in reply.looks
        assert reply.lines[0].startswith("No log tells")


@pytest.mark.parametrize(
    "line",
    [
        "2026-11-20T10:01:00Z SIGINT: stopped from the console\n",
        "2026-11-20T10:01:00Z KeyboardInterrupt\n",
    ],
)
def test_an_interrupt_is_told_to_who_asks_by_whom(line: str) -> None:
    """No person is named, and nothing is denied that a line tells."""
    lines = ask("who stopped it", subject_of({"train.log": steps(20) + line})).lines
    assert lines[0].startswith("An interrupt ended it")
    assert any(line.split("Z ")[1].strip() in told for told in lines[1:])


def test_a_signal_to_the_launcher_is_a_cancellation() -> None:
    """As torchrun prints it when it is told to stop from outside."""
    said = "W1120 10:01:00.551501 870 torch/distributed/elastic/agent/server/api.py:719] Received 15 death signal, "
    lines = ask("did someone cancel it?", subject_of({"train.log": steps(20) + f"{said}shutting down workers\n"})).lines
    assert "found none" not in lines[0]
    assert any("Received 15 death signal" in told for told in lines)
