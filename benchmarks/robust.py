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

from core.model import Confidence, Scope
from core.next.price import over_eviction
from core.next.situation import Broken, Past, Situation
from core.next.table import next_step

Given = Mapping[str, Any]

# What a person's words for a failure stand for; of a real job the rules for its log lines tell.
_WORDS = (
    (Broken.MACHINE, r"\bXid (?:48|64|74|79|95)\b|\bECC\b|GPU (?:is )?lost|off the bus|disk fault|power|kernel panic"),
    (Broken.LINK, r"\bflap|link (?:went )?down|\bNIC\b"),
    (Broken.MEANS, r"no space|quota|permission|argument|no such file|missing file|filenotfound|out of memory"),
    (Broken.PROCESS, r"\bXid\b|segfault|segmentation|illegal memory|CUDA error"),
    (Broken.CODE, r"\b[A-Z]\w+Error\b|assert|shape mismatch"),
    (Broken.NUMBERS, r"\bNaN\b|\binf(?:inity)?\b"),
)


def decision(given: Given) -> dict[str, str]:
    """The action for a situation in words."""
    return {"action": next_step(situation_of(given)).action.value}


def situation_of(given: Given) -> Situation:
    """The situation that the words of a case describe."""
    says = given["says"]
    broken = next((one for one, words in _WORDS if re.search(words, says, re.IGNORECASE)), Broken.UNKNOWN)
    accused = tuple(given.get("suspects") or given.get("nodes_accused") or re.findall(r"\bnode-\d+\b", says))
    scope = Scope(given.get("scope", Scope.NODE if accused else Scope.UNKNOWN))
    running = given.get("training") == "running"
    stuck = "hang" in says or "slow" in says or given.get("traffic_zero_min", 0) > 0
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


ANSWERS: dict[str, Callable[[Given], Any]] = {"decision": decision, "price": price}


def main(cases: str, answers: str) -> None:
    """Answer every case of a kind that is known."""
    asked = json.loads(Path(cases).read_text(encoding="utf-8"))
    found = {one["id"]: ANSWERS[one["kind"]](one["given"]) for one in asked if one["kind"] in ANSWERS}
    Path(answers).write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main(*sys.argv[1:3])
