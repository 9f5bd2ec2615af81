"""What a metric measures, by its name, and in which direction it tells of trouble."""

import re
from enum import StrEnum


class Quantity(StrEnum):
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
    (Quantity.XID, r"xid"),
    (Quantity.BROKEN_MEMORY, r"ecc_dbe|uncorrectable|row_remap_failure|double_bit"),
    (Quantity.OTHER, r"ecc_sbe|correctable|remapped_rows"),  # corrected ones harm nobody by themselves
    (Quantity.NORM, r"grad(?:ient)?[ _-]?norm"),
    (Quantity.OTHER, r"loss[ _-]?scale"),
    (Quantity.LOSS, r"(?<![a-z])loss(?![a-z])"),
    (Quantity.STEP_TIME, r"(?:step|iter(?:ation)?|batch)[ _-]?time|time[ _-]?per[ _-]?(?:step|iter)|elapsed_time_per"),
    (Quantity.THROUGHPUT, r"mfu|tflops|tokens?[ _-]?per|samples?[ _-]?per|throughput|steps?[ _-]?per[ _-]?sec"),
    (Quantity.ITERATION, r"^(?:train/)?(?:global_?)?(?:step|iteration)s?$"),
    (
        Quantity.ERRORS,
        r"err(?:or)?s?(?![a-z])|retrans|discard|drop|symbol|replay|link_downed|timeout|violation|throttl",
    ),
    (Quantity.TRAFFIC, r"(?:tx|rx|transmit|receive|rcv|xmit|sent|recv|nvlink|rdma|network).{0,24}(?:byte|octet|data)"),
    (Quantity.TRAFFIC, r"traffic|(?:network|rdma|nvlink|link|ib)_?(?:bandwidth|throughput)"),
    (Quantity.CLOCK, r"clock"),
    (Quantity.HEAT, r"temp(?:erature)?(?![a-z])"),
    (Quantity.USE, r"util|active|occupancy|busy"),
    (Quantity.POWER, r"power|watt"),
)  # fmt: skip
_KNOWN = tuple((measure, re.compile(words, re.IGNORECASE)) for measure, words in _NAMES)
_COUNTER = re.compile(r"_total$|_count$")

HIGHER = frozenset({Quantity.ERRORS, Quantity.HEAT, Quantity.STEP_TIME})  # less of it is no trouble
LOWER = frozenset({Quantity.CLOCK, Quantity.THROUGHPUT, Quantity.TRAFFIC})


def measure_of(name: str) -> Quantity:
    """What a metric of this name measures."""
    return next((measure for measure, words in _KNOWN if words.search(name)), Quantity.OTHER)


def is_counter(name: str) -> bool:
    """Whether it only ever rises, so that its rate is what tells."""
    return _COUNTER.search(name) is not None
