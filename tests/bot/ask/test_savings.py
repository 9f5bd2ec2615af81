"""Lines that report a saved checkpoint."""

import pytest

from bot.ask.about_checkpoints import lost
from bot.ask.question import read_question
from bot.ask.subject import Subject
from bot.outcome.savings import savings
from core.diagnose import diagnose_parsed
from tests.support.jobs import job, parse


@pytest.mark.parametrize("word", ["saved", "wrote", "written", "stored", "dumped", "complete", "completed", "done"])
def test_savings_are_found_by_a_word_of_theirs(word: str) -> None:
    """Whichever word a program reports a saved checkpoint with, its line is found."""
    message = f"Checkpoint at step 7 {word}" if word in ("complete", "completed", "done") else f"{word} model state 7"
    parsed = parse(job({"logs/rank_0.log": f"step 1\n{message.upper()}\n"}))

    assert [line.text for line in savings(parsed).found.lines] == [message.upper()]


@pytest.mark.parametrize(
    ("line", "step"),
    [
        ("state of step 40 uploaded (10.9s)", 40),
        ("wrote local shard /mnt/nvme/ck/step_15", 15),
        ("=> saved. step 17", 17),
        ("save_done step=18", 18),
        ("synced snapshot_19 step 19", 19),
        ("exported model weights of global_step_16", 16),
        ("wk-c: INFO snapshot round=30 path=/srv/snap/w2.npy who=worker-2", 30),
        ("restart written: rst.0000030.h5", None),
        ("Checkpoint successfully created at: Checkpoint(path=run7/checkpoint_000004)", 4),
        ("async-save: host 5 committed step 150", 150),
        ('{"msg": "snapshot", "round": 30, "path": "/srv/snap/w0.npy"}', 30),
    ],
)
def test_a_checkpoint_by_another_name_is_one(line: str, step: int) -> None:
    """Upload, shard, export, snapshot: what programs call it, and the step that they name."""
    parsed = parse(job({"rank_0.log": f"step 1\n{line}\n"}))
    assert savings(parsed).step == step


def test_the_last_upload_after_which_it_went_on_is_told() -> None:
    """Of savings that only begin the job went on after that of 8; whether that of 12 was finished no line tells."""
    lines = "".join(
        f"step {step} loss {9 - step / 10}\n" + (f"uploading actor shard global_step_{step}\n" if step % 4 == 0 else "")
        for step in range(1, 13)
    )
    parsed = parse(job({"rank_0.log": lines}))
    subject = Subject(parsed, diagnose_parsed(parsed))
    told = lost(subject, read_question("last checkpoint?", ()))
    assert "The last one after which the job went on is that of step 8; whether that of 12 was finished" in told[0]


def test_the_step_is_read_from_where_the_job_had_come_to() -> None:
    """A file's number that the job had just reached is its step; one far below counts checkpoints."""
    log = "".join(f"2026-11-20T10:00:{at:02}Z step {at * 10} loss 1.0\n" for at in range(1, 31))
    written = parse(job({"rank_0.log": log + "2026-11-20T10:00:31Z restart written: rst.0000300.h5\n"}))
    assert savings(written).step == 300
    counted = parse(job({"rank_0.log": log + "2026-11-20T10:00:31Z saved checkpoint /out/checkpoint_000004\n"}))
    found = savings(counted)
    assert (found.step, found.after) == (None, 300)


def test_a_checkpoint_that_not_all_report_is_not_the_last_good_one() -> None:
    """The first sentence names the one that all report, and who is missing in the later one."""
    logs = {
        f"host-{rank}-{rank}.log": "".join(
            f"2026-11-20T10:00:{step:02}Z step {step} loss 1.0\n"
            + (
                f"2026-11-20T10:00:{step:02}Z host {rank} committed step {step}\n"
                if step % 10 == 0 and (step, rank) != (20, 2)
                else ""
            )
            for step in range(1, 22)
        )
        for rank in range(4)
    }
    parsed = parse(
        job(logs, nodes=[f"host-{rank}" for rank in range(4)], node_ranks={f"host-{rank}": [rank] for rank in range(4)})
    )
    told = lost(Subject(parsed, diagnose_parsed(parsed)), read_question("last good checkpoint?", ()))[0]
    assert told.startswith("The last checkpoint that all ranks report is that of step 10; only 3 of 4 ranks report")
    assert "rank 2 on host-2 not" in told
