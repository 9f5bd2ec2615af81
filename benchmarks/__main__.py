"""All benchmarks, and their tables into benchmarks/results/: `make bench`, two hours on two free cores.

    python -m benchmarks                    all of them, the short ones first
    python -m benchmarks watching speed     only these

    quality    half a minute    benchmarks/results/repository.md: what is found on the labelled jobs of this repository
    quality.questions two minutes   benchmarks/results/questions.md: which labelled questions are understood, held out
    quality.dresses   ten minutes   dresses.md: whether an answer changes with what is around the lines
    watching   half a minute    benchmarks/results/watching.md: how soon a running job's trouble is told
    parsing    two minutes      benchmarks/results/speed.md: the engines beside drain3
    speed      four minutes     benchmarks/results/speed.md: the goals, and how cost grows
    cluster    four minutes     benchmarks/results/cluster.md: from which size on a Dask cluster pays
    floods     four minutes     benchmarks/results/floods.md: what hostile jobs cost
    answering  a minute         benchmarks/results/answering.md: how soon the bot answers, by example job
    crowd      ten minutes      benchmarks/results/crowd.md: 200 commands at once, 300 diagnoses in a row
    whole      some minutes     benchmarks/results/speed.md: a whole diagnosis, first and again, up to 10 GB
    amplify    twenty minutes   benchmarks/results/scale.md: labelled jobs grown to 1,024 nodes
    campaign   up to an hour    benchmarks/results/campaign.md: faults at random points, and what was lost by then

What needs more than this repository is run by hand: ELSEWHERE says how, and why.
"""

import argparse
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
STEPS = {
    "quality": ("--part", "methods", "--write", "benchmarks/results/repository.md"),
    "quality.questions": ("--write",),
    "quality.dresses": ("--write", "benchmarks/results/dresses.md"),
    "watching": ("--write", "benchmarks/results/watching.md"),
    "parsing": ("--write", "benchmarks/results/speed.md"),
    "speed": ("--write", "benchmarks/results/speed.md"),
    "cluster": ("--write", "benchmarks/results/cluster.md"),
    "floods": ("--write",),
    "answering": ("--write", "benchmarks/results/answering.md"),
    "crowd": ("--write", "benchmarks/results/crowd.md"),
    "whole": ("--write",),
    "amplify": ("measure", "--write"),
    "campaign": ("--write", "benchmarks/results/campaign.md"),
}
ELSEWHERE = {
    "grouping": "python -m benchmarks.grouping LOGHUB --write benchmarks/results/grouping.md, with a copy of loghub",
    "quality.recall_fit": "it writes faultlib/score.toml, by which answers are judged: on purpose only, then measured",
    "quality.recall": "quality.md is about larger sets of jobs than this repository holds: --jobs, --also",
}


def main(arguments: Sequence[str] | None = None) -> int:
    """Run them one after the other; the first that fails ends it."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    choices = [*STEPS, []]  # argparse holds "none of them" against the choices too
    parser.add_argument("names", nargs="*", choices=choices, metavar="NAME", help="only these")
    names = parser.parse_args(arguments).names
    for name in names or STEPS:
        done = subprocess.run([sys.executable, "-m", f"benchmarks.{name}", *STEPS[name]], cwd=ROOT, check=False)
        if done.returncode:
            return done.returncode
    return 0


if __name__ == "__main__":
    sys.exit(main())
