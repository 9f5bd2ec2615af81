"""What the names of files beside each other tell: the machine of each, where others tell machines."""

import re
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping
from pathlib import PurePosixPath

from core.logs.paths import strip

MIN_HOSTS = 2  # of one alone the name may be of all machines


def called_after(names: Iterable[str], machines: Collection[str]) -> dict[str, str]:
    """The machine of each file whose name ends with that of one of several: ``nemotron_916478_cw-dgx-013.out``.

    Only of files that are called alike but for it.
    """
    groups: dict[tuple[str, str], dict[str, str]] = defaultdict(dict)
    for name in sorted(names):
        path = PurePosixPath(strip(name))
        before, sign, last = path.stem.rpartition("_")
        if sign and last in machines:
            groups[str(path.parent), before][name] = last
    alike = (of for of in groups.values() if len(set(of.values())) == len(of) >= MIN_HOSTS)
    return {name: machine for of in alike for name, machine in of.items()}


def nodes_by_likeness(files: Mapping[int, str], known: Mapping[int, str]) -> dict[int, str]:
    """The machine of files that are called as others are after theirs: gpu-9.log beside gpu-7.log and gpu-8.log.

    Args:
        files: names by place. known: the only machine of files of which it is known, by place.
    """
    patterns = {_split(files[place], node) for place, node in known.items() if node in files[place]}
    if len(patterns) != 1 or len(known) < MIN_HOSTS:
        return {}
    (before, behind, shape) = patterns.pop()
    found = {}
    for place, name in files.items():
        middle = name[len(before) : len(name) - len(behind)]
        fits = name.startswith(before) and name.endswith(behind) and re.sub(r"\d+", "#", middle) == shape
        if place not in known and fits:
            found[place] = middle
    return found if len(set(found.values()) | set(known.values())) == len(found) + len(known) else {}


def _split(name: str, node: str) -> tuple[str, str, str]:
    before, _, behind = name.partition(node)
    return before, behind, re.sub(r"\d+", "#", node)
