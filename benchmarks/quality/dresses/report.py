"""docs/dresses.md: how many jobs have the same answer in each dress, and which have not, and why."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from benchmarks.quality.dresses.known import KNOWN
from benchmarks.quality.dresses.trial import Tried
from benchmarks.quality.dresses.wardrobe import WARDROBE

DOCUMENT = Path(__file__).resolve().parents[3] / "docs" / "dresses.md"

_HEAD = """# The same job in other dresses

The same job, wrapped by another collector or store, labelled by another launcher, coloured, ended by other clean-up,
with other names or without its job.json, must have the same answer. 24 failed jobs of different kinds and stacks (16 of
`benchmarks/quality/lab.tar.xz`, 8 of `other.tar.xz`) are tried in each dress by
`python -m benchmarks.quality.dresses`, which writes this page; the shims around each line follow the real formats, and
clean-up lines are the programs' own words and name what is true of the job.

"Unchanged" means: the same scope; the same suspects, by the names that they have undressed, and the same one first; and
a first event that cites the lines of the first event before. A dress that is put around all that the training printed
makes one file of many: torchrun's ranks are labelled then as `--tee` does it, and the container, host or task tells the
node; how many processes share a node may be lost, who the suspects are may not. Without job.json a rank stands for its
node. Successful jobs beside a failed one wear its wrapper, labels and colours too; clean-up, names and the missing
job.json are the failed job's alone.
"""


def page(tried: Sequence[Tried]) -> str:
    """The page, without anything of the machine that made it."""
    worn = [one for one in tried if one.differs is not None]
    same = sum(not one.differs for one in worn)
    lines = [_HEAD, f"**{same} of {len(worn)} pairs unchanged ({same / max(1, len(worn)):.1%}).**", "", *_table(worn)]
    differing = [one for one in worn if one.differs]
    if differing:
        lines += ["", "## Pairs that differ", "", "| job | dress | what differs | why |", "| --- | --- | --- | --- |"]
        lines += [_row(one) for one in differing]
    return "\n".join(lines) + "\n"


def _table(worn: Iterable[Tried]) -> Iterator[str]:
    jobs, same = Counter[str](), Counter[str]()
    for one in worn:
        jobs[one.dress] += 1
        same[one.dress] += not one.differs
    yield from ("| dress | jobs that can wear it | unchanged |", "| --- | --: | --: |")
    yield from (f"| {dress.name} | {jobs[dress.name]} | {same[dress.name]} |" for dress in WARDROBE if jobs[dress.name])


def _row(one: Tried) -> str:
    told = "; ".join(f"{it.what}: {_short(it.before)} -> {_short(it.after)}" for it in one.differs or ())
    return f"| {one.job_id} | {one.dress} | {told} | {KNOWN.get((one.job_id, one.dress), 'not known yet')} |"


def _short(text: str) -> str:
    words = " ".join(text.split()).replace("|", "\\|").replace("`", "'")
    return f"`{words[:79]}`" if len(words) > 30 else words
