"""Checks a set of labelled jobs: what a label says must stand in the file that it names."""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from lab.fault_kinds import FAULTS
from lab.messages import read_lines, read_messages
from lab.settings import SETTINGS, Settings

ROLES = frozenset({"root", "propagated", "teardown"})
LARGEST = 500_000  # bytes of a job folder
MACHINE = re.compile(rb"/(root|home/\w+|tmp/lab-\w+)/|lab\d+x\d+")


def check(folder: Path) -> tuple[str, ...]:
    """All complaints about a set; none when it is sound."""
    truths = {path.stem: path for path in sorted((folder / "truth").glob("*.json"))}
    jobs = {path.name for path in (folder / "jobs").iterdir()} if (folder / "jobs").is_dir() else set()
    complaints = [f"{name}: a job without truth" for name in sorted(jobs - set(truths))]
    for name, path in truths.items():
        home = folder / "jobs" / name
        if not home.is_dir():
            complaints.append(f"{name}: truth without a job")
            continue
        truth = json.loads(path.read_text(encoding="utf-8"))
        manifest = json.loads((home / "job.json").read_text(encoding="utf-8"))
        found = (*_manifest(name, truth, manifest, home), *_labels(truth, manifest, home))
        complaints += [f"{name}: {text}" for text in found]
    return tuple(complaints)


def _manifest(name: str, truth: dict[str, Any], document: dict[str, Any], home: Path) -> Iterator[str]:
    if document["job_id"] != name or truth["job_id"] != name:
        yield "job.json, truth and folder disagree on the job's id"
    if (document["status"] != "COMPLETED") != truth["failed"]:
        yield f"status {document['status']}, but failed is {truth['failed']}"
    if not set(truth["faulty_nodes"]) <= set(document["nodes"]):
        yield "a faulty node is none of the job's"
    ranks = {rank for node in truth["faulty_nodes"] for rank in document["node_ranks"].get(node, ())}
    if not set(truth["faulty_ranks"]) <= ranks:
        yield "a faulty rank is on none of the faulty nodes"
    if (truth["scope"] == "node") != bool(truth["faulty_nodes"]):
        yield f"scope {truth['scope']} with faulty nodes {truth['faulty_nodes']}"
    size = sum(path.stat().st_size for path in home.rglob("*") if path.is_file())
    if size > LARGEST:
        yield f"{size} bytes are too many"
    for path in home.rglob("*"):
        if path.is_file() and MACHINE.search(path.read_bytes()):
            yield f"{path.relative_to(home)} names this machine"


def _labels(truth: dict[str, Any], manifest: dict[str, Any], home: Path) -> Iterator[str]:
    labels, settings = truth["labels"], SETTINGS[manifest["settings_id"]]
    if not truth["failed"] and labels:
        yield "labels in a job that did not fail"
    fault = FAULTS.get(truth["kind"])
    shown = truth["failed"] and fault and fault.traces and fault.shows(settings)
    if shown and not any(label["role"] == "root" for label in labels):
        yield "no root label"
    texts: dict[str, list[str]] = {}
    for label in labels:
        file = home / label["file"]
        if not file.is_file():
            yield f"{label['file']} is not there"
            continue
        lines = texts.setdefault(label["file"], read_lines(file))
        first, last = label["block"] or (label["line"], label["line"])
        if not 1 <= first <= last <= len(lines) or not 1 <= label["line"] <= len(lines):
            yield f"{label['file']}:{label['line']} is beyond the file's end"
        elif lines[label["line"] - 1] != label["text"]:
            yield f"{label['file']}:{label['line']} reads otherwise"
        if label["role"] not in ROLES:
            yield f"no such role: {label['role']}"
    if truth["failed"]:
        yield from _forgotten(labels, settings, home)


def _forgotten(labels: list[dict[str, Any]], settings: Settings, home: Path) -> Iterator[str]:
    """Tracebacks that no rule knew."""
    known = {(label["file"], number) for label in labels for number in range(*_span(label))}
    for message in read_messages(home, settings):
        places = {(message.file, line.number) for line in message.lines}
        is_traceback = message.is_error and "Traceback (most" in message.lines[0].raw
        if (is_traceback or message.lines[0].text.startswith(("usage:", "Fatal Python"))) and not places & known:
            yield f"{message.file}:{message.lines[0].number} a traceback without a label: {message.lines[-1].text[:90]}"


def _span(label: dict[str, Any]) -> tuple[int, int]:
    first, last = label["block"] or (label["line"], label["line"])
    return first, last + 1
