"""Floods of what one line may hold: brackets, ranks, nodes, clocks, wrappers, quotes; files that are wide or huge."""

import json
import random
from datetime import UTC, datetime, timedelta
from pathlib import Path

from benchmarks.support.flood_shapes import BYTES, END, Flood, filled, word

_WIDE = 8_000  # characters of a line
_COLUMNS = 20_000
_LISTED = 400  # ranks or nodes in a line
_DEPTH = 200_000  # of JSON that is not closed
_GOOD = 40  # successful jobs
_BEGIN = datetime(2026, 11, 21, tzinfo=UTC)


def _brackets(job: Path, draw: random.Random) -> None:
    filled(job, lambda _: f"{word(draw)} " + "".join(draw.choices("([{<", k=_WIDE)))


def _quotes(job: Path, draw: random.Random) -> None:
    filled(job, lambda _: f"{word(draw)}=" + "".join(draw.choices(["'", '"', "\\", '\\"', "a", "="], k=_WIDE)))


def _ranks_in_a_line(job: Path, draw: random.Random) -> None:
    def line(number: int) -> str:
        ranks = ", ".join(str(draw.randrange(100_000)) for _ in range(_LISTED))
        return f"{_stamp(number)} [rank{number % 64}]: Timeout: ranks [{ranks}] failed to pass monitoredBarrier"

    filled(job, line)


def _host_lists(job: Path, draw: random.Random) -> None:
    """Slurm's way to name a billion nodes in a word."""
    filled(
        job,
        lambda number: (
            f"slurmstepd: error: *** JOB {number} ON node[1-{draw.randrange(10**9)},{number}-{10**9}]"
            f" CANCELLED: srun: error: {word(draw)}[0-{10**8}]: tasks 0-{draw.randrange(10**9)}: Killed"
        ),
    )


def _task_lists(job: Path, draw: random.Random) -> None:
    """What srun says of tasks that ended, each time of all tasks again and again."""
    tasks = ",".join(["0-8191"] * (_WIDE // 7))
    filled(job, lambda number: f"srun: error: node{number}: tasks {draw.randrange(99)},{tasks}: Killed")


def _rolls(job: Path, draw: random.Random) -> None:
    """Rolls of ranks by their machines, in which the numbers of each line are those of a whole cluster, 65 times."""
    ranks = ",".join(["0-999999"] * 32)
    filled(job, lambda number: f"host node{number}: ranks {number % 999_999},{ranks} up {word(draw)}")


def _clocks(job: Path, draw: random.Random) -> None:
    forms = (
        "%Y-%m-%d %H:%M:%S,%f", "%Y-%m-%dT%H:%M:%S.%fZ", "%b %d %H:%M:%S", "[%H:%M:%S]", "%m/%d/%Y %H:%M:%S",
        "%Y/%m/%d %H:%M:%S", "%d/%b/%Y:%H:%M:%S +0200", "[%a %b %d %H:%M:%S %Y]", "%Y%m%d-%H%M%S", "%H:%M:%S.%f",
        "E%m%d %H:%M:%S.%f",
    )  # fmt: skip

    def line(number: int) -> str:
        now = _BEGIN + timedelta(seconds=draw.randrange(10**6))
        return f"{now.strftime(draw.choice(forms))} {word(draw)} step {number}"

    filled(job, line)


def _wrappers(job: Path, draw: random.Random) -> None:
    """Lines of any collector, each in another one's form and of another source."""

    def line(number: int) -> str:
        said, who, now = f"{word(draw)} {word(draw)}", f"{word(draw)}-{number}", _stamp(number)
        return draw.choice(
            (
                f"{now.replace(' ', 'T')}Z stdout F {said}",
                json.dumps({"log": f"{said}\n", "stream": "stderr", "time": f"{now.replace(' ', 'T')}Z"}),
                f"[pod/{who}/train] {now.replace(' ', 'T')}Z {said}",
                json.dumps({"MESSAGE": said, "_HOSTNAME": who, "__REALTIME_TIMESTAMP": "1700000000000000"}),
                f"<{number % 191}>1 {now.replace(' ', 'T')}Z {who} train {number} - - {said}",
                f"{number}: {said}",
            )
        )

    filled(job, line)


def _same_key(job: Path, draw: random.Random) -> None:
    filled(job, lambda number: f"{_stamp(number)} " + " ".join(f"a={draw.randrange(99)}" for _ in range(_LISTED)))


def _paths(job: Path, draw: random.Random) -> None:
    filled(job, lambda _: f"{word(draw)} " + "/".join(word(draw, 1, 3) for _ in range(_WIDE // 3)))


def _escapes(job: Path, draw: random.Random) -> None:
    """Colours, combining letters, wide ones, and marks that turn the direction of text."""
    letters = ["\x1b[31m", "\x1b[", "\u0301", "\u202e", "\U0001f525", "\u4e2d", "\x00", "a"]
    filled(job, lambda _: f"{word(draw)} " + "".join(draw.choices(letters, k=_WIDE // 4)))


def _wide_metrics(job: Path, draw: random.Random) -> None:
    """A table of metrics with 20,000 columns."""
    (job / "metrics").mkdir()
    (job / "logs" / "rank_0.log").write_text(f"step 1\nstep 2\n{END}")
    with (job / "metrics" / "gpu.csv").open("w") as file:
        written = file.write("time,node," + ",".join(f"{word(draw)}{n}" for n in range(_COLUMNS)) + "\n")
        while written < BYTES:
            written += file.write("1700000000,n0," + ",".join(["0.5"] * _COLUMNS) + "\n")


def _extremes(job: Path, draw: random.Random) -> None:
    """The smallest and the largest of everything that is numbered: what is laid out by numbers would fill a disk."""
    (job / "metrics").mkdir()
    rows = (f"{time},n0,power,{value}" for time in (0, 4_102_444_800) for value in ("1e308", "-1e308", "nan", "inf"))
    (job / "metrics" / "gpu.csv").write_text("time,node,metric,value\n" + "\n".join(rows) + "\n")

    def line(number: int) -> str:
        year, step = draw.choice((1970, 2026, 2099)), draw.choice((0, 10**9, 10**18 - 1, number))
        rank, loss = draw.choice((0, 99_999, 2**31 - 1, 10**17)), draw.choice(("1e308", "nan"))
        return (
            f"{year}-01-01 00:00:{number % 60:02} [rank{rank}]: step {step}/{10**18} loss={loss}"
            f" took {step} s, exit code {step}, local_rank {rank}, Xid {step}"
        )

    filled(job, line)


def _manifest_settings(job: Path, draw: random.Random) -> None:
    """A job.json of 15 MB, of keys that nobody knows."""
    (job / "logs" / "rank_0.log").write_text(f"step 1\nstep 2\n{END}")
    keys = {f"{word(draw)}{number}": {word(draw): number} for number in range(400_000)}
    (job / "job.json").write_text(json.dumps({"job_id": job.name, "status": "FAILED", "config": keys}))


def _manifest_depth(job: Path, draw: random.Random) -> None:
    """A job.json that only opens brackets."""
    (job / "logs" / "rank_0.log").write_text(f"step 1\nstep 2\n{word(draw)}\n{END}")
    (job / "job.json").write_text('{"job_id": "failed", "config": ' + "[" * _DEPTH)


def _baselines(job: Path, draw: random.Random) -> None:
    """Forty successful jobs, none of which says what another one says."""
    said = {"settings_id": "s", "start": "2026-11-21T03:00:00Z"}
    for number in range(_GOOD):
        good = job.parent / f"good-{number}"
        (good / "logs").mkdir(parents=True)
        (good / "job.json").write_text(json.dumps({"job_id": good.name, "status": "COMPLETED", **said}))
        filled(good, lambda _: " ".join(word(draw) for _ in range(draw.randint(3, 12))), size=BYTES // _GOOD)
    (job / "logs" / "rank_0.log").write_text(f"step 1\nstep 2\n{END}")
    (job / "job.json").write_text(json.dumps({"job_id": job.name, "status": "FAILED", **said}))


def _stamp(second: int) -> str:
    return f"{_BEGIN + timedelta(seconds=second // 30):%Y-%m-%d %H:%M:%S}"


WORDS: dict[str, Flood] = {
    "brackets": _brackets,
    "quotes": _quotes,
    "ranks_in_a_line": _ranks_in_a_line,
    "host_lists": _host_lists,
    "task_lists": _task_lists,
    "rolls": _rolls,
    "clocks": _clocks,
    "wrappers": _wrappers,
    "same_key": _same_key,
    "paths": _paths,
    "escapes": _escapes,
    "wide_metrics": _wide_metrics,
    "extremes": _extremes,
    "manifest_settings": _manifest_settings,
    "manifest_depth": _manifest_depth,
    "baselines": _baselines,
}
