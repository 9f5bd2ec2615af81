"""What several speakers said, one after the other in one file."""

import shutil
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest

from core.diagnose import diagnose
from core.logs.lines import LABEL_MARK
from tests.support.jobs import at, job, lines
from tests.support.wrapped_logs import unwrapped, wrapped

RULE = "=" * 76
# hadoop LogToolUtils.java, AggregatedLogFormat.java: of 2.10 and of 3.3
HEADS = {
    "3.3": "LogAggregationType: AGGREGATED\n{rule}\nLogType:stderr\n"
    "LogLastModifiedTime:Sat Nov 21 01:44:23 +0000 2026\nLogLength:7373\nLogContents:",
    "2.10": "{rule}\nLogType:stderr\nLog Upload Time:Sat Nov 21 01:44:23 +0000 2026\nLogLength:7373\nLog Contents:",
}


def container(number: int, *texts: str, version: str = "3.3") -> str:
    """The log of a container, as ``yarn logs`` prints it."""
    place = f"Container: container_e71_1788735108641_0167_01_{number:06} on dn{number:03}.prod_45454"
    ends = ("End of LogType:stderr", "*" * 71, "")
    return lines(place, HEADS[version].format(rule=RULE), *texts, *ends)


def told(text: str) -> list[tuple[bytes, bytes]]:
    """The label and the text of each line that somebody said; of nobody's lines none."""
    found = [line.split(LABEL_MARK) for line in unwrapped(text.encode()).split(b"\n") if LABEL_MARK in line]
    return [(fields, text) for _, fields, text in found]


@pytest.mark.parametrize("version", sorted(HEADS))
def test_each_line_of_an_aggregated_log_is_of_the_machine_of_its_container(version: str) -> None:
    """Heads say nothing: the time in them is when the log was last written."""
    text = "".join(container(n, f"26/11/21 01:41:4{n} INFO Executor: began", version=version) for n in (1, 2))

    assert told(text) == [
        (
            b"node=dn%03d.prod\x1funit=container_e71_1788735108641_0167_01_%06d" % (n, n),
            b"26/11/21 01:41:4%d INFO Executor: began" % n,
        )
        for n in (1, 2)
    ]
    assert len(unwrapped(text.encode()).split(b"\n")) == len(text.split("\n"))


@pytest.mark.skipif(shutil.which("tail") is None, reason="no tail on this machine")
def test_each_line_that_tail_shows_is_of_its_file(tmp_path: Path) -> None:
    """Of the real ``tail``: a file that is called after a machine, and those of ranks."""
    for name in ("anvil.log", "forge.log", "rank_3.log"):
        (tmp_path / name).write_text("step 1\nstep 2\n")
    shown = subprocess.run(
        ["tail", "-n", "+1", "anvil.log", "forge.log", "rank_3.log"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=True,
    )

    assert [(fields, text) for fields, text in told(shown.stdout) if text] == [
        (who, step) for who in (b"node=anvil", b"node=forge", b"rank=3") for step in (b"step 1", b"step 2")
    ]


def test_the_machine_of_the_container_that_fails_is_found() -> None:
    """Four containers; the disk of one is full, which its own part of the log alone tells."""
    steps = [at(k, f"INFO Boost: step {k} loss 0.5{k % 7}") for k in range(1, 40)]
    full = [at(40, "ERROR Executor: Exception in task 3.0"), "java.io.IOException: No space left on device"]
    text = "".join(container(n, *steps, *(full if n == 3 else ())) for n in range(1, 5))

    log = wrapped("logs/application_1788735108641_0167.log", text.encode())
    found = diagnose(replace(job({}), logs=(log,)), [])

    assert [node.node for node in found.nodes] == ["dn003.prod"]
