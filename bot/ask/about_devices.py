"""Answers from tables of devices: clock, power, temperature, load of one, then and now, and which one is apart."""

import re
from collections.abc import Sequence
from statistics import median
from typing import NamedTuple

from bot.ask.about_nodes import device_of, suspect
from bot.ask.device_rows import DeviceRow, device_rows, devices_by
from bot.ask.find_values import SPOKEN_CLOCK
from bot.ask.question import Question
from bot.ask.reply_lines import Lines, cited, quoted
from bot.ask.subject import Subject
from bot.ask.wanted_value import asks
from bot.note.claim_source import clock
from bot.text import wording
from core.answer.job_lookup import found_rows
from core.logs.lines import NO_TIME
from core.model import Scope
from core.naming import natural

APART = 1.2  # times the middle of the others: the devices of a job do the same work, and differ by some per cent
END = 0.2  # share of a device's rows whose middle stands for the end
MAX_APART = 4  # devices that are told one by one
FEWEST = 3  # devices of which one can stand apart
_UNITS = {
    "clock": " MHz", "memory clock": " MHz", "power": " W", "temperature": " C", "utilization": " %", "memory": " MiB",
}  # fmt: skip
_DAY = 86_400_000_000  # microseconds
_ASKED = (
    ("memory clock", re.compile(r"\bmem(?:ory)? (?:clock|clk)|\bmclk\b")),
    (
        "clock",
        re.compile(
            r"\b(?:sm|gpu|graphics|core)[ _-]?(?:clocks?|clk|freq\w{0,6})\b|\bpclk\b|\bmhz\b|\bclocked\b"
            r"|\bclocks? (?:of gpu|on (?:the )?(?:gpu|nodename|card)|ok|low|down|drop\w{0,4})"
            r"|^\W{0,3}clocks?\b(?!.{0,40}\b(?:zone|skew|sync|time))"
            r"|\bclock (?:speed|rate|freq\w{0,6})s?\b|taktfrequenz|主频|频率"
        ),
    ),
    ("power", re.compile(r"\bpwr\b|\bwatts?\b|\bpower\b|leistungsaufnahme|功耗|功率")),
    (
        "temperature",
        re.compile(
            r"\btemp(?:erature)?s?\b|\boverheat\w{0,3}\b|\bhot\b|\bhow (?:hot|warm)\b|\bhott?e(?:r|st)\b"
            r"|temperatur|温度"
        ),
    ),
    (
        "utilization",
        re.compile(r"\butil\w{0,9}\b|\bsm activity\b|\bbusy\b.{0,20}\bgpu|\bgpu\b.{0,20}\bbusy\b|auslastung|利用率"),
    ),
)
_WHICH = re.compile(
    r"^(?:and |so )?(?:which|what|welche\w{0,2}) (?:\w{1,12} )?(?:gpu|npu|card|device|chip|accelerator)s?"
    r"(?: (?:is|was|died|broke|failed|exactly|on|in)\b.{0,30})?\W*$|"
    r"\b(?:which|what|wich|welche\w{0,2}) (?:\w{1,12} ){0,2}(?:gpu|card|device|npu)s?\b.{0,40}"
    r"\b(?:slow\w{0,4}|throttl\w{0,4}|hot\w{0,4}|clock\w{0,3}|low\w{0,4}|high\w{0,4}|bad|apart|odd|different|langsam\w{0,3}|heiß\w{0,3})\b"
    r"|\b(?:throttl|drossel)\w{0,4}\b|哪.{0,6}(?:卡|gpu).{0,12}(?:慢|热|降频)",
    re.IGNORECASE | re.MULTILINE,
)
_DEVICE = re.compile(r"\b(?:gpu|npu|card|device)[ #:_-]{0,2}([0-9]{1,2})\b", re.IGNORECASE)


def devices(subject: Subject, question: Question) -> Lines | None:  # noqa: PLR0911 a kind of question each
    """What tables of devices tell of a quantity or of the device that is apart; None where neither is asked or told."""
    text = f"{question.text.casefold()}\n{question.plain}"
    kind = next((name for name, pattern in _ASKED if pattern.search(text)), "")
    which = _WHICH.search(text) is not None
    if question.quoted or not (kind or which):
        return None
    first = subject.diagnosis.nodes[0] if subject.diagnosis.scope is Scope.NODE and subject.diagnosis.nodes else None
    if which and not kind and first is not None and (told := device_of(subject, first)):
        return [*told, *suspect(subject, question)[:1]]  # what the machine's own lines of the fault name
    rows = [row for row in device_rows(subject) if not kind or kind in row.numbers]
    if not rows:
        return None
    number = _DEVICE.search(question.text)
    own = {node for rank in question.ranks if (node := subject.home.get(rank))} | set(question.nodes)
    mine = [row for row in rows if not own or row.node in own]
    mine = [row for row in mine if not number or row.device == f"GPU {number[1]}"]
    if not mine:
        return None
    odd = [] if kind and _HOW_HOT.search(question.plain) else _apart(rows, kind)
    if kind and (number or not odd or (own and odd[0].node not in own)):
        return _told(subject, question, kind, mine, one=number is not None)
    if not odd:
        return [cited(f"None is far from the others: {_levels(rows)}.")] if which else None
    if len(odd) > 1:
        return [_several(rows, odd), *_told(subject, question, odd[0].quantity, _rows_of(rows, odd[0]), one=True)]
    node, device, name, at_end, others = odd[0]
    whole = _rows_of(rows, odd[0])
    beside = ", ".join(
        f"{other} {_end(whole, other):g}{_UNITS[other]}"
        for other in whole[-1].numbers
        if other != name and other in _UNITS
    )
    on = f" on {node}" if node else ""
    says = f"{device}{on}: {name} {at_end:g}{_UNITS[name]} at the end, the others {others:g}{_UNITS[name]}"
    return [cited(f"{says}{f'; its {beside}' if beside else ''}."), *_told(subject, question, name, whole, one=True)]


def _told(subject: Subject, question: Question, kind: str, rows: list[DeviceRow], *, one: bool) -> Lines:
    """A quantity of a device from first to last, or at a time of day; of several devices the last of each."""
    unit = _UNITS[kind]
    if not one and (asks(question, "extreme") or _HOW_HOT.search(question.plain)):
        return _extreme(subject, question, kind, rows)
    if not one and len({(row.node, row.device) for row in rows}) > 1:
        ends = [
            (f"{device}{f' on {node}' if node else ''}", _end(mine, kind)) for (node, device), mine in devices_by(rows)
        ]
        ends.sort(key=lambda item: item[1])
        listed = ", ".join(f"{name} {value:g}" for name, value in ([*ends[:3], *ends[-3:]] if len(ends) > 6 else ends))
        return [
            cited(f"{kind.capitalize()} at the end,{unit}: {listed}{_rest(len(ends))}."),
            *_shown(subject, rows[-1]),
        ]
    (node, device), mine = next(devices_by(rows))
    on = f" on {node}" if node else ""
    if (spoken := SPOKEN_CLOCK.search(question.text)) and subject.parsed.table.time[mine[0].row] != NO_TIME:
        moment = (int(spoken[1]) * 3600 + int(spoken[2]) * 60 + int(spoken[3] or 0)) * 1_000_000
        near = min(mine, key=lambda row: abs(int(subject.parsed.table.time[row.row]) % _DAY - moment))
        return [
            cited(f"{kind.capitalize()} of {device}{on}: {near.numbers[kind]:g}{unit}{_when(subject, near)}."),
            *_shown(subject, near),
        ]
    low, high = min(mine, key=lambda row: row.numbers[kind]), max(mine, key=lambda row: row.numbers[kind])
    first, last = mine[0], mine[-1]
    says = f"{kind.capitalize()} of {device}{on}: {last.numbers[kind]:g}{unit} at the last{_when(subject, last)}, "
    says += (
        f"{first.numbers[kind]:g} at first{_when(subject, first)}; lowest {low.numbers[kind]:g}{_when(subject, low)}, "
    )
    return [cited(f"{says}highest {high.numbers[kind]:g}{_when(subject, high)}."), *_shown(subject, last)]


_HOW_HOT = re.compile(r"\b(?:hot|warm|hott?er|overheat\w{0,3})\b")


def _extreme(subject: Subject, question: Question, kind: str, rows: list[DeviceRow]) -> Lines:
    """The highest of all devices at any time, or the lowest where that is asked, and the range of the others' own."""
    lowest = asks(question, "lowest")
    best = (min if lowest else max)(rows, key=lambda row: row.numbers[kind])
    every = [(min if lowest else max)(row.numbers[kind] for row in mine) for _, mine in devices_by(rows)]
    on = f" on {best.node}" if best.node else ""
    says = f"{'Lowest' if lowest else 'Highest'} {kind}: {best.numbers[kind]:g}{_UNITS[kind]}, {best.device}{on}"
    beside = f"; of {wording.counted(len(every), 'device')} it was {min(every):g} to {max(every):g}"
    return [cited(f"{says}{_when(subject, best)}{beside if len(every) > 1 else ''}."), *_shown(subject, best)]


class _Apart(NamedTuple):
    """A device that is apart: its quantity, its level at the end, the middle of the others."""

    node: str
    device: str
    quantity: str
    level: float
    others: float


def _rows_of(rows: list[DeviceRow], odd: _Apart) -> list[DeviceRow]:
    return [row for row in rows if (row.node, row.device) == (odd.node, odd.device)]


def _several(rows: list[DeviceRow], odd: Sequence[_Apart]) -> str:
    """Each of several devices that are apart, with its clock, power and temperature at the end."""

    def told(one: _Apart) -> str:
        mine = _rows_of(rows, one)
        levels = (f"{name} {_end(mine, name):g}{_UNITS[name]}" for name in _UNITS if name in mine[-1].numbers)
        return f"{one.device}{f' on {one.node}' if one.node else ''}: {', '.join(levels)}"

    listed = "; ".join(told(one) for one in odd[:MAX_APART])
    return cited(f"{listed} (at the end; the others' {odd[0].quantity} is {odd[0].others:g}{_UNITS[odd[0].quantity]}).")


def _apart(rows: list[DeviceRow], kind: str) -> list[_Apart]:
    """The devices that are as far from the others as the furthest one is, by one quantity, on its side."""
    every = list(devices_by(rows))
    found: list[tuple[float, _Apart]] = []
    for name in (kind,) if kind else ("clock", "power", "temperature"):
        ends = {key: _end(mine, name) for key, mine in every if any(name in row.numbers for row in mine)}
        for (node, device), value in ends.items():
            others = [other for key, other in ends.items() if key != (node, device)]
            middle = median(others) if len(others) >= FEWEST - 1 else 0.0
            ratio = max(value / middle, middle / value) if middle > 0 and value > 0 else 1.0
            if ratio >= APART:
                found.append((ratio, _Apart(node, device, name, value, middle)))
    most = max(found, key=lambda item: item[0], default=None)
    if most is None:
        return []
    above = most[1].level > most[1].others
    alike = [one for _, one in found if one.quantity == most[1].quantity and (one.level > one.others) is above]
    return [most[1]] if 2 * len(alike) > len(every) else sorted(alike, key=lambda one: natural(one.node + one.device))


def _end(rows: list[DeviceRow], kind: str) -> float:
    """The middle of the last fifth."""
    values = [row.numbers[kind] for row in rows if kind in row.numbers]
    return median(values[-max(1, round(END * len(values))) :]) if values else 0.0


def _levels(rows: list[DeviceRow]) -> str:
    kinds = [kind for kind in _UNITS if kind in rows[-1].numbers]
    ends = {kind: [_end(mine, kind) for _, mine in devices_by(rows)] for kind in kinds[:3]}
    return "; ".join(f"{kind} {min(values):g} to {max(values):g}{_UNITS[kind]}" for kind, values in ends.items())


def _rest(number: int) -> str:
    return f" (the lowest and the highest of {wording.counted(number, 'device')})" if number > 6 else ""


def _when(subject: Subject, row: DeviceRow) -> str:
    time = int(subject.parsed.table.time[row.row])
    return f" ({clock(time)})" if time != NO_TIME else ""


def _shown(subject: Subject, row: DeviceRow) -> list[str]:
    return quoted(found_rows(subject.parsed, "", [row.row]), 1)
