"""Ranks that Horovod's coordinator misses: which rank did not submit which tensor, by its last report.

It knows of each tensor who is ready, so that few missing ranks are those that the others wait for. Where each rank is
missed by those that wait in another tensor, their program let them part.
"""

import re
from collections import defaultdict
from collections.abc import Mapping

import numpy as np

from core.events.messages import unlabelled
from core.events.row_text import read_rows
from core.judge.collective_mismatch import Mismatch
from core.parsed import Parsed

MAX_READ = 4096  # lines below the head of a report: one a rank of the largest jobs
PARTS = 2  # that all ranks fall into, each of which lacks the other's tensor
# horovod/common/stall_inspector.cc: "Missing ranks:" (0.28), "Stalled ranks:" (0.16), then "5: [a, b ...]"
_HEAD = re.compile(r"^(?:Missing|Stalled) ranks:$")
_MISSED = re.compile(r"^(?P<rank>\d{1,6})!?: \[(?P<tensors>.{1,4096}?)(?: \.\.\.)?\]$")


def find_missing(parsed: Parsed) -> Mapping[int, tuple[str, ...]]:
    """The tensors that each rank did not submit, by the last report of a job that made no progress after it."""
    table, marks = parsed.table, parsed.iterations.marks
    heads = [event for event, template in enumerate(table.templates) if _HEAD.match(template.sample)]
    rows = np.concatenate([np.zeros(0, np.intp), *table.rows_of(heads).values()])
    if not len(rows):
        return {}
    last = int(rows.max())
    whole = table.rows_of_file(int(table.file[last]))
    if len(marks) and bool(np.any((marks > last) & (marks < whole.stop))):
        return {}  # whoever was missing came
    below = np.arange(last + 1, min(whole.stop, last + 1 + MAX_READ))
    below = below[table.voice[below] == table.voice[last]]
    missing: dict[int, tuple[str, ...]] = {}
    for row, text in sorted(read_rows(parsed.files, table, below).items()):
        report = _MISSED.match(unlabelled(table, row, text).strip())
        if report is None:
            break
        missing[int(report["rank"])] = tuple(report["tensors"].split(", "))
    return missing


def find_parted(parsed: Parsed) -> Mismatch | None:
    """The ranks that wait in each of two tensors for those that wait in the other; None where some wait in neither."""
    missing = find_missing(parsed)
    by_tensor: dict[str, set[int]] = defaultdict(set)
    for rank, tensors in missing.items():
        by_tensor[tensors[0]].add(rank)
    if len(by_tensor) != PARTS or len(missing) < len(parsed.table.ranks):
        return None
    (one, lacking_one), (other, lacking_other) = sorted(by_tensor.items())
    parts = [(one, tuple(sorted(lacking_other))), (other, tuple(sorted(lacking_one)))]
    return Mismatch(None, tuple(sorted(parts, key=lambda part: (-len(part[1]), part[0]))))
