"""Exceptions of any printer are one message, called the same; the texts are what real programs print (tracebacks/)."""

from pathlib import Path

import pytest

from core.course.stages import stage_of_frames
from core.logs.blocks.frames import read_frames
from core.model import Stage
from tests.core.test_blocks import Said, said

PRINTED = Path(__file__).parent / "tracebacks"

GROUP = "ExceptionGroup: two shards failed (<NUM> sub-exceptions)"
LONG = (
    "RuntimeError: Error(s) in loading state_dict for TinyLM: size mismatch for tok_embeddings.weight: copying a param"
    " with shape torch.Size([<NUM>, <NUM>]) from checkpoint, the shape in current model is torch.Size([<NUM>, <NUM>])."
    " Read the file /mnt/checkpoints/experiments/<NUM>-<NUM>-<NUM>/llama-tiny-with-a-very-long-name/"
    "step_<NUM>/rank_<NUM>/model_states.pt again."
)
FAULTS = {
    "value": "ValueError: loss is not finite at step <NUM>",
    "cause": "KeyError: 'warmup' / RuntimeError: no schedule",
    "context": "KeyError: 'warmup' / RuntimeError: no schedule",
    "bare": "AssertionError in bare (faults.py)",
    "several": f"{GROUP} / OSError: [Errno 5] Input/output error / ValueError: bad magic in shard <NUM>",
    "noted_cause": "ValueError: loss is not finite at step <NUM> / RuntimeError: no schedule",
    "long": LONG,
    "missing": "FileNotFoundError: [Errno 2] No such file or directory: '/data/shards/shard_<NUM>.jsonl'",
    "library": "JSONDecodeError: Expecting value: line <NUM> column <NUM> (char <NUM>)",
    "custom": "Stuck: no progress for <NUM> s",
    "imported": "SyntaxError: invalid syntax",
    "recursion": "RecursionError: maximum recursion depth exceeded",
}
BY_PRINTER = sorted(path.name.removesuffix(".txt") for path in PRINTED.glob("*.*.txt"))
# What the programs say besides: before they fail, and when they leave.
CALM = ("step <NUM> loss <NUM>", "leaving", "aborting the run")


def printed(name: str) -> list[str]:
    return (PRINTED / f"{name}.txt").read_text().splitlines()


def told(name: str) -> list[Said]:
    """The messages of a real output that say anything, without what the program says when nothing is wrong."""
    return [one for one in said(*printed(name)) if one.text and not any(calm in one.text for calm in CALM)]


def test_an_exception_is_one_message_called_the_same_by_any_printer() -> None:
    """Nothing else is left of the output: no record of the logger, no frame, no value."""
    texts = {name: [one.text for one in told(name)] for name in BY_PRINTER}

    assert texts == {name: [f"¶ {FAULTS[name.partition('.')[0]]}"] for name in BY_PRINTER}


@pytest.mark.parametrize("printer", ["cpython", "loguru"])
@pytest.mark.parametrize("fault", ["value", "cause", "context", "missing", "library", "custom"])
def test_an_exception_is_the_same_when_its_lines_were_trimmed(fault: str, printer: str) -> None:
    """As logcli prints each line of a stream (grafana/loki, pkg/logcli/output/default.go)."""
    trimmed = said(*(line.strip() for line in printed(f"{fault}.{printer}")))

    assert {one.text for one in told(f"{fault}.{printer}")} <= {one.text for one in trimmed}


def test_all_faults_have_several_printers() -> None:
    """A fault that one printer tells would prove nothing."""
    tellers = [name.partition(".")[0] for name in BY_PRINTER]

    assert {fault for fault in FAULTS if tellers.count(fault) > 1} == set(FAULTS) == set(tellers)


def test_the_rows_that_say_what_happened_are_those_of_the_exceptions() -> None:
    """Whoever asks for the key rows reads the exception's own words, also where they are wrapped."""
    for name in [name for name in BY_PRINTER if "json" not in name and "logfmt" not in name]:
        lines = printed(name)
        for one in told(name):
            words = " ".join(lines[row - 1] for row in one.keys)
            parts = [part.split(" ")[0].split(":")[0].split(".")[-1] for part in one.text[2:].split(" / ")]
            assert all(part in words for part in parts), name


# In its narrow column functions stand in rows of their own.
WITH_FRAMES = [name for name in BY_PRINTER if name.startswith(("value.", "cause.")) and "handler_plain" not in name]


def test_frames_are_read_from_any_printer() -> None:
    """Where a program stood is told by the files, lines and functions that it printed."""
    for name in WITH_FRAMES:
        frames = list(read_frames(printed(name)))
        places = [(one.file.rsplit("/", 1)[-1], one.line, one.function) for one in frames]
        assert ("train.py", 14, "main") in places, name
        assert frames[-1].file.endswith(("faults.py", "train.py", "pool.py", "_base.py")), name


def test_frames_that_a_panel_wraps_are_read() -> None:
    """rich breaks a long path before ``in`` or behind it."""
    found = [(one.file.rsplit("/", 1)[-1], one.line, one.function) for one in read_frames(printed("loader_rich"))]

    assert ("dataloader.py", 725, "__next__") in found
    assert ("dataloader.py", 1531, "_next_data") in found


def test_frames_within_words_are_joined() -> None:
    """A path that is longer than a panel is broken anywhere (as rich prints it at a width of 50)."""
    rows = ["│ /usr/lib/python3.11/js │", "│ on/decoder.py:337 in decode │", "│ │", "│ ❱ 337 │ │ x = y │"]

    assert list(read_frames(rows)) == [("/usr/lib/python3.11/json/decoder.py", 337, "decode")]


@pytest.mark.parametrize(
    ("function", "stage"), [("save_checkpoint", Stage.CHECKPOINT_SAVING), ("train_step", Stage.TRAINING)]
)
def test_a_panel_names_its_stage(function: str, stage: Stage) -> None:
    """The stage of a failure is told by rich's frames as by Python's."""
    python = f'  File "/opt/train/x.py", line 12, in {function}'

    assert stage_of_frames([f"│ /opt/train/x.py:12 in {function}      │"]) == stage_of_frames([python]) == stage


@pytest.mark.parametrize(
    ("name", "texts"),
    [
        ("loader", ["Caught ValueError in DataLoader worker process <NUM>.", "loss is not finite at step <NUM>"]),
        (
            "loader_loguru",
            ["Caught ValueError in DataLoader worker process <NUM>.", "loss is not finite at step <NUM>"],
        ),
        ("loader_rich", ["Caught ValueError in DataLoader worker process <NUM>.", "loss is not finite at step <NUM>"]),
    ],
)
def test_what_a_worker_raised_is_part_of_what_its_rank_raised(name: str, texts: list[str]) -> None:
    """torch prints the worker's traceback in the text of the exception, which rich wraps."""
    (only,) = told(name)

    assert only.text == "¶ " + " / ".join(f"ValueError: {text}" for text in texts)


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("spawn", "ProcessRaisedException in join (spawn.py) / ValueError: loss is not finite at step <NUM>"),
        (
            "ray_task",
            "RayTaskError(ValueError): ray::work() (pid=<NUM>, ip=<IP>) / ValueError: loss is not finite at step <NUM>",
        ),
        (
            "ray_actor",
            (
                "RayTaskError(ValueError): ray::Trainer.fit() (pid=<NUM>, ip=<IP>, actor_id=<HEX>, repr=<train.Trainer"
                " object at <HEX>>) / ValueError: loss is not finite at step <NUM>"
            ),
        ),
        ("jax_jit", "ValueError: loss is not finite at step <NUM>"),
        (
            "absl_fatal",
            "F<TS> <NUM> train.py:<NUM>] training failed: ValueError('loss is not finite at step <NUM>')",
        ),
        ("segfault", "Fatal Python error: Segmentation fault"),
        ("go_index", "panic: runtime error: index out of range [<NUM>] with length <NUM>"),
        ("go_pointer", "panic: runtime error: invalid memory address or nil pointer dereference"),
        ("go_again", "panic: first [recovered] / panic: cleanup after: first"),
        ("go_deadlock", "fatal error: all goroutines are asleep - deadlock!"),
        ("glog_throw", "what(): bad shard <NUM>"),
        ("glog_check", "F<NUM> <TS> <NUM> g.cc:<NUM>] Check failed: n == <NUM> (<NUM> vs. <NUM>) shards"),
        (
            "glog_crash",
            "*** SIGSEGV (@<HEX>) received by PID <NUM> (TID <HEX>) from PID <NUM>; stack trace: ***",
        ),
        ("absl_crash", "*** SIGSEGV received at time=<NUM> on cpu <NUM> ***"),
    ],
)
def test_a_failure_of_another_process_or_program_is_one_message(name: str, text: str) -> None:
    """Nothing but its verdict is left of what it prints."""
    assert [one.text for one in told(name)] == [f"¶ {text}"]


def test_what_only_carries_the_text_of_an_exception_is_no_exception() -> None:
    """JAX tells the whole stack by an exception of its own, and then without its frames."""
    *_, failed = told("jax_unfiltered")

    assert failed.text == "¶ FloatingPointError: invalid value (nan) encountered in mul"


def test_an_exception_that_is_told_twice_is_two_messages_of_one_text() -> None:
    """Logged, and raised again to the interpreter."""
    assert [one.text for one in told("reraised")] == [f"¶ {FAULTS['value']}"] * 2


def test_java_tells_what_caused_an_exception_and_who_logged_it() -> None:
    """The text is that of the exception whatever stands before it; a suppressed one is no cause."""
    cause = "java.io.FileNotFoundException: /data/shard-<NUM> (No such file or directory)"
    assert [(one.text, one.lines[0]) for one in told("java") if one.text.startswith("¶")] == [
        (f"¶ java.lang.RuntimeException: cannot read shard <NUM> / {cause}", 2),
        (f"¶ java.lang.RuntimeException: cannot read shard <NUM> / {cause}", 13),
        ("¶ java.lang.IllegalStateException: worker stopped", 25),
        ("¶ java.lang.ArrayIndexOutOfBoundsException: Index <NUM> out of bounds for length <NUM>", 28),
    ]


@pytest.mark.parametrize("name", ["dump_usr1", "dump_one", "go_quit"])
def test_stacks_that_somebody_asked_for_are_no_failure(name: str) -> None:
    """A dump on a signal says where a healthy program stood."""
    assert [one.text for one in told(name)] == ["Stack dump of all threads"]


def test_a_stack_below_a_record_belongs_to_it() -> None:
    """``stack_info`` says where a record was written; the record stays what it is."""
    (only,) = told("stack_info")

    assert (only.text, only.lines, only.keys) == ("<TS> WARNING train: slow step", (1, 2, 3, 4, 5, 6), (1,))


def test_an_exception_that_was_ignored_keeps_the_line_that_says_so() -> None:
    """The interpreter goes on; that line tells it from one that ended the program."""
    ignored, raised = told("unraisable")

    assert ignored.text.startswith("Exception ignored in: ")
    assert raised.text == f"¶ {FAULTS['value']}"
