"""When events of Kubernetes were last seen: ``kubectl get events`` prints how long before it ran, and no clock.

    LAST SEEN   TYPE      REASON        OBJECT                MESSAGE
    12m         Warning   FailedMount   pod/trainer-0         MountVolume.SetUp failed for volume "kube-api-access"
    11m         Normal    Started       pod/trainer-0         Started container pytorch

When it ran nobody says. It was not before the last line of the job; a container had started when the first line was
written; a container is killed when its processes say so; else the youngest event is what ended the job.
"""

import re
from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from core.course.pace import SECOND
from core.events.row_text import read_rows
from core.events.table import EventTable
from core.events.table_rows import SettledTimes
from core.facts import fact_of
from core.job import LogFile
from core.logs.lines import NO_TIME

# kubernetes/kubernetes pkg/printers/internalversion/printers.go (eventColumnDefinitions), and of ages ("12m", "2d3h")
# kubernetes/apimachinery pkg/util/duration/duration.go: HumanDuration (1.31)
_HEADER = re.compile(r"^(?:NAMESPACE\s+)?LAST SEEN\s+TYPE\s+REASON\s+OBJECT\b")
_ROW = re.compile(
    r"^(?:[a-z][\w-]{0,62}+\s{1,64}+)?(?:(?P<d>\d{1,4})d)?(?:(?P<h>\d{1,3})h)?(?:(?P<m>\d{1,3})m)?(?:(?P<s>\d{1,3})s)?"
    r"\s{1,64}+(?:Normal|Warning)\s{1,64}+(?P<reason>\w{1,64})"
)
_UNITS = {"d": 86_400 * SECOND, "h": 3_600 * SECOND, "m": 60 * SECOND, "s": SECOND}  # microseconds
_STARTED, _KILLING = "Started", "Killing"  # kubernetes/kubernetes pkg/kubelet/events/event.go (1.31)
_MOST = 10_000  # rows of all such files; an API server keeps events for an hour


def settle_ages(table: EventTable, files: Mapping[str, LogFile]) -> EventTable:
    """The table in which events that kubectl listed by their ages have the times when they were last seen."""
    headers = [place for place, template in enumerate(table.templates) if _HEADER.match(template.sample)]
    rows = table.all_rows_of(headers) if headers else np.zeros(0, np.intp)
    spans = [table.rows_of_file(file) for file in sorted(set(table.file[rows].tolist()))]
    listed = np.concatenate([np.arange(span.start, span.stop) for span in spans] or [rows])[:_MOST]
    listed = listed[~table.timed[listed]]
    first, last = table.spoke.first, table.spoke.last
    first, last = first[first != NO_TIME], last[last != NO_TIME]
    ages = {row: _age(text) for row, text in read_rows(files, table, listed).items()} if len(first) else {}
    told = {row: age for row, age in ages.items() if age is not None}
    if not told:
        return table
    ran = _ran(list(told.values()), int(first.min()), int(last.max()), _first_order(table))
    own = np.array(sorted(told), np.intp)
    times = np.array([ran - told[int(row)][0] for row in own], np.int64)
    return replace(table, settled=SettledTimes(own, times).over(table.settled))


_Age = tuple[int, int, str]


def _first_order(table: EventTable) -> int | None:
    """When a process first said that it was told to stop, in microseconds; None where none did."""
    facts = [(event, fact_of(template.sample, block=template.block)) for event, template in enumerate(table.templates)]
    rows = table.all_rows_of([event for event, fact in facts if fact is not None and fact.told_to_stop])
    rows = rows[table.timed[rows]]
    return int(table.time[rows].min()) if len(rows) else None


def _age(text: str) -> _Age | None:
    """How long ago it was, in microseconds, the unit that this is told in, and what happened then."""
    match = _ROW.match(text)
    parts = {unit: int(match[unit]) for unit in _UNITS if match[unit]} if match else {}
    if match is None or not parts:
        return None
    age = sum(count * _UNITS[unit] for unit, count in parts.items())
    return age, min(_UNITS[unit] for unit in parts), match["reason"]


def _ran(ages: list[_Age], first: int, last: int, order: int | None) -> int:
    """When kubectl ran, in microseconds of the job's clock.

    Args:
        first, last: when the job's logs begin and end.
        order: when a process first said that it was told to stop.
    """
    latest = max((first + age + unit for age, unit, reason in ages if reason == _STARTED), default=None)
    killed = max((order + age for age, _, reason in ages if reason == _KILLING and order is not None), default=None)
    if killed is not None and last <= killed and (latest is None or killed <= latest):
        return killed
    youngest = last + min(age for age, _, _ in ages)
    return youngest if latest is None else max(last, min(youngest, latest))
