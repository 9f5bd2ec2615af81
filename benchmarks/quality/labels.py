"""What really happened to a labelled job: one JSON file a job (benchmarks/results/quality.md describes it)."""

import json
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

# ended from outside: no fault, so `none` is right, and so is `job`
STOPS = frozenset({"time_limit", "cancelled", "terminal_hangup", "operator_interrupt", "preemption"})
HEALTHY = frozenset({None, "none", "success"})
Place = tuple[str, int]  # file, line from 1


@dataclass(frozen=True, slots=True)
class Label:
    """A labelled line with the block that it belongs to, and its role."""

    role: str
    text: str
    lines: frozenset[Place]

    @property
    def files(self) -> frozenset[str]:
        """Where it stands: one file."""
        return frozenset(file for file, _ in self.lines)


@dataclass(frozen=True, slots=True)
class Truth:
    """What happened to a job; ``scopes``: the right answers to who is at fault."""

    job_id: str
    failed: bool
    kind: str | None
    category: str
    scopes: frozenset[str]
    faulty_nodes: frozenset[str]
    faulty_ranks: frozenset[int]
    stage: str | None
    iteration: int | None
    labels: tuple[Label, ...]

    @property
    def healthy(self) -> bool:
        """Whether the job did what it should, to its end."""
        return not self.failed and self.kind in HEALTHY

    def without(self, files: Collection[str]) -> "Truth":
        """What is left to be found when these files are lost."""
        return replace(self, labels=tuple(label for label in self.labels if not label.files & set(files)))

    def renamed(self, rename: Callable[[str], str]) -> "Truth":
        """The same, when nodes have other names."""
        labels = tuple(
            replace(label, lines=frozenset((rename(file), line) for file, line in label.lines)) for label in self.labels
        )
        return replace(self, faulty_nodes=frozenset(map(rename, self.faulty_nodes)), labels=labels)


def read_truths(folder: Path) -> tuple[Truth, ...]:
    """All truths of a folder, by name."""
    return tuple(parse_truth(json.loads(path.read_text(encoding="utf-8"))) for path in sorted(folder.glob("*.json")))


def parse_truth(document: dict[str, Any]) -> Truth:
    """The truth that a JSON document tells."""
    return Truth(
        job_id=document["job_id"],
        failed=document["failed"],
        kind=document["kind"],
        category=document.get("category") or "none",
        scopes=_right_scopes(document),
        faulty_nodes=frozenset(document["faulty_nodes"]),
        faulty_ranks=frozenset(document.get("faulty_ranks") or ()),
        stage=document.get("stage") or None,
        iteration=document.get("iteration"),
        labels=tuple(_label(label) for label in document["labels"]),
    )


def _label(label: dict[str, Any]) -> Label:
    first, last = label.get("block") or (label["line"], label["line"])
    numbers: Sequence[int] = (*range(first, last + 1), label["line"])
    return Label(label["role"], label["text"], frozenset((label["file"], number) for number in numbers))


def _right_scopes(document: dict[str, Any]) -> frozenset[str]:
    if not document["failed"]:
        return frozenset({"none"})
    if document["kind"] in STOPS:
        return frozenset({"none", "job"})
    scope = document.get("scope") or ("node" if document["faulty_nodes"] else "job")
    return frozenset({"unknown", "job"}) if scope == "unknown" else frozenset({scope})
