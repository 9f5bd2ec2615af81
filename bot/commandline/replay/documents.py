"""The JSON of a replay, ``firstfault.replay/1``: a plan, or what its results mean (docs/how-to/replay.md)."""

import shlex
from typing import Final, Literal

from pydantic import Field, ValidationError

from bot.report.json_document import Document, Number
from core.errors import BadSettings
from core.replay.plan import Plan, ReplayGroup
from core.replay.replay_results import ReplayReading, ReplayVerdict

SCHEMA: Final = "firstfault.replay/1"
FAILED_WHEN: Final = "its exit code is not 0, or its digest is not that of most runs"


class ReplayGroupDocument(Document):
    """Nodes that run together. commands: an argument list a run; empty where no command was given."""

    name: str
    phase: int
    nodes: tuple[str, ...]
    nodelist: str = Field(description="the nodes with commas, as srun and mpirun take them")
    environment: dict[str, str]
    commands: tuple[tuple[str, ...], ...]


class PlanDocument(Document):
    """Who replays with whom."""

    schema_: Literal["firstfault.replay/1"] = Field(default=SCHEMA, alias="schema")
    kind: Literal["plan"] = "plan"
    nodes: tuple[str, ...]
    left: tuple[str, ...] = Field(description="nodes that fit in no group: a plan of their own, or a second one")
    group_size: int
    data_parallel: int
    runs: int
    chance: Number = Field(description="that a run with the faulty node shows the fault")
    shown_by_both: Number = Field(description="chance that both phases show it")
    failed_when: str = FAILED_WHEN
    groups: tuple[ReplayGroupDocument, ...]


class SuspectDocument(Document):
    """A node that the results point to; share: how likely it is, of 1, if it is one of them."""

    node: str
    share: Number


class ReadingDocument(Document):
    """What the results of a plan mean."""

    schema_: Literal["firstfault.replay/1"] = Field(default=SCHEMA, alias="schema")
    kind: Literal["reading"] = "reading"
    verdict: ReplayVerdict
    headline: str
    suspects: tuple[SuspectDocument, ...]
    missed: Number = Field(description="chance that a fault as planned for was not shown by both phases")
    told: tuple[str, ...]


def plan_document(plan: Plan, command: str) -> PlanDocument:
    """The plan as a file, with the commands of each run."""
    return PlanDocument(
        nodes=plan.nodes,
        left=plan.left,
        group_size=plan.size,
        data_parallel=plan.parts,
        runs=plan.runs,
        chance=plan.chance,
        shown_by_both=plan.both,
        groups=tuple(_group(plan, group, command) for group in plan.groups),
    )


def _group(plan: Plan, group: ReplayGroup, command: str) -> ReplayGroupDocument:
    nodes = tuple(plan.nodes[place] for place in group.members)
    known = {
        "nodelist": ",".join(nodes),
        "hostfile": f"{group.name}.hosts",
        "nnodes": str(len(nodes)),
        "dp": str(plan.parts),
        "group": group.name,
    }
    words = shlex.split(command)
    commands = tuple(
        tuple(_filled(word, {**known, "run": str(run)}) for word in words) for run in range(1, plan.runs + 1)
    )
    environment = {"NNODES": str(len(nodes)), "DP": str(plan.parts)}
    return ReplayGroupDocument(
        name=group.name,
        phase=group.phase,
        nodes=nodes,
        nodelist=known["nodelist"],
        environment=environment,
        commands=commands if words else (),
    )


def _filled(word: str, known: dict[str, str]) -> str:
    for name, value in known.items():
        word = word.replace(f"{{{name}}}", value)
    return word


def plan_of(text: str, name: str) -> Plan:
    """The plan that a file holds. Raises BadSettings."""
    try:
        plan = PlanDocument.model_validate_json(text)
    except ValidationError as error:
        raise BadSettings(f"{name} is no plan of firstfault replay plan.", "Was it cut off or edited?") from error
    place = {node: number for number, node in enumerate(plan.nodes)}
    try:
        groups = tuple(
            ReplayGroup(group.phase, int(group.name.partition("-")[2]), tuple(place[node] for node in group.nodes))
            for group in plan.groups
        )
    except (KeyError, ValueError) as error:
        raise BadSettings(f"{name} names a group or node that its plan does not have: {error}.") from error
    if min(plan.group_size, plan.data_parallel, plan.runs) < 1 or not 0 < plan.chance <= 1 or not groups:
        raise BadSettings(
            f"{name} has numbers that no plan has.", "Was it edited? A plan is made by firstfault replay plan."
        )
    return Plan(plan.nodes, plan.group_size, plan.data_parallel, plan.runs, plan.chance, groups, plan.left)


def reading_document(plan: Plan, reading: ReplayReading, headline: str) -> ReadingDocument:
    """The reading with the names of nodes."""
    suspects = zip(reading.suspects, reading.share, strict=True)
    return ReadingDocument(
        verdict=reading.verdict,
        headline=headline,
        suspects=tuple(SuspectDocument(node=plan.nodes[place], share=share) for place, share in suspects),
        missed=reading.missed,
        told=reading.told,
    )
