"""A large job that failed beside a small one that completed: a log a node, made in seconds whatever its size.

A few dozen logs are distinct; the other nodes have the same files by hard links. A log is chapters of some megabytes:
the first is generated, those that follow are the same a day later, their iterations counted on. One node reports a GPU
that has fallen off the bus and ends; ten minutes later all the others give up waiting for it.
"""

import json
import os
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import islice
from pathlib import Path
from typing import Any

from benchmarks.generate import START, lines

FAILED, GOOD = "large", "small"
DISTINCT = 32  # logs; four gigabytes of disk are enough for any size
CHAPTER_BYTES = 4_000_000
GOOD_NODES = 8
RANKS = 8  # of a node
FAULTY = 2 / 3  # which node, as a share of all
_SAMPLE_LINES = 20_000
_ITERATION = re.compile(rb"(?<=iteration )( *\d+)(?=/)")
_STAMP = re.compile(rb"\[(\d{4}-\d\d-\d\d \d\d:\d\d:\d\d),\d{3}\]")
_LABEL = re.compile(rb"^(\d): \[rank\d\]:", re.MULTILINE)  # eight global ranks on every node: torchrun has local ones
_NCCL_HOST = re.compile(rb"^[\w-]+:\d+:\d+ (?=\[\d+\] NCCL)", re.MULTILINE)  # the same name in logs of many nodes
_REPORT = "| consumed samples:"
_FAULT = """\
[{now}] [ERROR] NVRM: Xid (PCI:0000:4b:00): 79, pid=4242, name=python, GPU has fallen off the bus.
Traceback (most recent call last):
  File "/opt/megatron/pretrain_gpt.py", line 122, in <module>
    pretrain(train_valid_test_datasets_provider, model_provider)
  File "/opt/megatron/training.py", line 611, in train_step
    losses = forward_backward(batch)
RuntimeError: CUDA error: uncorrectable ECC error encountered
"""
_TIMEOUT = """\
[{now}] [ERROR] Watchdog caught collective operation timeout: WorkNCCL(SeqNum=7215, OpType=ALLREDUCE, \
NumelIn=33000240, Timeout(ms)=600000) ran for 600071 milliseconds before timing out.
Traceback (most recent call last):
  File "/opt/megatron/pretrain_gpt.py", line 122, in <module>
    pretrain(train_valid_test_datasets_provider, model_provider)
  File "/opt/megatron/training.py", line 618, in train_step
    torch.distributed.all_reduce(grads)
torch.distributed.DistBackendError: NCCL communicator was aborted on its rank.
"""


@dataclass(frozen=True)
class Chapter:
    """What a node logs in some iterations; the start of its program stands before the first chapter only."""

    start: bytes
    steps: bytes
    iterations: int

    def text(self, number: int) -> bytes:
        """The chapter of this number, from 0, each a day after the one before."""
        if not number:
            return self.start + self.steps
        before = self.iterations * number
        later = _ITERATION.sub(lambda match: b"%8d" % (int(match[1]) + before), self.steps)
        day = datetime.fromisoformat("2026-11-21") + timedelta(days=number)
        return later.replace(b"2026-11-21 ", f"{day:%Y-%m-%d} ".encode())


def make_jobs(folder: Path, *, size: int, nodes: int, dirty: bool) -> None:
    """Write both jobs below a folder: the failed one with logs of about so many bytes in all."""
    chapters = max(1, round(size / nodes / CHAPTER_BYTES))
    iterations = _iterations(size // nodes // chapters, dirty=dirty)
    faulty = int(nodes * FAULTY)
    logs = [folder / FAILED / "logs" / f"{name}.log" for name in _names(nodes)]
    good = [folder / GOOD / "logs" / f"{name}.log" for name in _names(min(nodes, GOOD_NODES))]
    for log in (logs[0], good[0]):
        log.parent.mkdir(parents=True)
    for seed in range(min(nodes, DISTINCT)):
        chapter = _chapter(iterations, dirty=dirty, seed=seed)
        own = [log for place, log in enumerate(logs) if place % DISTINCT == seed and place != faulty]
        if own:
            _write(own[0], chapter, chapters, _TIMEOUT, seconds=600)
        for log in own[1:]:
            os.link(own[0], log)
        if faulty % DISTINCT == seed:
            _write(logs[faulty], chapter, chapters, _FAULT, seconds=1)
        if seed < len(good):
            good[seed].write_bytes(chapter.text(0))
    _write_manifest(folder / FAILED, nodes, status="FAILED")
    _write_manifest(folder / GOOD, len(good), status="COMPLETED")


def _iterations(size: int, *, dirty: bool) -> int:
    """How many iterations make so many bytes."""
    sample = list(islice(lines(dirty=dirty, seed=0), _SAMPLE_LINES))
    seen = sum(_REPORT in line for line in sample)
    return max(1, size * seen // sum(len(line) for line in sample))


def _chapter(iterations: int, *, dirty: bool, seed: int) -> Chapter:
    source = lines(dirty=dirty, seed=seed)
    return Chapter(_encoded(islice(source, len(START))), _encoded(_until(source, iterations)), iterations)


def _until(source: Iterator[str], iterations: int) -> Iterator[str]:
    """Lines up to the report of so many iterations: then all nodes have completed the same."""
    for line in source:
        yield line
        iterations -= _REPORT in line
        if not iterations:
            return


def _encoded(texts: Iterator[str]) -> bytes:
    text = "".join(f"{line}\n" for line in texts).encode("utf-8", "surrogateescape")
    return _NCCL_HOST.sub(b"", _LABEL.sub(rb"[default\1]:", text))


def _write(log: Path, chapter: Chapter, chapters: int, end: str, *, seconds: int) -> None:
    """Write all chapters and an end, so many seconds later."""
    text = b""
    with log.open("wb") as file:
        for number in range(chapters):
            text = chapter.text(number)
            file.write(text)
        stamp = _STAMP.findall(text, len(text) - CHAPTER_BYTES // 10)[-1].decode()
        file.write(end.format(now=f"{datetime.fromisoformat(stamp) + timedelta(seconds=seconds)},000").encode())


def _names(nodes: int) -> list[str]:
    return [f"node-{place:04}" for place in range(nodes)]


def _write_manifest(home: Path, nodes: int, *, status: str) -> None:
    ranks = {name: list(range(place * RANKS, (place + 1) * RANKS)) for place, name in enumerate(_names(nodes))}
    manifest: Mapping[str, Any] = {
        "job_id": home.name,
        "status": status,
        "settings_id": "whole",
        "nodes": _names(nodes),
        "node_ranks": ranks,
        "world_size": nodes * RANKS,
    }
    (home / "job.json").write_text(json.dumps(manifest))
