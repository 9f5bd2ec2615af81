"""What a large fault library costs a job: CPU seconds and memory of matching and recall, by its number of patterns.

``python -m benchmarks.library_scale 1000 50000``: the patterns are made from the seeds with words of their own, two in
three with traits as drafts have them, and each is approved by a person. The job is one of examples/. Each size is
measured in a process of its own, with the library as another process left it.
"""

import argparse
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from hashlib import sha256
from pathlib import Path

from bot.library.session import LibrarySession
from core.diagnose import diagnose
from core.parsed import parse_job
from faultlib.database import open_database
from faultlib.embedding import WordHash
from faultlib.library import open_library
from faultlib.pattern import Aspect, Clause, Entry, Origin, Part, Pattern, Signature, Status, Step, Trait
from faultlib.records import save
from faultlib.seeds import read_seeds
from sources.jobs import open_source

EXAMPLES = Path(__file__).resolve().parents[1] / "examples"
JOB = "f07"
_AT = "2026-01-01T00:00:00Z"
_LIFE = (Step(version=1, action="draft", who="ada", at=_AT), Step(version=1, action="approve", who="bob", at=_AT))
_ENTER = """
import sys
from pathlib import Path
from faultlib.database import open_database
from faultlib.lookup import Lookup
Lookup(open_database(Path(sys.argv[1]))).serves()
"""


def main(arguments: Sequence[str] | None = None) -> int:
    """Print a row a size."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.library_scale", description=__doc__)
    parser.add_argument("sizes", nargs="+", type=int, help="how many patterns")
    parser.add_argument("--measure", type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args(arguments)
    if options.measure:
        measure(options.measure)
        return 0
    head = ("patterns", "file MB", "entering them CPU s", "match CPU s", "recall CPU s", "more memory MB")
    print(f"| {' | '.join(head)} |\n|{' --: |' * len(head)}")
    for size in options.sizes:
        with tempfile.TemporaryDirectory() as folder:
            fill(Path(folder), size)
            run = [sys.executable, "-m", "benchmarks.library_scale", str(size), "--measure", folder]
            text = subprocess.run(run, check=True, capture_output=True, text=True).stdout.strip()
            megabytes = sum(path.stat().st_size for path in Path(folder).glob("library.db*")) / 1e6
        print(f"| {size:,} | {megabytes:.0f} | {text} |", flush=True)
    return 0


def fill(folder: Path, size: int) -> None:
    """A library of so many approved patterns, ready to be asked."""
    database = open_database(folder)
    with database.writing():
        for pattern in patterns(size):
            entry = Entry(
                pattern=pattern, version=1, revision=2, status=Status.APPROVED, origin=Origin.TEAM, history=_LIFE
            )
            save(database, None, entry)
    database.close()


def patterns(size: int) -> Iterator[Pattern]:
    """Seeds, each time with other words in their events and cause."""
    seeds = read_seeds()
    for number in range(size):
        seed, own = seeds[number % len(seeds)], sha256(str(number).encode()).hexdigest()
        word = "".join(chr(ord("g") + int(digit, 16)) for digit in own[:8])
        must = tuple(
            Clause(events=tuple(f"{event} {word} failed <*>" for event in clause.events[:2]), where=clause.where)
            for clause in seed.signature.must
        )
        part = (Part.CAUSE, Part.SYMPTOM, Part.CAUSE)[number % 3]
        traits = (
            Trait(aspect=Aspect.MEANS, text=f"{seed.title}, {number % 40}", part=part),
            Trait(aspect=Aspect.STAGE, text="training", part=Part.SUPPORT),
        )
        yield seed.model_copy(
            update={
                "id": f"made-{number}",
                "title": f"{seed.title}: {word}",
                "cause": f"{seed.cause} {word}",
                "signature": Signature(must=must, traits=traits if number % 3 else ()),
                "evidence": f"The {word} of a node stopped during training, {own[8:16]}.",
            }
        )


def measure(folder: Path) -> None:
    """Print CPU seconds of matching and of recall, and how much the process grew, as cells of a row."""
    job = open_source(str(EXAMPLES)).job(JOB)
    parsed = parse_job(job, (), cache=None, workers=1, progress=None)
    diagnosis = diagnose(job, ())
    subprocess.run([sys.executable, "-c", _ENTER, str(folder)], check=True)
    entered = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    with open_library(folder, WordHash(), clock=lambda: datetime.now(UTC)) as library:
        session = LibrarySession(library)
        start = time.process_time()
        matches = session.match(parsed)
        middle = time.process_time()
        session.recall(diagnosis, matches)
        end = time.process_time()
    grown = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1000
    print(f"{entered:.0f} | {middle - start:.2f} | {end - middle:.2f} | {grown:.0f}")


if __name__ == "__main__":
    sys.exit(main())
