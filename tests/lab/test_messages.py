"""Which lines belong together."""

import json
from pathlib import Path

from lab.messages import Message, read_messages
from lab.settings import SETTINGS

TRACEBACK = """Traceback (most recent call last):
  File "train.py", line 3, in <module>
    main()
RuntimeError: boom"""


def messages(tmp_path: Path, group: str, file: str, text: str) -> tuple[Message, ...]:
    path = tmp_path / "logs" / file
    path.parent.mkdir(parents=True)
    path.write_text(text, encoding="utf-8", newline="")
    return read_messages(tmp_path, SETTINGS[group])


def shapes(found: tuple[Message, ...]) -> list[tuple[str, int, tuple[tuple[int, int], ...]]]:
    return [(message.node, message.rank, message.runs) for message in found]


def test_a_traceback_is_one_message(tmp_path: Path) -> None:
    """The lines of a traceback, and no other, are one message."""
    found = messages(tmp_path, "plain-ranks", "ranks/c04n04-1.log", f"step 1\n{TRACEBACK}\nstep 2\n")

    assert shapes(found) == [("c04n04", 1, ((1, 1),)), ("c04n04", 1, ((2, 5),)), ("c04n04", 1, ((6, 6),))]


def test_ranks_that_talk_at_once_are_kept_apart(tmp_path: Path) -> None:
    """In one file for all ranks a traceback is broken into runs, and its lines are still found."""
    mixed = [f"{index % 2}: {line}" for line in TRACEBACK.splitlines() for index in (0, 1)]
    found = messages(tmp_path, "mega-tp2-srun", "slurm-j.out", "\n".join(mixed) + "\n")

    assert shapes(found) == [
        ("gpu017", 0, ((1, 1), (3, 3), (5, 5), (7, 7))),
        ("gpu017", 1, ((2, 2), (4, 4), (6, 6), (8, 8))),
    ]


def test_a_chain_of_exceptions_is_one_message(tmp_path: Path) -> None:
    """What was the cause of what belongs together."""
    chain = f"{TRACEBACK}\n\nThe above exception was the direct cause of the following exception:\n\n{TRACEBACK}\n"

    (found,) = messages(tmp_path, "plain-ranks", "ranks/c03n04-0.log", chain)

    assert found.runs == ((1, 11),)


def test_an_error_of_a_data_loader_is_one_message(tmp_path: Path) -> None:
    """The worker's own traceback stands inside the one of its rank."""
    text = (
        TRACEBACK.replace("boom", "Caught KeyError in DataLoader worker process 0.") + "\nOriginal " + TRACEBACK + "\n"
    )

    (found,) = messages(tmp_path, "plain-ranks", "ranks/c03n04-0.log", text)

    assert found.runs == ((1, 8),)


def test_a_traceback_behind_a_progress_bar_is_found(tmp_path: Path) -> None:
    """A bar ends with no line break; the traceback begins on its line."""
    text = f" 10%|#  | 6/60 [00:01<00:09]\r 12%|#  | 7/60 [00:01<00:09][rank1]: {TRACEBACK}\n"

    (found,) = messages(tmp_path, "trainer-nodes", "ml-6/torchrun/none_x/attempt_0/0/stderr.log", text)

    assert (found.node, found.rank, found.lines[-1].text) == ("ml-6", 1, "RuntimeError: boom")


def test_torchruns_report_belongs_to_its_traceback(tmp_path: Path) -> None:
    """The report is the rest of the launcher's last exception."""
    report = TRACEBACK.replace("RuntimeError: boom", "x.ChildFailedError: ")
    report += "\n=====\nx FAILED\n-----\nrank: 1\n=====\nend\n"

    found = messages(tmp_path, "plain-torchrun", "tr-02/torchrun.log", report)

    assert [message.runs for message in found] == [((1, 9),), ((10, 10),)]


def test_a_pods_agent_and_its_ranks_are_two_voices(tmp_path: Path) -> None:
    """With --tee the prefix tells the rank; without it the agent spoke."""
    stamp = "2026-11-21T12:00:00.000000001Z stderr F "
    text = f"{stamp}agent\n{stamp}[default0]:rank\n"
    found = messages(tmp_path, "mega-pods", "ml_j-worker-2_0a-4b/trainer/0.log", text)

    assert [(message.node, message.rank, message.lines[0].text) for message in found] == [
        ("worker-2", -1, "agent"),
        ("worker-2", 2, "rank"),
    ]


def test_a_roles_number_counts_on_its_node(tmp_path: Path) -> None:
    """torchrun numbers what it starts from zero on each node; torch itself knows the global rank."""
    found = messages(tmp_path, "titan-nodes", "c4-n102.log", "[rank1]:[rank3]: hello\n")

    assert [(message.node, message.rank, message.lines[0].text) for message in found] == [("c4-n102", 3, "hello")]


def test_torchs_own_prefix_names_the_rank(tmp_path: Path) -> None:
    """In a journal launcher and rank speak under one name; an exception still tells whose it is."""
    head = "Nov 22 08:35:20.793889 train-bj-02 torchrun[25]: "
    text = "".join(f"{head}[rank1]: {line}\n" for line in TRACEBACK.splitlines())

    (found,) = messages(tmp_path, "accelerate-journal", "train-bj-02/journal.txt", text)

    assert (found.node, found.rank, found.lines[-1].text) == ("train-bj-02", 1, "RuntimeError: boom")


def test_a_line_of_json_with_an_exception_speaks_for_its_last_line(tmp_path: Path) -> None:
    """structlog inside Docker's json-file: two layers around one exception, and still one physical line."""
    inner = json.dumps({"msg": "training failed", "exception": TRACEBACK})
    outer = json.dumps({"log": inner + "\n", "stream": "stdout"})

    (found,) = messages(tmp_path, "structlog-docker", "bert-worker-3/0a1b-json.log", outer + "\n")

    assert (found.node, found.lines[0].text) == ("bert-worker-3", "RuntimeError: boom")
    assert found.is_error


def test_logurus_header_belongs_to_its_traceback(tmp_path: Path) -> None:
    """The line that says where an error was caught is told with the error."""
    text = f"x | ERROR | y - An error has been caught in function 'main', process 'MainProcess' (2)\n{TRACEBACK}\n"

    (found,) = messages(tmp_path, "loguru-ranks", "ranks/rome-05-1.log", text)

    assert (found.rank, found.runs) == (1, ((1, 5),))


def test_the_files_of_a_task_tell_its_rank(tmp_path: Path) -> None:
    """srun writes a pair of files a task; the number in the name places it."""
    (found,) = messages(tmp_path, "lightning-srun", "4711_2_log.err", "hello\n")

    assert (found.node, found.rank) == ("nid003303", 2)
