"""Ranks that work together, and the group of them that is worth taking out together."""

import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import pairwise
from math import prod
from typing import Any

from core.job import Manifest


@dataclass(frozen=True, slots=True)
class RankGroup:
    """Ranks that work together: a node, or a parallel group."""

    name: str
    ranks: tuple[int, ...]


def parallel_groups(manifest: Manifest) -> tuple[RankGroup, ...]:
    """Tensor, context, data and pipeline groups by rank arithmetic, fastest first, as Megatron lays them out.

    ``parallel`` in job.json may name another ``order``; experts share the ranks of the data groups. Only when the sizes
    are known from job.json and their product is the number of ranks.
    """
    sizes = _sizes(manifest)
    world = manifest.world_size or 0
    apart = prod(sizes.get(kind, 1) for kind in _KEYS if kind != "data")
    if not sizes or world < 2 or world % apart:
        return ()
    data = world // apart
    if sizes.get("data", data) != data:
        return ()
    groups, stride = [], 1
    for kind in _order(manifest):
        size = data if kind == "data" else sizes.get(kind, 1)
        if 1 < size < world:
            firsts = [first for first in range(world) if first // stride % size == 0]
            name = f"{kind} parallel group"
            groups += [RankGroup(name, tuple(range(first, first + size * stride, stride))) for first in firsts]
        stride *= size
    return tuple(groups)


def smallest_around(ranks: Collection[int], groups: Iterable[RankGroup]) -> RankGroup | None:
    """The smallest group that holds all of these ranks."""
    holding = [group for group in groups if set(ranks) <= set(group.ranks)]
    return min(holding, key=lambda group: (len(group.ranks), group.name, group.ranks), default=None)


_KEYS = {
    "tensor": re.compile(r"(?:tp|tensor(?:_model)?_parallel(?:_size)?|tp_size)"),
    "context": re.compile(r"(?:cp|context_parallel(?:_size)?|cp_size)"),
    "pipeline": re.compile(r"(?:pp|pipeline(?:_model)?_parallel(?:_size)?|pp_size)"),
    "data": re.compile(r"(?:dp|data_parallel(?:_size)?|dp_size)"),
}
_ORDER = {"tp": "tensor", "cp": "context", "dp": "data", "pp": "pipeline"}  # Megatron's: tp-cp-ep-dp-pp
_SHORT = re.compile(r"tp(\d{1,5})[-_]?pp(\d{1,5})[-_]?dp(\d{1,6})")


def _sizes(manifest: Manifest) -> dict[str, int]:
    """Sizes of the parallel groups: from keys and arguments of job.json, else from settings called tp2pp4dp2."""
    found: dict[str, int] = {}
    for key, value in _pairs(manifest.extra):
        name = key.lstrip("-").replace("-", "_").lower()
        for kind, pattern in _KEYS.items():
            if pattern.fullmatch(name) and re.fullmatch(r"[1-9]\d{0,5}", str(value)):
                found.setdefault(kind, int(value))
    match = _SHORT.search(manifest.settings_id or "")
    if not found and match:
        found = dict(zip(("tensor", "pipeline", "data"), map(int, match.groups()), strict=True))
    return found


def _order(manifest: Manifest) -> list[str]:
    """Kinds of groups, the one of neighbouring ranks first."""
    named = [_ORDER[word] for word in manifest.parallel.get("order", "").lower().split("-") if word in _ORDER]
    return list(dict.fromkeys([*named, *_ORDER.values()]))


def _pairs(value: Any, depth: int = 0) -> Iterator[tuple[str, Any]]:
    """Keys with their values, and neighbours in lists of arguments."""
    if depth > 4:  # launch commands stand three deep
        return
    if isinstance(value, Mapping):
        for key, entry in value.items():
            yield str(key), entry
            yield from _pairs(entry, depth + 1)
    elif isinstance(value, list | tuple):
        for entry, following in pairwise(value):
            if isinstance(entry, str):
                yield entry, following
        for entry in value:
            if isinstance(entry, str) and "=" in entry:
                yield tuple(entry.split("=", 1))  # type: ignore[misc]  # two parts by the split
            yield from _pairs(entry, depth + 1) if not isinstance(entry, str) else ()
