"""The masks that need more than one look, and that a quick look before them changes nothing."""

from hypothesis import given
from hypothesis import strategies as st

from core.logs.blocks import _READERS, may_open
from core.logs.refine import _REFINEMENTS, refine

PIECES = (
    "<NUM>", "<HEX>", "<TS>", "[", "]", ":", "fdff", "-", "|", "#", "\u2588", " ", ", ", ",", "=", "=====", "-----",
    "*****", "^", "~", "^^", "~~~", "f", "_piuf", "Traceback (most recent call last)", "usage: ", "error",
    "C++ CapturedTraceback:", "Exception raised from x (most recent call first", "Fatal Python error: ",
    "invoked oom-killer", "Thread <HEX> (most recent call first):",
    '  File "x", line <NUM>', "at a.B.c(B.java:<NUM>)",
    "goroutine <NUM> [running]:", "*** Aborted at <NUM> (unix time)", "terminate called ", "+ Exception Group ",
)  # fmt: skip

texts = st.lists(st.sampled_from(PIECES) | st.text(max_size=2), max_size=20).map("".join)


@given(text=texts)
def test_no_pattern_is_left_out_that_would_have_found_something(text: str) -> None:
    """A text is refined as if every pattern were tried on it."""
    slowly = text.strip()
    if "<" in slowly or len(slowly) > 4:
        for pattern, name in dict.fromkeys((pattern, name) for _, _, pattern, name in _REFINEMENTS):
            slowly = pattern.sub(name, slowly)

    assert refine(text) == slowly


@given(text=texts)
def test_no_opening_is_overlooked(text: str) -> None:
    """What is looked for first stands in each line that can open a block."""
    assert may_open(text) == any(opener.search(text) for opener, _, _ in _READERS)
