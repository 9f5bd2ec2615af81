"""The tables of dresses.md: how many jobs have the same answer in each dress, and which have not, and why."""

from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from benchmarks.quality.dresses.known import KNOWN
from benchmarks.quality.dresses.trial import Tried
from benchmarks.quality.dresses.wardrobe import WARDROBE
from benchmarks.quality.report import table

DOCUMENT = Path(__file__).resolve().parents[3] / "benchmarks" / "results" / "dresses.md"
_SHOWN = 70  # characters of a line


def tables(tried: Sequence[Tried]) -> str:
    """Both, without anything of the machine that made them."""
    worn = [one for one in tried if one.differs is not None]
    same = sum(not one.differs for one in worn)
    parts = [f"**{same} of {len(worn)} pairs unchanged ({same / max(1, len(worn)):.1%}).**", _by_dress(worn)]
    differing = [_row(one) for one in worn if one.differs]
    if differing:
        parts += ["Those that differ:", table(("job", "dress", "what differs", "why"), differing, texts=range(4))]
    return "\n\n".join(parts)


def _by_dress(worn: Sequence[Tried]) -> str:
    jobs, same = Counter(one.dress for one in worn), Counter(one.dress for one in worn if not one.differs)
    names = [dress.name for dress in WARDROBE if jobs[dress.name]]
    return table(
        ("dress", "jobs that can wear it", "unchanged"),
        [(name, str(jobs[name]), str(same[name])) for name in names],
    )


def _row(one: Tried) -> tuple[str, ...]:
    told = "; ".join(f"{it.what}: {_short(it.before)} -> {_short(it.after)}" for it in one.differs or ())
    return one.job_id, one.dress, told, KNOWN.get((one.job_id, one.dress), "not known yet")


def _short(text: str) -> str:
    words = " ".join(text.split()).replace("|", "/").replace("`", "'")
    return f"`{words[:_SHOWN]}`" if " " in words else words
