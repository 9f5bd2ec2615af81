"""What tables of devices tell: a row for each card, again and again, of which one changed for good and no other did.

``nvidia-smi``, ``dcgmi dmon`` and their like print a number for each column, and mostly no name beside it. A card that
falls to a fifth of its clock, alone among all cards, is where to look in a job that became slow or stood still.
"""

import re
from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from core.course.level_shift import CLEAR_MOST, CLEAR_RATIO, find_shift
from core.course.pace import SECOND
from core.events.messages import unlabelled
from core.events.row_text import read_rows
from core.events.table import rows_by
from core.judge.ending import Ending
from core.naming import figure
from core.nodes.odd_values import STEADY, TIMES
from core.nodes.onset import onset_of_slowdown
from core.nodes.sign import Sign
from core.nodes.table_heads import column_names, split_row
from core.nodes.told_numbers import while_it_trained
from core.parsed import Parsed
from core.shares import MIN_RANKS, few_of

CHANGED = 0.6  # as sure as a vote: it tells who differs since then, not why
MIN_VALUES = 3  # of a number that never changes: of two, one may be of another moment
FEW_VALUES = 2  # on either side, where the cards of all other machines tell what is usual
HALF = 0.5  # of how far it went, in octaves: others that went so far did so as well
AGREE = 2  # numbers of the cards of a node that are apart: one may be that of another part of the work
MIN_DEVICES = 4  # of fewer, one that does another part of the work is a large part of them
MAX_EVENTS = 16  # messages that are looked at, those said most often first
MAX_ROWS = 64_000  # of all nodes, evenly spread: a third of a second
BLOCK = 16  # rows in a row that are read together: as many as a machine has cards, so that each is met
STEPS = 2.0  # of the job between two rows of a card, at least: samplers ask every few seconds
NEAR = 120 * SECOND  # of the onset, where rows have a clock: tables are printed once a minute, and lag behind
# A row of a device: "GPU 5     345", "npu 5  Health OK", ", 2, P0, 151.78 W"; what stands before is a clock
_DEVICE = re.compile(
    r"(?:^|[\s,|])(?P<kind>GPU|NPU|DCU|HPU|XPU|card|device|dev|mlu)[ :#]{1,3}(?P<number>\d{1,3})\b", re.IGNORECASE
)
# A row of nvidia-smi --format=csv, behind its clock: ", 4, 87, 510 MHz, 186.33 W"
_CSV_ROW = re.compile(r"^[\s,]*(?P<number>\d{1,3}),(?=.*\d (?:MHz|W|MiB|%))")
# A row of gpustat (1.1): "[2] NVIDIA A100-PCIE-40GB | 63'C,  94 % | 35102 / 40960 MB"
_GPUSTAT_ROW = re.compile(r"^\s*\[(?P<number>\d{1,3})\] [^|]{1,64}\|(?=\s{0,3}\d{1,3}.C,)")
# A row of a list of all machines: its host, the number of a card, and nothing but numbers: "hal-02   1  100%    285"
_HOST_ROW = re.compile(r"^\s*(?P<host>[A-Za-z][\w.-]{1,62})\s+(?P<number>\d{1,3})(?=(?:\s+[\d.]{1,12}%?){3,16}\s*$)")
# A line of NVIDIA's dcgm-exporter (3.3): DCGM_FI_DEV_SM_CLOCK{gpu="0",UUID="GPU-5f99...",...} 1980
_GAUGE_ROW = re.compile(r"^\s*(?P<gauge>DCGM_\w{1,64})\{gpu=\"(?P<number>\d{1,3})\"[^}]{0,512}\}")
_ROWS = (_GAUGE_ROW, _DEVICE, _CSV_ROW, _GPUSTAT_ROW, _HOST_ROW)
Series = Mapping[tuple[str, str, str], list[tuple[int, float]]]  # node, device and name: row and value, in order
_UNITS = ("MHz", "W", "MiB", "%", "C")  # of nvidia-smi's columns
_COLUMN = "column "  # before the place of a number that has no name beside it
_NUMBER = re.compile(
    r"(?:(?P<name>[A-Za-z][\w()%/ ]{0,24}?)[ =:]{1,2})?(?<![\w.:/-])(?P<value>\d{1,9}(?:\.\d{1,6})?)(?![\w:/-])"
)
_CLOCK = re.compile(r"\d{2,4}[-/]\d\d[-/]\d{2,4}[ T]{0,2}|\d\d:\d\d:\d\d(?:[.,]\d{1,9})?")


@dataclass(frozen=True, slots=True)
class _Changed:
    """A number of a device that left its level for good, or is otherwise all along: ``before`` is that of all others.

    row: the first one after that. share: of its values that came before, none where it never changed.
    """

    node: str
    device: str
    name: str
    before: float
    after: float
    row: int
    share: float

    @property
    def told(self) -> str:
        """What it did, for a sentence."""
        own, usual = figure(self.after), figure(self.before)
        return f"went from {usual} to {own}" if self.share else f"is {own} where that of all others is {usual}"

    @property
    def octaves(self) -> float:
        """How far it went, up or down; zero counts as one."""
        return float(abs(np.log2((self.after or 1.0) / (self.before or 1.0))))


def device_signs(parsed: Parsed, ending: Ending) -> list[Sign]:
    """A sign for the one node with the few devices that changed, of a job that became slow or stood still.

    Of a job that was slower than good ones from its start on, for the device that was otherwise all along.
    """
    if not (ending.hung or ending.slow is not None or ending.drift is not None) or parsed.unit != "node":
        return []
    series = _series(parsed)
    devices = {(node, device) for node, device, _ in series}
    changed = [found for key, of in sorted(series.items()) if (found := _change(*key, of)) is not None]
    changed += _left(series)
    changed = [
        found for found in changed if _is_at_onset(parsed, ending, found.row) and not _all_moved(found, series, devices)
    ]
    if not changed and ending.slow is not None and ending.slow.than_good_jobs:
        changed = list(_apart(series))
        changed = changed or list(_of_one_node(series))
    odd = {(found.node, found.device) for found in changed}
    nodes = {node for node, _ in odd}
    few = len(odd) <= few_of(len(devices)) or odd == {key for key in devices if key[0] in nodes}
    if len(devices) < MIN_DEVICES or not odd or not few or len(nodes) != 1:
        return []
    first = max(changed, key=lambda found: (found.octaves, found.device, found.name))
    name = _name(parsed, first)
    more = f" and {len(odd) - 1} more" if len(odd) > 1 else ""
    told = f"{name} of {first.device}{more} {first.told}"
    because = f"On {first.node} {told}" + (", and stayed so; that of no other device did." if first.share else ".")
    check = f"Compare {first.device} of {first.node} with another one: clocks, temperature, power, errors."
    return [Sign(first.node, "gauge", CHANGED, because, says=told, check=check, rows=(first.row,))]


def _name(parsed: Parsed, found: _Changed) -> str:
    """What a number is called: what has no name beside it, as the head of its table calls it."""
    if not found.name.startswith(_COLUMN):
        return found.name
    text = unlabelled(parsed.table, found.row, read_rows(parsed.files, parsed.table, [found.row])[found.row])
    names = column_names(parsed, found.row, text)
    text = _CLOCK.sub(" ", text) if "," in text else text  # a clock is one column between commas, and two words
    device = next((match for row in _ROWS if (match := row.search(text)) is not None), None)
    place = (
        len(split_row(text[: device.end()].rstrip(" ,"))) + int(found.name.removeprefix(_COLUMN)) - 1 if device else 0
    )
    unit = next((f" ({unit})" for unit in _UNITS if f" {found.after:.10g} {unit}," in f"{text},"), "")
    return names[place] if 0 < place < len(names) else f"{found.name}{unit}"


def _series(parsed: Parsed) -> Series:
    """The numbers of each device of each node by their names, in order, with their rows."""
    table = parsed.table
    events = [event for event, template in enumerate(table.templates) if _is_row(template.sample)]
    events = sorted(events, key=lambda event: (-int(table.heads[event]), event))[:MAX_EVENTS]
    found: dict[tuple[str, str, str], list[tuple[int, float]]] = defaultdict(list)
    most = MAX_ROWS // max(1, len(table.nodes) * len(events))
    names = frozenset(parsed.nodes)
    for _, rows in sorted(table.rows_of(events).items()):
        for node, own in rows_by(table.node, rows):
            each = most if node >= 0 else most * len(names)  # one log tells of all machines
            for row, text in sorted(read_rows(parsed.files, table, _spread(own, each)).items()):
                plain = unlabelled(table, row, text)
                listed = _HOST_ROW.search(plain)
                home = listed["host"] if listed is not None and listed["host"] in names else ""
                if home or node >= 0:
                    for device, name, value in _numbers(plain):
                        found[home or table.nodes[node], device, name].append((row, value))
    return while_it_trained(parsed, found) if found else found


def _spread(rows: NDArray[np.intp], most: int) -> NDArray[np.intp]:
    """At most so many of them, block by block, evenly spread."""
    blocks = max(1, most // BLOCK)
    if len(rows) <= blocks * BLOCK:
        return rows
    starts = np.linspace(0, len(rows) - BLOCK, blocks).astype(np.intp)
    return np.asarray(rows[np.unique((starts[:, None] + np.arange(BLOCK)).ravel())], np.intp)


def _is_row(sample: str) -> bool:
    """Whether a template may be a row of a device."""
    plain = _CLOCK.sub(" ", sample.replace("<TS>", " ").replace("<NUM>", "0"))
    return any(row.search(plain) for row in _ROWS)


def _numbers(text: str) -> Iterator[tuple[str, str, float]]:
    """Device, name and value of each number of a row; what has no name is called after its place."""
    plain = _CLOCK.sub(" ", text)
    device = next((found for row in _ROWS if (found := row.search(plain)) is not None), None)
    if device is None:
        return
    called = f"{device.groupdict().get('kind', 'GPU')} {device['number']}"
    for place, match in enumerate(_NUMBER.finditer(plain, device.end()), start=1):
        name = device.groupdict().get("gauge") or (match["name"] or "").strip()
        yield called, name or f"{_COLUMN}{place}", float(match["value"])


def _change(node: str, device: str, name: str, series: list[tuple[int, float]]) -> _Changed | None:
    """Where a number left its level for good, by three times or to a third; None where it did not.

    By less where both levels are clear, as those of a clock are (``core.course.level_shift``). Zero, which an idle card
    has, counts as one: numbers that are often zero are whole.
    """
    values = np.array([value for _, value in series])
    known = values if values.min() > 0 else np.maximum(values, 1.0)
    rise, fall = (find_shift(of, TIMES, long=TIMES, each=STEPS) for of in (known, 1.0 / known))
    shift = rise or fall
    if shift is None:
        return None
    before, after = (float(np.median(side)) for side in (values[: shift.place], values[shift.place :]))
    return _Changed(node, device, name, before, after, series[shift.place][0], shift.place / len(values))


def _left(series: Series) -> Iterator[_Changed]:
    """Numbers that were among those of the cards of all other machines at first, and are not at the end.

    Few values are enough: so many cards that keep together tell what is usual.
    """
    of_name: dict[str, dict[tuple[str, str], NDArray[np.float64]]] = defaultdict(dict)
    for (node, device, name), of in sorted(series.items()):
        of_name[name][node, device] = np.array([value for _, value in of])
    for name, of_devices in of_name.items():
        moved = [key for key, values in of_devices.items() if _has_moved(values)]
        if len({node for node, _ in moved}) != 1:
            continue  # nobody, or several: their load may have changed
        node = moved[0][0]
        others = [values for (other, _), values in of_devices.items() if other != node]
        if len(others) < MIN_DEVICES or sum(map(len, others)) < MIN_DEVICES * MIN_VALUES:
            continue
        low, high = (float(np.quantile(np.concatenate(others), share)) for share in (1 - CLEAR_MOST, CLEAR_MOST))
        for key in moved if 0 < low <= high <= STEADY * low else ():
            if found := _leaves(of_devices[key], low / CLEAR_RATIO, high * CLEAR_RATIO):
                at, before, after = found
                rows = [row for row, _ in series[(*key, name)]]
                yield _Changed(*key, name, before, after, rows[at], at / len(rows))


def _has_moved(values: NDArray[np.float64]) -> bool:
    """Whether the last values are apart from the first ones by as much as levels that are clear."""
    if len(values) < 2 * FEW_VALUES or values.min() < 0:
        return False
    first, last = (max(1.0, float(np.median(of))) for of in (values[:FEW_VALUES], values[-FEW_VALUES:]))
    return max(first, last) >= CLEAR_RATIO * min(first, last)


def _leaves(values: NDArray[np.float64], low: float, high: float) -> tuple[int, float, float] | None:
    """From which place on all values are outside of a range in which all before were, and the middle of either."""
    inside = (low <= values) & (values <= high)
    at = int(inside.sum())
    if not inside[:at].all() or min(at, len(values) - at) < FEW_VALUES:
        return None
    return at, float(np.median(values[:at])), float(np.median(values[at:]))


def _apart(series: Series) -> Iterator[_Changed]:
    """The numbers of one device that are a third of those of all others, or three times them, from first to last."""
    of_name: dict[str, dict[tuple[str, str], list[tuple[int, float]]]] = defaultdict(dict)
    for (node, device, name), of in sorted(series.items()):
        if len(of) >= MIN_VALUES:
            of_name[name][node, device] = of
    for name, of_devices in of_name.items():
        levels = {key: max(1.0, float(np.median([value for _, value in of]))) for key, of in of_devices.items()}
        usual = float(np.median(list(levels.values())))
        far = [key for key, level in levels.items() if max(level, usual) >= TIMES * min(level, usual)]
        near = [level for key, level in levels.items() if key not in far]
        if len(far) == 1 and len(near) >= MIN_DEVICES and max(near) <= STEADY * min(near):
            node, device = far[0]
            yield _Changed(node, device, name, usual, levels[far[0]], of_devices[far[0]][-1][0], 0.0)


def _of_one_node(series: Series) -> Iterator[_Changed]:
    """Numbers of the cards of one node that are apart from those of all other cards, if two of them are or more.

    By as much as levels that are clear, and twice as far as the others are from each other: a clock and the power that
    it draws. One number alone may be that of another part of the work.
    """
    of_name: dict[str, dict[tuple[str, str], float]] = defaultdict(dict)
    for (node, device, name), of in sorted(series.items()):
        if len(of) >= MIN_VALUES:
            of_name[name][node, device] = max(1.0, float(np.median([value for _, value in of])))
    found: dict[str, list[_Changed]] = defaultdict(list)
    for name, levels in of_name.items():
        nodes = sorted({node for node, _ in levels})
        for node in nodes if len(nodes) >= MIN_RANKS else ():
            others = [level for key, level in levels.items() if key[0] != node]
            far = [key for key in levels if key[0] == node and _is_far(levels[key], others)]
            near = [level for key, level in levels.items() if key not in far]
            if len(others) >= MIN_DEVICES and all(_is_far(levels[key], near) for key in far):
                usual = float(np.median(near))
                found[node] += [
                    _Changed(*key, name, usual, levels[key], series[(*key, name)][-1][0], 0.0) for key in far
                ]
    found = {node: of for node, of in found.items() if of}
    if len(found) == 1 and len({one.name for of in found.values() for one in of}) >= AGREE:
        yield from next(iter(found.values()))


def _is_far(level: float, others: Sequence[float]) -> bool:
    """Whether it is apart from all others, by a clear ratio and by twice as much as they are from each other."""
    need = max(CLEAR_RATIO, (max(others) / min(others)) ** 2)
    return level * need <= min(others) or level >= max(others) * need


def _all_moved(found: _Changed, series: Series, devices: Collection[tuple[str, str]]) -> bool:
    """Whether that number of more than a few other devices moved the same way then, if less clearly, or by less.

    Who waits in a hang draws less power than who computes, on each card.
    """
    moved = 0
    for (node, device, name), of in series.items():
        at = round(found.share * len(of))
        if name == found.name and (node, device) != (found.node, found.device) and 0 < at < len(of):
            before, after = (float(np.median([value for _, value in side])) or 1.0 for side in (of[:at], of[at:]))
            octaves = np.log2(after / before)
            moved += bool(abs(octaves) >= HALF * found.octaves and (octaves > 0) == (found.after > found.before))
    return moved > few_of(len(devices))


def _is_at_onset(parsed: Parsed, ending: Ending, row: int) -> bool:
    """Whether a row came near the onset; of rows without a clock nobody knows, and the change itself has to tell."""
    onset = ending.progressed if ending.hung else onset_of_slowdown(parsed, ending)
    dated = bool(parsed.table.timed[np.array([row])][0])
    return not dated or onset is None or abs(int(parsed.table.time[np.array([row])][0]) - onset) <= NEAR
