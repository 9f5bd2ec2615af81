"""How soon `firstfault watch` speaks, and whether it cries wolf: recorded jobs, fed in the order of their clocks.

    python -m benchmarks.watching                          the lab's jobs: half a minute
    python -m benchmarks.watching --write benchmarks/results/watching.md
    python -m benchmarks.watching --jobs FOLDER --truth FOLDER [JOB ...] --findings

A virtual clock ticks once a second; each tick hands over the lines of that second. A line without a clock comes when
the line before it came; iteration lines without one come evenly between the clocks around them; what a rank prints
without a clock at its very end (its traceback) comes when its launcher or the scheduler first says that it ended.
"""

import argparse
import json
import re
import sys
import tarfile
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from benchmarks.quality.report import write
from benchmarks.unpack import unpack
from core.job import Job, Status
from core.live.findings import LiveFinding, LiveKind
from core.live.job import LiveJob
from core.logs.learn_format import learn
from core.logs.lines import NO_TIME, Format, take_apart
from core.logs.scan import SAMPLE_BYTES
from core.parsing.parse import find_year
from sources.jobs import open_path

LAB = Path(__file__).with_name("quality") / "lab.tar.xz"
BEGIN, END = "<!-- watching:begin -->", "<!-- watching:end -->"
ALARMS = (LiveKind.SILENT, LiveKind.HUNG, LiveKind.NUMBERS, LiveKind.FAILED, LiveKind.STOPPED)
EVERY = 1.0  # seconds of the virtual clock between two looks
QUIET = 0.02  # of the silence so far, between two looks within a long one
STATUS = 5.0  # seconds from a good job's last line to its status in job.json
AFTER = 120.0  # seconds that are watched after the last line
_COUNTED = re.compile(rb"iteration|\bsteps?\b|\d+%\|")  # lines that come evenly where they have no clock
_ENDED = re.compile(rb"closing signal|failed \(exitcode|Sending process|task state running -> done")


@dataclass(frozen=True, slots=True)
class TimedLine:
    """A physical line, and when it came."""

    at: float
    file: str
    data: bytes


@dataclass(frozen=True, slots=True)
class Replay:
    """What was said of a recorded job. first, last: when its first and its last line came."""

    job_id: str
    first: float
    last: float
    findings: tuple[LiveFinding, ...]
    iteration: float | None  # when it made progress last

    def when(self, *kinds: LiveKind) -> LiveFinding | None:
        """The first finding of these kinds."""
        return next((finding for finding in self.findings if finding.kind in kinds), None)


def replay(job: Job, lines: Sequence[TimedLine], *, every: float = EVERY, after: float = AFTER) -> Replay:
    """Feed the lines to a live job by a virtual clock."""
    live, now, place = LiveJob(job.manifest, year=find_year(job)), lines[0].at, 0
    findings: list[LiveFinding] = []
    progress: float | None = None
    while now < lines[-1].at + after and live.over is None:
        quiet = min(lines[place].at, now + QUIET * (now - lines[place - 1].at)) if 0 < place < len(lines) else 0.0
        now = max(now + every, quiet)  # where nothing comes for hours, looks become rarer
        news: dict[str, bytes] = {}
        while place < len(lines) and lines[place].at <= now:
            news[lines[place].file] = news.get(lines[place].file, b"") + lines[place].data
            place += 1
        before = live.standing(now).iteration
        live.hear(news, now)
        progress = now if live.standing(now).iteration != before else progress
        findings += live.look(now)
        if job.status is Status.COMPLETED and now > lines[-1].at + STATUS:
            findings += live.status(job.status, now)
    return Replay(job.id, lines[0].at, lines[-1].at, tuple(findings), progress)


def in_time(job: Job) -> list[TimedLine]:
    """All lines of a job in the order in which they came, as far as their clocks tell."""
    clocked = {log.name: _clocked(log.open().read(), find_year(job)) for log in job.logs}
    ends = sorted(
        (at, name) for name, lines in clocked.items() for at, data in lines if at is not None and _ENDED.search(data)
    )
    lines = [line for name, timed_lines in clocked.items() for line in _placed(name, timed_lines, ends)]
    return sorted(lines, key=lambda line: line.at)


def _clocked(data: bytes, year: int) -> list[tuple[float | None, bytes]]:
    form = learn(data[:SAMPLE_BYTES], (), year)
    lines = data.split(b"\n")
    return [(_clock(line, form), line + b"\n") for line in (lines if lines[-1] else lines[:-1])]


def _clock(line: bytes, form: Format) -> float | None:
    times = [take_apart(segment, form).time for segment in line.split(b"\r")]
    known = [time for time in times if time != NO_TIME]
    return known[-1] / 1e6 if known else None


def _placed(
    name: str, timed_lines: list[tuple[float | None, bytes]], ends: list[tuple[float, str]]
) -> Iterator[TimedLine]:
    known = [at for at, _ in timed_lines if at is not None]
    if not known:
        return
    last, run = known[0], list[bytes]()
    for at, data in timed_lines:
        if at is None:
            run.append(data)
            continue
        came = max(at, last)  # one clock may run behind another; a file has one order
        yield from _spread(name, run, last, came)
        yield TimedLine(came, name, data)
        last, run = came, []
    folder = "/".join(name.split("/")[:2])
    end = next((at for at, where in ends if at >= last and where.startswith(folder) and where != name), None)
    yield from _tail(name, run, last, end)


def _tail(name: str, run: list[bytes], last: float, end: float | None) -> Iterator[TimedLine]:
    raised = next((place for place, data in enumerate(run) if b"Traceback" in data or b"Error" in data), len(run))
    if end is None:
        end = last
    yield from _spread(name, run[:raised], last, end)
    yield from (TimedLine(end, name, data) for data in run[raised:])


def _spread(name: str, run: list[bytes], last: float, until: float) -> Iterator[TimedLine]:
    counted = sum(bool(_COUNTED.search(data)) for data in run)
    at, step = last, (until - last) / (counted + 1)
    for data in run:
        at += step if _COUNTED.search(data) else 0.0
        yield TimedLine(at, name, data)


# --- the table ----------------------------------------------------------------------------------------------------


def main() -> int:
    """Replay, print, write."""
    options = _arguments()
    with tempfile.TemporaryDirectory() as folder:
        jobs, truths = options.jobs, options.truth
        if jobs is None:
            with tarfile.open(LAB) as lab:
                unpack(lab, folder)
            jobs, truths = Path(folder, "jobs"), Path(folder, "truth")
        names = options.names or sorted(path.name for path in jobs.iterdir() if path.is_dir())
        rows = [row for name in names if (row := _row(jobs / name, truths, findings=options.findings))]
    text = "\n".join(_table(rows))
    print(text)
    if options.write:
        write(options.write, text, BEGIN, END)
    return 0


@dataclass(frozen=True, slots=True)
class WatchedJob:
    """A job, the truth of it, and what was said."""

    replay: Replay
    failed: bool
    kind: str


def _row(path: Path, truths: Path | None, *, findings: bool) -> WatchedJob | None:
    job = open_path(str(path)) if any(path.rglob("logs/*")) else None
    lines = in_time(job) if job else []
    if job is None or not lines:
        return None
    truth = truths / f"{path.name}.json" if truths else None
    truth_values = json.loads(truth.read_text(encoding="utf-8")) if truth and truth.exists() else {}
    done = replay(job, lines)
    row = WatchedJob(
        done, bool(truth_values.get("failed", job.status != "COMPLETED")), str(truth_values.get("kind") or job.status)
    )
    if findings:
        print(f"{path.name} {row.kind} {done.last - done.first:.0f} s", file=sys.stderr)
        for finding in done.findings:
            text = f" | {finding.line.file[-30:]}: {finding.line.text[:110]}" if finding.line else ""
            print(f"   {finding.at - done.first:7.1f} {finding.kind}: {finding.says}{text}", file=sys.stderr)
    return row


def _table(rows: Sequence[WatchedJob]) -> Iterator[str]:
    yield "| job | what happened | lasted | last iteration | silence or hang told | end told | what was told first |"
    yield "|---|---|---|---|---|---|---|"
    for row in rows:
        done = row.replay
        quiet, end = (
            done.when(LiveKind.SILENT, LiveKind.HUNG),
            done.when(LiveKind.FAILED, LiveKind.STOPPED, LiveKind.COMPLETED),
        )
        finding = quiet or end
        yield (
            "| "
            + " | ".join(
                (
                    done.job_id,
                    row.kind.replace("_", " "),
                    f"{done.last - done.first:.0f} s",
                    _since(done, done.iteration),
                    _since(done, quiet.at if quiet else None),
                    _since(done, end.at if end else None),
                    _short(finding.says) if finding else "nothing",
                )
            )
            + " |"
        )
    yield ""
    yield from _summary(rows)


def _since(done: Replay, at: float | None) -> str:
    return "-" if at is None else f"{at - done.first:.0f} s"


def _short(says: str) -> str:
    return (says if len(says) <= 110 else says[:107] + "...").replace("|", "/")


def _summary(rows: Sequence[WatchedJob]) -> Iterator[str]:
    good = [row.replay for row in rows if not row.failed]
    bad = [row.replay for row in rows if row.failed]
    false = [done.job_id for done in good if done.when(*ALARMS)]
    replays = [done for done in bad if done.when(*ALARMS)]
    ended = [done for done in bad if done.when(LiveKind.FAILED, LiveKind.STOPPED)]
    early = sorted(done.last - _first(done) for done in replays)
    yield f"- {len(good)} jobs that succeeded: {len(false)} false alarms{': ' + ', '.join(false) if false else ''}."
    yield f"- {len(bad)} jobs that failed: {len(replays)} told, {len(ended)} of them as failed."
    if early:
        between = f"{early[0]:.0f} to {early[-1]:.0f} s"
        yield f"- The first alarm came {early[len(early) // 2]:.0f} s before the job's last line (median; {between})."


def _first(done: Replay) -> float:
    found = done.when(*ALARMS)
    return found.at if found else done.last


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", metavar="JOB", help="only these")
    parser.add_argument("--jobs", type=Path, help="job folders of yours instead of the lab's")
    parser.add_argument("--truth", type=Path, help="what happened to them, a JSON file each")
    parser.add_argument("--findings", action="store_true", help="print every finding")
    parser.add_argument("--write", type=Path, metavar="FILE", help="write the table into this document")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
