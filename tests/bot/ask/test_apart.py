"""Numbers side by side: units, jobs, before and since, a step beside the usual ones."""

from bot.ask.apart import at_step, before_and_since, beside_job, beside_others, told_parts
from bot.ask.question import read_question
from tests.support.asked_jobs import subject_of

NODES = ("gpu01", "gpu02", "gpu03")


def lines_of(slow: str = "", since: int = 99, odd: int = 99) -> dict[str, str]:
    files = {}
    for node in NODES:
        rows = []
        for step in range(1, 41):
            ring = 500 if step >= since else 70
            gpu = 900 if node == slow else 520
            load = 400 if step == odd else 20
            rows.append(
                f"2026-11-20T10:{step:02}:00Z step {step} loss 3.{step:02} gpu={gpu + step % 3}ms "
                f"ring={ring + step % 2}ms load={load + step % 2}ms rss {40 + step % 2}.5GB\n"
            )
        files[f"{node}/train.log"] = "".join(rows)
    return files


def test_a_node_stands_beside_the_others() -> None:
    """Its own time, and that of the others."""
    subject = subject_of(lines_of(slow="gpu02"))
    told = beside_others(subject, read_question("is gpu02 slower than the others", NODES))
    assert told[0].startswith("gpu (ms), medians: gpu02 901; gpu01 521, gpu03 521: 1.7 times as much.")
    same = beside_others(subject, read_question("ring of gpu02 beside the others", NODES))
    assert same[0].endswith(": about the same.")


def test_the_parts_of_a_step_that_grew_are_told() -> None:
    """A part that is asked about gets a yes or a no."""
    subject = subject_of(lines_of(since=21))
    assert [one.name for one in before_and_since(subject, 21) if one.differ] == ["ring"]
    told = told_parts(subject, read_question("is it the gpus", NODES), 21)[0]
    assert told.startswith("No: of the times of a step since iteration 21 these grew (medians): ring 70.5 to 500.5ms;")
    assert "gpu 521 to 521ms" in told
    assert told_parts(subject, read_question("is it the ring", NODES), 21)[0].startswith("Yes: ")
    assert told_parts(subject_of(lines_of()), read_question("is it the gpus", NODES), 21) == []


def test_two_jobs_stand_beside_each_other_at_a_step() -> None:
    """What is asked for by name, else what differs."""
    mine, other = subject_of(lines_of(since=21)), subject_of(lines_of())
    told = beside_job(mine, other, "j2", read_question("compare ring at step 30", NODES))[0]
    assert told.startswith("At iteration 30: ring 500ms here, 70ms in j2: 7.1 times as much.")
    assert beside_job(mine, other, "j2", read_question("compare step 30", NODES))[0].startswith(
        "At iteration 30: ring "
    )
    assert beside_job(mine, other, "j2", read_question("compare with j2", NODES))[0].startswith("Until iteration 40: ")
    assert beside_job(mine, mine, "j2", read_question("compare with j2", NODES)) == []


def test_a_step_stands_beside_the_usual_ones() -> None:
    """And what came after it."""
    subject = subject_of(lines_of(odd=17))
    told = at_step(subject, read_question("step 17 was slow or?", NODES), 17)[0]
    assert told.startswith("At iteration 17: load 401ms, usually 2")
    assert "at the next" in told
    assert at_step(subject, read_question("step 99 slow?", NODES), 99) == []


def test_the_lowest_and_the_highest_of_all_ranks_are_two_numbers() -> None:
    """As Megatron tells its timers."""
    rows = "".join(
        f"2026-11-20T10:{step:02}:00Z step {step} loss 3.1\n"
        f"2026-11-20T10:{step:02}:01Z   forward-compute ........: (1420.0, {2330 if step > 20 else 1480}.1)\n"
        for step in range(1, 41)
    )
    parts = before_and_since(subject_of({"gpu01/train.log": rows, "gpu02/train.log": rows}), 21)
    assert [(one.name, one.differ) for one in parts] == [
        ("highest forward-compute", True), ("lowest forward-compute", False),
    ]  # fmt: skip
