"""Who lacks what all others wrote, how long a program stood still, and where a number went to another level."""

from bot.ask.answer import ask
from bot.ask.level_change import first_change
from bot.ask.question import read_question
from bot.ask.standstill import missing, silence
from bot.ask.subject import Subject
from tests.support.asked_jobs import subject_of

RANKS = 8


def _waiting(apart: int) -> Subject:
    """Eight ranks that train for ten steps; all but one then say that they are ready."""
    files = {}
    for rank in range(RANKS):
        lines = [f"2026-11-20T10:00:{2 * step:02d}Z [rank{rank}] step {step} loss 1.5\n" for step in range(1, 11)]
        ready = f"2026-11-20T10:00:21Z [rank{rank}] gradients ready, waiting for the others\n"
        files[f"gpu{rank // 4}/rank_{rank}.log"] = "".join(lines) + (ready if rank != apart else "")
    files["controller.log"] = "2026-11-20T10:09:21Z slurmctld: job 7 cancelled\n"
    return subject_of(files)


def test_who_lacks_what_all_others_wrote_is_told() -> None:
    """Of eight ranks seven say that they are ready, and rank 5 does not."""
    found = missing(_waiting(apart=5))
    assert found is not None
    assert found.ranks == (5,)
    assert found.wrote == RANKS - 1


def test_nobody_lacks_a_line_where_all_wrote_it() -> None:
    """Every rank says that it is ready."""
    assert missing(_waiting(apart=RANKS)) is None


def test_a_silence_lasts_to_the_end_of_the_job() -> None:
    """The last line of the program stands nine minutes before that of the controller."""
    pause = silence(_waiting(apart=5))
    assert pause is not None
    assert round(pause.seconds) == 9 * 60


def test_a_job_that_writes_to_its_end_was_not_silent() -> None:
    """No line of another program comes after the last one of the ranks."""
    lines = [f"2026-11-20T10:00:{2 * step:02d}Z [rank0] step {step} loss 1.5\n" for step in range(1, 11)]
    assert silence(subject_of({"gpu0/rank_0.log": "".join(lines)})) is None


def test_where_a_number_goes_to_another_level_is_told() -> None:
    """Reading takes twenty times as long from step 21 on."""
    reads = [f"step {step} read {40 + step % 3 if step <= 20 else 800 + step % 5} ms\n" for step in range(1, 41)]
    subject = subject_of({"gpu0/out.log": "".join(reads)})
    told = first_change(subject, read_question("since when?", subject.parsed.nodes))
    assert "step 20" in told[0]
    assert "step 21" in told[0]


def test_a_number_that_keeps_its_level_has_no_change() -> None:
    """Reading takes the same time in every step."""
    reads = [f"step {step} read {40 + step % 3} ms\n" for step in range(1, 41)]
    subject = subject_of({"gpu0/out.log": "".join(reads)})
    assert not first_change(subject, read_question("since when?", subject.parsed.nodes))


def test_where_it_stopped_is_told_by_its_last_words() -> None:
    """The line before the silence answers, not that of the controller."""
    reply = ask("where did it stop exactly?", _waiting(apart=5))
    assert "gradients ready" in reply.lines[0]
