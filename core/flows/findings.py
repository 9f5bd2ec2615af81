"""What was slow in a job: a hang, a drift, a slow stretch, slow steps and pauses, with who was at fault or nobody."""

from collections.abc import Collection, Sequence
from dataclasses import replace

import numpy as np

from core.flows.answer import FlowFinding, NamedGroup, Subject
from core.flows.attribution import Attribution
from core.flows.blame import Localizer
from core.flows.connections import Connections
from core.flows.groups import Groups, is_open
from core.flows.hang import Silence, find_silence
from core.flows.hidden_work import grows
from core.flows.jobs import Floats, JobFlows
from core.flows.stretches import (
    SAVED,
    SLOW,
    SlowStep,
    Stretch,
    find_level,
    find_stretch,
    has_come_to_pace,
    slow_steps,
    without_pauses,
)
from core.flows.table import Ints
from core.flows.timeline import QUIET, Timeline
from core.flows.topology import Topology

STORED = 1 << 20  # bytes to storage in a step, that make it a pause (docs/how-to/flows.md)
FINE = 20  # lengths of a record that a step has at least, where who was late is to be seen (docs/how-to/flows.md)
SETTLED = 0.5  # last part of a drift that its signs are read from
# Of the level before: a trunk at 116 Mbit/s made steps longer by .035, most of its queue was beside work (docs/LOG.md)
SLIGHT = 0.02
OF_STEP = 0.5  # of what a slow step took more, that a NIC was late by
# Of a step that is slow only with a name: so much of it, and of that the next one has this part at most. Stalls of a
# quarter of a step had .61 and more, and .38 at most; a noisy step of d06 .58 and .5 (docs/LOG.md)
CLEARLY, NEXT = 0.6, 0.4
HIDDEN = {"slow_switch": "A switch was slow", "slow_nic": "A link was slow"}
ALONE = 0.1  # the same for a slight stretch: an accelerator that made steps longer by .07 had .05 (docs/LOG.md)


def find_findings(
    connections: Connections,
    topology: Topology,
    job: JobFlows,
    groups: Groups,
    timeline: Timeline,
    named: Sequence[NamedGroup],
    last: int,
) -> tuple[tuple[FlowFinding, ...], list[tuple[str, str]]]:
    """The findings of a job by time, and what could not be looked for.

    Args:
        last: when the capture ended, microseconds since 1970.
    """
    if not len(timeline):
        return (), [("findings", "without steps nothing can be called slow")]
    durations = timeline.durations
    whole = not is_open(connections, groups)
    localizer, skipped = _localizer(connections, topology, job, groups, timeline, named)
    fine = localizer is not None and not localizer.starts_only
    stored = _stored(connections, topology, job, timeline)
    unpaused = without_pauses(durations, stored > STORED)
    stretch = find_stretch(unpaused)
    found = [_stretch(localizer, timeline, unpaused, stretch)] if stretch is not None else []
    # of the first steps that nobody made slow only what would be slow in one step too: jobs become faster
    found = [finding for finding in found if finding.subject or finding.steps[0] or finding.score > SLOW - 1]
    if localizer is not None and fine and stretch is None:
        found = _slight(localizer, timeline, unpaused)
    vague = all(finding.subject is None or finding.kind == "slow_group" for finding in found)
    if localizer is not None and fine and vague and not any(finding.kind == "drift" for finding in found):
        hidden = _hidden(localizer, timeline, unpaused)
        found = [finding for finding in found if not (hidden and finding.kind == "slow_group")] + hidden
    for slow in slow_steps(timeline.paces, stretch, stored > STORED):
        # what is slower for long says more; how long the first step took is not known
        if slow.step and (stretch is None or durations[slow.step] > stretch.slow):
            step = _slow_step(localizer, timeline, durations, slow, stored)
            plain = slow.plain and (step.kind == "pause" or has_come_to_pace(durations, slow))
            found += [step] if plain or _is_clear(step) else []
    if localizer is not None:
        single = [finding.subject for finding in found if finding.kind == "slow_step"]
        nics = {subject.nic for subject in single if subject and subject.nic}
        found = [_again(localizer, finding, nics) for finding in found]
    silence = find_silence(connections, topology, job, groups, timeline, last)
    if isinstance(silence, str):
        skipped.append(("hang", silence))
    elif silence is not None:
        found.append(_hang(connections, topology, named, timeline, silence if whole else replace(silence, nics=())))
    return tuple(sorted(found, key=lambda finding: (finding.start, finding.kind))), skipped


def _localizer(
    connections: Connections,
    topology: Topology,
    job: JobFlows,
    groups: Groups,
    timeline: Timeline,
    named: Sequence[NamedGroup],
) -> tuple[Localizer | None, list[tuple[str, str]]]:
    """Who tells who was slow, as far as the records are fine enough, and what they are too long for."""
    if is_open(connections, groups):
        return None, [("subjects", "its rings have ends: not all of its NICs were captured, so nobody is named")]
    grain = groups.grain
    fine = FINE * grain.blur <= timeline.period
    starts = timeline.quiet >= QUIET * grain.usual  # when bursts began is to be seen at any rate
    skipped = []
    if not fine:
        what = "more than who began late" if starts else "who was late"
        long = f"records last up to {_ms(grain.blur)}, too long beside steps of {_ms(timeline.period)}"
        skipped.append(("subjects", f"{long} to see {what}"))
    if not fine and not starts:
        return None, skipped
    return Localizer(connections, topology, job, groups, timeline, named, starts_only=not fine), skipped


def _slight(localizer: Localizer, timeline: Timeline, durations: Floats) -> list[FlowFinding]:
    """A stretch that is slower by so little that it counts only with a switch or a server that clearly slowed it."""
    stretch = find_stretch(durations, slower=SLIGHT)
    found = [_stretch(localizer, timeline, durations, stretch)] if stretch is not None and not stretch.drifts else []
    return [finding for finding in found if finding.kind == "slow_switch" or _is_clear(finding, ALONE)]


def _hidden(localizer: Localizer, timeline: Timeline, durations: Floats) -> list[FlowFinding]:
    """What was slow though the lengths of steps do not show it, for they are noisy, or changed by others."""
    found = localizer.slow_switch() or localizer.slow_link() or localizer.slow_worker()
    if found is None:
        return []
    (first, last), blame = found
    inside = np.zeros(len(durations), bool)
    inside[first : last + 1] = True
    slow, usual = float(np.median(durations[inside])), float(np.median(durations[~inside]))
    what = f"{HIDDEN.get(blame.kind, 'An accelerator was slow')} in steps {first} to {last}"
    says = f"{what}, which took {_ms(slow)}, and all others {_ms(usual)}"
    return [
        FlowFinding(
            blame.kind, blame.subject, (first, last), int(timeline.start[first]), int(timeline.end[last]),
            max(0.0, slow / usual - 1), f"{says}; {_because(blame)}.",
            {"usual_ms": usual / 1e3, "slow_ms": slow / 1e3} | _numbers(blame), blame.series,
        )
    ]  # fmt: skip


def _stretch(localizer: Localizer | None, timeline: Timeline, durations: Floats, stretch: Stretch) -> FlowFinding:
    inside = np.zeros(len(durations), bool)
    inside[stretch.first : stretch.last + 1] = True
    outside = ~inside
    if stretch.drifts:
        inside[: stretch.last + 1 - int(SETTLED * (stretch.last + 1 - stretch.first))] = False
    blame = localizer.blame(inside, outside, float(np.median(durations[inside])) - stretch.usual) if localizer else None
    level = _level_of(blame, durations) if stretch.drifts and blame is not None else None
    if level is not None:
        return _stretch(localizer, timeline, durations, level)
    if blame and blame.kind == "slow_group" and not stretch.first:
        blame = None  # nothing became slow: all became faster, and of many one group stands out by chance (docs/LOG.md)
    kind = "drift" if stretch.drifts else blame.kind if blame else "slowdown"
    first, last = stretch.first, stretch.last
    levels = f"from {_ms(stretch.usual)} to {_ms(stretch.slow)}"
    says = f"Steps {first} to {last} took longer, {levels}"
    if stretch.drifts:
        says = f"Steps grew {levels} from step {first} on"
    elif not first:  # it is not known what was before
        says = f"The first {last + 1} steps took {_ms(stretch.slow)}, those after them {_ms(stretch.usual)}"
    return FlowFinding(
        kind,
        blame.subject if blame else None,
        (first, last),
        int(timeline.start[first]),
        int(timeline.end[last]),
        stretch.slow / stretch.usual - 1,
        f"{says}; {_because(blame)}.",
        {"usual_ms": stretch.usual / 1e3, "slow_ms": stretch.slow / 1e3} | _numbers(blame),
        blame.series if blame else None,
    )


def _level_of(blame: Attribution, durations: Floats) -> Stretch | None:
    """The slow steps by the one that made them slow, where that did not grow: lengths of steps grow for others too."""
    own = blame.series.values[:, list(blame.series.guilty)].mean(axis=1)
    own = np.where(np.isfinite(own), own, 0.0)
    steps, saved = find_level(own)
    if steps is None or saved < SAVED or grows(own):
        return None
    inside = np.zeros(len(durations), bool)
    inside[steps[0] : steps[1] + 1] = True
    usual, slow = float(np.median(durations[~inside])), float(np.median(durations[inside]))
    return Stretch(*steps, drifts=False, usual=usual, slow=slow) if slow > (1 + SLIGHT) * usual else None


def _slow_step(
    localizer: Localizer | None, timeline: Timeline, durations: Floats, slow: SlowStep, stored: Ints
) -> FlowFinding:
    step, usual = slow.step, slow.usual
    more = float(durations[step]) - usual
    start, end = int(timeline.start[step]), int(timeline.end[step])
    numbers = {"usual_ms": usual / 1e3, "slow_ms": float(durations[step]) / 1e3}
    says = f"Step {step} took {_ms(float(durations[step]))}, its neighbours {_ms(usual)}"
    if stored[step] > STORED:
        megabytes = float(stored[step]) / 1e6
        wrote = f"the job sent {megabytes:.1f} MB to storage meanwhile, as for a checkpoint"
        return FlowFinding(
            "pause",
            None,
            (step, step),
            start,
            end,
            more / usual,
            f"{says}; {wrote}.",
            numbers | {"stored_mb": megabytes},
        )
    inside = np.arange(len(durations)) == step
    blame = None
    if localizer and slow.noisy:
        blame = localizer.stall(inside, max(CLEARLY * more, slow.least * usual))
    elif localizer:
        blame = localizer.blame(inside, ~inside, more, own_share=OF_STEP)
    return FlowFinding(
        "slow_step", blame.subject if blame else None, (step, step), start, end, more / usual,
        f"{says}; {_because(blame)}.", numbers | _numbers(blame), blame.series if blame else None,
    )  # fmt: skip


def _again(localizer: Localizer, finding: FlowFinding, named: Collection[str]) -> FlowFinding:
    """A slow step of which nobody stands out with the NIC that was silent for longest, if other slow steps name it.

    Of all others some may have been busy, or have waited as long.

    Args:
        named: NICs that other slow steps name.
    """
    if finding.kind != "slow_step" or finding.subject is not None or not named:
        return finding
    numbers = finding.evidence
    more = 1e3 * (float(numbers["slow_ms"]) - float(numbers["usual_ms"]))
    blame = localizer.once_more(finding.steps[0], CLEARLY * more)
    if blame is None or blame.subject.nic not in named:
        return finding
    says = f"{finding.because.partition(';')[0]}; {_because(blame)}, as in other slow steps."
    told = {**numbers, **_numbers(blame)}
    return replace(finding, subject=blame.subject, because=says, evidence=told, series=blame.series)


def _is_clear(finding: FlowFinding, following: float = NEXT) -> bool:
    """Whether a NIC or a server alone explains what was slow.

    Args:
        following: of its rise, that the next one has at most.
    """
    numbers = finding.evidence
    if finding.subject is None or finding.subject.server is None:
        return False
    rise = float(numbers["rise_ms"])
    more = float(numbers["slow_ms"]) - float(numbers["usual_ms"])
    return rise >= CLEARLY * more and float(numbers["next_ms"]) <= following * rise


def _hang(
    connections: Connections, topology: Topology, named: Sequence[NamedGroup], timeline: Timeline, silence: Silence
) -> FlowFinding:
    subject = None
    first = "nobody fell silent before all others"
    if silence.nics:
        nics = [connections.addresses[nic] for nic in silence.nics]
        group = next((of.id for of in named if of.kind in ("dp", "pp") and nics[0] in of.nics), None)
        subject = Subject(server=topology.server_of(nics[0]))
        if len(nics) == 1:
            subject = Subject(nics[0], subject.server, group)
        who = subject.nic or subject.server
        first = f"{who} sent no data of the next step, and who sends to it waits"
        if silence.before:
            first = f"{who} fell silent first, {_ms(silence.before)} before the next one"
        if silence.called:
            first += f", and none of the {silence.called} that exchange data with it had an answer from it"
        if silence.unanswered:
            first = f"{who} acknowledged none of the last {silence.unanswered} records of data that were sent to it"
    seconds, last = (silence.end - silence.start) / 1e6, len(timeline) - 1
    return FlowFinding(
        "hang", subject, (last, last), int(timeline.end[last]), silence.end,
        (silence.end - silence.start) / timeline.period,
        f"No data for {seconds:.1f} s after step {last}, with steps of {_ms(timeline.period)}, "
        f"while the connections stayed open; {first}.",
        {"silence_s": seconds, "period_ms": timeline.period / 1e3},
    )  # fmt: skip


def _stored(connections: Connections, topology: Topology, job: JobFlows, timeline: Timeline) -> Ints:
    """(steps) bytes from the NICs of a job to storage, by when they began to be sent."""
    storage = np.array([topology.roles.get(address) == "storage" for address in connections.addresses])
    mine = np.isin(np.arange(len(connections.addresses)), job.nics)
    total = np.zeros(len(timeline), np.int64)
    for back, sender, receiver in ((False, connections.a, connections.b), (True, connections.b, connections.a)):
        for member in np.flatnonzero(mine[sender] & storage[receiver]).tolist():
            rows = connections.rows(member)
            used = connections.counted[rows] & connections.data[rows] & (connections.back[rows] == back)
            step = np.searchsorted(timeline.end, connections.start[rows][used])
            sizes = connections.bytes[rows][used]
            total += np.bincount(step[step < len(total)], sizes[step < len(total)], len(total)).astype(np.int64)
    return total


def _because(blame: Attribution | None) -> str:
    if blame is None:
        return "nobody stands out"
    rise = f"{_ms(blame.rise)} more a step than before"
    return f"{blame.says}, {rise}; the next highest rise is {_ms(blame.other)}"


def _numbers(blame: Attribution | None) -> dict[str, float | str]:
    if blame is None:
        return {}
    return {
        "sign": blame.says,
        "rise_ms": blame.rise / 1e3,
        "before_ms": blame.before / 1e3,
        "next_ms": blame.other / 1e3,
    }


def _ms(microseconds: float) -> str:
    if microseconds < 100:  # of one packet: no clock of a switch tells more
        return f"{microseconds / 1e3:.1g} ms"
    return f"{microseconds / 1e6:.2f} s" if microseconds >= 1e6 else f"{microseconds / 1e3:.3g} ms"
