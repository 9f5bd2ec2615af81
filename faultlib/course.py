"""How a job went, where no trace says what broke: what became of the process that the others waited for.

A process that is gone closes its connections, and its peers say so at once; one that is frozen keeps them, and its
peers run into their timeouts, or the launcher has to kill it; one that is alive stands in its own work. These are told
apart by the signs of the first suspect and by what its peers say, whatever program says it. Who ended a job that stood
still, a time limit or a person, is no part of its fault.
"""

import re
from collections.abc import Sequence
from enum import StrEnum

from core.course.timings import is_rate
from core.facts import fact_of
from core.failure_kinds import Kind
from core.model import Diagnosis, EventEvidence, Role, Stage
from core.nodes.slow import READS, WAITS
from faultlib.findings import DEATHS, Finding, headline_course, kind_of, own_traces
from faultlib.names import Names


class Course(StrEnum):
    """What became of the one that the others waited for."""

    KILLED = "a process was killed or gone at once"
    FROZEN = "a process did not end when it was told to"
    SILENT = "a process did not answer any more"  # also in older patterns, which do not tell it from a frozen one
    LEFT = "a process had ended without an error before the others"
    STUCK = "a process stood in its own work"
    AGAIN = "the others waited for one again and again"
    CUT_OFF = "a launcher could not report to the others"
    ASTRAY = "a process went to another address than the others"
    ALL = "all stood still"
    SLOWED = "a process slowed the others down"


class Activity(StrEnum):
    """What a process that stood in its own work was about to do."""

    LOCK = "waiting for a lock"
    SAVE = "writing a checkpoint"
    EVALUATE = "evaluating"
    READ = "reading data"


class SlowPart(StrEnum):
    """What took the one longer that slowed the others down."""

    DATA = "it took longer to read its data"
    NETWORK = "it took longer to send or to receive"
    SAVE = "it took longer to write"
    OWN = "its own work took longer"
    REPORTED = "reports or a number of its own name it"  # of its own work and whatever else it does


# Sentences of core/nodes (exits.py, stall.py, spatial.py, addresses.py) and core/dumps/dump_signs.py.
_NO_END = re.compile(
    r"did not answer the order|did not end when told|had to be killed|stopped when told to|could not be read"
    r"|never came to “[^”]{0,200}most recent call first"  # it was asked for its stack
)
_NO_ANSWER = re.compile(
    r"did not answer|had no end reported"
)  # of a machine that lost its power no end is reported either
_ASTRAY = re.compile(r"goes to \S+, \d+ of|which is no node of the job")
_LEFT = re.compile(r"ended with exit code 0;|had ended without an error")
_SIGKILL = re.compile(r"ended with signal 9|SIGKILL")
_KILLED = re.compile(r"\bKilled\b|SIGKILL|\bsignal:? 9\b|\bexit ?code:? -9\b")
_LOST = re.compile(r"lost the connection to")
_SILENT = re.compile(r"went silent|fell silent")
_STANDS = re.compile(r"stands? (?:alone )?in (\S+)")
# Sentences of core/nodes (slow.py, rank_series.py, reported_slowest.py, rank_levels.py, gauges.py, onset.py) and
# stack_rounds.py
_SLOWED = re.compile(
    r"slowed the others down|went from \S{1,40} to \S{1,40}, and no other"
    r"|own work (?:took|takes) longer|named? it as the slowest|are rated slower than"
    r"|takes longer than that of all others|when the job (?:slowed down|became slow)|is late in \d+ of \d+ looks"
)
_STUCK = re.compile(r"process there is stuck|never came (?:so far|to the collective)|never entered|never got past")
_WAITED = re.compile(r"the others waited|never came to")
# Sentences of the same (by_what in slow.py, rank_series.py, reported_slowest.py, device_tables.py)
_SLOW_PARTS = (
    (SlowPart.DATA, re.compile(SlowPart.DATA)),
    (SlowPart.NETWORK, re.compile(SlowPart.NETWORK)),
    (SlowPart.OWN, re.compile(r"its own work (?:took|takes) longer|devices are rated slower than")),
    (SlowPart.REPORTED, re.compile(r"slowest ever since|, and no other| of \S+ \d+ went from ")),
)
# The number that points to a suspect: "its fwd_ms rose", "On n3 power.draw [W] of GPU 0 is 219 where that of all". What
# "did not rise as much as that of the others" is what they waited in, and not what took this one longer.
_OF_NUMBER = re.compile(r"(?:\bits |^On \S{1,80} )(\S[^“”,;:(]{0,80}?) (?:rose|is|went from)(?![^ ])")
# Names of counters and of interfaces: Linux's drivers (rx_crc_errors_phy), InfiniBand (symbol_error, port_xmit_wait)
_NETWORK = re.compile(
    r"crc|symbol_err|retrans|port_(?:xmit|rcv)|discard|(?<![a-z])(?:rx|tx|roce|rdma|ib)_|(?<![a-z])link|[MG]b(?:/s|ps)",
    re.IGNORECASE,
)
# What numbers are of, by names of Linux, of nvidia-smi, rocm-smi and npu-smi, and of what frameworks print of a step.
_NUMBERS = (
    (
        SlowPart.NETWORK,
        re.compile(rf"{_NETWORK.pattern}|out_of_(?:seq|buf)|(?<![a-z])(?:rtt|ping)(?![a-z])", re.IGNORECASE),
    ),
    (SlowPart.NETWORK, WAITS),
    (
        SlowPart.SAVE,
        re.compile(r"(?<![a-z])sav(?:e|ing)(?![a-z])|checkpoint|ckpt|(?<![a-z])writ(?:e|ing)", re.IGNORECASE),
    ),
    (SlowPart.DATA, re.compile(rf"{READS.pattern}|feed|sample", re.IGNORECASE)),
    (
        SlowPart.OWN,
        re.compile(
            r"fwd|forward|bwd|backward|comp|calc|optim|clock|[mg]hz|freq|power|temp|throttl|[cgn]pu|busy|flop",
            re.IGNORECASE,
        ),
    ),
)
# What a trace beside a slow process says of the part that took it longer
_OF_KINDS = {
    Kind.STORAGE: SlowPart.DATA,
    Kind.SLOW_MACHINE: SlowPart.OWN,
    Kind.NETWORK_LINK: SlowPart.NETWORK,
    Kind.RDMA_TRANSPORT: SlowPart.NETWORK,
}
_STAGES = {
    Stage.CHECKPOINT_SAVING: Activity.SAVE,
    Stage.EVALUATION: Activity.EVALUATE,
    Stage.DATA_LOADING: Activity.READ,
}
_REACHED = re.compile(r"never came to|is missing from the last|last word of|went on to say|began|said “")
_LACKS = re.compile(r"(?:never came to|is missing from the last) “([^”]*)”")
_QUOTED = re.compile(r"“([^”]*)”")
# What names in programs and messages are about, as frameworks and data pipelines call them; the more special first.
_ACTIVITIES = (
    (Activity.LOCK, re.compile(r"(?<![a-z])lock", re.IGNORECASE)),
    (
        Activity.SAVE,
        re.compile(
            r"(?<![a-z])sav(?:e|ing|ed)(?![a-z])|checkpoint|ckpt|snapshot|(?<![a-z])writ(?:e|ing|ten)", re.IGNORECASE
        ),
    ),
    (Activity.EVALUATE, re.compile(r"(?<![a-z])(?:eval|valid)", re.IGNORECASE)),
    (
        Activity.READ,
        re.compile(
            r"data|batch|shard|sample|getitem|(?<![a-z])(?:load|read|fetch|part|block|token|feed)|\.(?:tar|bin)\b",
            re.IGNORECASE,
        ),
    ),
)


def course_of(diagnosis: Diagnosis, finding: Finding) -> Course | None:
    """What became of the process that the others waited for; None where a trace tells the fault, or nothing does.

    That a process slowed the others down is told beside a trace too: what it logs, a hot processor or a card on a slow
    link, is one of many reasons for it.
    """
    if diagnosis.nodes and slowed_others(diagnosis):
        return Course.SLOWED
    return _of_one_that_died_or_hung(diagnosis, finding) if finding in (Finding.DIED, Finding.HUNG) else None


def _of_one_that_died_or_hung(diagnosis: Diagnosis, finding: Finding) -> Course | None:
    """What became of it where no trace tells: by what killed it, by the signs of the suspect, by its silence."""
    own = own_traces(diagnosis)
    killed = any(kind_of(event) in DEATHS and _was_killed(event) for event in own)
    if not diagnosis.nodes:
        return Course.KILLED if killed else Course.ALL if finding is Finding.HUNG else None
    signs = " ".join(diagnosis.nodes[0].reasons)
    cause = diagnosis.next.cause if diagnosis.next else ""
    if told := _by_signs(signs, cause):
        return told
    if killed:
        return Course.KILLED
    lacked = [lacks[1] for lacks in _LACKS.finditer(signs)]
    if lacked and all(map(_warns, lacked)):  # of its waiting, as the others did: it is no place in its work
        return _of_a_silent_one(diagnosis, signs)
    if _STUCK.search(cause):
        return Course.STUCK
    return _of_a_silent_one(diagnosis, signs) if _SILENT.search(cause) else None


def activity_of(reasons: Sequence[str], stage: Stage = Stage.UNKNOWN) -> Activity | None:
    """What the suspect was doing: by the function that it stands in, its last word, or what only the others came to.

    Where these do not tell, the stage does, unless the job was training, where anything may be done.
    """
    for reason in reasons:
        stands = _STANDS.search(reason)
        if stands is None and not _REACHED.search(reason):
            continue
        text = stands[1] if stands else " ".join(_QUOTED.findall(reason))
        if found := next((activity for activity, names in _ACTIVITIES if names.search(text)), None):
            return found
        if stands:
            return None
    return _STAGES.get(stage)


def slowed_others(diagnosis: Diagnosis) -> bool:
    """Whether the suspect worked on and was slower than the others, by the headline or by what points to it most."""
    cause = diagnosis.next.cause if diagnosis.next else ""
    told = (cause, *(reason for suspect in diagnosis.nodes[:1] for reason in suspect.reasons[:1]))
    if any(_SLOWED.search(text) for text in told):
        return True
    return headline_course(diagnosis) is Finding.SLOW and not _WAITED.search(cause)


def slow_part_of(diagnosis: Diagnosis) -> SlowPart | None:
    """What of its work took the suspect longer; None where nothing tells.

    What the number is called that points to it comes first, then what a trace beside it is of, then the sentence, which
    calls everything own work whose name it does not know.
    """
    text = f"{diagnosis.next.cause if diagnosis.next else ''} {diagnosis.headline}"
    kinds = (kind_of(event) for event in own_traces(diagnosis))
    told = (
        _part_of_number(diagnosis),
        next((_OF_KINDS[kind] for kind in kinds if kind in _OF_KINDS), None),
        next((part for part, sentence in _SLOW_PARTS if sentence.search(text)), None),
    )
    return next((part for part in told if part is not None), None)


def _part_of_number(diagnosis: Diagnosis) -> SlowPart | None:
    """What the number measures that points to the suspect most, by its name; of a rate nobody knows."""
    reasons = [Names.of(diagnosis).out_of(reason) for suspect in diagnosis.nodes[:1] for reason in suspect.reasons[:1]]
    number = next(filter(None, map(_OF_NUMBER.search, reasons)), None)
    if number is None or is_rate(number[1]):
        return None
    return next((part for part, names in _NUMBERS if names.search(number[1])), None)


def over_network(reasons: Sequence[str]) -> bool:
    """Whether counters or lines of its network tell a suspect from the others."""
    return any(_NETWORK.search(reason) for reason in reasons)


def _by_signs(signs: str, cause: str) -> Course | None:
    """What the signs of the suspect tell by themselves, the first of these that holds."""
    no_answer = bool(_NO_ANSWER.search(signs))
    told = (
        (Course.ASTRAY, _ASTRAY.search(signs)),
        (Course.CUT_OFF, "its launcher hung" in cause),
        (Course.AGAIN, "again and again" in cause),
        (Course.FROZEN, _NO_END.search(signs) or (no_answer and _SIGKILL.search(signs))),
        (Course.SILENT, no_answer),
        (Course.LEFT, _LEFT.search(signs) or _LEFT.search(cause)),
        (Course.STUCK, _STANDS.search(signs)),
    )
    return next((course for course, holds in told if holds), None)


def _of_a_silent_one(diagnosis: Diagnosis, signs: str) -> Course:
    """Whether a process without a last word is gone, frozen or only silent: by what its peers say, and by its end.

    Who is gone leaves peers that lost their connection; where none did, it stood still before it was killed.
    """
    after = {kind_of(event) for event in diagnosis.events if event.role is Role.PROPAGATED}
    ended = _SIGKILL.search(signs) is not None  # mostly by its launcher, when the others had given up
    left = Course.FROZEN if ended else Course.SILENT
    if headline_course(diagnosis) is Finding.HUNG:
        return left
    gone = Kind.PEER_LOST in after or (ended and _LOST.search(signs) is not None)
    return Course.KILLED if gone else left


def _warns(text: str) -> bool:
    """Whether a line is a warning or worse, be it known or not."""
    fact = fact_of(text, block=False)
    return fact is not None and Kind(fact.kind) is not Kind.NONE


def _was_killed(event: EventEvidence) -> bool:
    return kind_of(event) in (Kind.KILLED, Kind.SILENT_EXIT) or _KILLED.search(event.template) is not None
