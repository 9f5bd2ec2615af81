"""What a hostile job costs: floods of 20 MB made from a seed, each diagnosed on the command line with nothing kept.

    python -m benchmarks.floods                       all of them: four minutes
    python -m benchmarks.floods templates ranks       only these
    python -m benchmarks.floods --write               and into benchmarks/results/floods.md
    python -m benchmarks.floods hosts --keep DIR      leave the jobs there, to profile them

Each row is a process of its own with an empty cache: CPU seconds are user and system time of all its threads, with the
start of Python, whose compiled modules and kernel are kept from a run that does not count; the row ``ordinary`` is
20 MB of a log as training prints it, to compare with. What the answer says was left out stands in the last column.
"""

import argparse
import gzip
import json
import os
import random
import resource
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from benchmarks import generate
from benchmarks.parsing import machine
from benchmarks.quality.report import marks, table, write
from benchmarks.support.flood_mixes import MIXES
from benchmarks.support.flood_shapes import BYTES, END, SHAPES, Flood, filled, word
from benchmarks.support.flood_words import WORDS

GOAL = 3.0  # CPU seconds (issue 13, item 5)
PATIENCE = 600  # seconds of wall time, after which a flood is given up; others may use the machine
DOCUMENT = Path(__file__).resolve().parent / "results" / "floods.md"
LONG = 10_000  # bytes of a long line
HUGE = 1_000_000  # of a huge one
FRAMES = 100_000
FILES = 100_000  # of a job
RANKS, SMALL = 512, 40_000  # of an ordinary job: a file each, of so many bytes
NAMED = 1_000_000  # ranks or nodes of a job.json, and gzip members
BASELINE = 200_000  # templates of a successful job


def main(arguments: Sequence[str] | None = None) -> int:
    """Make floods, diagnose them, print what they cost."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", choices=[*FLOODS, []], metavar="NAME", help="only these")
    parser.add_argument("--seed", type=int, default=1, help="of the floods (1)")
    parser.add_argument("--keep", type=Path, metavar="DIR", help="make the jobs there, and leave them")
    parser.add_argument("--write", action="store_true", help="write the table into benchmarks/results/floods.md")
    options = parser.parse_args(arguments)
    rows = []
    with _folder(options.keep) as folder:
        _measured(make(folder / "ordinary", "ordinary", options.seed))  # compiles what is kept
        for name in options.names or FLOODS:
            job = make(folder / name, name, options.seed)
            rows.append((name, f"{_size(job) / 1e6:.1f}", *_measured(job)))
            print(" | ".join(rows[-1]), file=sys.stderr)
    head = ("flood", "MB", "CPU s", "exit", "what the answer says was left out")
    text = f"{table(head, rows, texts=(0, 4))}\n\nMeasured on {machine()}; load average {os.getloadavg()[0]:.1f}."
    print(text)
    if options.write:
        write(DOCUMENT, f"\n{text}\n", *marks("floods"))
    return 0


def make(jobs: Path, name: str, seed: int) -> Path:
    """The folder of a failed job, in a folder of jobs, that a flood of this name is in."""
    job = jobs / "failed"
    if not job.exists():
        (job / "logs").mkdir(parents=True)
        FLOODS[name](job, random.Random(f"{name} {seed}"))  # noqa: S311  # no secret
    return job


def _measured(job: Path) -> tuple[str, str, str]:
    """CPU seconds of a diagnosis, its exit code, and what it says it left out."""
    command = [sys.executable, "-m", "bot", "diagnose", job.name, "--jobs", str(job.parent), "--json"]
    before = _children()
    with tempfile.TemporaryDirectory() as empty:
        # waiting threads of OpenBLAS, which numpy starts, would count as CPU seconds
        own = {"OPENBLAS_NUM_THREADS": "1", "FIRSTFAULT_CACHE": f"{empty}/cache", "FIRSTFAULT_STATE": f"{empty}/state"}
        own |= {"PYTHONDONTWRITEBYTECODE": ""}  # empty is unset: it would compile all modules anew in each row
        try:
            done = subprocess.run(command, env=os.environ | own, stdout=subprocess.PIPE, timeout=PATIENCE, check=False)
        except subprocess.TimeoutExpired:
            return f"more than {_children() - before:.1f}", "", "gave no answer"
    reasons = (
        [load["reason"] for load in json.loads(done.stdout)["skipped"]] if done.returncode < 2 else ["no diagnosis"]
    )
    return f"{_children() - before:.1f}", str(done.returncode), " ".join(reasons)


def _children() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def _size(job: Path) -> int:
    return sum(path.stat().st_size for path in job.parent.rglob("*") if path.is_file())


@contextmanager
def _folder(path: Path | None) -> Iterator[Path]:
    if path is not None:
        path.mkdir(parents=True, exist_ok=True)
        yield path
        return
    with tempfile.TemporaryDirectory() as folder:
        yield Path(folder)


# --- floods -------------------------------------------------------------------------------------------------------


def _ordinary(job: Path, draw: random.Random) -> None:
    generate.write(job / "logs" / "rank_0.log", BYTES, dirty=False, seed=draw.randrange(1000))


def _templates(job: Path, draw: random.Random) -> None:
    filled(job, lambda _: " ".join(word(draw) for _ in range(draw.randint(3, 12))))


def _errors(job: Path, draw: random.Random) -> None:
    filled(job, lambda _: f"ERROR: {word(draw)} failed: {' '.join(word(draw) for _ in range(draw.randint(3, 9)))}")


def _exceptions(job: Path, draw: random.Random) -> None:
    head = 'Traceback (most recent call last):\n  File "train.py", line 3, in <module>\n    main()\n'
    filled(job, lambda _: f"{head}{word(draw).title()}Error: {word(draw)} {word(draw)}")


def _long_lines(job: Path, draw: random.Random) -> None:
    words = [word(draw) for _ in range(5_000)]

    def line(_: int) -> str:
        return " ".join(draw.choices(words, k=LONG // 7))[:LONG]

    filled(job, line)


def _hosts(job: Path, draw: random.Random) -> None:
    filled(job, lambda n: f"Nov 21 03:{n // 60 % 60:02}:{n % 60:02} {word(draw)}-{n:07} kernel: link is up")


def _addresses(job: Path, draw: random.Random) -> None:
    filled(job, lambda n: f"node{n:07}: connection to {word(draw)}-{n:07} lost, error in {word(draw)}{n}.cluster.local")


def _ranks(job: Path, draw: random.Random) -> None:
    filled(job, lambda n: f"[rank{n}]: step {draw.randrange(1000)}")


def _ranks_that_fail(job: Path, draw: random.Random) -> None:
    filled(job, lambda n: f"[rank{n}]: RuntimeError: NCCL error: unhandled system error {draw.randrange(100)}")


def _kills(job: Path, draw: random.Random) -> None:
    asked, killed = "Sending process {0} closing signal SIGTERM for {1}", "{1}.sh: line 12: {0} Killed {1}"
    filled(job, lambda n: (killed if n % 2 else asked).format(n, word(draw)))


def _traceback(job: Path, draw: random.Random) -> None:
    def frame(n: int) -> str:
        name = word(draw)
        return f'  File "/opt/{word(draw)}.py", line {n}, in {name}\n    {name}()'

    lines = ["Traceback (most recent call last):", *map(frame, range(FRAMES))]
    (job / "logs" / "train.log").write_text("\n".join(lines) + "\n" + END)


def _manifest(job: Path, **said: object) -> None:
    (job / "job.json").write_text(json.dumps({"job_id": job.name, "status": "FAILED", **said}))
    (job / "logs" / "rank_0.log").write_text(f"step 1\nstep 2\n{END}")


def _manifest_ranks(job: Path, draw: random.Random) -> None:
    ranks = list(range(NAMED))
    draw.shuffle(ranks)
    _manifest(job, nodes=["node-0"], node_ranks={"node-0": ranks})


def _manifest_nodes(job: Path, draw: random.Random) -> None:
    _manifest(job, nodes=[f"node-{draw.randrange(10)}{n:07}" for n in range(NAMED)])


def _manifest_both(job: Path, draw: random.Random) -> None:
    names = [f"node-{draw.randrange(10)}{n:07}" for n in range(NAMED)]
    _manifest(job, nodes=names, node_ranks={name: [n] for n, name in enumerate(names)})


def _manifest_world(job: Path, draw: random.Random) -> None:
    _manifest(job, world_size=10**9 + draw.randrange(10))


def _members(job: Path, draw: random.Random) -> None:
    empty = gzip.compress(b"", mtime=draw.randrange(1 << 30))
    (job / "logs" / "train.log.gz").write_bytes(empty * NAMED + gzip.compress(END.encode(), mtime=0))


def _baseline(job: Path, draw: random.Random) -> None:
    settings = {"settings_id": "s", "start": "2026-11-21T03:00:00Z"}
    good = job.parent / "good"
    (good / "logs").mkdir(parents=True)
    (good / "job.json").write_text(json.dumps({"job_id": "good", "status": "COMPLETED", **settings}))
    lines = (" ".join(word(draw) for _ in range(draw.randint(3, 12))) for _ in range(BASELINE))
    (good / "logs" / "train.log").write_text("\n".join(lines) + "\n")
    _manifest(job, **settings)


def _huge_lines(job: Path, draw: random.Random) -> None:
    words = [word(draw) for _ in range(5_000)]
    filled(job, lambda _: " ".join(draw.choices(words, k=HUGE // 7))[:HUGE])


def _numbers(job: Path, draw: random.Random) -> None:
    filled(job, lambda n: f"step {n} " + " ".join(f"{draw.random():.6g}" for _ in range(40)))


def _keys(job: Path, draw: random.Random) -> None:
    filled(job, lambda n: f"step {n}: " + ", ".join(f"{word(draw)}_{n}={draw.random():.4f}" for _ in range(6)))


def _json_keys(job: Path, draw: random.Random) -> None:
    filled(job, lambda n: json.dumps({"level": "info", "msg": "step", f"{word(draw)}_{n}": n, word(draw): n}))


def _deep_json(job: Path, draw: random.Random) -> None:
    filled(job, lambda n: '{"msg":' * LONG + str(n + draw.randrange(10)) + "}" * LONG)


def _series(job: Path, draw: random.Random) -> None:
    _manifest(job)
    (job / "metrics").mkdir()
    with (job / "metrics" / "gpu.csv").open("w") as file:
        written = file.write("time,node,metric,value\n")
        while written < BYTES:
            written += file.write(f"1700000000,{word(draw)},{word(draw)},{draw.random():.4f}\n")


def _files(job: Path, draw: random.Random) -> None:
    for number in range(FILES):
        folder = job / "logs" / f"node{number // 1000}"
        folder.mkdir(exist_ok=True)
        text = f"step {number} {word(draw)}\n" * 10 + (END if not number else "")
        (folder / f"rank_{number}.log").write_text(text)


def _ranks_of_one_program(job: Path, draw: random.Random) -> None:
    """No attack: what 512 ranks print by themselves, of the same kinds, the numbers differ."""
    said = generate.lines(dirty=False, seed=draw.randrange(1000))
    for rank in range(RANKS):
        folder = job / "logs" / f"node-{rank // 8:03}"
        folder.mkdir(exist_ok=True)
        with (folder / f"rank_{rank}.log").open("w") as file:
            written = 0
            while written < SMALL:
                written += file.write(next(said) + "\n")
            file.write(END if rank == 17 else "")


def _ranks_with_a_logger(job: Path, draw: random.Random) -> None:
    """The same in logfmt, which is unwrapped."""
    for rank in range(RANKS):
        folder = job / "logs" / f"node-{rank // 8:03}"
        folder.mkdir(exist_ok=True)
        with (folder / f"rank_{rank}.log").open("w") as file:
            file.writelines(
                f"time=2026-11-21T03:{step // 60:02}:{step % 60:02}Z level=info rank={rank} step={step} "
                f"loss={draw.random():.4f} step_time={draw.random():.3f} data_time={draw.random() / 100:.4f} "
                'msg="train step"\n'
                for step in range(SMALL // 125)
            )
            file.write(END if rank == 17 else "")


FLOODS: dict[str, Flood] = {
    "ordinary": _ordinary,
    "small_files": _ranks_of_one_program,
    "small_logfmt": _ranks_with_a_logger,
    "templates": _templates,
    "errors": _errors,
    "exceptions": _exceptions,
    "long_lines": _long_lines,
    "hosts": _hosts,
    "addresses": _addresses,
    "ranks": _ranks,
    "ranks_that_fail": _ranks_that_fail,
    "kills": _kills,
    "traceback": _traceback,
    "manifest_ranks": _manifest_ranks,
    "manifest_nodes": _manifest_nodes,
    "manifest_both": _manifest_both,
    "manifest_world": _manifest_world,
    "members": _members,
    "baseline": _baseline,
    "huge_lines": _huge_lines,
    "numbers": _numbers,
    "keys": _keys,
    "json_keys": _json_keys,
    "deep_json": _deep_json,
    "series": _series,
    "files": _files,
    **SHAPES,
    **WORDS,
    **MIXES,
}

if __name__ == "__main__":
    sys.exit(main())
