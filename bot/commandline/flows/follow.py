"""What ``firstfault flows --follow`` does: a window rolls over the files of a collector, and alarms are told."""

import sys
import time
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

from bot.commandline.flows.documents import AlarmDocument
from bot.commandline.flows.terminal import KINDS, who
from bot.commandline.output import READER_LEFT
from bot.text.harmless import harmless
from core.errors import FirstfaultError
from core.flows.alarms import Alarm, AlarmState, FlowAlarms
from core.flows.analyse import analyse
from core.flows.answer import FlowsAnswer
from core.flows.table import Window
from core.flows.topology import Topology
from sources.flows.flow_files import read_flows, read_topology
from sources.flows.rotated import TOPOLOGY, RotatedFolder

INTERRUPTED = 130  # 128 and the number of SIGINT, as shells tell it


def follow(folder: Path, topology: Path | None, *, seconds: float, every: float, json: bool) -> int:
    """Follow a folder until somebody ends it; the exit code.

    Args:
        seconds: of the window.
        every: so many seconds the folder is looked at.
    """
    beside = folder / TOPOLOGY
    attached = topology or (beside if beside.is_file() else None)
    watch = FlowsWatch(folder, read_topology(attached) if attached else Topology(), seconds)
    try:
        while True:
            for alarm in watch.look():
                sys.stdout.write(_as_json(alarm) if json else _as_text(alarm))
                sys.stdout.flush()  # whoever reads it waits for it
            time.sleep(every)
    except KeyboardInterrupt:
        sys.stderr.write("\nNot followed any more.\n")
        return INTERRUPTED
    except BrokenPipeError:
        return READER_LEFT


class FlowsWatch:
    """A folder of flow records that is followed."""

    def __init__(self, folder: Path, topology: Topology, seconds: float) -> None:
        self._files, self._topology = RotatedFolder(folder), topology
        self.window, self._alarms = Window(seconds), FlowAlarms()
        self._untold: set[str] = set()

    def look(self) -> Iterator[Alarm]:
        """Read the files that are complete since the last look, one by one, and judge the window after each."""
        for path in self._files.look():
            try:
                over = self.window.add(read_flows(path).frame, str(path))
            except FirstfaultError as trouble:  # one broken file of many: the next one is read all the same
                sys.stderr.write(f"{harmless(trouble.message, 300)}: left out.\n")
                continue
            if over:
                sys.stderr.write(f"The window holds its last {len(self.window):,} records: there are too many.\n")
            table = self.window.table()
            if table is not None:
                answer = analyse(table, self._topology)
                self._tell(answer)
                yield from self._alarms.hear(answer)

    def _tell(self, answer: FlowsAnswer) -> None:
        """What cannot be told, when it is met first: who waits for alarms must know that none can come."""
        for skip in answer.skipped:
            if skip.step not in self._untold:
                self._untold.add(skip.step)
                sys.stderr.write(f"Not told: {skip.step}: {harmless(skip.reason, 300)}\n")


def _as_json(alarm: Alarm) -> str:
    return AlarmDocument.model_validate(alarm).model_dump_json(by_alias=True) + "\n"


def _as_text(alarm: Alarm) -> str:
    at = datetime.fromtimestamp(alarm.at / 1e6, UTC)
    more = f" and {len(alarm.job.servers) - 1} more" if len(alarm.job.servers) > 1 else ""
    of = f"{len(alarm.job.nics)} NICs of {harmless(alarm.job.servers[0], 40)}{more}"
    trouble = f"{KINDS[alarm.finding.kind]}, {who(alarm.finding.subject)}"
    if alarm.state is AlarmState.OVER:
        return f"{at:%Y-%m-%d %H:%M:%S}  over   {of}: {trouble}; it lasted {(alarm.at - alarm.since) / 1e6:.0f} s.\n"
    return f"{at:%Y-%m-%d %H:%M:%S}  alarm  {of}: {trouble}\n    {harmless(alarm.finding.because, 400)}\n"
