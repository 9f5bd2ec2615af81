"""What the flow logs of all clouds have in common."""

TOLD = "flow logs of a cloud are sums over an interval: jobs and shares of bytes, no steps"
DOCS = "docs/how-to/flows.md tells which flow logs of clouds are read."


def counted(count: int, what: str) -> tuple[str, ...]:
    """A sentence where there were any."""
    return (f"{count:,} {what}",) if count else ()
