"""Times and names as envelopes write them."""

import re
from datetime import UTC, datetime
from hashlib import sha256

_EPOCH_MICROS = 1_000_000
_LIKE_A_POD = re.compile(r"[a-z][a-z0-9-]*-[0-9]+")


def moment(micros: int) -> datetime:
    """A time in UTC."""
    return datetime.fromtimestamp(micros // _EPOCH_MICROS, UTC).replace(microsecond=micros % _EPOCH_MICROS)


def nanos(micros: int) -> str:
    """As Go's RFC3339NanoFixed: what is below a microsecond is made up of the time itself."""
    return f"{moment(micros):%Y-%m-%dT%H:%M:%S.%f}{micros * 7919 % 1000:03d}Z"


def millis(micros: int) -> str:
    """As Filebeat writes ``@timestamp``."""
    return f"{moment(micros):%Y-%m-%dT%H:%M:%S}.{micros % _EPOCH_MICROS // 1000:03d}Z"


def pod_of(node: str) -> str:
    """The pod that runs on a node, or is what the job calls a node."""
    return node if _LIKE_A_POD.fullmatch(node) else f"train-{node.lower()}"


def made_up(what: str, size: int) -> str:
    """So many hexadecimal digits for an id that nobody told."""
    return sha256(what.encode()).hexdigest()[:size]
