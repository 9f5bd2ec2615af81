"""Answers about numbers that only lines carry: how they went, at an iteration, of one node beside the others."""

import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files as package_files

import numpy as np
from numpy.typing import NDArray

from bot.ask.question import Question
from bot.ask.reply_lines import Lines, cited, quoted
from bot.ask.subject import Subject
from bot.ask.wanted_value import asks
from bot.note.claim_source import clock
from bot.text import wording
from core.answer.job_lookup import found_rows
from core.answer.line_measurements import Measured, beside_name, measured
from core.logs.lines import NO_TIME
from core.naming import natural

END = 0.2  # share of the values whose mean stands for the end, as the last fifth of a curve shows a trend to the eye
NOBODYS = "No line of"  # how an answer begins when who is asked for tells no such number
FEW = 5  # values of which that share is taken; of fewer all are told
_BESIDE = ("compare", "other", "than", "vs", "versus", "peer", "rest", "differ", "high", "everyone", "each", "node")


@dataclass(frozen=True, slots=True)
class Measure:
    """A number that people ask for: how they call it, what stands in a line, what else that line holds, its name.

    of_machine: each node has its own, so that those of all nodes are no series.
    """

    asked: re.Pattern[str]
    value: re.Pattern[bytes]
    line: re.Pattern[bytes] | None
    called: str
    of_machine: bool = False


def measure_of(question: Question) -> Measure | None:
    """The number that a question names."""
    text = f"{question.text.casefold()}\n{question.plain}"
    return next((measure for measure in measures() if measure.asked.search(text)), None)


def told(subject: Subject, question: Question, measure: Measure) -> Lines:
    """Its values: at an iteration, of a node beside the others, of a rank, or in their course; empty where none is.

    What the job was given (a target, an argument) is told as such, and alone where nothing was measured.
    """
    found = _of_named(subject, question, measure)
    named = named_nodes_of(subject, question)
    others = measured(subject.parsed, measure.value, measure.line) if named and not len(found) else found
    given = _given(subject, measure, alone=not len(others)) if not len(others) or asks(question, "given") else []
    if not len(others):
        return given
    if not len(found):
        return [cited(f"{NOBODYS} {named[0]} tells {measure.called}; of others:"), *_lines(subject, others, 2, measure)]
    if question.iterations and (there := _at_iteration(subject, question, found, measure)):
        return [*there, *given]
    if question.ranks and _is_of_ranks(subject, question, found):
        says = _course(_until_failure(subject, question, found), subject, of=f" of {wording.ranks(question.ranks)}")
        return [cited(says), *given, *_lines(subject, found, 3, measure)]
    every = measured(subject.parsed, measure.value, measure.line)
    own = {node: every.only(_of_node(subject, every, node)) for node in _speakers(subject, every)}
    own |= {node: found.only(_of_node(subject, found, node)) for node in named}
    own = {node: _until_failure(subject, question, item) for node, item in own.items() if len(item)}
    if len(own) > 1 and (named or measure.of_machine or question.says(*_BESIDE)):
        rose = _rise(subject, own, named) if asks(question, "rises") else []
        return [*rose, *_beside(subject, own, named, measure), *given]
    return [
        cited(_course(_until_failure(subject, question, found), subject)),
        *given,
        *_lines(subject, found, 2, measure),
    ]


def _at_iteration(subject: Subject, question: Question, found: Measured, measure: Measure) -> Lines:
    """The value at the iteration that is named, beside the one before where a change is asked for; or nothing."""
    at = question.iterations[0]
    reached = subject.parsed.iterations.of_row[found.rows]
    there, earlier = found.only(reached == at), found.only(reached == at - 1)
    if not len(there):
        return []
    if len(earlier) and question.says("from", "jump", "drop", "change", "before", "rise", "fall"):
        says = f"{_name(found)} at iteration {at - 1:,}: {_range(earlier)}; at iteration {at:,}: {_range(there)}."
        return [cited(says), *_lines(subject, earlier, 1, measure), *_lines(subject, there, 1, measure)]
    return [cited(f"{_name(found)} at iteration {at:,}: {_range(there)}."), *_lines(subject, there, 2, measure)]


def named_nodes_of(subject: Subject, question: Question) -> list[str]:
    """The nodes that a question names, and those of its ranks."""
    homes = [subject.home[rank] for rank in question.ranks if rank in subject.home]
    return list(dict.fromkeys((*question.nodes, *homes)))[:2]


def _of_named(subject: Subject, question: Question, measure: Measure) -> Measured:
    """The values of the ranks that a question names, else of their nodes and its nodes; all where it names none."""
    table, named = subject.parsed.table, named_nodes_of(subject, question)
    places = [table.nodes.index(node) for node in named if node in table.nodes]
    of_ranks = set(np.flatnonzero(np.isin(table.rank_of_voice, question.ranks)).tolist())
    of_nodes = set(np.flatnonzero(np.isin(table.node_of_voice, places)).tolist())
    groups = [of_ranks, of_nodes] if question.ranks else [of_nodes] if named else [None]
    found = (measured(subject.parsed, measure.value, measure.line, voices=voices) for voices in groups)
    none = Measured("", np.zeros(0, np.intp), np.zeros(0))
    return next((item for item in found if len(item)), none)


def _is_of_ranks(subject: Subject, question: Question, found: Measured) -> bool:
    table = subject.parsed.table
    return bool(np.isin(table.rank_of_voice[table.voice[found.rows]], question.ranks).all())


def _given(subject: Subject, measure: Measure, *, alone: bool) -> Lines:
    """What the job was given for a number, as a target or an argument; empty where lines tell no such thing."""
    found = measured(subject.parsed, measure.value, measure.line, given=True)
    if not len(found):
        return []
    says = f"{_name(found).removeprefix('requested_')} {_range(found)}, as the job was given it"
    none = f"No line measures {measure.called}; " if alone else "Not measured but set: "
    return [cited(f"{none}{says}."), *(_lines(subject, found, 1, measure) if alone else [])]


def _until_failure(subject: Subject, question: Question, found: Measured) -> Measured:
    """The values until the first sign: what a node tells after its processes are gone is no measure of them."""
    sign = wording.first_sign(subject.diagnosis)
    if sign is None or asks(question, "after"):
        return found
    kept = found.only(_times(subject, found) <= sign)
    return kept if len(kept) else found


def _rise(subject: Subject, own: Mapping[str, Measured], named: list[str]) -> Lines:
    """Between which two clocks a number rose most, and on which node."""
    chosen = {node: item for node, item in own.items() if len(item) > 1 and (not named or node in named)}
    if not chosen:
        return []
    node = max(sorted(chosen, key=natural), key=lambda name: float(np.diff(chosen[name].values).max()))
    found = chosen[node]
    at, times = int(np.diff(found.values).argmax()), _times(subject, found)
    before, after = (f"{found.values[place]:g}{_at(times[place])}" for place in (at, at + 1))
    return [cited(f"{_name(found)} rose most on {node}: {before}, {after}.")]


def _beside(subject: Subject, own: dict[str, Measured], named: list[str], measure: Measure) -> list[str]:
    """The last value of each node, before the failure, beside what the others told at about that time."""
    ends = {node: float(item.values[-1]) for node, item in own.items()}
    first = next((node for node in named if node in own), max(sorted(ends), key=lambda node: ends[node]))
    time = _times(subject, own[first])[-1]
    near = {node: _nearest(subject, item, int(time)) for node, item in own.items() if node != first}
    others = ", ".join(
        f"{node} {value:g}" for node, value in sorted(near.items(), key=lambda item: natural(item[0]))[:6]
    )
    at = f" at {clock(int(time))}" if time != NO_TIME else ""
    name = _name(own[first])
    sign = wording.first_sign(subject.diagnosis)
    since = f", the last before the first sign at {clock(sign)}" if sign is not None and at and time <= sign else ""
    sentences = [cited(f"{name} of {first}: {ends[first]:g}{at}{since}; about then {others}.")]
    sentences += [cited(_course(own[first], subject, of=f" of {first}"))]
    return [*sentences, *_lines(subject, own[first], 2, measure)]


def _course(found: Measured, subject: Subject, of: str = "") -> str:
    """First, last, lowest, highest, and the mean of the end beside that of all before."""
    values, times = found.values, _times(subject, found)
    if len(values) == 1:
        return f"{_name(found)}{of}: {values[0]:g}{_at(times[0])}, told once."
    reached = int(subject.parsed.iterations.of_row[found.rows[-1:]][0])
    last = f", {_at(times[-1]).strip()} after iteration {reached:,}" if reached >= 0 else _at(times[-1])
    says = f"{_name(found)}{of}: {values[0]:g}{_at(times[0])}, {values[-1]:g} at the last{last}; "
    says += f"lowest {values.min():g}, highest {values.max():g}, {wording.counted(len(values), 'value')}."
    if len(values) < FEW:
        return says
    size = max(1, round(END * len(values)))
    end, before = float(values[-size:].mean()), float(values[:-size].mean())
    change = f", {abs(end / before - 1):.0%} {'more' if end > before else 'less'}" if before > 0 else ""
    return f"{says} The last {size} are {end:.4g} on average, those before {before:.4g}{change}."


def _range(found: Measured) -> str:
    """The values of some lines: one, or from the lowest to the highest."""
    low, high = float(found.values.min()), float(found.values.max())
    return f"{low:g}" if low == high else f"{low:g} to {high:g}"


def _lines(subject: Subject, found: Measured, most: int, measure: Measure | None = None) -> list[str]:
    value = measure.value if measure else beside_name(re.escape(found.name))
    return quoted(found_rows(subject.parsed, "", found.rows[::-1][:most].tolist()), most, value)


def _speakers(subject: Subject, found: Measured) -> list[str]:
    table = subject.parsed.table
    places = table.node_of_voice[table.voice[found.rows]]
    return [table.nodes[place] for place in sorted(set(places.tolist())) if place >= 0]


def _of_node(subject: Subject, found: Measured, node: str) -> NDArray[np.bool_]:
    table = subject.parsed.table
    kept: NDArray[np.bool_] = table.node_of_voice[table.voice[found.rows]] == table.nodes.index(node)
    return kept


def _times(subject: Subject, found: Measured) -> NDArray[np.int64]:
    return np.asarray(subject.parsed.table.time[found.rows], np.int64)


def _nearest(subject: Subject, found: Measured, time: int) -> float:
    return float(found.values[int(np.argmin(np.abs(_times(subject, found) - time)))])


def _name(found: Measured) -> str:
    return wording.sentence(found.name.strip()).rstrip(".")


def _at(micros: int) -> str:
    return f" at {clock(int(micros))}" if micros != NO_TIME else ""


@cache
def measures() -> tuple[Measure, ...]:
    """All measures of words.toml, in its order."""
    words = tomllib.loads(package_files("bot.ask").joinpath("words.toml").read_text(encoding="utf-8"))["measures"]
    return tuple(
        Measure(
            re.compile(entry["asked"]),
            beside_name(entry["name"]),
            re.compile(entry["line"].encode(), re.IGNORECASE) if "line" in entry else None,
            entry["called"],
            bool(entry.get("of_machine", False)),
        )
        for entry in words.values()
    )


@cache
def of_series() -> Mapping[str, Measure]:
    """The same for what the job has series of, by their names: of a rank or a node its own lines tell."""
    names = {
        "loss": "(?<!reduce-)loss(?: value)?",
        "grad": "grad(?:ient)?[_ ]?norm",
        "time": "time per iteration|iter(?:ation)? time|step[_ ]time|time/iter|sec/it|s/it|time",
        "work": "comput(?:e|ation)(?:[_ -]time)?|forward(?:-compute)?|fwd",  # what one rank does without waiting
    }
    return {name: Measure(re.compile(name), beside_name(text), None, name) for name, text in names.items()}
