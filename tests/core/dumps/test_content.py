"""Pickles and JSON of dumps: plain values only, whatever a file asks for."""

import json
import os
import pickle
import struct
import sys
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.dumps import plain_values
from core.dumps.plain_values import read_json, read_pickle
from core.errors import UnreadableLog

values = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**63), 2**63) | st.text() | st.floats(allow_nan=False),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner) | st.tuples(inner, inner) | st.tuples(inner),
    max_leaves=20,
)


class Hostile:
    """Runs a command when it is unpickled."""

    def __reduce__(self) -> tuple[Any, ...]:
        return os.system, ("touch /tmp/owned",)


@pytest.mark.slow
@given(values, st.integers(2, 5))
def test_plain_values_come_back_as_they_were(value: Any, protocol: int) -> None:
    """The twin of Python's own unpickler, for all that a dump is made of."""
    assert read_pickle(pickle.dumps(value, protocol), "d") == value


# No opcode that could look anything up is known at all.
HOSTILE = (
    *(pickle.dumps(Hostile(), protocol) for protocol in (2, 3, 4, 5)),
    pickle.dumps(os.system, 2),
    pickle.dumps({"entries": [Hostile()]}, 2),
    pickle.dumps({1, 2}, 4),
    b"\x80\x02cos\nsystem\n(S'true'\ntR.",
    b"\x80\x02(S'true'\nios\nsystem\n.",
    b"\x80\x04\x8c\x02os\x8c\x06system\x93.",
    b"\x80\x02P1\n.",
    b"\x80\x02NQ.",
    b"\x80\x02\x82\x01.",
    b"\x80\x02}}b.",
    b"\x80\x05\x97.",
    b"\x80\x02\x8a\xff" + b"\x01" * 255 + b".",
)
# Cut off, out of order, or lengths beyond the file: no memory is taken for them.
BROKEN = (
    b"\x80",
    b"\x80\x02",
    b"\x80\x02.",
    b"\x80\x02(.",
    b"\x80\x02]K\x01Ns.",
    b"\x80\x02h\x07.",
    b"\x80\x02}]K\x01s.",
    b"\x80\x02}(K\x01u.",
    b"\x80\x02(q\x01.",
    b"\x80\x02X" + struct.pack("<I", 2**32 - 1) + b"x.",
    b"\x80\x04\x8d" + struct.pack("<Q", 2**63) + b"x.",
    b"\x80\x04NN.",
    b"\x80\x02aaaa.",
)
# Depth and the number of values are bounded, also where a value holds another, or itself, many times.
LARGE = (
    b"\x80\x02]" + b"\x85" * 100_000 + b".",
    b"\x80\x02" + b"]" * 100_000 + b"a" * 99_999 + b".",
    b"\x80\x02]q\x00h\x00a.",
    b"\x80\x02" + b"(" * 12 + b"]q\x00" + b"".join(b"h%c" % n * 9 + b"lq%c" % (n + 1) for n in range(12)) + b".",
)


@pytest.mark.parametrize(
    ("data", "says"),
    [
        *((data, "was not read: it") for data in HOSTILE),
        *((data, "broken pickle") for data in BROKEN),
        *(pytest.param(data, "nested deeper or holds more", marks=pytest.mark.slow) for data in LARGE),
    ],
)
def test_hostile_broken_and_large_pickles_are_refused_and_told_apart(data: bytes, says: str) -> None:
    """One sentence that says why."""
    with pytest.raises(UnreadableLog, match=says):
        read_pickle(data, "dumps/x")


def test_a_large_place_in_the_memo_takes_no_memory() -> None:
    """Python's unpickler makes room for as many places as the number says."""
    assert read_pickle(b"\x80\x02Nr" + struct.pack("<I", 2**32 - 1) + b".", "d") is None


@given(st.binary(max_size=200))
def test_any_bytes_are_read_or_refused(data: bytes) -> None:
    """Nothing but our own error comes out."""
    for read in (read_pickle, read_json):
        try:
            read(b"\x80\x02" + data if read is read_pickle else data, "d")
        except UnreadableLog:
            continue


@pytest.mark.parametrize("text", ["", "{", '{"a": NaNN}', "[" * 100_000, "[" * 50 + "]" * 50, "1" * 5000, "\x80"])
def test_broken_or_deep_json_is_refused(text: str) -> None:
    """As for pickles; digits beyond what Python reads are no number."""
    with pytest.raises(UnreadableLog):
        read_json(text.encode("latin-1"), "d")


def test_limits_leave_room_for_real_dumps() -> None:
    """A recorder of 2,000 entries with 30 frames each is read."""
    frame = {"name": "f", "filename": "/opt/venv/lib/python3.11/site-packages/torch/nn/modules/module.py", "line": 1}
    entry = {"frames": [frame] * 30, "input_sizes": [[1, 2]], "profiling_name": "nccl:all_reduce"}
    document = {"version": "2.9", "entries": [dict(entry) for _ in range(2000)]}

    assert len(json.dumps(document)) < plain_values.MAX_BYTES
    assert read_json(json.dumps(document).encode(), "d") == read_pickle(pickle.dumps(document, 2), "d") == document
    assert sys.getrecursionlimit() > plain_values.MAX_DEPTH
