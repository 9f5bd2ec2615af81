"""Event files of TensorBoard: real ones, broken ones, and what becomes of them in a diagnosis and a history."""

import math
import struct
from base64 import b64decode
from dataclasses import replace
from pathlib import Path

import pytest

from core.metrics.metric_files import read_metrics
from core.metrics.tensorboard import Events, is_events, read_events
from sources.tables import read_progress
from tests.support.jobs import log_file

# torch 2.13 with tensorboard 2.21: add_scalar("train/loss", 2.5, 10) and (nan, 20), at 1795500000 and as many seconds
TORCH = b64decode(
    "SAAAAAAAAAD+kkidCcS5oLcawdpBGg1icmFpbi5FdmVudDoyUi4KLHRlbnNvcmJvYXJkLnN1bW1hcnkud3JpdGVyLmV2ZW50X2ZpbGVfd3Jp"
    "dGVynW7qFyAAAAAAAAAAKe2pUAkAAID6ScHaQRAKKhMKEQoKdHJhaW4vbG9zcxUAACBAaGLpviAAAAAAAAAAKe2pUAkAAAD9ScHaQRAUKhMK"
    "EQoKdHJhaW4vbG9zcxUAAMB/g8DIqg=="
)
# tensorboard 2.21, its own writer: "loss" as a tensor, by turns as a list of floats and as bytes; 2.5 to -1.5
TENSORS = b64decode(
    "SAAAAAAAAAD+kkidCedgDakawdpBGg1icmFpbi5FdmVudDoyUi4KLHRlbnNvcmJvYXJkLnN1bW1hcnkud3JpdGVyLmV2ZW50X2ZpbGVfd3Jp"
    "dGVyqCTREh8AAAAAAAAAUUtEGAkAAED4ScHaQRABKhIKEAoEbG9zc0IICAEqBAAAIEAtAp9sHwAAAAAAAABRS0QYCQAAgPhJwdpBEAIqEgoQ"
    "CgRsb3NzQggIASIEAADAP8QMk+QfAAAAAAAAAFFLRBgJAADA+EnB2kEQAyoSChAKBGxvc3NCCAgBKgQAAAA/G8jhWx8AAAAAAAAAUUtEGAkA"
    "AAD5ScHaQRAEKhIKEAoEbG9zc0IICAEiBAAAAL9pfqqEHwAAAAAAAABRS0QYCQAAQPlJwdpBEAUqEgoQCgRsb3NzQggIASoEAADAvxZa7Ls="
)


def test_scalars_of_real_files_are_read() -> None:
    """Simple values and tensors, their steps and times; a value that is no number stays one."""
    first, second = read_events(TORCH).scalars

    assert (first.tag, first.step, first.value, first.time) == ("train/loss", 10, 2.5, 1_795_500_010.0)
    assert (second.step, math.isnan(second.value)) == (20, True)
    assert [(one.step, one.value) for one in read_events(TENSORS).scalars] == [
        (1, 2.5), (2, 1.5), (3, 0.5), (4, -0.5), (5, -1.5),
    ]  # fmt: skip


def test_a_flipped_bit_costs_its_record_and_is_told() -> None:
    """In a value; in a length everything behind it is lost."""
    value = bytearray(TENSORS)
    value[-8] ^= 1
    length = bytearray(TENSORS)
    length[88] ^= 1

    assert replace(read_events(bytes(value)), scalars=()) == Events((), broken=1, cut=False)
    assert len(read_events(bytes(value)).scalars) == 4
    assert read_events(bytes(length)) == Events((), broken=0, cut=True)
    assert not is_events(b"\1" + TENSORS[1:])


@pytest.mark.parametrize("size", [*range(0, len(TENSORS), 7)])
def test_a_file_that_is_cut_off_gives_what_it_holds(size: int) -> None:
    """Wherever it ends; a length of exabytes is none."""
    assert len(read_events(TENSORS[:size]).scalars) == sum(size >= 88 + 47 * number for number in range(1, 6))
    huge = struct.pack("<Q", 1 << 62)
    assert read_events(TENSORS[:88] + huge + b"\0" * 64).cut


def test_they_are_metrics_of_the_job() -> None:
    """By their tags, with their iterations; what is broken is told."""
    told = read_metrics([log_file("metrics/events.out.tfevents.1.node", TENSORS[:-3])])

    (metric,) = told.metrics
    assert (metric.name, metric.who, metric.iterations.tolist()) == ("loss", "job", [1, 2, 3, 4])
    assert metric.times[0] == 1_795_500_001_000_000
    assert "ends within a record" in told.problems[0]


def test_they_are_progress_of_a_run(tmp_path: Path) -> None:
    """Points of time and step, as a CSV of them; so are MLflow's store and its table of all metrics."""
    events = tmp_path / "events.out.tfevents.1.node"
    events.write_bytes(TORCH)
    store = tmp_path / "loss"
    store.write_text("1795451559020 3.0 0\n1795451559021 2.0 1\n")  # mlflow 3.17
    table = tmp_path / "metrics.csv"
    rows = ["key,value,timestamp,step", "lr,1,1795451559019,0"]
    table.write_text("\n".join([*rows, "loss,3,1795451559020,0", "loss,2,1795451559021,1"]) + "\n")

    assert read_progress(str(events)) == ((1_795_500_010_000, 10), (1_795_500_020_000, 20))
    assert read_progress(str(store)) == ((1_795_451_559_020, 0), (1_795_451_559_021, 1))
    assert read_progress(str(table)) == read_progress(str(store))
