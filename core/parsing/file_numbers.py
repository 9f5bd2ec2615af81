"""The ranks and machines of files by the numbers that they are called after: ``rang_17.csv``, ``kws.0.err``."""

import re
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping
from pathlib import PurePosixPath

from core.job import Manifest
from core.logs.hosts import names_machine
from core.logs.paths import strip
from core.parsing.introductions import MIN_FILES

_NUMBERED = re.compile(
    r"[^.]{1,64}\.(?P<behind>\d{1,6})|(?:(?:std)?(?:out|err|output|log|console)[-_.]?|r)(?P<of_stream>\d{1,6})",
    re.IGNORECASE,
)
_OF_ARRAY = re.compile(r"(?P<job>.{0,200}(?:_|\d{4}).{0,200}?)[-_.](?P<task>\d{1,6})")  # no machine is called so
# kws.0.err, beat-9f3c.1.out.log; not of a part of a run, whatever its number
_TASK = re.compile(
    r"(?!(?:attempt|epoch|step|part|shard|try|trial|fold|phase|restart)\b)(?P<name>.{1,200}?)[-_.](?P<task>\d{1,6})"
    r"(?:[-_.](?:log|err|out|stderr|stdout|txt)){0,3}",
    re.IGNORECASE,
)


def numbered_as_ranks(names: Iterable[str], known: Collection[int]) -> dict[str, int]:
    """The rank of each file of as many as ranks speak elsewhere, called alike but for their numbers: ``rang_17.csv``.

    Args:
        known: ranks that labels of lines tell in other files.
    """
    groups: dict[tuple[str, ...], dict[str, int]] = defaultdict(dict)
    for name in names:
        *folders, file = PurePosixPath(strip(name)).parts
        if len(found := re.findall(r"\d{1,6}", file)) == 1:
            groups[(*folders, re.sub(r"\d+", "#", file))][name] = int(found[0])
    of_ranks = [
        group for group in groups.values() if len(group) >= MIN_FILES and sorted(group.values()) == sorted(known)
    ]
    return {name: rank for group in of_ranks for name, rank in group.items()}


def are_numbered_as(group: Mapping[str, str], ranks: Mapping[str, int]) -> bool:
    """Whether files have the number of their rank where no machine's name has it.

    ``train.2.log``, ``out-2.log``, and ``dedup_8812_2.out``, as schedulers call the files of an array.
    """
    numbers = {
        name: match[match.lastgroup or 0] for name, word in group.items() if (match := _NUMBERED.fullmatch(word))
    }
    tasks = [match for word in group.values() if (match := _OF_ARRAY.fullmatch(word))]
    if len(tasks) == len(group) and len({match["job"] for match in tasks}) == 1:
        numbers = {name: match["task"] for name, match in zip(group, tasks, strict=True)}
    return len(numbers) == len(group) and all(ranks.get(name) == int(number) for name, number in numbers.items())


def numbered(group: Mapping[str, str], manifest: Manifest) -> dict[str, int]:
    """The rank of each file of as many as there are ranks, or machines where nobody tells ranks, by its number."""
    numbers = {name: int(found[0]) for name, word in group.items() if len(found := re.findall(r"\d{1,6}", word)) == 1}
    ranks = manifest.world_size or sum(map(len, manifest.node_ranks.values())) or len(manifest.nodes)
    return numbers if len(group) == ranks and sorted(numbers.values()) == list(range(ranks)) else {}


def numbered_as_listed(heads: Mapping[str, bytes], manifest: Manifest) -> dict[str, str]:
    """The machine of each ``kws.0.err``, where files are numbered as job.json lists the machines, and none says others.

    Launchers start one task a machine, and number them as they were given the machines (``srun``, ``pdsh``).
    """
    nodes, stems = manifest.nodes, {name: PurePosixPath(strip(name)).name for name in heads}
    matches = {name: match for name, stem in stems.items() if (match := _TASK.fullmatch(stem))}
    tasks = {name: int(match["task"]) for name, match in matches.items()}
    alike = len({match["name"] for match in matches.values()}) == 1
    if not alike or len(tasks) < len(heads) or len(nodes) < 2 or set(tasks.values()) != set(range(len(nodes))):
        return {}
    named = {name: [node for node in nodes if names_machine(heads[name], node)] for name in heads}
    agrees = all(not others or nodes[tasks[name]] in others for name, others in named.items())
    return {name: nodes[task] for name, task in tasks.items()} if agrees else {}
