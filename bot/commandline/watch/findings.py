"""A watched job in words: findings as lines for a terminal or as JSON, and one quiet line of status."""

import json
from datetime import UTC, datetime
from typing import Any

from bot.text.harmless import harmless, storable
from core.live.findings import LiveFinding, Standing, duration
from core.model import Line

SCHEMA = "firstfault.watch/1"
# Characters; chosen: a sentence with its numbers, one line of a wide terminal.
MAX_SAYS, MAX_LINE = 500, 160
_QUIET = 2.0  # seconds; less is not worth a word


def finding_lines(finding: LiveFinding) -> tuple[str, ...]:
    """A finding with the time at which it was found, and the log line that says so below it."""
    clock = f"{datetime.fromtimestamp(finding.at, UTC):%H:%M:%S}"
    lines = (f"{clock}  {finding.kind.upper():<9}  {harmless(finding.says, MAX_SAYS)}",)
    if finding.line is None:
        return lines
    text = harmless(finding.line.text.strip(), MAX_LINE)
    return (*lines, f"{'':21}> {text}", f"{'':21}{place(finding.line)}")


def finding_json(finding: LiveFinding, job: str) -> str:
    """A finding as one JSON object a line (docs/how-to/watch.md)."""
    fields: dict[str, Any] = {
        "schema": SCHEMA,
        "job": job,
        "kind": finding.kind,
        "time": datetime.fromtimestamp(finding.at, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z"),
        "subject": finding.subject,
        "says": finding.says,
        "quiet": _rounded(finding.quiet),
        "usual": _rounded(finding.usual),
        "line": None,
    }
    if finding.line is not None:
        text = storable(harmless(finding.line.text, 1_000))
        fields["line"] = {"file": storable(finding.line.file), "line": finding.line.line or None, "text": text}
    return json.dumps(fields) + "\n"


def status_line(job: str, standing: Standing, width: int) -> str:
    """How the job stands: iteration, ranks heard, last word; never wider than the terminal."""
    parts = [harmless(job, 40)]
    if standing.iteration is not None:
        of = f" of {standing.total:,}" if standing.total else ""
        parts.append(f"iteration {standing.iteration:,}{of}")
    if standing.seconds_per_iteration is not None:
        parts.append(f"{duration(standing.seconds_per_iteration)} each")
    if standing.ranks:
        of = f" of {standing.ranks_expected:,}" if standing.ranks_expected else ""
        parts.append(f"{standing.ranks:,}{of} ranks heard")
    parts.append(f"{standing.lines:,} lines")
    if standing.quiet is not None and standing.quiet >= _QUIET:
        parts.append(f"quiet for {duration(standing.quiet)}")
    shown = ", ".join(parts)
    if standing.last is not None and len(shown) + 6 < width:
        shown += f" | {harmless(standing.last.text.strip(), width - len(shown) - 4)}"
    return shown[: max(0, width - 1)]


def place(line: Line) -> str:
    """Where a line stands: file and number, when it is known."""
    return harmless(line.file, 300) + (f":{line.line}" if line.line else "")


def _rounded(seconds: float | None) -> float | None:
    return None if seconds is None else round(seconds, 3)
