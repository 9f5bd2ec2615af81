"""Answer the cases of robust operations: ``python -m benchmarks.robust cases.json answers.json``.

A case has ``id``, ``kind``, ``ask`` and ``given``; what is given in words stands for what a diagnosis would have found.
Kinds that nothing in this tree answers are left out of the answers.
"""

import json
import re
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from core.dumps.rank_groups import parallel_groups, smallest_around
from core.history.accounting import Account, TimeUse, account
from core.history.advice import best_interval, standbys
from core.history.attempt import Attempt
from core.history.repeats import Incident, repeaters
from core.job import Manifest
from core.model import Confidence, Scope
from core.next.decision_table import next_step
from core.next.price import over_eviction
from core.next.situation import FaultClass, Past, Situation
from core.replay.replay_results import meet

Given = Mapping[str, Any]

# What a person's words for a failure stand for; of a real job the rules for its log lines tell.
_WORDS = (
    (
        FaultClass.MACHINE,
        r"\bXid (?:48|64|74|79|95)\b|\bECC\b|GPU (?:is )?lost|off the bus|disk fault|power|kernel panic",
    ),
    (FaultClass.LINK, r"\bflap|(?:link|port) (?:is |went )?down|\bNIC\b"),
    (
        FaultClass.MEANS,
        r"no space|disk full|quota|permission|argument|no such file|missing file|file missing|filenotfound|out of mem",
    ),
    (FaultClass.PROCESS, r"\bXid\b|segfault|segmentation|illegal memory|CUDA error"),
    (FaultClass.CODE, r"\b[A-Z]\w+Error\b|assert|shape mismatch"),
    (FaultClass.NUMBERS, r"\bNaN\b|\binf(?:inity)?\b"),
)

_STUCK = re.compile(r"\bh[au]ng|\bslow|no progress|stands? still|MFU (?:fell|dropped)", re.IGNORECASE)


def decision(given: Given) -> dict[str, str]:
    """The action for a situation in words."""
    return {"action": next_step(situation_of(given)).action.value}


def situation_of(given: Given) -> Situation:
    """The situation that the words of a case describe."""
    says = given["says"]
    broken = next(
        (fault_class for fault_class, words in _WORDS if re.search(words, says, re.IGNORECASE)), FaultClass.UNKNOWN
    )
    accused = tuple(given.get("suspects") or given.get("nodes_accused") or re.findall(r"\bnode-\d+\b", says))
    scope = Scope(given.get("scope", Scope.NODE if accused else Scope.UNKNOWN))
    running = given.get("training") == "running"
    stuck = bool(_STUCK.search(says)) or given.get("traffic_zero_min", 0) > 0
    return Situation(
        scope,
        Confidence(given.get("confidence", Confidence.SUPPORTED)),
        broken,
        says,
        accused,
        total=given.get("nodes"),
        running=running,
        stuck=stuck,
        flaps=given.get("count", 1),
        spares=given.get("spares"),
        past=_past(given),
    )


def _past(given: Given) -> Past:
    tests, changed = given.get("tests"), given.get("code_changed_since_good")
    good = given.get("last_good_code")
    return Past(
        again=True if given.get("reattempts") else None,
        barren=given.get("attempts_without_checkpoint", 0),
        checked=None if tests in (None, "not run") else "passed" in tests,
        reattempts=given.get("reattempts", 0),
        rolled_back=given.get("rolled_back", False),
        good=good,
        changes=None if changed is None else ("code",) if changed else (),
    )


def price(given: Given) -> dict[str, float | bool]:
    """Over-eviction against finding."""
    found = over_eviction(given["nodes"], given["group"], given["locate_min"], test_hours=given["test_h"])
    return {
        "over_evict_node_h": found.evicting,
        "locate_node_h": found.finding,
        "over_evict": found.cheaper,
        "break_even_min": found.even,
    }


def _account(given: Given) -> Account:
    return account([_attempt(entry) for entry in given["attempts"]], given.get("iteration_seconds"))


def _attempt(entry: Given) -> Attempt:
    points = np.array(entry["times"], np.float64).reshape(-1, 2)
    start, end = round(entry["start"] * 1000), round(entry["end"] * 1000)
    return Attempt(
        str(entry["attempt"]), start, end, points[:, 0].astype(np.int64), np.rint(points[:, 1] * 1000).astype(np.int64)
    )


def ettr(given: Given) -> dict[str, float | None]:
    """Seconds by part, and the ETTR."""
    run = _account(given)
    parts = {str(part): run.parts[part] / 1000 for part in TimeUse}
    return {"wall": run.wall / 1000, **parts, "ettr": run.ettr}


def ettr_cause(given: Given) -> int:
    """The attempt whose end cost most."""
    run = _account(given)
    costs = [sum(entry.values()) for entry in run.lost]
    return int(run.attempts[costs.index(max(costs))].name)


def standby(given: Given) -> int:
    """How many nodes to hold ready."""
    return standbys(given["machines"], given["rate_per_day"], given["replenish_h"])


def interval(given: Given) -> dict[str, float]:
    """How long to train between two checkpoints."""
    mtbf = 24 / (given["machines"] * given["rate_per_day"])
    best = best_interval(mtbf=mtbf * 3600, saving=given["save_s"], restart=given["restart_s"])
    return {"mtbf_h": mtbf, "interval_s": best.seconds, "ettr": best.ettr}


def lemon(given: Given) -> list[str]:
    """Nodes that repeat; those without an incident have names of no matter."""
    incidents = [Incident(*entry) for entry in given["incidents"]]
    named = sorted({incident.node for incident in incidents})
    nodes = [*named, *(f"other {number}" for number in range(given["nodes"] - len(named)))]
    return [repeater.node for repeater in repeaters(incidents, {node: float(given["days"]) for node in nodes})]


_SHORT = {"tensor": "TP", "pipeline": "PP", "data": "DP"}
_RANKS_A_NODE = 8


def group(given: Given) -> dict[str, Any]:
    """The parallel group that holds all ranks that stand apart, and the nodes to take out."""
    sizes = {name: given[name] for name in ("tp", "pp", "dp")}
    job = Manifest("case", world_size=given["tp"] * given["pp"] * given["dp"], extra={"parallel": sizes})
    found = smallest_around(given["apart"], parallel_groups(job))
    ranks = found.ranks if found else given["apart"]
    name = next((short for word, short in _SHORT.items() if found and found.name.startswith(word)), None)
    return {"group": name, "nodes": sorted({rank // _RANKS_A_NODE for rank in ranks})}


def replay(given: Given) -> dict[str, Any]:
    """Who is suspicious after both phases of a replay."""
    failed = given["failed_horizontal"], given["failed_vertical"]
    verdict, suspects = meet(given["m"], given["n"], *failed)
    return {"suspects": suspects, "verdict": verdict.value}


ANSWERS: dict[str, Callable[[Given], Any]] = {
    "decision": decision,
    "price": price,
    "ettr": ettr,
    "ettr-cause": ettr_cause,
    "standby": standby,
    "interval": interval,
    "lemon": lemon,
    "group": group,
    "replay": replay,
}


def main(cases: str, answers: str) -> None:
    """Answer every case of a kind that is known."""
    asked = json.loads(Path(cases).read_text(encoding="utf-8"))
    found = {entry["id"]: ANSWERS[entry["kind"]](entry["given"]) for entry in asked if entry["kind"] in ANSWERS}
    Path(answers).write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main(*sys.argv[1:3])
