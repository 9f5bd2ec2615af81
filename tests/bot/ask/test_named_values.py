"""Values beside a name, of any form that logs have, and the answers that are made of them."""

import pytest

from bot.ask.about_values import told_values
from bot.ask.answer import ask
from bot.ask.named_values import values_in
from bot.ask.question import read_question
from bot.ask.subject import Subject
from bot.ask.word_weights import WordWeights
from core.diagnose import diagnose_parsed
from core.parsed import parse_job
from tests.support.jobs import job

NODES = ("gpu01", "gpu02", "gpu03")


def subject_of(files: dict[str, str]) -> Subject:
    parsed = parse_job(job(files), (), cache=None, workers=1, progress=None)
    return Subject(parsed, diagnose_parsed(parsed))


def first(text: str, subject: Subject) -> str:
    lines = told_values(WordWeights(subject, read_question(text, subject.parsed.nodes)), ())
    return lines[0] if lines else ""


@pytest.mark.parametrize(
    ("text", "named_values"),
    [
        ("step    30/200  loss 5.6745  gnorm 0.355", {"step": "30/200", "loss": "5.6745", "gnorm": "0.355"}),
        ("600 traces, first seed 4", {"traces": "600", "first seed": "4"}),
        ("INFO model built hidden=64 vocab=32", {"hidden": "64", "vocab": "32"}),
        ("  save_interval ....................... 25", {"save_interval": "25"}),
        ("> number of parameters on rank 0: 73728", {"number of parameters on rank": "73728"}),
        ("node daemon 1.4.0 started", {"node daemon": "1.4.0"}),
        ("cannot reshape array of shape (16, 96)", {"cannot reshape array of shape": "(16, 96)"}),
        ("| learning rate: 1.0E-04 | grad norm: 1.8 |", {"learning rate": "1.0E-04", "grad norm": "1.8"}),
        ("step:24 - critic/score/mean:0.3123 - x:1", {"step": "24", "critic/score/mean": "0.3123", "x": "1"}),
        ("13:27:06 opening /mnt/data/part_0005.bin", {"opening": "/mnt/data/part_0005.bin"}),
        ("uploading to s3://rl-ckpt/run/step_16", {"uploading to": "s3://rl-ckpt/run/step_16"}),
        ('{"key": "seed", "value": 19109}', {"seed": "19109"}),
        ("run --master-addr gpu10 --port 29500", {"master-addr": "gpu10", "port": "29500"}),
        ("connect() to 10.91.7.11:1024 failed", {"connect to": "10.91.7.11:1024"}),
        ("nothing to see here", {}),
    ],
)
def test_a_value_is_told_by_its_form(text: str, named_values: dict[str, str]) -> None:
    """Its name is what stands between it and the value before; a count's name stands behind it."""
    assert {named.name: named.value for named in values_in(text)} == named_values


@pytest.fixture(scope="module")
def subject() -> Subject:
    """Three nodes with a seed each; gpu02 needs ten times as long to read from step 15 on."""
    files = {}
    for rank, node in enumerate(NODES):
        steps = "".join(
            f"2026-11-20T10:00:{step:02}Z step {step} loss {9 - step / 10:.2f} read "
            f"{200 if node == 'gpu02' and step >= 15 else 20 + step % 3} ms\n"
            for step in range(1, 31)
        )
        begin = f"2026-11-20T10:00:00Z 600 traces, first seed {rank + 4}\n2026-11-20T10:00:00Z opening /d/p{rank}.bin\n"
        files[f"{node}/rank_{rank}.log"] = begin + steps
    return subject_of(files)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("which seed did gpu02 start with?", "first seed: 5 (rank 1 on gpu02), at 10:00:00."),
        ("what seed do they have", "first seed: 5 (rank 1 on gpu02), 4 (rank 0 on gpu01), 6 (rank 2 on gpu03)."),
        ("how many traces?", "traces: 600."),
        ("read time of gpu02 at step 20?", "read: 200 ms (rank 1 on gpu02), step 20, at 10:00:20."),
        ("what was the read on gpu01 at 10:00:05?", "read: 22 ms (rank 0 on gpu01), step 5, at 10:00:05."),
        ("highest read on any node?", "read: highest 200 ms by rank 1 on gpu02, step 15, at 10:00:15."),
        ("which file did gpu03 open", "opening: /d/p2.bin (rank 2 on gpu03), at 10:00:00."),
        ("wie viele traces waren es?", "traces: 600."),
        ("why did the read on gpu02 take so long?", ""),
        ("which entropy at step 3?", ""),
        ("and at iteration 28?", ""),
    ],
)
def test_a_value_is_asked_for_by_its_words(text: str, says: str, subject: Subject) -> None:
    """Of the job, of who is named, at a step or a clock; why and what nobody logs are no such questions."""
    assert first(text, subject) == says


def test_the_line_keeps_the_value(subject: Subject) -> None:
    """The quoted line is that of the value."""
    lines = told_values(WordWeights(subject, read_question("highest read on any node?", subject.parsed.nodes)), ())
    assert "step 15 loss 7.50 read 200 ms" in lines[1]


TRACE = """Traceback (most recent call last):
  File "/srv/app/train.py", line 61, in main
    dist.init_process_group("gloo")
  File "/opt/venv/lib/python3.11/site-packages/torch/distributed/c10d_logger.py", line 83, in wrapper
    return func(*args, **kwargs)
ValueError: unsupported operand
"""


@pytest.mark.parametrize(
    "text",
    [
        "which line of our code failed?",
        "which file and line of my script raised it",
        "in welcher Zeile unseres Codes ist die Ausnahme, welche Zeile im Code?",
        "代码哪一行报错",
    ],
)
def test_the_own_line_is_the_last_one_of_no_library(text: str) -> None:
    """File, line and function of one's own program; where no traceback stands the logs do not tell."""
    subject = subject_of({"gpu01/rank_0.log": "2026-11-20T10:00:01Z step 1 loss 2.0\n" + TRACE})
    reply = ask(text, subject)
    assert reply.looks == ("own_code",)
    assert reply.lines[0].startswith("/srv/app/train.py, line 61, in main: ")


def test_without_a_traceback_no_line_of_code_is_told() -> None:
    """A refusal that says why."""
    subject = subject_of({"gpu01/rank_0.log": "2026-11-20T10:00:01Z CUDA error: out of memory\n"})
    assert ask("which line of our code failed?", subject).lines[0].startswith("The logs do not tell a line of code")
