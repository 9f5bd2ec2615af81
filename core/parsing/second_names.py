"""Two names of one machine, by lines that give both: a pod and the machine below it, a host and its address.

``Successfully assigned ml/trainer-0 to gke-pool-7c2f``, a table of pods, ``{"10.44.0.49": {"name": "bm49"}, ...}``: no
phrase marks such lines. In lines of one shape each node stands beside another name, and no two beside the same one.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Collection, Mapping
from dataclasses import replace
from pathlib import PurePosixPath

import numpy as np

from core.events.row_text import read_rows
from core.events.table import EventTable
from core.job import LogFile, Manifest
from core.logs.lines import mask
from core.logs.paths import strip
from core.logs.speaker_names import MACHINE
from core.logs.voices import NUMBERED_PROCESS, Origin, Program, stands_in
from core.parsing.identities import is_address

MAX_READ = 4096  # lines: one a pod of the largest jobs
MAX_TEMPLATES, MAX_FORMS = 1 << 14, 64  # that are looked at: a third of a second; machines of a cluster are named alike
MIN_PAIRS = 2  # of one alone the line may be about two machines
SEAT = 3  # characters of the name of a seat, "A1"; names of machines are longer
MIN_LETTERS = 2  # of a name, which else is a word of any line
_MACHINE = re.compile(MACHINE.pattern.decode())
# kubernetes/kubernetes pkg/printers/internalversion/printers.go (1.29): columns of pods, three blanks between them
_PODS = re.compile(r"NAME\s{1,64}READY\s{1,64}STATUS\s")
_COLUMNS = re.compile(r"\s{3,}")
_WORD = re.compile(r"[A-Za-z0-9](?:[\w.-]*\w)?")


def with_one_name(
    table: EventTable, files: Mapping[str, LogFile], manifest: Manifest
) -> tuple[EventTable, Mapping[str, str]]:
    """The table in which what a machine says by its second name is said by the node of the job that it is.

    Nodes go by the names that job.json has, else by those under which the job trains. Also the node of each other name.
    """
    nodes = set(manifest.nodes) or _training(table)
    others = {name for name in set(table.nodes) | _parts_of_files(table) if _is_name(name)} - nodes
    if all(map(stands_in, nodes)):
        return table, {}
    node_of = {} if manifest.nodes else _machines(table, files, nodes)
    if not node_of:
        node_of = _second_names(_named_together(table, files, nodes, others)) if others else {}
    node_of |= {} if manifest.nodes else _first_labels(table.nodes, others)
    called = _files_of(table, nodes) | _listed_pods(table, files, nodes)
    if not node_of:
        return table, called
    seats = {name: seat for seat, name in enumerate(sorted(node_of))}
    if len(set(node_of.values())) < len(node_of) and len(table.nodes) == len(node_of) and not table.ranks:
        of_seats = [
            replace(origin, rank=seats[origin.node], program=Program.RANK) if origin.node in seats else origin
            for origin in table.origins
        ]
        table = replace(table, origins=tuple(of_seats), ranks_are_nodes=True)
    named = {file: node for file, name in enumerate(table.files) if (node := _called_after(name, node_of)) is not None}
    origins = [
        _on_node(origin, node_of.get(origin.node or "") or (None if origin.node else named.get(int(file))))
        for origin, file in zip(table.origins, table.file_of_voice, strict=True)
    ]
    return replace(table, origins=tuple(origins)), called | node_of


def _first_labels(speaking: Collection[str], others: Collection[str]) -> dict[str, str]:
    """The node of each name that is the first label of its own: n042 of ``n042.cluster.local``.

    Args:
        speaking: names under which somebody speaks. others: that may be of nodes, too.
    """
    longer: dict[str, list[str]] = defaultdict(list)
    for node in sorted(speaking):
        label, dot, _ = node.partition(".")
        if dot and not is_address(node):
            longer[label].append(node)
    return {name: longer[name][0] for name in sorted({*speaking, *others}) if len(longer.get(name, ())) == 1}


def _files_of(table: EventTable, nodes: Collection[str]) -> dict[str, str]:
    """The node of each name that files are called after, where each of several nodes has such a file of its own."""
    own: dict[str, set[str | None]] = defaultdict(set)
    for origin, file in zip(table.origins, table.file_of_voice.tolist(), strict=True):
        own[table.files[file]].add(origin.node)
    shapes: dict[str, dict[str, str]] = defaultdict(dict)
    for name, of in own.items():
        node, stem = next(iter(of)), PurePosixPath(strip(name)).stem
        if len(of) == 1 and node and node in nodes and node not in stem and _is_name(stem):
            shapes[re.sub(r"\d+", "#", stem)][stem] = node
    whole = [of for of in shapes.values() if len(set(of.values())) == len(of) >= MIN_PAIRS]
    return {stem: node for of in whole for stem, node in of.items() if stem not in nodes}


def _listed_pods(table: EventTable, files: Mapping[str, LogFile], nodes: Collection[str]) -> dict[str, str]:
    """The pod of each machine that has one of the job, as a list of pods tells it: ``kubectl get pods -o wide``."""
    heads = [event for event, template in enumerate(table.templates) if _PODS.match(template.sample)]
    machines: dict[str, set[str]] = defaultdict(set)
    for row in table.all_rows_of(heads)[:MIN_PAIRS].tolist():
        end = table.rows_of_file(int(table.file[np.array([row])][0])).stop
        texts = read_rows(files, table, np.arange(row, min(end, row + 1 + MAX_READ)))
        columns = _COLUMNS.split(texts.get(row, ""))
        place = columns.index("NODE") if "NODE" in columns else 0
        for _, text in sorted(texts.items()):
            words = _COLUMNS.split(text)
            if 0 < place < len(words) and words[0] in nodes:
                machines[words[place].strip()].add(words[0])
    return {machine: next(iter(pods)) for machine, pods in sorted(machines.items()) if len(pods) == 1}


def _training(table: EventTable) -> set[str]:
    """Nodes of which more than a daemon spoke; all where none does."""
    speaks = {origin.node for origin in table.origins if origin.program in (Program.RANK, Program.LAUNCHER)}
    return {node for node in table.nodes if node in speaks} or set(table.nodes)


def _is_name(word: str) -> bool:
    return len(word) >= MIN_LETTERS and not word.isdigit()


def _parts_of_files(table: EventTable) -> set[str]:
    """What files and folders are called after, of which nobody knows whose they are."""
    unknown = {int(file) for origin, file in zip(table.origins, table.file_of_voice, strict=True) if not origin.node}
    return {part for file in unknown for part in _parts(table.files[file])}


def _parts(name: str) -> tuple[str, ...]:
    """The name of a file, with and without its endings, and those of its folders."""
    *folders, file = PurePosixPath(strip(name)).parts
    return (file, file.rsplit(".", 1)[0], file.partition(".")[0], *folders)


def _named_together(
    table: EventTable, files: Mapping[str, LogFile], nodes: Collection[str], others: Collection[str]
) -> Mapping[str, list[tuple[str, str]]]:
    """Other name and node of each line that names as many of either, by the shape of the line."""
    alike = [sorted({_form(name) for name in names}) for names in (nodes, others)]
    if max(map(len, alike)) > MAX_FORMS:
        return {}
    forms = [re.compile("|".join(of)) for of in alike]
    events = [
        event
        for event, template in enumerate(table.templates[:MAX_TEMPLATES])
        if not template.block
        and 0 < table.heads[event] <= MAX_READ
        and any(form.search(template.sample) for form in forms)
    ]
    rows = table.all_rows_of(events)[:MAX_READ]
    found: dict[str, list[tuple[str, str]]] = defaultdict(list)
    for row, text in read_rows(files, table, rows).items():
        speaker = table.origins[table.voice[row]].node or ""
        words = dict.fromkeys(word for word in (speaker, *_WORD.findall(text)) if word in nodes or word in others)
        of_node = [word for word in words if word in nodes]
        of_other = [word for word in words if word in others]
        if len(of_node) == len(of_other) > 0:
            marked = _WORD.sub(lambda word: "*" if word[0] in nodes or word[0] in others else word[0], text)
            found[mask(marked.encode("utf-8", "replace")).decode()] += zip(of_other, of_node, strict=True)
    return found


def _machines(table: EventTable, files: Mapping[str, LogFile], nodes: Collection[str]) -> dict[str, str]:
    """The machine of each node that goes by a seat or a worker's name, where one message tells that of all of them."""
    if not all(len(node) <= SEAT or NUMBERED_PROCESS.fullmatch(node) for node in nodes):
        return {}
    voices = {voice for voice, origin in enumerate(table.origins) if origin.node in nodes}
    for event, template in enumerate(table.templates[:MAX_TEMPLATES]):
        if template.block or table.heads[event] > MAX_READ or not _MACHINE.search(_unmasked(template.sample)):
            continue
        rows = table.rows_of([event]).get(event, np.zeros(0, np.intp))
        told = [
            (
                table.origins[table.voice[row]].node or "",
                [match["named"] or match[0] for match in _MACHINE.finditer(text)],
            )
            for row, text in read_rows(files, table, rows).items()
            if table.voice[row] in voices
        ]
        machine_of = {node: machines[0] for node, machines in told if len(machines) == 1}
        each = Counter(machine_of.values())
        if set(machine_of) == set(nodes) and len(told) == len(nodes) and len(each) >= MIN_PAIRS:
            return machine_of if len(set(each.values())) == 1 else {}
    return {}


def _unmasked(sample: str) -> str:
    return sample.replace("<IP>", "10.0.0.1").replace("<NUM>", "0")


def _form(name: str) -> str:
    """How a name stands in a template, whose sample may be of another job: pods of that end in other letters."""
    masked = mask(name.encode("utf-8", "replace")).decode("utf-8", "replace")
    before, dash, _ = masked.rpartition("-")
    return re.escape(before + dash) + r"[\w<>]+" if before else re.escape(masked)


def _second_names(found: Mapping[str, list[tuple[str, str]]]) -> dict[str, str]:
    """The node of each other name, by all shapes of lines that give several nodes a name of their own."""
    node_of: dict[str, set[str]] = defaultdict(set)
    for pairs in found.values():
        named = dict(pairs)
        each = Counter(named.values())  # a node may have several seats, and then all have as many
        if len(set(pairs)) == len(named) and len(each) >= MIN_PAIRS and len(set(each.values())) == 1:
            for other, node in named.items():
                node_of[other].add(node)
    return {other: min(own) for other, own in sorted(node_of.items()) if len(own) == 1}


def _called_after(name: str, node_of: Mapping[str, str]) -> str | None:
    """The node of the machine that a file or one of its folders is called after."""
    return next((node_of[part] for part in _parts(name) if part in node_of), None)


def _on_node(origin: Origin, node: str | None) -> Origin:
    if node is None:
        return origin
    program = Program.DAEMON if origin.program is Program.SCHEDULER else origin.program
    return replace(origin, node=node, program=program)
