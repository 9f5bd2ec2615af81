"""What a metric measures, by its name, and in which direction it tells of trouble."""

import re
from enum import StrEnum


class Measure(StrEnum):
    """What a metric measures."""

    LOSS = "loss"
    NORM = "gradient norm"
    STEP_TIME = "time an iteration"
    THROUGHPUT = "throughput"
    TRAFFIC = "traffic"
    ITERATION = "iteration"
    XID = "Xid"
    BROKEN_MEMORY = "uncorrectable memory errors"
    ERRORS = "errors"
    CLOCK = "clock"
    HEAT = "temperature"
    USE = "utilisation"
    POWER = "power"
    OTHER = ""


# Names of DCGM's exporter, node_exporter, Megatron, Hugging Face and W&B; the first that fits decides.
_NAMES = (
    (Measure.XID, r"xid"),
    (Measure.BROKEN_MEMORY, r"ecc_dbe|uncorrectable|row_remap_failure|double_bit"),
    (Measure.OTHER, r"ecc_sbe|correctable|remapped_rows"),  # corrected ones harm nobody by themselves
    (Measure.NORM, r"grad(?:ient)?[ _-]?norm"),
    (Measure.OTHER, r"loss[ _-]?scale"),
    (Measure.LOSS, r"(?<![a-z])loss(?![a-z])"),
    (Measure.STEP_TIME, r"(?:step|iter(?:ation)?|batch)[ _-]?time|time[ _-]?per[ _-]?(?:step|iter)|elapsed_time_per"),
    (Measure.THROUGHPUT, r"mfu|tflops|tokens?[ _-]?per|samples?[ _-]?per|throughput|steps?[ _-]?per[ _-]?sec"),
    (Measure.ITERATION, r"^(?:train/)?(?:global_?)?(?:step|iteration)s?$"),
    (Measure.ERRORS, r"err(?:or)?s?(?![a-z])|retrans|discard|drop|symbol|replay|link_downed|timeout|violation|throttl"),
    (Measure.TRAFFIC, r"(?:tx|rx|transmit|receive|rcv|xmit|sent|recv|nvlink|rdma|network).{0,24}(?:byte|octet|data)"),
    (Measure.TRAFFIC, r"traffic|(?:network|rdma|nvlink|link|ib)_?(?:bandwidth|throughput)"),
    (Measure.CLOCK, r"clock"),
    (Measure.HEAT, r"temp(?:erature)?(?![a-z])"),
    (Measure.USE, r"util|active|occupancy|busy"),
    (Measure.POWER, r"power|watt"),
)  # fmt: skip
_KNOWN = tuple((measure, re.compile(words, re.IGNORECASE)) for measure, words in _NAMES)
_COUNTER = re.compile(r"_total$|_count$")

HIGHER = frozenset({Measure.ERRORS, Measure.HEAT, Measure.STEP_TIME})  # less of it is no trouble
LOWER = frozenset({Measure.CLOCK, Measure.THROUGHPUT, Measure.TRAFFIC})


def measure_of(name: str) -> Measure:
    """What a metric of this name measures."""
    return next((measure for measure, words in _KNOWN if words.search(name)), Measure.OTHER)


def is_counter(name: str) -> bool:
    """Whether it only ever rises, so that its rate is what tells."""
    return _COUNTER.search(name) is not None
