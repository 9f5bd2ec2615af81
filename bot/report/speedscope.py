"""The merged stacks of a job's processes as a file that www.speedscope.app opens: a process is one unit of width.

The format is speedscope's own (its file-format-schema.json, "sampled").
"""

import itertools
import json
from collections.abc import Sequence

from bot.text.harmless import storable
from core.model import Diagnosis, StackBar

SCHEMA = "https://www.speedscope.app/file-format-schema.json"


def to_speedscope(diagnosis: Diagnosis) -> str:
    """The file; an empty text where nobody dumped stacks. The same answer gives the same bytes."""
    bars = diagnosis.pictures.stacks
    if not bars:
        return ""
    frames = {frame: number for number, frame in enumerate(dict.fromkeys(bar.frame for bar in bars))}
    spans = _spans(bars)
    total = sum(width for _, width in spans)
    profile = {
        "type": "sampled",
        "name": f"{total:,} processes",
        "unit": "none",
        "startValue": 0,
        "endValue": total,
        "samples": [[frames[frame] for frame in stack] for stack, _ in spans],
        "weights": [width for _, width in spans],
    }
    body = {
        "$schema": SCHEMA,
        "name": storable(f"{diagnosis.job}: where its processes stand"),
        "exporter": "firstfault",
        "shared": {"frames": [{"name": storable(frame)} for frame in frames]},
        "profiles": [profile],
    }
    return json.dumps(body, separators=(",", ":")) + "\n"


def _spans(bars: Sequence[StackBar]) -> list[tuple[tuple[str, ...], int]]:
    """Neighbouring processes with one stack: its frames from the outermost on, and how many they are."""
    edges = sorted({edge for bar in bars for edge in (bar.start, bar.start + bar.width)})
    spans = []
    for left, right in itertools.pairwise(edges):
        over = sorted((bar for bar in bars if bar.start <= left < bar.start + bar.width), key=lambda bar: bar.depth)
        if over:
            spans.append((tuple(bar.frame for bar in over), right - left))
    return spans
