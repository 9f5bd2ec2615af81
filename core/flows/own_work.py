"""Whose own work took longer: the silence of a NIC before it speaks, from the last data that it received on.

A rank that waits has called for what it waits for (a message of some bytes), and what it gets comes before its next
word; a rank that works says nothing until it is done. So what lies between the last data that reached a NIC, or its own
last word, and its next word is work, in rings, pipelines and among experts alike.
"""

import numpy as np

from core.flows.connections import FIN_RST, Bools, Connections
from core.flows.jobs import Floats, JobFlows
from core.flows.signs import FlowSign, sign_of, step_of
from core.flows.table import Ints
from core.flows.timeline import Timeline
from core.flows.topology import Topology
from core.flows.transfers import merge

# Microseconds between a call and the data that answers it, or between that and what else its rank says then. The work
# of 21 slow or stalled ranks stands out by 2.7 times and more; with 2 ms that of one stall does not (a busy machine),
# with 10 ms that of two by 2.1 (docs/LOG.md)
ANSWER_US = 4_000
CALLS = 0.25  # a step and lane: .53 and more in 78 jobs on gloo, none where only data is exported (docs/LOG.md)


def own_work(
    connections: Connections, topology: Topology, job: JobFlows, timeline: Timeline, *, longest: bool = False
) -> FlowSign:
    """By NIC: the time of a step that it worked, or the longest that it did so without a word, as in a stall.

    NICs of a server wait for each other over links that no switch sees: while one of them receives, the silence of the
    others is no work.
    """
    members = np.array((*job.heavy, *job.light), np.int64)
    homes = {nic: topology.server_of(connections.addresses[nic]) for nic in job.nics}
    spoken: dict[int, Ints] = {}
    received: dict[int, Ints] = {}
    for nic in job.nics:
        own = members[(connections.a[members] == nic) | (connections.b[members] == nic)]
        words, answers, arrivals = [], [], []
        for member in own.tolist():
            rows = connections.rows(member)
            says = connections.messages(rows) & connections.counted[rows] & ((connections.flags[rows] & FIN_RST) == 0)
            mine = connections.back[rows] == (int(connections.b[member]) == nic)
            start, end, data = connections.start[rows], connections.end[rows], connections.data[rows]
            answering = _answers(start, data, says & mine, says & ~mine)
            words.append(start[says & mine])
            answers.append(np.stack([start[answering], end[answering]], 1))
            arrived = says & ~mine & data
            arrivals.append(np.stack([start[arrived], end[arrived]], 1))
        received[nic] = np.concatenate(arrivals)
        spoken[nic] = _unprompted(np.sort(np.concatenate(words)), np.concatenate(answers))
    columns = {}
    for nic, home in homes.items():
        beside = [received[other] for other in job.nics if homes[other] == home and other != nic]
        busy = np.concatenate(beside) if beside else np.zeros((0, 2), np.int64)
        columns[nic] = _work(spoken[nic], received[nic], busy, timeline, longest=longest)
    return sign_of(columns, len(timeline))


def calls_are_seen(connections: Connections, job: JobFlows, timeline: Timeline) -> bool:
    """Whether receivers are seen to call for data, on connections that carry it.

    Without that who waits cannot be told from who works, and data may reach a rank that is at work.
    """
    members = np.array(job.heavy, np.int64)
    rows, turn = connections.all_rows(members)
    calls = connections.messages(rows) & connections.counted[rows] & ~connections.data[rows]
    often = np.bincount((2 * turn + connections.back[rows])[calls], minlength=2 * len(members)).reshape(-1, 2)
    sent = connections.sent[members]
    most = sent >= sent.max(axis=1, keepdims=True) / 2
    return bool(often[:, ::-1][most].sum() >= CALLS * most.sum() * len(timeline))


def _answers(start: Ints, data: Bools, mine: Bools, theirs: Bools) -> Bools:
    """Data that goes out because its receiver has just called for it: its sender may be at something else."""
    calls = start[theirs]
    if not len(calls):
        return np.zeros(len(start), bool)
    place = np.searchsorted(calls, start, "right") - 1
    called: Bools = mine & data & (place >= 0) & (start - calls[np.maximum(place, 0)] <= ANSWER_US)
    return called


def _unprompted(words: Ints, answers: Ints) -> Ints:
    """Words that do not come with or at once after an answer, which may be what their rank had waited for."""
    if not len(answers):
        return words
    answers = answers[np.argsort(answers[:, 0], kind="stable")]
    latest = np.maximum.accumulate(answers[:, 1]) + ANSWER_US
    place = np.searchsorted(answers[:, 0], words, "right") - 1
    own: Ints = words[(place < 0) | (words > latest[np.maximum(place, 0)])]
    return own


def _work(words: Ints, received: Ints, busy: Ints, timeline: Timeline, *, longest: bool) -> Floats:
    """(steps) the sum of what lies before each word, or the longest of it.

    Args:
        received: when data came in, first and last packet.
        busy: when other NICs of its server received, the same.
    """
    if len(words) < 2:
        return np.full(len(timeline), np.nan)
    received = received[np.argsort(received[:, 0], kind="stable")]
    since = np.append(timeline.start[0], words[:-1])
    if len(received):
        latest = np.maximum.accumulate(received[:, 1])
        place = np.searchsorted(received[:, 0], words, "right") - 1
        since = np.where(place >= 0, np.maximum(since, np.minimum(latest[place], words)), since)
    step = step_of(timeline, words)
    since = np.minimum(np.maximum(since, timeline.start[0]), words)
    took = words - since - (_busy_until(busy, words) - _busy_until(busy, since))
    step, took = step[step >= 0], took[step >= 0].astype(float)
    if not longest:
        return np.bincount(step, took, len(timeline)).astype(float)
    most = np.zeros(len(timeline))
    np.maximum.at(most, step, took)
    return most


def _busy_until(spans: Ints, moments: Ints) -> Ints:
    """How much of the time before each moment some spans cover, which may overlap."""
    if not len(spans):
        return np.zeros(len(moments), np.int64)
    spans = merge(np.column_stack([spans, np.zeros(len(spans), np.int64)]), 0)[:, :2]
    before = np.append(0, np.cumsum(spans[:, 1] - spans[:, 0]))
    place = np.searchsorted(spans[:, 0], moments, "right") - 1
    within = np.minimum(moments, spans[np.maximum(place, 0), 1]) - spans[np.maximum(place, 0), 0]
    covered: Ints = np.where(place >= 0, before[np.maximum(place, 0)] + within, 0)
    return covered
