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
    worn = [item for item in tried if item.differs is not None]
    same = sum(not item.differs for item in worn)
    parts = [f"**{same} of {len(worn)} pairs unchanged ({same / max(1, len(worn)):.1%}).**", _by_dress(worn)]
    differing = [_row(item) for item in worn if item.differs]
    if differing:
        parts += ["Those that differ:", table(("job", "dress", "what differs", "why"), differing, texts=range(4))]
    return "\n\n".join(parts)


def _by_dress(worn: Sequence[Tried]) -> str:
    jobs, same = Counter(tried.dress for tried in worn), Counter(tried.dress for tried in worn if not tried.differs)
    names = [dress.name for dress in WARDROBE if jobs[dress.name]]
    return table(
        ("dress", "jobs that can wear it", "unchanged"),
        [(name, str(jobs[name]), str(same[name])) for name in names],
    )


def _row(tried: Tried) -> tuple[str, ...]:
    text = "; ".join(f"{it.what}: {_short(it.before)} -> {_short(it.after)}" for it in tried.differs or ())
    return tried.job_id, tried.dress, text, KNOWN.get((tried.job_id, tried.dress), "not known yet")


def _short(text: str) -> str:
    words = " ".join(text.split()).replace("|", "/").replace("`", "'")
    return f"`{words[:_SHOWN]}`" if " " in words else words
