"""Values that belong into an answer: clocks of progress, numbers beside a name, limits of time, saved checkpoints."""

import pytest

from bot.ask.about_checkpoints import lost
from bot.ask.about_course import reached
from bot.ask.about_events import ended
from bot.ask.about_numbers import numbers
from bot.ask.about_pace import asks_pace
from bot.ask.about_topics import presence, quantity
from bot.ask.about_values import told_values
from bot.ask.answer import ask
from bot.ask.question import read_question
from bot.ask.reply_lines import Lines
from bot.ask.subject import Subject
from bot.ask.word_weights import WordWeights
from tests.support.asked_jobs import NODES, asked, steps, subject_of


def values(text: str, subject: Subject) -> Lines:
    return told_values(WordWeights(subject, asked(text, subject)), ())


def test_a_finished_saving_is_no_denial() -> None:
    """torchtitan calls a checkpoint finished without its step; it is of the iteration before that line."""
    line = "2026-11-20T10:00:20Z [titan] root - INFO - Finished saving the checkpoint in 1.99 seconds.\n"
    subject = subject_of({"rank_0.log": steps(20) + line + "2026-11-20T10:00:21Z step 21 loss 6.9\n"})
    lines = lost(subject, asked("what was saved?", subject))
    assert lines[0].startswith("The last saved checkpoint came after iteration 20")
    assert "1 iteration must be computed again" in lines[0]


def test_a_list_of_checkpoints_is_no_denial() -> None:
    """timm prints which files it keeps after each epoch, and no other word."""
    kept = "2026-11-20T10:00:20Z Current checkpoints:\n ('/out/last.pth.tar', 10.0)\n"
    subject = subject_of({"rank_0.log": steps(20) + kept})
    lines = lost(subject, asked("what was saved?", subject))
    assert any("/out/last.pth.tar" in line for line in lines)


def test_a_saving_that_began_is_shown_as_such() -> None:
    """transformers says only that it saves: no denial, and nothing is called complete."""
    line = "2026-11-20T10:00:20Z Saving model checkpoint to /out/checkpoint-20\n"
    subject = subject_of({"rank_0.log": steps(20) + line})
    lines = lost(subject, asked("what was saved?", subject))
    assert lines[0].startswith("No line calls a checkpoint complete; lines tell only that a saving began.")
    assert "Saving model checkpoint to /out/checkpoint-20" in lines[1]


def test_how_far_it_came_tells_when() -> None:
    """The clock of the last complete iteration stands beside it."""
    subject = subject_of({"rank_0.log": steps(20)})
    assert "came to iteration 20, complete at 10:00:20." in reached(subject, asked("how far?", subject))[0]


def test_errors_tell_the_iteration_that_nobody_printed() -> None:
    """Progress is printed every few iterations; an error may name a later one."""
    late = subject_of({"rank_0.log": steps(20) + "2026-11-20T10:00:23Z trainer failed at step 22\n"})
    assert any("in iteration 22" in line for line in reached(late, asked("how far?", late)))
    for other in (
        "upload failed at step 10",
        "slurmstepd: error: *** STEP 48298.0 ON gpu01 CANCELLED AT 2026-11-20T10:00:23 ***",
    ):
        early = subject_of({"rank_0.log": steps(20) + f"2026-11-20T10:00:23Z {other}\n"})
        assert not any("By their own words" in line for line in reached(early, asked("how far?", early)))


@pytest.mark.parametrize("text", ["sec/it early and late", "how many steps per second at first", "ms per step?"])
def test_the_unit_of_a_pace_asks_for_it(text: str) -> None:
    """The first iterations stand beside the last ones."""
    subject = subject_of({"rank_0.log": steps(20)})
    question = asked(text, subject)
    assert asks_pace(question)
    lines = numbers(subject, question)
    assert lines is not None
    assert any("the first 5 1.0 s each, the last 5 1.0 s each" in line for line in lines)


def test_a_sentence_with_its_a_step_is_no_pace() -> None:
    """In "it's a step back" there is no unit."""
    assert not asks_pace(read_question("it's a step back, isn't it", ()))


def test_a_value_by_any_name_is_told_at_its_iteration() -> None:
    """What no series and no measure knows by name, lines may have: entropy."""
    line = "update {step} loss {loss} entropy={step}.25"
    subject = subject_of({"rank_0.log": steps(20, said=line.replace("update", "step"))})
    lines = values("what was the entropy at step 7?", subject)
    assert lines[0] == "entropy: 7.25 (rank 0), step 7, at 10:00:07."
    assert values("why did step 7 take long?", subject) == []


def test_values_before_a_nan_are_values() -> None:
    """Who asks for the loss before it was NaN is told the loss, not the NaN."""
    text = "2026-11-20T10:00:01Z step 1 loss 5.607\n2026-11-20T10:00:02Z step 2 loss nan\n"
    subject = subject_of({"rank_0.log": text})
    lines = values("which loss was there before the nan?", subject)
    assert "5.607" in lines[0]


def test_what_is_counted_is_told_by_node() -> None:
    """Megatron tells its number of parameters; where nodes differ, each has its own."""
    line = "2026-11-20T10:00:01Z  > number of parameters on (tensor, pipeline) model parallel rank (0, 0): {}\n"
    subject = subject_of({f"{node}/out.log": line.format(441856 if node == "gpu02" else 257664) for node in NODES})
    lines = values("how many parameters have they?", subject)
    assert lines[0].endswith("rank: 441856 (gpu02), 257664 (gpu01, gpu03).")
    assert values("how many nodes failed?", subject) == []


def test_the_command_timeout_needs_no_person() -> None:
    """Exit code 124 is that of timeout(1); an interrupt beside it is no key that somebody pressed."""
    files = {f"{node}/out.log": steps(5) + "2026-11-20T10:00:50Z KeyboardInterrupt\n" for node in NODES}
    subject = subject_of(files, exit_codes=dict.fromkeys(NODES, 124))
    lines = presence(subject, asked("was there a ctrl-c?", subject))
    assert lines is not None
    assert lines[0].startswith("A limit of time ended it, which needs no person: gpu01, gpu02, gpu03")
    assert ended(subject, asked("who stopped it?", subject))[0] == lines[0]
    other = subject_of(files, exit_codes=dict.fromkeys(NODES, 130))
    reply = presence(other, asked("was there a ctrl-c?", other))
    assert reply is not None
    assert "limit of time" not in reply[0]


@pytest.mark.parametrize(
    "text", ["how many GB were free on the disk", "how much room was left there", "wie viel GB waren noch frei"]
)
def test_a_quantity_that_is_seldom_logged_is_refused(broken: Subject, text: str) -> None:
    """In one sentence, and never as an answer."""
    found = quantity(broken, asked(text, broken))
    assert found is not None
    lines, told = found
    assert not told
    assert lines[0].startswith("I cannot tell: I looked for ")


def test_a_file_that_nobody_names_is_not_known() -> None:
    """A source file in a traceback is no data file."""
    trace = """Traceback (most recent call last):
  File "/srv/vision/train.py", line 12, in load
    return read(paths[i])
ValueError: buffer size must be a multiple of element size
"""
    subject = subject_of({"rank_0.log": steps(5) + trace})
    reply = ask("which image file did it fail on, what does E1 mean?", subject)
    assert "is not known" in reply.lines[0]
    assert len(reply.lines) <= 5


STATS = "2026-11-20T10:00:{second:02}Z {node} noded[7]: INFO stats: rss_mb={rss} load1=1.0\n"
KILL = (
    "2026-11-20T10:00:25Z gpu02 noded[7]: INFO kernel: [ 71.77] memory: usage 1843200kB, limit 1843200kB, failcnt 155\n"
    "2026-11-20T10:00:25Z gpu02 noded[7]: INFO kernel: [ 71.80] Memory cgroup out of memory: Killed process 4711 "
    "(python) total-vm:2389872kB, anon-rss:1487024kB, file-rss:102120kB\n"
)


@pytest.fixture(scope="module")
def starved() -> Subject:
    """Three nodes that tell their memory; gpu02 needs more and more until the kernel kills its process."""
    rss = {"gpu01": (700, 800, 801, 15), "gpu02": (700, 810, 2187, 15), "gpu03": (700, 790, 802, 15)}
    files = {
        f"{node}/noded.log": "".join(
            STATS.format(second=second, node=node, rss=value) + (KILL if node == "gpu02" and second == 20 else "")
            for second, value in zip((1, 10, 20, 30), values, strict=True)
        )
        for node, values in rss.items()
    }
    for rank, node in enumerate(NODES):
        files[f"{node}/rank_{rank}.log"] = (
            steps(24) + f"2026-11-20T10:00:24Z rank {rank} of 3 has pid {4709 + rank + 1}\n"
        )
    return subject_of(files, node_ranks={node: (rank,) for rank, node in enumerate(NODES)})


def test_memory_is_of_the_node_and_of_the_moment(starved: Subject) -> None:
    """What a node needs after its process is gone is no answer to what it needed before."""
    assert values("rss on gpu03 before the crash?", starved)[0].startswith("rss_mb: 802 (gpu03), ")
    beside = values("rss of gpu02 before the crash compared to the others?", starved)[0]
    assert beside == "rss_mb: 2187 (gpu02), 801 (gpu01), 802 (gpu03)."


def test_the_report_of_the_kernel_is_a_measure(starved: Subject) -> None:
    """Memory of the killed process, its rank and the limit, before what daemons tell of nodes."""
    lines = numbers(starved, asked("how much memory did the killed process use and what was the limit?", starved))
    assert lines is not None
    assert "process 4711, rank 1, had anon-rss 1487024 kB" in lines[0]
    assert "of a limit of 1843200 kB" in lines[0]


def test_the_value_that_is_asked_for_survives_the_cut() -> None:
    """It stands in the middle of a long line, which is where lines are cut."""
    log_line = "step {step} " + "a" * 120 + " lm loss: {loss} " + "b" * 200
    subject = subject_of({"rank_0.log": steps(9, said=log_line)})
    lines = values("loss at step 4 of rank 0?", subject)
    assert any("lm loss: 8.6" in line for line in lines[1:])


def test_a_length_is_told_by_the_clocks_of_two_lines() -> None:
    """What lines tell to begin and to end has a length, though none says it."""
    span = "2026-11-20T10:00:{at:02}Z {says}\n"
    log = "".join(
        span.format(at=at, says=says)
        for start in (10, 20, 40)
        for at, says in ((start, "evaluating on 10 batches"), (start + 3, "eval mse 1.5"))
    )
    subject = subject_of({"rank_0.log": log})
    reply = ask("how long did each eval take?", subject).lines[0]
    assert reply == "By the clocks of its lines it took 3.0 s at 10:00:10, 3.0 s at 10:00:20, 3.0 s at 10:00:40."


def test_two_things_get_two_first_lines() -> None:
    """Of a list only where lines tell a value of each; of nothing that no line speaks of more than that."""
    line = "step {step} loss {loss} entropy={step}.25"
    subject = subject_of({"rank_0.log": steps(20, said=line)})
    lines = ask("final loss and entropy", subject).lines
    assert "7" in lines[0]
    assert lines[1].startswith("entropy: 20.25 at the last")
    lines = ask("how many GPUs did it use?", subject).lines
    assert lines[0] == "1 rank."
