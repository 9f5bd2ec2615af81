"""Facts about the course of a job: progress, its first and slowest step, silence, the end, who ended when."""

from collections import defaultdict
from collections.abc import Iterator

import numpy as np

from bot.ask.about_exits import means
from bot.ask.fact import Fact
from bot.ask.subject import Subject
from bot.note.claim_source import clock
from bot.outcome.exit_codes import codes_of, described, signal_of
from bot.text import wording
from bot.text.wording import SECOND
from core.live.findings import duration
from core.logs.lines import NO_TIME
from core.naming import natural


def facts_of_course(subject: Subject) -> Iterator[Fact]:
    """When it moved and when not."""
    course, spoke = subject.parsed.iterations.course, subject.parsed.table.spoke
    last = int(spoke.last[spoke.last != NO_TIME].max()) if np.any(spoke.last != NO_TIME) else NO_TIME
    if len(course):
        number, at = int(course.numbers[-1]), int(course.times[-1])
        after = f"; the last line of all came {duration((last - at) / SECOND)} later" if last - at >= SECOND else ""
        says = f"Nothing moved after {clock(at)}: iteration {number:,} was the last complete one{after}."
        yield Fact(says, topic="since when hung stuck no progress moving last step stopped end cut off")
        first, begun = int(course.numbers[0]), int(course.times[0])
        yield Fact(
            f"The first iteration that the logs count, {first:,}, was complete at {clock(begun)}.",
            topic="training start first step begin when",
        )
    if last != NO_TIME:
        yield Fact(f"The last line of all came at {clock(last)}.", topic="when end over dead whole job finished down")


def facts_of_ends(subject: Subject) -> Iterator[Fact]:
    """Exit codes by who had them, what each means, and in which order the logs of the nodes end."""
    by_code: dict[int, list[str]] = defaultdict(list)
    for name, code in codes_of(subject.parsed.job.manifest).items():
        by_code[code].append(name)
    if by_code:
        parts = [f"{described(code)}: {wording.names(names, 6, 60)}" for code, names in sorted(by_code.items())]
        yield Fact(f"Exit codes by job.json: {'; '.join(parts)}.", topic="exit status code returned who ended with")
    for code, names in sorted(by_code.items()):
        if code:
            topic = f"exit code status {code} {abs(code)} signal sig {code - 128 if code > 128 else abs(code)} mean"
            only = _nodes(subject, names) if len(names) == 1 else ()
            says = f"{means(code)} It was that of {wording.names(names, 6, 60)}."
            yield Fact(says, topic=topic, nodes=only, keys=_keys(code))
    ends = _ends(subject)
    if len(ends) > 1:
        listed = ", ".join(f"{node} {clock(time)}" for node, time in ends[:8])
        yield Fact(f"Last lines by node: {listed}.", topic="when last line log silent quiet ended order everyone each")


def facts_of_addresses(subject: Subject) -> Iterator[Fact]:
    """Which address is which node, and which ranks it has."""
    suspects = {suspect.node: suspect.id for suspect in subject.diagnosis.nodes[:1]}
    for node, addresses in sorted(
        subject.parsed.job.manifest.node_addresses.items(), key=lambda item: natural(item[0])
    ):
        ranks = wording.ranks(subject.ranks_on(node))
        first = ", the first suspect" if node in suspects else ", which is not suspected" if suspects else ""
        says = f"{wording.names(addresses, 3, 60)} is {node}{f' ({ranks})' if ranks else ''}{first}."
        yield Fact(
            says,
            tuple(suspects[node] for _ in (0,) if node in suspects),
            topic="address ip host",
            nodes=(node,),
            keys=tuple(addresses),
        )


def _ends(subject: Subject) -> list[tuple[str, int]]:
    """The last line of each node, the earliest first."""
    table = subject.parsed.table
    found: dict[str, int] = {}
    for voice, place in enumerate(table.node_of_voice.tolist()):
        last = int(table.spoke.last[voice])
        if place >= 0 and last != NO_TIME:
            found[table.nodes[place]] = max(last, found.get(table.nodes[place], NO_TIME))
    return sorted(found.items(), key=lambda item: (item[1], natural(item[0])))


def _keys(code: int) -> tuple[str, ...]:
    """How people write an exit code that needs explaining."""
    if not signal_of(code):
        return tuple(f"{word} {code}" for word in ("code", "exit", "rc", "status"))
    number = -code if code < 0 else code - 128
    name = signal_of(code).casefold()
    return (str(-number), str(128 + number), f"signal {number}", f"sig {number}", f"signal: {number}", name)


def _nodes(subject: Subject, names: list[str]) -> tuple[str, ...]:
    return tuple(name for name in names if name in subject.parsed.nodes)
