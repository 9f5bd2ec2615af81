"""Questions by their subject and form: the first sentence answers in that form, in the language of the question."""

import pytest

from bot.ask.about_either import either
from bot.ask.about_found import found_lines, no_such_value
from bot.ask.about_onset import before_after, onset
from bot.ask.about_progress import progress
from bot.ask.about_steps import saving
from bot.ask.question import read_question
from bot.ask.reply_lines import Lines
from bot.ask.rises import find_rises
from bot.ask.savings import savings
from bot.ask.sentences import language_of
from bot.ask.subject import Subject
from bot.ask.weighed_words import WeighedWords
from core.diagnose import diagnose_parsed
from tests.support.jobs import job, parse


def of(lines: str) -> Subject:
    """A job of one log file, read and diagnosed."""
    parsed = parse(job({"rank_0.log": lines}))
    return Subject(parsed, diagnose_parsed(parsed))


def steps(last: int, *, slow: int = 0, saved: str = "", every: int = 10) -> str:
    """Lines of progress, from ``slow`` on slower; ``saved`` after every so many."""
    out = []
    for step in range(1, last + 1):
        wall = 3.91 if slow and step >= slow else 2.31
        out.append(f"step {step} loss {9 - step / 50:.3f} wall {wall} s")
        if saved and step % every == 0:
            out.append(saved.format(step=step))
    return "\n".join(out) + "\n"


@pytest.mark.parametrize(
    "saved",
    [
        "restart written: rst.{step:07}.h5  (212.4 GB, 33.7 s)",
        "snapshot /ads/snap/{step}.6 ok; exit 0",
        "Saved checkpoint ep0-ba{step}-rank0",
        "Checkpoint global_step{step} is ready now!",
        "# snapshot {step} -> /scratch/gm/snap_{step:06}.bin  (2.1 s)",
    ],
)
def test_a_checkpoint_is_found_in_a_jobs_own_words(saved: str) -> None:
    """By what was written and that it was done; its step is the number by which the job counted just then."""
    subject = of(steps(24, saved=saved))

    assert savings(subject).step == 20
    told = saving(subject, read_question("how many steps did we lose since the last snapshot", ()))
    assert told is not None
    assert "iteration 20" in told[0]
    assert "4 iterations" in told[0]


def test_nothing_lost_is_a_no() -> None:
    """The checkpoint of the last iteration is whole as far as lines tell."""
    told = saving(of(steps(20, saved="restart written: rst.{step:07}.h5")), read_question("did we lose steps", ()))

    assert told is not None
    assert told[0].startswith("No. ")


@pytest.mark.parametrize(
    ("question", "begins"),
    [
        ("last ckpt?", "The last checkpoint"),
        ("Wann war der letzte Checkpoint und bei welchem Schritt?", "Der letzte Checkpoint"),
        ("快照保存成功了吗\uff1f", "是的。日志报告的最后一个检查点"),
    ],
)
def test_the_first_sentence_is_in_the_language_of_the_question(question: str, begins: str) -> None:
    """Of a sentence that is a template; quoted lines stay as they are."""
    told = saving(of(steps(24, saved="checkpoint at step {step} saved")), read_question(question, ()))

    assert told is not None
    assert told[0].startswith(begins)


def test_one_german_word_makes_no_german_question() -> None:
    """A word as "war" stands in English too."""
    assert language_of(read_question("rollout time of rank 20 before/after", ())) == "en"


@pytest.mark.parametrize(
    "question", ["how far did it get and how much was left", "what step did it die at", "wie weit war er"]
)
def test_progress_tells_how_far_of_how_much(question: str) -> None:
    """By the counter of the lines and the settings that they print."""
    told = progress(of("train_iters ............... 100\n" + steps(52)), read_question(question, ()))

    assert told is not None
    assert "52" in told[0]
    assert "48" in told[0]


def test_a_counter_of_the_jobs_own_is_told_at_its_last_state() -> None:
    """Where no line counts iterations; the last line counts, not the largest number of an earlier stage."""
    lines = "".join(
        f"INFO Finished task {at}.0 in stage {stage} ({at}/200)\n" for stage in (1, 2) for at in range(1, 41)
    )

    told = progress(of(lines), read_question("how far did it get", ()))
    assert told is None or "40 of 200" in " ".join(told)


def test_nan_is_told_by_its_first_iteration() -> None:
    """A name with "nan" in it is no such number."""
    lines = "nan_guard=on\n" + steps(30) + "".join(f"step {step} loss nan wall 2.31 s\n" for step in range(31, 36))

    told = onset(of(lines), read_question("from which step on was it nan", ()))
    assert told is not None
    assert "iteration 31" in told[0]


@pytest.mark.parametrize("question", ["how much slower per step exactly", "since when is it slow"])
def test_what_became_longer_is_told_without_clocks(question: str) -> None:
    """By the length of time that lines tell, before and after, and from which step on."""
    subject = of(steps(60, slow=31))

    rise = find_rises(subject)[0]
    assert (rise.at, rise.before, rise.after) == ("step 31", 2.31, 3.91)
    asked = read_question(question, ())
    told = before_after(subject, asked) or onset(subject, asked)
    assert told is not None
    assert "3.91" in told[0]
    assert "2.31" in told[0]


def test_this_or_that_is_read_only_between_parts_of_a_job() -> None:
    """Else it asks for a value, as "ib or sockets" does."""
    subject = of(steps(10))

    assert either(subject, read_question("my code or the cluster?", ())) is not None
    assert either(subject, read_question("ib or sockets?", ())) is None


def words(subject: Subject, question: str) -> Lines:
    """What is found by the words of a question."""
    return found_lines(WeighedWords(subject, read_question(question, ())))


def test_lines_are_found_in_the_form_that_is_asked() -> None:
    """A slip in a rare word is mended; how many ranks counts ranks."""
    logs = {f"rank_{rank}.log": steps(10) + ("E shape mismatch in block\n" if rank < 3 else "") for rank in range(5)}
    parsed = parse(job(logs))
    subject = Subject(parsed, diagnose_parsed(parsed))

    assert words(subject, "how many ranks hit the shape missmatch")[0].startswith("3 ranks: ranks 0-2")


def test_a_value_whose_noun_stands_nowhere_is_not_made_up() -> None:
    """And not denied: the words are told by which it was searched for."""
    subject = of(steps(10))

    told = no_such_value(subject, read_question("whats the val accuracy", ()))
    assert told is not None
    assert "“accuracy”" in told[0]
    assert no_such_value(subject, read_question("whats the final loss", ())) is None
