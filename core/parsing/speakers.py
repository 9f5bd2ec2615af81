"""Who speaks in files of which neither name nor label tells it, but which tell themselves, or beside each other.

A rank says so in brackets on each line (``INFO [rank 1] ...``), or once when it begins (``rank 1 of 4 on gpu-7``).
Files whose names differ in one word, that begin together and say the same, are of one machine each: ``h-a.err``,
``h-b.err``. Where job.json names the machines, such files tell theirs by naming it, and ranks by their numbers.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from itertools import takewhile
from pathlib import PurePosixPath
from types import MappingProxyType
from typing import TypeVar

from core.errors import UnreadableLog
from core.job import LogFile, Manifest
from core.logs.hosts import as_word, names_machine
from core.logs.lines import NO_TIME, first_time, mask, without_ansi
from core.logs.paths import behind_numbers, strip, without_ending
from core.logs.voices import FileSpeaker
from core.logs.wraps.shared_files import HEAD, has_clock
from core.parsing.file_names import called_after
from core.parsing.file_numbers import are_numbered_as, numbered, numbered_as_listed, numbered_as_ranks
from core.parsing.identified_files import find_identified, mentioned, name_themselves, numbered_themselves
from core.parsing.introductions import find_introductions
from core.parsing.own_words import find_own_words
from core.shares import MIN_RANKS, few_of

_Speaker = TypeVar("_Speaker", str, int)
MAX_FILES = 4096  # one a rank of the largest jobs
MAX_TOLD = 32  # of the other files, in whose first lines the names of machines may stand
_SAMPLE = 1 << 16  # bytes of a file: who speaks is told in its first lines
MIN_LINES = 3  # of fewer, one that speaks of another rank would decide
TOGETHER = 300_000_000  # microseconds: processes of a job begin within minutes; attempts and parts of a log do not
MIN_OWN = 2  # ranks of a file that is of a node: one alone may be all that it is of
SAME = 0.5  # of the lines are said in half of the files
SIGNED = 0.9  # of the lines with a clock: the others are of other programs
_TRIED = 400  # lines of a file
# In the head of a line, behind clock and level: [rank 1], (rank=1), rank:1, RANK 1 |, rank=1
_RANK = re.compile(
    rb"^.{0,96}?(?:[\[(<|]\s?(?:global[_ ])?rank[ :=_]{0,2}(\d{1,6})\s?[\])>|:]|\brank=(\d{1,6})\b(?![./]))",
    re.IGNORECASE | re.MULTILINE,
)
_HOSTLIKE = re.compile(r"[A-Za-z][A-Za-z0-9]*(?:-[A-Za-z0-9]+)+|[A-Za-z]+\d+")  # out.pi-a, out.gpu7; no log, err, gz
# What files are called after that are of no machine: parts of a run, and of a program.
_OF_A_RUN = re.compile(
    r"(?:std)?(?:out|err)(?:put)?|logs?|train(?:ing)?|val(?:id\w*)?|eval\w*|test|main|run|attempt|epoch|step|stage|phase|part|job"
    r"|shard|trial|fold|rank|local|proc(?:ess)?|task|console|debug|info|error|data|metrics?|events?",
    re.IGNORECASE,
)
_CRAY_NODE = re.compile(r"nid\d{5,6}")  # how HPE Cray calls its nodes
_STAMP = re.compile(rb"\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d")  # of a wrapper, behind what it holds
# Of several: rank 1/4, rank=1 of 4, process 3 on h-d, rank 2, world size 8
# Anywhere in a line that a program writes again and again: "gpu-7 rank 1 step 10: ..."
_SPOKEN = re.compile(rb"\brank[ =:#_]?(\d{1,6})\b", re.IGNORECASE)
_STREAM = re.compile(r"\.(?:std)?(?:out|err)$")  # of one process; what else stands behind a name may be of others
_INTRODUCES = re.compile(
    rb"\b(?:global[_ ])?(?:rank|process|worker|task)[ :=#]{1,2}(\d{1,6})"
    rb"(?=\s?/\s?\d|,? of \d|,? on [a-z]|[,;]? (?:world|member))",
    re.IGNORECASE,
)


_HOST_NUMBERED = re.compile(r"(?=.*[A-Za-z])(?=.*\d)[A-Za-z0-9.-]+")
# What Linux calls the logs of a machine, before its name: dmesg_g2-07.txt, journal-gaudi-b12.txt
_OF_A_SYSTEM = re.compile(
    r"^(?:dmesg|kern(?:el)?|syslog|messages|journal(?:ctl)?)[-_.](?=[\w.-]*[A-Za-z])", re.IGNORECASE
)


def find_speakers(
    files: Mapping[str, LogFile],
    no_rank: Collection[str],
    no_node: Collection[str],
    manifest: Manifest,
    several: Mapping[str, Collection[int]] = MappingProxyType({}),
    machines: Collection[str] = (),
) -> dict[str, FileSpeaker]:
    """The speakers of files.

    Args:
        no_rank, no_node: names of the files of which the rank, and the node, is not known.
        several: the ranks of files in which labels of lines tell several of them.
        machines: names of machines that other files, or labels of lines, tell.
    """
    heads = {name: _head(files[name]) for name in sorted({*no_rank, *no_node})[:MAX_FILES]}
    own = find_own_words(heads, manifest) | find_introductions(heads, manifest)
    nodes = {name: speaker.node for name, speaker in own.items() if speaker.node and name in no_node}
    ranks = {name: rank for name in sorted(no_rank) if name in own and (rank := own[name].rank) is not None}
    silent = {name: head for name, head in heads.items() if name in no_rank}
    ranks = ranks or max((_labelled(silent), _introduced(silent), _spoken(silent)), key=len)
    ranks |= _of_one_stem(ranks, [name for name in no_rank if name not in ranks and _STREAM.search(name)])
    untold = {name: heads[name] for name in heads if name in no_node and name not in nodes}
    told = {name: _head(files[name]) for name in sorted(set(files) - set(heads))[:MAX_TOLD]}
    if not manifest.nodes:
        nodes |= find_identified(untold, {**heads, **told}) | called_after(no_node, machines)
    untold = {name: head for name, head in untold.items() if name not in nodes}
    nodes |= name_themselves({**heads, **told}, nodes, machines, manifest.nodes) if untold else {}
    untold = {name: head for name, head in untold.items() if name not in nodes}
    counted = numbered_as_ranks(untold, {rank for own in several.values() for rank in own})
    ranks |= {name: rank for name, rank in counted.items() if name in no_rank}
    untold = {name: head for name, head in untold.items() if name not in counted}
    groups = list(_siblings(untold, no_rank, told, several))
    for group in groups:
        beside = {name: heads[name] for name in group}
        if manifest.nodes:
            nodes |= mentioned(beside, manifest.nodes)
        elif not are_numbered_as(group, ranks) and not any(word.isdecimal() for word in group.values()):
            nodes |= _called(group, beside)
    if not manifest.nodes:
        nodes |= _of_one_stem(nodes, [name for name in no_node if name not in nodes])
        nodes |= numbered_themselves(
            {name: heads[name] for name in heads if name in no_node and name not in nodes}, machines
        )
    listed = {} if nodes else numbered_as_listed({name: heads[name] for name in heads if name in no_node}, manifest)
    if manifest.nodes and not ranks:
        ranks = next((found for group in groups if (found := numbered(group, manifest))), {})
        of_node = {listed[name]: rank for name, rank in ranks.items() if name in listed}  # the other stream is its own
        ranks |= {name: of_node[node] for name, node in listed.items() if node in of_node and name in no_rank}
    nodes |= listed
    return {name: FileSpeaker(nodes.get(name), ranks.get(name)) for name in {*ranks, *nodes}}


def _head(file: LogFile) -> bytes:
    try:
        with file.open() as stream:
            return stream.read(_SAMPLE)
    except UnreadableLog:
        return b""


def _labelled(heads: Mapping[str, bytes]) -> dict[str, int]:
    """The rank of each file whose lines name one rank and no other."""
    found = {}
    for name, head in heads.items():
        ranks = [one or other for one, other in _RANK.findall(head)]
        if len(ranks) >= MIN_LINES and len(set(ranks)) == 1:
            found[name] = int(ranks[0])
    return found


def _introduced(heads: Mapping[str, bytes]) -> dict[str, int]:
    """The rank that each file tells first, when all tell another one, and together all from 0 on."""
    found = {name: int(match[1]) for name, head in heads.items() if (match := _INTRODUCES.search(head))}
    return found if len(found) > 1 and sorted(found.values()) == list(range(len(found))) else {}


def _spoken(heads: Mapping[str, bytes]) -> dict[str, int]:
    """The rank of each of several files in which one line, written often, names a rank of its own, and no other."""
    found: dict[str, int] = {}
    shapes: dict[str, set[bytes]] = {}
    for name, head in heads.items():
        said = [(match, line) for line in _lines(head) if (match := _SPOKEN.search(line[:HEAD]))]
        if len(said) >= MIN_LINES and len({match[1] for match, _ in said}) == 1:
            found[name] = int(said[0][0][1])
            shapes[name] = {mask(line[: match.end()]) for match, line in said}
    is_told = len(found) > 1 and len(set(found.values())) == len(found) and set.intersection(*shapes.values())
    return found if is_told else {}


# --- files beside each other ------------------------------------------------------------------------------------------


def _siblings(
    heads: Mapping[str, bytes],
    no_rank: Collection[str],
    told: Mapping[str, bytes],
    several: Mapping[str, Collection[int]],
) -> Iterator[dict[str, str]]:
    """Files beside each other that are of a machine each, with the word in which their names differ.

    They say the same, or tell that they are apart; where ranks are known, which may be all that the files are of, they
    have to tell it.
    """
    groups: dict[tuple[str, ...], dict[str, str]] = defaultdict(dict)
    for name in heads:
        parts = PurePosixPath(strip(name)).parts
        for place, part in enumerate(parts):
            stem, ending = without_ending(part) if place == len(parts) - 1 else (part, "")
            groups[(*parts[:place], "*" + ending, *parts[place + 1 :])][name] = stem or part
            if stem and (_HOSTLIKE.fullmatch(ending[1:]) or ending[1:].isdecimal()):
                groups[(*parts[:place], f"{stem}.*")][name] = ending[1:]
    found: set[str] = set()
    for group in map(_alike, groups.values()):
        if len(group) < 2 or found & set(group) or any(map(_is_process, _without_what_all_share(group.values()))):
            continue
        unknown = all(name in no_rank for name in group) and not all(word.isdecimal() for word in group.values())
        apart = unknown or _have_own_ranks({name: word for name, word in group.items() if name not in no_rank}, heads)
        same = apart and _say_the_same([heads[name] for name in group])
        are_apart = same or _sign(group, heads) or _have_own_ranks(group, heads) or _are_named(group, heads, told)
        are_apart = are_apart or _are_of_several_ranks(group, several)
        if of_machines := group if are_apart else _that_name_themselves(group, heads):
            found |= set(of_machines)
            yield of_machines


def _are_named(group: Mapping[str, str], heads: Mapping[str, bytes], told: Mapping[str, bytes]) -> bool:
    """Whether each file is called as a host is, and another log tells of a host of that name: ``dmesg/gpu-3``."""
    others = [*told.values(), *(head for name, head in heads.items() if name not in group)]
    return all(
        _HOST_NUMBERED.fullmatch(word)
        and not _OF_A_RUN.match(word)
        and any(as_word(word).search(head) for head in others)
        for word in group.values()
    )


def _sign(group: Mapping[str, str], heads: Mapping[str, bytes]) -> bool:
    """Whether nearly all lines of each file have the word of its own name in their head: ``13:09:54 gpu-a hub:``."""
    if any(_OF_A_RUN.match(word) for word in group.values()):
        return False
    return all(_signs(_lines(heads[name]), as_word(word)) for name, word in group.items())


def _signs(lines: Sequence[bytes], own: re.Pattern[bytes]) -> bool:
    with_clock = [line for line in lines if has_clock(line)]
    return len(with_clock) >= MIN_LINES and sum(
        own.search(line[:HEAD]) is not None for line in with_clock
    ) >= SIGNED * len(with_clock)


def _that_name_themselves(group: Mapping[str, str], heads: Mapping[str, bytes]) -> dict[str, str]:
    """The files that say one line which differs in nothing but the word of their own names: ``gpu-a is up``.

    All of them, or of several all but one, which is that of who started them.
    """
    if any(_OF_A_RUN.match(word) for word in group.values()):
        return {}
    saying: dict[bytes, dict[str, str]] = defaultdict(dict)
    for name, word in group.items():
        for line in _lines(heads[name]):
            if as_word(word).search(line):
                saying[mask(as_word(word).sub(b"\0", line))[:60]][name] = word
    most = max(saying.values(), key=len, default={})
    starter = len(group) > MIN_RANKS
    return most if len(most) >= len(group) - starter else {}


def _have_own_ranks(group: Mapping[str, str], heads: Mapping[str, bytes]) -> bool:
    """Whether each file has ranks of its own, which no other has, and is not called after them."""
    ranks = {name: {int(one or other) for one, other in _RANK.findall(heads[name])} for name in group}
    everyone = [rank for own in ranks.values() for rank in own]
    numbers = {name: {int(number) for number in re.findall(r"\d{1,6}", word)} for name, word in group.items()}
    are_ranks = any(ranks[name] & numbers[name] for name in group)
    apart = all(ranks.values()) and len(everyone) == len(set(everyone))
    return apart and not are_ranks and not any(_OF_A_RUN.match(word) for word in group.values())


def _are_of_several_ranks(group: Mapping[str, str], several: Mapping[str, Collection[int]]) -> bool:
    """Whether each file is called as a host is, and has several ranks that no other has: one file for each node.

    All but one, whose ranks are called as those of each node are where labels count these from 0 on.
    """
    files = Counter(rank for name in group for rank in several.get(name, ()))
    own = [sum(files[rank] == 1 for rank in several.get(name, ())) for name in group]
    hosts = (any(map(str.isdigit, word)) and any(map(str.isalpha, word)) for word in group.values())
    return sum(count < MIN_OWN for count in own) <= (len(own) > MIN_OWN) and all(hosts)


def _of_one_stem(known: Mapping[str, _Speaker], others: Iterable[str]) -> dict[str, _Speaker]:
    """The machine or rank of files that are called like one of which it is known, but for what is behind the dot."""
    of_stem = {stem: own for name, own in known.items() if (stem := _before_dot(name))}
    return {name: of_stem[stem] for name in others if (stem := _before_dot(name)) in of_stem}


def _before_dot(name: str) -> str:
    """A path without the ending of its file; empty where that has none."""
    folder, slash, file = name.rpartition("/")
    return folder + slash + file.rpartition(".")[0] if "." in file else ""


def _called(group: Mapping[str, str], heads: Mapping[str, bytes]) -> dict[str, str]:
    """The machine of each file, by the word that is its own."""
    if rests := _behind_what_all_share(group, heads):
        return rests
    hosts = behind_numbers(group.values()) or _behind_underscores(group)
    ends = {word.rpartition("-")[2] for word in group.values() if "-" in word.strip("-")}
    end = f"-{ends.pop()}" if len(ends) == 1 and all("-" in word for word in group.values()) else ""  # a-json, b-json
    words = {name: word.removesuffix(end) for name, word in group.items()}
    called = {name: hosts.get(word) or _shortest(words[name], heads[name]) for name, word in group.items()}
    return called if len(set(called.values())) > 1 else words  # what all end with is no name: the domain of a cluster


def _behind_underscores(group: Mapping[str, str]) -> dict[str, str]:
    """The host of each word: ``train_7b_55441_h200-676-005``. No host's name has an underscore (RFC 952)."""
    hosts = {word: word.rpartition("_")[2] for word in group.values()}
    before = {word.rpartition("_")[0] for word in group.values()}
    alike = len(before) == 1 and before != {""} and len(set(hosts.values())) == len(hosts)
    return hosts if alike and all(map(_HOST_NUMBERED.fullmatch, hosts.values())) else {}


def _without_what_all_share(words: Collection[str]) -> list[str]:
    """The words without the part, up to a sign between parts, with which all of them begin."""
    pairs = takewhile(lambda pair: pair[0] == pair[1], zip(min(words), max(words), strict=False))
    shared = "".join(one for one, _ in pairs)
    shared = shared[: max(shared.rfind(sign) for sign in "-_.") + 1]
    return [word.removeprefix(shared) for word in words]


def _behind_what_all_share(group: Mapping[str, str], heads: Mapping[str, bytes]) -> dict[str, str]:
    """What is each one's own in ``kestrel.hel``, ``kestrel.freya``, if files name the machines of others so."""
    rests = dict(zip(group, _without_what_all_share(group.values()), strict=True))
    if rests == group or not all(re.fullmatch(r"[A-Za-z][\w-]*", rest) for rest in rests.values()):
        return {}
    told = sum(
        any(names_machine(head, rest) for other, head in heads.items() if other != name) for name, rest in rests.items()
    )
    return rests if told > 1 else {}


def _alike(group: Mapping[str, str]) -> dict[str, str]:
    """Without a client or a scheduler beside files that are numbered: those are no machines."""
    shapes = Counter(re.sub(r"\d+", "#", word) for word in group.values())
    numbered = any("#" in shape and count > 1 for shape, count in shapes.items())
    return {name: word for name, word in group.items() if not numbered or re.search(r"\d", word)}


def _is_process(word: str) -> bool:
    """Whether a name tells processes or times apart, and no machines: plog-11116_20230131024824451."""
    return re.search(r"\d{5}", _CRAY_NODE.sub("", word)) is not None


def _lines(head: bytes) -> list[bytes]:
    return [line for line in without_ansi(head).split(b"\n")[:_TRIED] if line.strip()]


def _say_the_same(heads: Sequence[bytes]) -> bool:
    lines = list(map(_lines, heads))
    starts = [_start(own) for own in lines]
    if not _began_together(starts):
        return False
    shapes = [[mask(line)[:60] for line in own] for own in lines]
    files = Counter(shape for own in shapes for shape in set(own))
    shared = [sum(files[shape] * 2 > len(heads) for shape in own) for own in shapes]
    if sum(shared) >= SAME * sum(map(len, shapes)) > 0:
        return True
    most = sum(count >= SAME * len(own) for count, own in zip(shared, shapes, strict=True))
    return len(heads) >= MIN_RANKS and min(shared) > 0 and most * 2 > len(heads)  # one may hold a long traceback


def _began_together(starts: Sequence[int]) -> bool:
    """Whether files begin within minutes: both of two; of more all but few, whose clocks are wrong; or none has one."""
    if len(starts) < MIN_RANKS:
        return NO_TIME not in starts and max(starts) - min(starts) <= TOGETHER
    if NO_TIME in starts:
        return set(starts) == {NO_TIME}  # their words alone tell
    middle = sorted(starts)[len(starts) // 2]
    return sum(abs(start - middle) > TOGETHER for start in starts) <= few_of(len(starts))


def _start(lines: Iterable[bytes]) -> int:
    """The first time of its lines; of a wrapper's where none begins with one."""
    lines = list(lines)
    stamps = (first_time(match[0], 1970) for line in lines if (match := _STAMP.search(line)))
    return next((time for line in lines if (time := first_time(line, 1970)) != NO_TIME), next(stamps, NO_TIME))


def _shortest(word: str, head: bytes) -> str:
    """The end of a file's name by which its lines call the machine, else all of it: ``gpu-7`` of ``train-gpu-7``."""
    ends = [word[match.end() :] for match in re.finditer(r"[-_.]", word)]
    ends_with_name = (end for end in reversed(ends) if names_machine(head, end))
    return next((end for end in ends_with_name if re.search(r"[A-Za-z]", end)), _OF_A_SYSTEM.sub("", word))
