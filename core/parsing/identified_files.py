"""The machine of files that are called after identifiers: of containers, allocations, log streams.

Another log gives identifiers to machines: ``alloc/0eac1f71/trainer.stdout.0`` beside ``ID = 0eac1f71-...`` and, below
it, ``Node Name = met-083.dc2`` (``nomad alloc status``), or beside a table with a row for each. No phrase marks the
machine: it stands in one place of each record. Else what is called so names its machine itself, when it begins; and
where nobody does, the identifier is the only name that there is.
"""

import re
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from pathlib import PurePosixPath

from core.logs.hosts import MACHINE_NAME, names_machine
from core.logs.lines import without_ansi
from core.logs.paths import strip

IDENTIFIER = re.compile(r"[0-9a-f]{8,64}(?:-[0-9a-f]{4,12}){0,4}")  # of a container, an allocation
_WORD = re.compile(r"[\w-]++")
_RECORD = 12  # lines below an identifier: what is told of it, before its history
_NODE = re.compile(r"\b(?:node|host)", re.IGNORECASE)
_BEGINNING = 100  # lines in which a process tells where it runs
_KEYED = re.compile(r"\b(?:host(?:name)?|node(?:[_ ]?name)?)\s?[=:]\s?(?P<host>[A-Za-z][\w.-]{0,62})", re.IGNORECASE)


def find_identified(heads: Mapping[str, bytes], told: Mapping[str, bytes]) -> dict[str, str]:
    """The machine of each file; none unless one place of the records tells that of each file.

    Args:
        heads: the first bytes of the files that are called so. told: those of the others, which may tell of them.
    """
    files = _by_identifier(heads)
    for head in (told[name] for name in sorted(told)):
        records = _records(without_ansi(head).decode("utf-8", "replace").split("\n"), files)
        if len(records) == len(files) > 1 and (homes := _homes(records)):
            return {name: home for identifier, home in homes.items() for name in files[identifier]}
    return {}


def name_themselves(
    heads: Mapping[str, bytes], known: Mapping[str, str], machines: Collection[str], nodes: Sequence[str]
) -> dict[str, str]:
    """The machine of each file of several identifiers, by the one name that stands in the beginning of each alone.

    Args:
        heads: the first bytes of the files. known: the machines of some of them, which are those of their identifiers.
        machines: names of machines that other files tell. nodes: those of job.json, which are the only ones then.
    """
    files = _by_identifier(heads)
    told = {identifier: known[name] for identifier, own in files.items() for name in own if name in known}
    if told or len(files) < 2:
        return {name: home for identifier, home in told.items() for name in files[identifier]}
    said = {identifier: b"\n".join(heads[name] for name in own) for identifier, own in files.items()}
    homes = (
        mentioned(said, nodes) if nodes else _own_names(said, machines, alike=True) or {name: name for name in files}
    )
    return {name: home for identifier, home in homes.items() for name in files[identifier]}


def numbered_themselves(heads: Mapping[str, bytes], machines: Collection[str]) -> dict[str, str]:
    """The machine of each of several files that are called alike but for numbers, and that begin with its name."""
    groups: dict[str, dict[str, bytes]] = defaultdict(dict)
    for name, head in sorted(heads.items()):
        groups[re.sub(r"\d+", "#", strip(name))][name] = head
    found: dict[str, str] = {}
    for group in groups.values():
        found |= _own_names(group, machines, alike=False) if len(group) > 1 else {}
    return found


def mentioned(heads: Mapping[str, bytes], nodes: Sequence[str]) -> dict[str, str]:
    """The machine of each file: the one that it names and that not all of them do, if each names another one."""
    named = {name: {node for node in nodes if names_machine(head, node)} for name, head in heads.items()}
    common = set.intersection(*named.values())  # where all of them meet
    own = {name: of_file - common for name, of_file in named.items()}
    found = {name: next(iter(of_file)) for name, of_file in own.items() if len(of_file) == 1}
    left, homes = set(heads) - set(found), set(nodes) - set(found.values())
    if len(left) == len(homes) == 1 and not own[next(iter(left))]:
        found[next(iter(left))] = next(iter(homes))
    return found if len(found) == len(heads) == len(set(found.values())) else {}


def _own_names(said: Mapping[str, bytes], machines: Collection[str], *, alike: bool) -> dict[str, str]:
    """The name that stands in one place of a line of each, not the same in all: one that is known, or behind a key.

    Args:
        alike: whether, where there is none such, names will do that are made alike, of which each has its own.
    """
    places: dict[str, dict[str, str]] = defaultdict(dict)
    left: set[str] | None = None  # places in which all have named one so far: mostly none after a few files
    for identifier, text in said.items():
        own = {
            place: name
            for place, name in _named_once(text).items()
            if alike or name in machines or _NODE.search(place) is not None
        }
        left = set(own) if left is None else left & set(own)
        if not left:
            return {}
        for place in left:
            places[place][identifier] = own[place]
    told = {
        place: homes for place, homes in sorted(places.items()) if place in (left or ()) and _differ(homes.values())
    }
    sure = [of for place, of in told.items() if _NODE.search(place) or set(of.values()) <= set(machines)]
    made_alike = [of for of in told.values() if len({re.sub(r"\d+", "#", name) for name in of.values()}) == 1]
    each_its_own = [of for of in made_alike if alike and len(set(of.values())) == len(of)]
    return next(iter([*sure, *each_its_own]), {})


def _differ(names: Collection[str]) -> bool:
    return len(set(names)) > 1 and not any(map(IDENTIFIER.fullmatch, names))


def _named_once(text: bytes) -> dict[str, str]:
    """The name in each place of the first lines in which no two different ones stand."""
    places: dict[str, set[str]] = defaultdict(set)
    for line in without_ansi(text).decode("utf-8", "replace").split("\n")[:_BEGINNING]:
        for match in (*MACHINE_NAME.finditer(line), *_KEYED.finditer(line)):
            places[re.sub(r"\d+", "#", line[: match.start("host")])].add(match["host"])
    return {place: next(iter(names)) for place, names in places.items() if len(names) == 1}


def _by_identifier(names: Iterable[str]) -> dict[str, list[str]]:
    """The files by the identifier in the name of one folder, or of files of one folder: both streams of a process."""
    found: dict[str, dict[tuple[str, ...], list[str]]] = defaultdict(lambda: defaultdict(list))
    for name in sorted(names):
        parts = PurePosixPath(strip(name)).parts
        for depth, part in enumerate(parts):
            if match := IDENTIFIER.fullmatch(part.partition(".")[0]):
                found[match[0]][parts[:depth]].append(name)
    alone = {identifier: folders for identifier, folders in found.items() if len(folders) == 1}
    return {identifier: own for identifier, folders in alone.items() for own in folders.values()}


def _records(lines: Sequence[str], identifiers: Collection[str]) -> dict[str, Sequence[str]]:
    """The line that tells of an identifier first, and those below it, up to the next one's."""
    starts: dict[str, int] = {}
    for place, line in enumerate(lines):
        for word in _WORD.findall(line):
            for identifier in identifiers:
                if word == identifier or word.startswith(f"{identifier}-"):
                    starts.setdefault(identifier, place)
    ends = sorted(starts.values())
    return {
        identifier: lines[start : min([*(end for end in ends if end > start), start + _RECORD])]
        for identifier, start in starts.items()
    }


def _homes(records: Mapping[str, Sequence[str]]) -> dict[str, str]:
    """The machine of each record: what stands in one place of all of them; of several places, where a node's does."""
    places: dict[str, dict[str, str]] = defaultdict(dict)
    for identifier, lines in records.items():
        for row, line in enumerate(lines):
            for match in MACHINE_NAME.finditer(line):
                if not IDENTIFIER.match(match["host"]):
                    before = line[: match.start()].replace(identifier, "*") if row else str(len(line[: match.start()]))
                    places[before].setdefault(identifier, match["host"])
    whole = {place: homes for place, homes in places.items() if len(homes) == len(records)}
    likely = [place for place, homes in whole.items() if len(set(homes.values())) > 1]
    place = min(likely, key=lambda place: (_NODE.search(place) is None, place), default=None)
    return {} if place is None else whole[place]
