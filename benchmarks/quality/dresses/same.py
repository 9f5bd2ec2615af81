"""Whether a dressed job has the answer of the undressed one.

scope      the same
suspects   the same nodes, by the names that they have undressed, and the same one first. Where a dress takes away
           what tells nodes apart (no job.json), a rank stands for its node
first      the first event cites lines of the first event before: those that it cites, or any of the same event, of
           which the lines of a traceback are one
"""

from collections.abc import Mapping
from dataclasses import dataclass

from benchmarks.quality.case import Case
from benchmarks.quality.dresses.outfit import Outfit
from benchmarks.quality.labels import Place
from core.job import Manifest
from core.logs.hosts import Hosts
from core.model import Diagnosis

SCOPE, SUSPECTS, FIRST = "scope", "suspects", "first event"


@dataclass(frozen=True, slots=True)
class Difference:
    """What is another, and what it was and is."""

    what: str
    before: str
    after: str


def differences(case: Case, undressed: Diagnosis, dressed: Diagnosis, worn: Outfit) -> tuple[Difference, ...]:
    """What of the answer is another; empty when it is the same."""
    found = []
    if undressed.scope != dressed.scope:
        found.append(Difference(SCOPE, undressed.scope.value, dressed.scope.value))
    before, after = (
        suspects(undressed, case.parsed.job.manifest, worn),
        suspects(dressed, case.parsed.job.manifest, worn),
    )
    if (set(before), before[:1]) != (set(after), after[:1]):
        found.append(Difference(SUSPECTS, ", ".join(before) or "nobody", ", ".join(after) or "nobody"))
    if not _same_event(undressed, dressed, worn.places, case.events):
        found.append(Difference(FIRST, _first_line(undressed), _first_line(dressed)))
    return tuple(found)


def suspects(diagnosis: Diagnosis, manifest: Manifest, worn: Outfit) -> list[str]:
    """Names of the suspects as the undressed job's job.json has them, under their new names."""
    hosts = Hosts(manifest)
    old = {worn.rename(node): node for node in manifest.nodes}
    of_rank = {f"rank {rank}": node for node, ranks in manifest.node_ranks.items() for rank in ranks}
    names = (
        old.get(node.node) or of_rank.get(node.node) or hosts.node(node.node) or node.node for node in diagnosis.nodes
    )
    return list(dict.fromkeys(names))


def _same_event(
    before: Diagnosis, after: Diagnosis, places: Mapping[Place, Place], events: Mapping[Place, str]
) -> bool:
    if not before.events or not after.events:
        return bool(before.events) == bool(after.events)
    first = before.events[0]
    cited = {(line.file, line.line) for line in first.lines}
    its = cited | {place for place, event in events.items() if event == first.event}
    original = [places.get((line.file, line.line)) for line in after.events[0].lines]
    return bool(original) and sum(place in its for place in original) * 2 >= len(original)


def _first_line(diagnosis: Diagnosis) -> str:
    if not diagnosis.events:
        return "none"
    lines = diagnosis.events[0].lines
    return lines[-1].text if lines else diagnosis.events[0].template
