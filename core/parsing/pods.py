"""The machine of each pod, from what Kubernetes' scheduler says: files of a machine are then its pod's.

A kernel's log is called after the machine, a trainer's after the pod, and both tell of the same node of the job.
"""

import re
from collections.abc import Mapping
from dataclasses import replace
from pathlib import PurePosixPath

import numpy as np

from core.events.row_text import read_rows
from core.events.table import EventTable
from core.job import LogFile, Manifest
from core.logs.paths import strip
from core.logs.voices import Origin, Program

MAX_READ = 4096  # lines: one a pod of the largest jobs
_ASSIGNED_WORDS = "Successfully assigned "
# kubernetes/kubernetes pkg/scheduler/schedule_one.go (1.29): "Successfully assigned ml/trainer-0 to gke-pool-1a-7c2f"
_ASSIGNED = re.compile(r"Successfully assigned [\w.-]{1,64}/(?P<pod>[\w.-]{1,253}) to (?P<machine>[\w.-]{1,253})")


def with_pods(table: EventTable, files: Mapping[str, LogFile], manifest: Manifest) -> EventTable:
    """The table in which what a machine says is said by the pod of the job that runs there.

    Unless job.json names the machines: then pods go by these. None where a machine has several pods of the job.
    """
    pod_of = _pods_of_machines(table, files, set(manifest.nodes or table.nodes))
    if not pod_of:
        return table
    named = {file: pod for file, name in enumerate(table.files) if (pod := _called_after(name, pod_of)) is not None}
    origins = [
        _on_pod(origin, pod_of.get(origin.node or "") or (None if origin.node else named.get(int(file))))
        for origin, file in zip(table.origins, table.file_of_voice, strict=True)
    ]
    return replace(table, origins=tuple(origins))


def _pods_of_machines(table: EventTable, files: Mapping[str, LogFile], nodes: set[str]) -> dict[str, str]:
    events = [event for event, template in enumerate(table.templates) if _ASSIGNED_WORDS in template.sample]
    rows = np.sort(np.concatenate([np.zeros(0, np.intp), *table.rows_of(events).values()]))[:MAX_READ]
    pods: dict[str, set[str]] = {}
    for text in read_rows(files, table, rows).values():
        if (found := _ASSIGNED.search(text)) is not None and found["pod"] in nodes:
            pods.setdefault(found["machine"], set()).add(found["pod"])
    return {machine: min(own) for machine, own in pods.items() if len(own) == 1}


def _called_after(name: str, pod_of: Mapping[str, str]) -> str | None:
    """The pod of the machine that a file or one of its folders is called after."""
    *folders, file = PurePosixPath(strip(name)).parts
    parts = (file, file.rsplit(".", 1)[0], *folders)
    return next((pod_of[part] for part in parts if part in pod_of), None)


def _on_pod(origin: Origin, pod: str | None) -> Origin:
    if pod is None:
        return origin
    program = Program.DAEMON if origin.program is Program.SCHEDULER else origin.program
    return replace(origin, node=pod, program=program)
