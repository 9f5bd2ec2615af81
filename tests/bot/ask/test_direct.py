"""Readers that come before the intents: codes, memory, harm, spread, steps, refusals."""

from typing import Any

import pytest

from bot.ask.about_codes import tables
from bot.ask.answer import ask
from bot.ask.chatter import asks_of_bot, is_chatter
from bot.ask.direct_answers import direct
from bot.ask.question import read_question
from bot.ask.subject import Subject
from core.answer.search import search
from core.diagnose import diagnose_parsed
from core.job import Status
from core.parsed import parse_job
from tests.support.jobs import job

OOM = (
    "2026-11-20T10:00:09Z [rank1]: torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 3.50 GiB. GPU 1 has "
    "a total capacity of 79.10 GiB of which 2.25 GiB is free. Including non-PyTorch memory, this process has 76.80 "
    "GiB memory in use. Of the allocated memory 71.00 GiB is allocated by PyTorch, and 1.00 GiB is reserved by "
    "PyTorch but unallocated.\n"
)


def subject_of(files: dict[str, str], **manifest: Any) -> Subject:
    parsed = parse_job(job(files, **manifest), (), cache=None, workers=1, progress=None)
    return Subject(parsed, diagnose_parsed(parsed))


def told(text: str, subject: Subject) -> tuple[str, str]:
    """The reader that answers, and its first line."""
    name, lines = direct(subject, read_question(text, subject.parsed.nodes))
    return name, lines[0] if lines else ""


def steps(last: int) -> str:
    return "".join(
        f"2026-11-20T10:{at // 60:02}:{at % 60:02}Z step {at} loss {9 - at / 10:.1f}\n" for at in range(1, last + 1)
    )


def test_every_code_has_a_meaning_and_is_found_in_a_question() -> None:
    """Each table's own writing is read back, and no meaning is empty."""
    for table in tables():
        assert all(text.strip() for text in table.means.values())
        assert table.means or table.otherwise


@pytest.mark.parametrize(
    ("text", "begins"),
    [
        ("whats xid 79", "NVIDIA Xid 79: the GPU has fallen off the bus"),
        ("what does errno 28 mean", "errno 28: no space left on the device (ENOSPC)"),
        ("grpc_status 14?", "gRPC status 14: the service cannot be reached"),
        ("vendor err 129 ???", "Vendor error 129: a sub-code of the adapter's maker"),
    ],
)
def test_a_code_is_explained(text: str, begins: str) -> None:
    """Also where no line of the job holds it, which is said."""
    name, first = told(text, subject_of({"train.log": steps(3)}))
    assert name == "codes"
    assert first.startswith(begins)
    assert "No line of this job holds" in first


def test_a_status_is_a_completion_only_where_a_line_says_so() -> None:
    """A status of 12 may be anything; NET/IB's completion makes it one."""
    line = "2026-11-20T10:00:09Z NET/IB : Got completion from peer 10.0.0.1<4> with status=12 opcode=0 vendor err 129\n"
    assert told("status=12 ???", subject_of({"train.log": steps(3)})) == ("", "")
    assert "IBV_WC_RETRY_EXC_ERR" in told("status=12 ???", subject_of({"train.log": steps(3) + line}))[1]


def test_a_presence_is_not_a_meaning() -> None:
    """Who asks whether there was an Xid wants lines."""
    assert told("any xid 79 in there?", subject_of({"train.log": steps(3)})) == ("", "")


def test_memory_is_told_as_the_allocator_reports_it() -> None:
    """What was in use, not what was allocated."""
    name, first = told("how much mem was rank 1 using when it oomed", subject_of({"train.log": steps(3) + OOM}))
    assert name == "memory"
    assert "76.80 GiB were in use by the process, 2.25 GiB of the GPU's 79.10 GiB were free, and 3.50 GiB more" in first


def test_a_trouble_after_which_training_went_on_did_no_harm() -> None:
    """Training went on after it."""
    lines = "2026-11-20T10:00:02Z ERROR s3 read of shard-17 timed out\n2026-11-20T10:00:03Z s3 read of shard-17 ok\n"
    subject = subject_of({"a1/train.log": lines + steps(30), "a2/train.log": steps(30)}, total_iterations=30)
    name, first = told("there is an s3 timeout on a1, did it hurt?", subject)
    assert name == "trouble"
    assert first.startswith("No")


def test_exit_codes_of_launchers_are_read() -> None:
    """As srun tells them, by node and tasks."""
    line = "srun: error: n07: task 3: Exited with exit code 7\n"
    first = ask("exit codes per node?", subject_of({"slurm.out": steps(3) + line})).lines[0]
    assert first == "Exit codes by the launchers' reports: n07 (tasks 3) 7."


def test_words_stand_alone() -> None:
    """No "ugh" in "through"; an ending and a part of a compound name are the word."""
    subject = subject_of(
        {"train.log": "2026-11-20T10:00:01Z went through\n2026-11-20T10:00:02Z ReadTimeoutError: slow\n"}
    )
    assert not search(subject.parsed, ("ugh",), whole=True).lines
    assert search(subject.parsed, ("timeout",), whole=True).lines
    assert search(subject.parsed, ("ugh",)).lines


@pytest.mark.parametrize("text", ["how much did this cost us in $", "whom do I page?", "how big is the quota"])
def test_what_logs_do_not_tell_is_refused(text: str) -> None:
    """In the first sentence, after a search."""
    reply = ask(text, subject_of({"train.log": steps(3)}))
    assert reply.lines[0].startswith(("I do not know", "That is not about this job", "Not in these logs"))
    assert not reply.answered


def test_talk_is_no_search() -> None:
    """Sighs are talk, and who asks for the bot is told of it."""
    assert is_chatter("ugh not again... brb")
    assert asks_of_bot("who are you actually, a bot?")
    assert not asks_of_bot("who killed rank 3?")


@pytest.mark.parametrize(("text", "begins"), [("did this one fail?", "No: "), ("did it finish ok?", "Yes: ")])
def test_yes_and_no_are_to_what_was_asked(text: str, begins: str) -> None:
    """Of a job that completed."""
    subject = subject_of({"train.log": steps(100)}, status=Status.COMPLETED, total_iterations=100)

    assert told(text, subject)[1].startswith(begins)
