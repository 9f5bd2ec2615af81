"""Who made steps slow: the one thing whose sign rose by more than that of all others, if it rose by enough.

What queues between two switches is between them; a receiver that acknowledges late has a slow link; who works longer
has a slow accelerator. Nobody is an answer.
"""

from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property

import numpy as np

from core.flows.answer import FlowSeries, NamedGroup, Subject
from core.flows.attribution import Attribution, always, are_neighbours, subject_of
from core.flows.connections import Bools, Connections
from core.flows.exchange_work import exchange_work
from core.flows.groups import Groups
from core.flows.hidden_work import find_hidden_work, stretch_above
from core.flows.jobs import JobFlows
from core.flows.own_work import calls_are_seen, own_work
from core.flows.receipts import fed_by, long_receipts, long_sendings, queued_before
from core.flows.signs import FlowSign, late_answers, late_entries, late_starts, link_delays, rises, without
from core.flows.slow_switches import LINK_US, NOISE, SURE_US, slow_switch, switch_stretch
from core.flows.stage_work import all_workers, slow_workers, stage_work, summed
from core.flows.stretches import SHORTEST, within
from core.flows.timeline import Timeline
from core.flows.topology import Topology
from core.flows.transfers import MESSAGE_US

STANDS_OUT = 2.0  # times the rise of any other: neighbours in a ring rise too
# Times the next rise, where a sign that says little by itself is believed, for nobody else comes near: how long
# transfers to a NIC last, 7 in 13 slow links; single silences and late entries of stalls, 5.8 to 40, in steps within
# the spread of their neighbours too, where sums of work were noise twice. And for a group: where all ranks grew slower,
# the stage with most work rose 2.6 times as far as the next (docs/LOG.md)
ALONE = 5.0
ANSWER_SHARE = 0.1  # of what a step became slower by; a ring hides most of a late link behind its other transfers
# Less is enough where it stands out as clearly as this: congestion control keeps the queue of a slow link short, so its
# lateness was .011 to .05 of the step's, and 4 to 6 times its level before (docs/LOG.md)
CLEAR_SHARE, CLEAR_TIMES = 0.01, 3.0
# The same for the time that transfers to a NIC lasted: .51 to 1.17 in 13 of 31 slow links, and of 70 other slow
# stretches .06 at most where it stood out (docs/LOG.md)
RECEIPT_SHARE = 0.4
QUEUE_US = 2_000  # before a NIC whose data takes longer by less than ``ALONE``: 4 ms at a slow link, others .6
ENTRY_SHARE = 0.6  # the same for beginning to send later: stalls of FSDP had .8 and more (docs/LOG.md)
OWN_SHARE = 0.3  # the same for time of its own: pipelines and rings wait for all of it
PEERS = 0.5  # of the highest rise: who has that much is slow as well
HIDDEN = 0.02  # of a step, the rise of a link that is slow by its own signs (docs/LOG.md)
HIDDEN_ALONE = 0.01  # the same of who is alone: .011 and .015 of two slow links, the next a tenth (docs/LOG.md)


class Localizer:
    """Who was slow in some steps of a job; its signs are read once.

    Args:
        starts_only: of the records only when a burst began is to be trusted: they are too long for all else.
    """

    def __init__(
        self,
        connections: Connections,
        topology: Topology,
        job: JobFlows,
        groups: Groups,
        timeline: Timeline,
        named: Sequence[NamedGroup],
        *,
        starts_only: bool = False,
    ) -> None:
        self.starts_only = starts_only
        self._connections, self._topology, self._job, self._timeline = connections, topology, job, timeline
        self._groups, self._named = groups, named
        self._homes = {nic: topology.server_of(connections.addresses[nic]) for nic in job.nics}
        self._nics: dict[str, list[int]] = {}
        for nic, server in self._homes.items():
            self._nics.setdefault(server, []).append(nic)

    @cached_property
    def _links(self) -> FlowSign:
        return link_delays(self._connections, self._topology, self._job, self._timeline)

    @cached_property
    def _answers(self) -> FlowSign:
        return late_answers(self._connections, self._topology, self._job, self._timeline)

    @cached_property
    def _receipts(self) -> FlowSign:
        return long_receipts(self._connections, self._job, self._timeline)

    @cached_property
    def _sendings(self) -> FlowSign:
        return long_sendings(self._connections, self._job, self._timeline)

    @cached_property
    def _work(self) -> FlowSign | None:
        """Own work of each NIC, where receivers are seen to call."""
        seen = calls_are_seen(self._connections, self._job, self._timeline)
        return own_work(self._connections, self._topology, self._job, self._timeline) if seen else None

    @cached_property
    def _silences(self) -> FlowSign:
        return own_work(self._connections, self._topology, self._job, self._timeline, longest=True)

    @cached_property
    def _stages(self) -> FlowSign:
        return stage_work(self._connections, self._groups, self._timeline)

    @cached_property
    def _late_data(self) -> tuple[tuple[str, FlowSign], ...]:
        """What tells of slow work by data alone, the more telling one first."""
        what = self._connections, self._groups, self._timeline
        return (
            ("took longer between its exchanges with other experts", exchange_work(*what)),
            ("began to send later than its group", late_entries(*what)),
            ("began the last data of a step later than its group", late_entries(*what, last=True)),
            ("sent its first activation later than the others", late_starts(*what)),
        )

    def blame(self, inside: Bools, outside: Bools, more: float, *, own_share: float = OWN_SHARE) -> Attribution | None:
        """Who was slow in the steps ``inside``, compared with ``outside``; None for nobody.

        Args:
            more: microseconds a step that have to be explained.
            own_share: of those, that a slow accelerator has to explain.
        """
        if self.starts_only:
            return None if self._groups.of("pp") else self._enters_late(inside, outside, more, own_share * more)
        found = slow_switch(self._connections, self._links, inside, outside)
        if found is not None:
            return found
        late = self._late(inside, outside, more)
        if late is not None and inside.sum() > 1:
            return late  # what a slow link holds up is late at work too; who works slowly acknowledges in time
        slow = self._long_transfers(inside, outside, RECEIPT_SHARE * more)
        if slow is not None:
            return slow
        worker = self._worker(inside, outside, more, own_share * more)
        found = max(filter(None, [worker, late]), key=lambda blame: blame.rise, default=None)
        return found or self._slow_pair(inside, outside, RECEIPT_SHARE * more)

    def stall(self, step: Bools, least: float) -> Attribution | None:
        """Who did nothing for long in a step, by one silence that no other had; None where nobody is alone in it."""
        if self.starts_only or self._work is None:
            return None
        return self._nic("slow_compute", "worked longer without a word", self._silences, (step, ~step), least, ALONE)

    def once_more(self, step: int, least: float) -> Attribution | None:
        """Who did nothing for longest in a step, if for so long; others may have been silent for nearly as long."""
        if self.starts_only or self._work is None:
            return None
        inside = within((step, step), len(self._timeline))
        rise = rises(self._silences, inside, ~inside)[0]
        highest = self._silent(int(np.argmax(rise)), (inside, ~inside))[0] if len(rise) else None
        return highest if highest and highest.rise >= least else None

    def _silent(self, place: int, when: tuple[Bools, Bools]) -> tuple[Attribution, float]:
        """That a NIC was silent for longer, and the noise of that."""
        rise, before, noise = rises(self._silences, *when)
        series = FlowSeries(self._called(self._silences), self._silences.values, (place,))
        who = self._subject([series.things[place]]) or Subject(series.things[place])
        numbers = float(rise[place]), float(before[place]), max(0.0, float(np.delete(rise, place).max(initial=0.0)))
        says = f"{who.nic} worked longer without a word"
        return Attribution("slow_compute", who, *numbers, says, series), float(noise[place])

    def slow_switch(self) -> tuple[tuple[int, int], Attribution] | None:
        """Steps, first and last, in which a switch held what passed it, by that alone; None where none did."""
        steps = None if self.starts_only else switch_stretch(self._links)
        if steps is None:
            return None
        inside = within(steps, len(self._timeline))
        found = slow_switch(self._connections, self._links, inside, ~inside, SURE_US)
        return (steps, found) if found else None

    def slow_link(self) -> tuple[tuple[int, int], Attribution] | None:
        """Steps, first and last, in which a link was slow by its own signs alone; None where none stands out.

        Noise, pauses and tenants that come and go hide it in the lengths of steps. What was so from the first steps on
        has nothing before it, and may be the crowd of a beginning.
        """
        least = HIDDEN * self._timeline.period
        for sign in (self._answers, self._sendings):
            steps = stretch_above(sign)
            if steps is None or steps[0] < SHORTEST:
                continue
            inside = within(steps, len(self._timeline))
            when, alone = (inside, ~inside), HIDDEN_ALONE * self._timeline.period
            late = self._nic("slow_nic", "acknowledged later", self._answers, when, alone)
            clear = late is not None and late.rise >= min(least, ALONE * late.other)
            if late is not None and clear and late.subject.nic and not self._without_queue(late, inside):
                return steps, late
            went = self._slow_sender(inside, ~inside, least, STANDS_OUT)
            if went is not None:
                return steps, went
        return None

    def slow_worker(self) -> tuple[tuple[int, int], Attribution] | None:
        """Steps, first and last, in which one server worked longer, by its work alone; None where none stands out.

        Of experts whose exchanges run together in coarse records the other one may seem to work longer.
        """
        if self._work is None or (self._groups.of("ep") and self._groups.grain.blur > 2 * MESSAGE_US):
            return None
        looks = ("took longer for its own work", self._work), ("worked longer without a word", self._silences)
        works = ((says, sign, find_hidden_work(sign, self._homes, self._timeline.period)) for says, sign in looks)
        says, sign, found = next((of for of in works if of[2] is not None), ("", self._work, None))
        nics = [self._connections.addresses[nic] for nic in self._nics[found.server]] if found else []
        subject = self._subject(nics) if nics else None
        if found is None or subject is None:
            return None
        guilty = tuple(place for place, (nic, *_) in enumerate(sign.things) if self._homes[nic] == found.server)
        series = FlowSeries(self._called(sign), sign.values, guilty)
        numbers = found.rise, found.before, found.other
        kind, says = "drift" if found.grows else "slow_compute", f"{subject.nic or found.server} {says}"
        return (found.first, found.last), Attribution(kind, subject, *numbers, says, series)

    def _late(self, inside: Bools, outside: Bools, more: float) -> Attribution | None:
        """Whose link is slow: its acknowledgements are late by much of the step's lateness, or by far the most."""
        when = inside, outside
        late = self._nic("slow_nic", "acknowledged later", self._answers, when, CLEAR_SHARE * more)
        if late is not None and inside.sum() > 1:
            empty = self._without_queue(late, inside)
            if empty:
                waited = without(self._answers, empty)
                late = self._nic("slow_nic", "acknowledged later", waited, when, CLEAR_SHARE * more)
                if late is None:
                    return self._nic("slow_nic", "sent its data slower", self._sendings, when, RECEIPT_SHARE * more)
        if late is None or late.rise >= ANSWER_SHARE * more:
            return late
        clear = late.rise >= max(CLEAR_TIMES * late.before, STANDS_OUT * late.other)
        return late if clear and inside.sum() > 1 and late.subject.nic else None

    def _without_queue(self, late: Attribution, inside: Bools) -> set[int]:
        """Of those that acknowledged late the NICs that no data waits before: it was sent to them slowly."""
        things = [self._answers.things[place][0] for place in late.series.guilty]
        return {nic for nic in things if not self._queues(nic, inside)}

    def _long_transfers(self, inside: Bools, outside: Bools, least: float) -> Attribution | None:
        """Whose link is slow: transfers to it last longer, and queue before it; or those that it sends, and nowhere."""
        if inside.sum() < 2:
            return None
        when = inside, outside
        waited = without(self._receipts, self._fed(when, least))
        came = self._nic("slow_nic", "had its data come in slower", waited, when, least, STANDS_OUT)
        if came is not None:
            queue = self._queue_alone(came.subject.nic, inside)
            if queue > (LINK_US if came.rise >= ALONE * came.other else QUEUE_US):
                return came
        return self._slow_sender(inside, outside, least, ALONE)

    def _fed(self, when: tuple[Bools, Bools], least: float) -> set[int]:
        """Whose data comes in slower, queues nowhere, and is sent by the one that data queues before.

        A link is slow both ways: what its NIC receives waits before it, and what it sends waits in it.
        """
        rise = rises(self._receipts, *when)[0]
        highest = float(rise.max(initial=0.0))
        if highest < least or highest <= 0:
            return set()
        slow = {self._receipts.things[place][0] for place in np.flatnonzero(rise >= PEERS * highest)}
        for nic in sorted(slow) if len(slow) > 1 else ():
            others = slow - {nic}
            if others <= fed_by(self._connections, self._job, nic) and self._queues(nic, when[0]):
                return others if not any(self._queues(other, when[0]) for other in sorted(others)) else set()
        return set()

    def _queues(self, nic: int, inside: Bools) -> bool:
        return self._queue(self._connections.addresses[nic], inside) > LINK_US

    def _slow_sender(self, inside: Bools, outside: Bools, least: float, apart: float) -> Attribution | None:
        """Whose link is slow: transfers that it sends last longer, and queue nowhere."""
        when = inside, outside
        went = self._nic("slow_nic", "sent its data slower", self._sendings, when, least, apart)
        if went is None or went.subject.nic is None:
            return None
        highest = int(np.argmax(rises(self._receipts, *when)[0]))
        receiver = self._connections.addresses[self._receipts.things[highest][0]]
        return went if self._queue_alone(receiver, inside) <= LINK_US else None

    def _slow_pair(self, inside: Bools, outside: Bools, least: float) -> Attribution | None:
        """The group of which all had their data come in slower, where the records do not tell before whom it waits."""
        if inside.sum() < 2:
            return None
        when = inside, outside
        came = self._nic("slow_nic", "had its data come in slower", self._receipts, when, least, ALONE)
        return came if came is not None and came.kind == "slow_group" else None

    def _queue_alone(self, nic: str | None, inside: Bools) -> float:
        """The same beyond the middle of the others: on a busy machine data seems to wait before all."""
        waits = {of: self._queue(of, inside) for of in map(self._connections.addresses.__getitem__, self._job.nics)}
        return waits.pop(nic) - float(np.median(list(waits.values()))) if nic else 0.0

    def _queue(self, nic: str | None, inside: Bools) -> float:
        """Microseconds that data waits before a NIC; 0 where it is none."""
        if nic is None:
            return 0.0
        place = self._connections.addresses.index(nic)
        return queued_before(self._connections, self._topology, self._job, self._timeline, place, inside)

    def _worker(self, inside: Bools, outside: Bools, more: float, least: float) -> Attribution | None:
        """Who took longer for its work; by data alone a late entry may come of another stage, so that comes first."""
        when, says = (inside, outside), "took longer for its own work"
        if self._work is not None:
            worker = self._nic("slow_compute", says, self._work, when, least)
            if worker is not None and worker.kind == "slow_group":
                worker = self._of_group(worker, when) or worker
            elif worker is None and inside.sum() > 1:
                worker = self._of_neighbours(when, least)
            if worker is None or inside.sum() == 1:  # among many short silences a stall is one long one
                apart = STANDS_OUT if inside.sum() == 1 else ALONE
                stall = self._nic("slow_compute", "worked longer without a word", self._silences, when, least, apart)
                worker = min(filter(None, [worker, stall]), key=lambda found: found.other / found.rise, default=None)
            if worker is None and not self._groups.of("pp"):  # among stages a late entry may come of another one
                worker = self._enters_late(inside, outside, more, least)
            if worker is not None or inside.sum() == 1:
                return worker
            return self._stage(inside, outside, more, least)  # of six stages each waits for the others' waiting
        stage = self._stage(inside, outside, more, least)
        found = [stage]
        found += [self._nic("slow_compute", of, sign, when, least) for of, sign in self._late_data]
        return next(filter(None, found), None)

    def _enters_late(self, inside: Bools, outside: Bools, more: float, least: float) -> Attribution | None:
        late = late_entries(self._connections, self._groups, self._timeline)
        when, least = (inside, outside), max(least, ENTRY_SHARE * more)
        return self._nic("slow_compute", "began to send later than its group", late, when, least, ALONE)

    def _of_group(self, group: Attribution, when: tuple[Bools, Bools]) -> Attribution | None:
        """The one of a slow group that each single piece of work took longer: the others wait for it unprompted.

        That the group is slow in all of these steps is known: in some its own single piece may be as short as before.
        """
        place = self._called(self._silences).index(group.series.things[group.series.guilty[0]])
        alone, noise = self._silent(place, when)
        return alone if alone.rise > 0 and alone.rise >= max(ALONE * alone.other, NOISE * noise) else None

    def _of_neighbours(self, when: tuple[Bools, Bools], least: float) -> Attribution | None:
        """Of two servers next to each other in pipelines, on several rails, the one whose single work took longer.

        In coarse records the stage that waits for a slow one seems to work as much longer, in all of its work together.
        """
        rise = rises(self._work, *when)[0] if self._work is not None else np.zeros(0)
        highest = float(rise.max(initial=0.0))
        if self._work is None or highest < least:
            return None
        peers = {self._work.things[place][0] for place in np.flatnonzero(rise >= PEERS * highest)}
        homes = {self._connections.addresses[nic]: self._homes[nic] for nic in peers}
        if not are_neighbours(homes, self._named):
            return None
        others = {nic for (nic,) in self._silences.things if nic not in peers}
        single = without(self._silences, others)
        alone = self._nic("slow_compute", "worked longer without a word", single, when, 0.0, ALONE)
        server = alone.subject.server if alone else None
        return alone and replace(alone, subject=Subject(server=server))

    def _stage(self, inside: Bools, outside: Bools, more: float, least: float) -> Attribution | None:
        """The stage of a pipeline that works longer, by data alone."""
        when, says = (inside, outside), "took longer for its own work"
        slow = summed(slow_workers(self._stages, self._homes, inside, outside, more), self._nics, len(inside))
        stage = self._nic("slow_compute", says, slow, when, least)
        return stage and replace(stage, series=self._beside(stage.series))

    def _beside(self, slow: FlowSeries) -> FlowSeries:
        """The work of all servers, for who was not slow is no part of ``slow``."""
        everybody = summed(all_workers(self._stages, self._homes), self._nics, len(slow.values))
        names = self._called(everybody)
        return FlowSeries(names, everybody.values, tuple(names.index(slow.things[place]) for place in slow.guilty))

    def _called(self, sign: FlowSign) -> tuple[str, ...]:
        """What each thing of a sign is called: a NIC by its address, several of one server by its name."""
        addresses = self._connections.addresses
        return tuple(addresses[of[0]] if len(of) == 1 else self._homes[of[0]] for of in sign.things)

    def _nic(
        self, kind: str, says: str, sign: FlowSign, when: tuple[Bools, Bools], least: float, apart: float = STANDS_OUT
    ) -> Attribution | None:
        """The NIC, server or group whose sign stands out from all others, ``apart`` times."""
        rise, before, noise = rises(sign, *when)
        order = np.argsort(-rise, kind="stable").tolist()
        if not order:
            return None
        first = order[0]
        highest = float(rise[first])
        if highest < max(least, NOISE * noise[first]) or highest <= 0:
            return None
        if not always(sign.values[:, first], *when, before[first] + highest / 2):
            return None
        peers = [place for place in order if rise[place] >= PEERS * highest]
        other = max([0.0, *(float(rise[place]) for place in order if place not in peers)])
        if highest < apart * other:
            return None
        nics = [self._connections.addresses[nic] for place in peers for nic in sign.things[place]]
        subject = self._subject(nics)
        if subject is None or (subject.server is None and highest < ALONE * other):
            return None
        who = subject.nic or subject.server or subject.group
        series = FlowSeries(self._called(sign), sign.values, tuple(peers))
        kind = kind if subject.server else "slow_group"
        return Attribution(kind, subject, highest, float(before[first]), other, f"{who} {says}", series)

    def _subject(self, nics: Sequence[str]) -> Subject | None:
        return subject_of(nics, {self._connections.addresses[nic]: of for nic, of in self._homes.items()}, self._named)
