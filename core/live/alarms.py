"""Which alarms of a running job nobody took back, and for how long: what hangs for minutes is worth a diagnosis."""

from collections.abc import Iterable

from core.live.findings import LiveFinding, LiveKind, duration

# Of 131 recorded jobs no alarm was ever taken back (benchmarks/watching.py), and the lab's jobs time out within half a
# minute; collectives of PyTorch do after ten. A person who was called looks after some minutes: then it stands there.
STANDS_SECONDS = 120.0


class Alarms:
    """The alarms of one job that stand; ``look`` says once that they do, until all is well again."""

    def __init__(self) -> None:
        self._since: dict[str, float] = {}
        self._told = False

    def hear(self, findings: Iterable[LiveFinding]) -> None:
        """Take note of alarms, and of those that are taken back."""
        for finding in findings:
            if finding.kind in (LiveKind.SILENT, LiveKind.HUNG):
                self._since.setdefault(finding.subject, finding.at)
            elif finding.kind is LiveKind.RESUMED:
                self._since.pop(finding.subject, None)
        self._told = self._told and bool(self._since)

    def look(self, now: float) -> list[LiveFinding]:
        """That the oldest of them stands; its subject is that of the alarm."""
        subject, since = min(self._since.items(), key=lambda item: item[1], default=("", now))
        if self._told or now - since < STANDS_SECONDS:
            return []
        self._told = True
        says = f"the alarm has stood for {duration(now - since)}; what follows is a diagnosis of the job as it stands"
        return [LiveFinding(LiveKind.STANDS, now, subject, says, now - since)]
