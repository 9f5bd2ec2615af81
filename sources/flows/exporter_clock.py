"""Whether an exporter's clock is right: softflowd reading an old capture is 2^32 ms ahead."""

AHEAD_S = 86_400  # seconds that a flow can end after it was received, before its clock is called wrong
WRAP_DAYS = 2**32 / 86_400_000  # of a 32-bit uptime in milliseconds


def ahead_of(seconds: float | None) -> tuple[str, ...]:
    """A sentence where flows end long after they were received; their times are left as they are.

    Args:
        seconds: from when they were received to when they end.
    """
    if seconds is None or seconds <= AHEAD_S:
        return ()
    days = seconds / 86_400
    wrap = ", about 2^32 ms: softflowd does this to captures of the past" if abs(days - WRAP_DAYS) < 1 else ""
    return (f"the flows end {days:.1f} days after they were received{wrap}; their times are left as they are",)
