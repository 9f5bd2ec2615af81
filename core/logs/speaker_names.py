"""What the names of speakers mean, read together: ``gpu-7``, ``rank 3``, ``gpu-7/3``, ``R3@gpu-7``, ``[2/4]``.

One name alone may be anything. Several that stand in one place and are made alike tell: ranks count from 0 on, machines
have letters, and a name of both has a rank that tells the others apart.
"""

import re
from collections import defaultdict
from collections.abc import Collection, Sequence
from dataclasses import dataclass

from core.logs.hosts import PART_NUMBER

# What a process does; worker-3 may be the name of a pod, but behind another sign, or a key, the number is a rank.
_ROLE = rb"(?:worker|trainer|actor|replica|client|task|stage)[/:#\[]"
_RANK = re.compile(rb"(?:proc(?:ess)?|rn?k|rang|[rp#])?[-_#]?(?P<rank>[0-9]{1,6})(?:/[0-9]{1,6})?", re.IGNORECASE)
_NAMED_RANK = re.compile(
    rb"(?:(?:global_?)?rank[-_#]?|" + _ROLE + rb")(?P<rank>[0-9]{1,6})(?:/[0-9]{1,6})?", re.IGNORECASE
)
_RANK_KEY = re.compile(
    rb"(?:(?:global|local)[ _-]?)?rank|rang"
    rb"|(?:worker|proc(?:ess)?|task|gpu|cuda|device|replica|trainer|actor|learner|agent)"
    rb"(?:_?(?:id|no|num|index))?|[rwp]",
    re.IGNORECASE,
)
# Under such a key a name of a process, actor-3, is its number; the name of its machine it would have under another.
_PROCESS = re.compile(
    rb"(?:worker|trainer|actor|replica|client|task|learner|agent|[watl])[-_#]?(?P<rank>[0-9]{1,6})", re.IGNORECASE
)
_LOCAL_KEY = re.compile(rb"local.{0,8}", re.IGNORECASE)
_UNIT = rb"(?:%|[KMGT]i?|[A-Za-z]?i?[Bb]|[munk]?s|secs?|min|h|it|[A-Za-z]{1,3}/s)"  # of a measure: 18.1G, 107/s
_ADDRESS = rb"(?:[0-9]{1,3}\.){3}[0-9]{1,3}"
_HOST = (
    rb"(?:" + _ADDRESS + rb"|(?!(?i:" + _ROLE + rb"))(?!" + _UNIT + rb"(?![\w.-]))"
    rb"(?=[0-9.-]{0,62}[A-Za-z])[A-Za-z0-9.-]{1,63})"
)
_NODE_AND_RANK = (
    re.compile(rb"(?P<node>" + _HOST + rb")[/@#](?:r|rank)?(?P<rank>[0-9]{1,6})"),
    re.compile(rb"(?:r|rank)?(?P<rank>[0-9]{1,6})[/@](?P<node>" + _HOST + rb")", re.IGNORECASE),
)
# These may be an index or a part of a name as well: only ranks that count tell.
_NODE_AND_COUNT = (
    re.compile(rb"(?P<node>" + _HOST + rb"):(?:r|rank)?(?P<rank>[0-9]{1,6})(?:/[0-9]{1,6})?"),  # ESPnet: gpu-7:3/8
    re.compile(rb"(?P<node>" + _HOST + rb")\[(?P<rank>[0-9]{1,6})"),
    re.compile(rb"(?P<node>" + _HOST + rb")[.](?P<rank>[0-9]{1,6})"),
    re.compile(
        rb"(?!(?i:stage))[A-Za-z]{1,16}[-_#]?(?P<rank>[0-9]{1,6})(?:/[0-9]{1,6})?@(?P<node>" + _HOST + rb")"
    ),  # m0/4@gpu-7
)
_OF_TOTAL = re.compile(_HOST + rb":(?P<rank>[0-9]{1,6})/(?P<total>[0-9]{1,6})")
_STREAM = re.compile(rb"(?P<node>" + _HOST + rb")[/.:](?:std)?(?:out|err)")  # gpu-7/err, as launchers tag streams
_OF_NODE = re.compile(rb"(?P<node>" + _HOST + rb")/(?P<process>[A-Za-z]{1,16}[-_]?[0-9]{0,4})")  # gpu-7/loader1
_IN_GROUP = re.compile(rb"(?P<group>[A-Za-z0-9._-]{1,32})/(?P<node>" + _HOST + rb")")  # farm/gpu-7, all of one farm
_AT_NODE = re.compile(rb"[A-Za-z]{1,32}[-_]?[0-9]{1,6}@(?P<node>" + _HOST + rb")")  # stage3@gpu-7
# What comes again and again as speakers do, and says the same: parts of a run, and levels.
OF_A_RUN = re.compile(
    rb"train\w*|val\w*|eval\w*|test\w*|epoch\W?\d*|step|phase\W?\d*|stage\W?\d*|fold\W?\d*"
    rb"|trace|debug|info|notice|warn\w*|error|critical|fatal",
    re.IGNORECASE,
)
_DATE = re.compile(rb"Mon|Tue|Wed|Thu|Fri|Sat|Sun|Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec", re.IGNORECASE)
# None of these is a machine's name: levels, places in the code, measures, identifiers.
_NODE = re.compile(
    rb"(?!(?:TRACE|DEBUG|INFO|NOTICE|WARN(?:ING)?|ERROR|CRITICAL|FATAL|UTC|[AP]M)\Z)"
    rb"(?!.{0,64}\.(?:py|cc|cpp|go|rs|java|scala|js|ts|jl)(?::?[0-9]{1,6})?\Z)"
    rb"(?!(?!" + _ADDRESS + rb"\Z)[0-9.]{1,16}" + _UNIT + rb"?\Z)"
    rb"(?!0x[0-9a-f]{1,16}\Z|[0-9a-f]{7,64}\Z|[DIWEF][0-9]{4}\Z)"  # the last is glog's level and day
    rb"(?P<node>" + _ADDRESS + rb"|(?=[^A-Za-z]{0,63}[A-Za-z])[A-Za-z0-9](?:[A-Za-z0-9_.-]{0,61}[A-Za-z0-9])?)",
    re.IGNORECASE,
)
_DIGITS = re.compile(rb"[0-9]+")
# A machine by its full name or address, or behind a word after which nothing else stands
MACHINE = re.compile(
    rb"(?<![\w./-])(?:(?:[A-Za-z0-9-]{1,63}\.){1,6}[A-Za-z]{2,63}|(?:[0-9]{1,3}\.){3}[0-9]{1,3})(?![\w-])"
    rb"|(?:\b(?:on|from|host|node|at)[ =:]{1,2}|@ ?|-> {0,4})"
    rb"(?P<named>(?=[A-Za-z0-9.-]{0,62}[0-9])[A-Za-z](?:[A-Za-z0-9.-]{0,62}[A-Za-z0-9])?)"
)


@dataclass(frozen=True, slots=True)
class Name:
    """Who speaks: a machine, empty when none is named; a rank of the job, or of the machine."""

    node: bytes = b""
    rank: int | None = None
    local_rank: int | None = None


@dataclass(frozen=True, slots=True)
class NameReading:
    """How names that are made alike are read. is_local: their ranks are those of a machine."""

    form: re.Pattern[bytes]
    is_local: bool = False

    @property
    def tells_node(self) -> bool:
        """Whether each name tells a machine."""
        return "node" in self.form.groupindex

    @property
    def tells_rank(self) -> bool:
        """Whether each name tells a rank."""
        return "rank" in self.form.groupindex

    @property
    def tells_both(self) -> bool:
        """Whether each name tells a rank and its machine."""
        return self.tells_node and self.tells_rank

    def read(self, name: bytes) -> Name | None:
        """What a name means; None when it is made otherwise."""
        match = self.form.fullmatch(name)
        if match is None:
            return None
        rank = int(match["rank"]) if self.tells_rank else None
        node = match["node"] if self.tells_node else b""
        return Name(node, local_rank=rank) if self.is_local else Name(node, rank)


PLAIN_RANKS = NameReading(_RANK)  # 3, r3, rank-3


def find_reading(names: Sequence[bytes], key: bytes = b"", *, opens: bool = False) -> NameReading | None:
    """How these different names are read; None when they are not those of speakers.

    Args:
        key: what stands before each of them, as in ``host=gpu-7``; empty when nothing does.
        opens: nearly every line opens with one, in brackets: ``[12] step 31``.
    """
    named = _ranks(names, _NAMED_RANK)
    in_brackets = any(
        b"[" in name for name in names
    )  # trainer[3] counts; trainer[31539] is a process id, as syslog has it
    if named and len(set(named)) == len(named) and (not in_brackets or _count_from_zero(named)):
        return NameReading(_NAMED_RANK)
    ranks = _ranks(names, _RANK) if not key or _RANK_KEY.fullmatch(key) else []
    lettered = bool(key) or opens or not any(name[:1].isdigit() for name in names)
    if _count_from_zero(ranks) or (lettered and _are_of_one_machine(ranks)):
        return NameReading(_RANK, _LOCAL_KEY.fullmatch(key) is not None)
    if _RANK_KEY.fullmatch(key) and _count_from_zero(_ranks(names, _PROCESS)):
        return NameReading(_PROCESS)
    for form in (*_NODE_AND_RANK, *_NODE_AND_COUNT):
        ranks = _ranks(names, form)
        if _count_from_zero(ranks) or (ranks and form in _NODE_AND_RANK and len(set(ranks)) == len(ranks)):
            return NameReading(form)
        if _count_on_each_node(names, form):
            return NameReading(form, is_local=True)
    are_dates = all(map(_DATE.fullmatch, names))  # one may be a machine: sun beside moon
    forms = () if are_dates else (_STREAM, _AT_NODE, *_with_a_slash(names), _NODE)
    return next((NameReading(form) for form in forms if all(map(form.fullmatch, names))), None)


def is_machine(name: str) -> bool:
    """Whether a machine may be called so: no level, no date, no measure, no place in the code, no part of a run."""
    word = name.encode()
    is_other = _DATE.fullmatch(word) or OF_A_RUN.fullmatch(word) or PART_NUMBER.fullmatch(name)
    return _NODE.fullmatch(word) is not None and not is_other


def names_rank(name: bytes) -> bool:
    """Whether a name by itself is that of a rank: ``rank3``, ``worker/3``."""
    return _NAMED_RANK.fullmatch(name) is not None


def count_all(names: Sequence[bytes]) -> bool:
    """Whether each name is that of a machine and a rank, of another machine each, and no rank is left out."""
    found = [next((match for form in _NODE_AND_RANK if (match := form.fullmatch(name))), None) for name in names]
    homes = {match["node"]: int(match["rank"]) for match in found if match is not None}
    return len(homes) == len(names) and sorted(homes.values()) == list(range(len(names)))


def count_their_total(names: Sequence[bytes]) -> bool:
    """Whether each name is that of a machine and of one of so many ranks, and there are so many: ``gpu-7:3/8``."""
    found = [match for name in names if (match := _OF_TOTAL.fullmatch(name)) is not None]
    ranks, totals = sorted(int(match["rank"]) for match in found), {int(match["total"]) for match in found}
    return totals == {len(names)} and ranks == list(range(len(names)))


def are_made_alike(names: Collection[bytes]) -> bool:
    """Whether names of machines differ in numbers only, or in what stands behind one beginning: p5-a, p5-b."""
    first = min(names)
    if len({_DIGITS.sub(b"9", name) for name in names}) == 1:
        return _DIGITS.search(first) is not None
    pairs = zip(first, max(names), strict=False)
    shared = next((place for place, (one, other) in enumerate(pairs) if one != other), len(first))
    in_little = shared >= 2 and all(len(name) - shared <= 2 for name in names)
    return in_little or re.search(rb"[A-Za-z0-9][._-]", first[:shared]) is not None


def _ranks(names: Sequence[bytes], form: re.Pattern[bytes]) -> list[int]:
    """The rank of each name; empty when one has none."""
    ranks = [int(match["rank"]) for name in names if (match := form.fullmatch(name))]
    return ranks if len(ranks) == len(names) else []


def _count_from_zero(ranks: Sequence[int]) -> bool:
    """All different, and as few numbers left out as there are."""
    return bool(ranks) and len(set(ranks)) == len(ranks) and min(ranks) == 0 and max(ranks) < 2 * len(ranks)


def _are_of_one_machine(ranks: Sequence[int]) -> bool:
    """Whether they are those of one machine of several that have as many each: 4 to 7, 8 to 15."""
    least = min(ranks, default=0)
    return len(ranks) > 1 and sorted(ranks) == list(range(least, least + len(ranks))) and least % len(ranks) == 0


def _with_a_slash(names: Sequence[bytes]) -> list[re.Pattern[bytes]]:
    """Whether the machine stands before a slash, with processes that several have alike, or behind one group of all."""
    of_node = [match for name in names if (match := _OF_NODE.fullmatch(name)) is not None]
    nodes, processes = ({match[part] for match in of_node} for part in ("node", "process"))
    if len(of_node) == len(names) and 1 < len(nodes) < len(names) and len(processes) < len(names):
        return [_OF_NODE]
    groups = {match["group"] for name in names if (match := _IN_GROUP.fullmatch(name)) is not None}
    return [_IN_GROUP] if len(groups) == 1 and len(names) > 1 else []


def _count_on_each_node(names: Sequence[bytes], form: re.Pattern[bytes]) -> bool:
    """Whether the numbers begin anew on each of several machines."""
    if not _ranks(names, form):
        return False
    of_node: dict[bytes, list[int]] = defaultdict(list)
    for match in map(form.fullmatch, names):
        if match is not None:
            of_node[match["node"]].append(int(match["rank"]))
    return 1 < len(of_node) < len(names) and all(map(_count_from_zero, of_node.values()))
