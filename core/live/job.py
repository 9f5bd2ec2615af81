"""A job that still runs, as a state machine: bytes and times in, findings out; no clock, no file, no thread of its own.

The caller reads what is new of each file and hands it over (``hear``), then asks what is to be said (``look``), as
often as it likes. Times are seconds of any clock that the caller keeps to.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from core.job import Manifest, Status
from core.live.endings import EndSign, Tracebacks, sign_of
from core.live.findings import JOB, Alarms, LiveFinding, LiveKind, Standing
from core.live.progress import JobProgress
from core.live.speakers import Speaker, Speakers
from core.live.tail import Heard, Tail
from core.logs.lines import NO_TIME
from core.logs.origins import Program
from core.model import Line

# How long a sign of the end must stand without progress after it; benchmarks/watching.py, docs/how-to/watch.md
REPORT_SECONDS = 2.0  # what launcher or scheduler report: nothing is to be doubted but a restart
DEATH_SECONDS = 8.0  # what a rank says of itself: its launcher reports within some seconds, where there is one
SCRIPT_SECONDS = 60.0  # what somebody else says of itself before there was progress: job scripts try things out
SETTLED_SECONDS = 10.0  # without a line after the end: everybody has said what there is to say
SETTLING_SECONDS = 60.0  # daemons talk on, and ranks time out one after the other: longer is not waited for
DONE_SECONDS = 600.0  # of silence after "training finished": over, whether a scheduler says so or not
MANY_DEATHS = 0.5  # of the ranks: then nobody is left to go on


_STOPS = (EndSign.STOP, EndSign.BY_HAND)
_ENDS = (EndSign.REPORT, EndSign.VERDICT, EndSign.DEATH, *_STOPS, EndSign.COMPLETED)


@dataclass(frozen=True, slots=True)
class _End:
    """A sign that the job ends: where it is, who said it, and when."""

    sign: EndSign
    at: float
    place: Line
    who: str
    own: bool  # a rank or its launcher speaks, no job script
    says: str


class LiveJob:
    """Everything that is known of one running job."""

    def __init__(self, manifest: Manifest, *, year: int) -> None:
        self._manifest = manifest
        self._year = year
        self._hosts = [name.encode() for name in (*manifest.nodes, *_addresses(manifest))]
        self._tails: dict[str, Tail] = {}
        self._tracebacks: dict[tuple[str, bytes], Tracebacks] = defaultdict(Tracebacks)
        self._speakers = Speakers(manifest)
        self._progress = JobProgress(manifest.total_iterations)
        self._alarms = Alarms()
        self._ends: dict[str, _End] = {}
        self._over: LiveFinding | None = None
        self._over_for_sure = False
        self._verdict: _End | None = None  # the scheduler's last word
        self._done: float | None = None  # since when somebody says that the work is done
        self._lines = 0
        self._last: tuple[float, str, Heard] | None = None

    # --- what the caller tells ---

    def hear(self, news: Mapping[str, bytes], at: float) -> None:
        """What was added to these files, at this time."""
        heard_lines = [(at, name, heard) for name, data in news.items() for heard in self._tail(name).feed(data)]
        self._take(heard_lines)

    def catch_up(self, so_far: Mapping[str, bytes], at: float) -> None:
        """What the files held before the watch began: times are those of the lines, the newest of them being now."""
        spoken = {name: _timed(self._tail(name).feed(data)) for name, data in so_far.items()}
        newest = max((time for lines in spoken.values() for time, _ in lines if time is not None), default=0.0)
        heard_lines = [
            (at if time is None else min(at, at - newest + time), name, heard)
            for name, lines in spoken.items()
            for time, heard in lines
        ]
        self._take(sorted(heard_lines, key=lambda item: item[0]))

    def begin_again(self, name: str) -> None:
        """A file was truncated or replaced: what comes next is its first line."""
        self._tails.pop(name, None)

    def leave_out(self, name: str) -> None:
        """The beginning of a file is not handed over: its lines have no numbers."""
        self._tails[name] = Tail(self._hosts, self._year, numbered=False)

    def status(self, status: Status, at: float) -> tuple[LiveFinding, ...]:
        """What the manifest says now; a job that is over is over."""
        if status not in (Status.COMPLETED, Status.FAILED, Status.CANCELLED) or self._over_for_sure:
            return ()
        self._over_for_sure = True
        if self._over is not None:
            return ()
        kind = {Status.COMPLETED: LiveKind.COMPLETED, Status.FAILED: LiveKind.FAILED}.get(status, LiveKind.STOPPED)
        end = min(self._ends.values(), key=lambda end: end.at, default=None) if kind is not LiveKind.COMPLETED else None
        self._over = LiveFinding(kind, at, JOB, f"job.json says {status}", line=end.place if end else None)
        return (self._over,)

    # --- what the caller asks ---

    def look(self, now: float) -> tuple[LiveFinding, ...]:
        """What is to be said now and was not said before."""
        if self._over is not None:
            return ()
        ended = self._look_for_end(now)
        if ended is not None:
            self._over = ended
            return (ended,)
        found = [self._progress.resumed(now)]
        if self._done is None and not self._ends:
            found.append(self._progress.look(now))
        findings = [finding for finding in found if finding is not None]
        if self._done is None and not self._progress.finished:
            findings += (*self._speakers.look(now), *self._progress.numbers.look(now))
            self._alarms.hear(findings)
            findings += self._alarms.look(now) if not self._ends else ()
        return tuple(findings)

    @property
    def over(self) -> LiveFinding | None:
        """The finding that tells how the job ended; None while it runs."""
        return self._over

    def settled(self, now: float) -> bool:
        """Whether a job that ended has said what it had to say."""
        if self._over is None:
            return False
        quiet = now - self._last[0] if self._last else SETTLED_SECONDS
        waited = now - self._over.at
        return (
            waited >= SETTLING_SECONDS or quiet >= SETTLED_SECONDS or (self._over_for_sure and quiet >= REPORT_SECONDS)
        )

    def standing(self, now: float) -> Standing:
        """How the job stands."""
        return Standing(
            iteration=self._progress.iteration,
            total=self._progress.total,
            seconds_per_iteration=self._progress.seconds_per_iteration(),
            ranks=len(self._speakers.ranks()),
            ranks_expected=self._manifest.world_size,
            lines=self._lines,
            quiet=now - self._last[0] if self._last else None,
            last=Line(self._last[1], self._last[2].line, self._last[2].text) if self._last else None,
        )

    # --- lines ---

    def _tail(self, name: str) -> Tail:
        if name not in self._tails:
            self._tails[name] = Tail(self._hosts, self._year)
        return self._tails[name]

    def _take(self, heard_lines: list[tuple[float, str, Heard]]) -> None:
        self._speakers.meet((name, heard.prefix) for _, name, heard in heard_lines)
        for at, name, heard in heard_lines:
            self._lines += 1
            self._last = (at, name, heard)
            speaker = self._speakers.of(name, heard.prefix)
            if speaker is not None:
                speaker.speak(heard.body, at)
            if self._progress.hear(heard, name, at, speaker.name if speaker else name):
                self._go_on(at)
            self._hear_of_end(heard, name, speaker, at)

    def _go_on(self, at: float) -> None:
        """Progress: whatever went wrong before it did not end the job."""
        self._ends = {who: end for who, end in self._ends.items() if end.at >= at}
        self._done = None if not self._progress.finished else self._done

    def _hear_of_end(self, heard: Heard, file: str, speaker: Speaker | None, at: float) -> None:
        raised = self._tracebacks[file, heard.prefix].hear(heard)
        sign, says = sign_of(heard.body)
        if raised and sign is not EndSign.BY_HAND:
            sign, says = EndSign.DEATH, raised.says
        who = speaker.name if speaker else file
        if sign is EndSign.DONE or sign is EndSign.COMPLETED:
            self._done = at if self._done is None else self._done
        if sign is EndSign.ANEW:
            self._ends.clear()
        if sign is EndSign.CALM:
            self._live_on(who, at)
        if sign in _ENDS:
            own = speaker is not None and speaker.program in (Program.RANK, Program.LAUNCHER)
            self._note_end(_End(sign, at, Line(file, heard.line, heard.text), who, own, says))

    def _live_on(self, who: str, at: float) -> None:
        """Somebody goes on: it has not died, and no job script has taken it along."""
        self._ends = {
            name: end
            for name, end in self._ends.items()
            if end.sign is not EndSign.DEATH or end.at >= at or (end.own and name != who)
        }

    def _note_end(self, end: _End) -> None:
        """The first sign of each speaker; a launcher's report outweighs what processes say."""
        if end.sign in (EndSign.COMPLETED, EndSign.VERDICT):
            self._verdict, self._over_for_sure = end, True
            if end.sign is EndSign.COMPLETED:
                return
        known = self._ends.get(end.who)
        if known is None or (known.sign is EndSign.DEATH and end.sign is EndSign.REPORT):
            self._ends[end.who] = end

    def _look_for_end(self, now: float) -> LiveFinding | None:
        """The end of the job, once a sign of it has stood for long enough."""
        # of what came together the hand was first: whoever is interrupted is reported as failed too
        ends = sorted(self._ends.values(), key=lambda end: (end.at, end.sign is not EndSign.BY_HAND))
        if self._verdict is not None and self._verdict.sign is EndSign.COMPLETED:
            return LiveFinding(
                LiveKind.COMPLETED, now, JOB, "the scheduler says that it completed", line=self._verdict.place
            )
        if self._verdict is not None:
            return self._failed(ends, now)
        if self._done is not None or self._progress.finished:
            return self._wound_up(now)
        deaths = [end for end in ends if end.sign is EndSign.DEATH]
        many = len(deaths) >= max(2, MANY_DEATHS * len(self._speakers.ranks()))
        for end in ends:
            soon = end.sign is not EndSign.DEATH or many
            if now - end.at >= (REPORT_SECONDS if soon else self._patience(end)):
                return self._failed(ends, now)
        return None

    def _patience(self, end: _End) -> float:
        """How long one dead process is waited for: not less than some iterations take."""
        each = self._progress.seconds_per_iteration()
        if each is not None:
            return max(DEATH_SECONDS, 3 * each)
        alone = (self._manifest.world_size or len(self._speakers.ranks())) <= 1
        return DEATH_SECONDS if end.own or alone else SCRIPT_SECONDS

    def _wound_up(self, now: float) -> LiveFinding | None:
        """A job whose work is done: what goes wrong after that is no failure, unless the scheduler calls it one."""
        quiet = now - self._last[0] if self._last else 0.0
        if quiet < DONE_SECONDS:
            return None
        return LiveFinding(LiveKind.COMPLETED, now, JOB, f"its work is done, and no line came for {quiet:.0f} s")

    def _failed(self, ends: list[_End], now: float) -> LiveFinding:
        first = ends[0]
        kind = LiveKind.STOPPED if first.sign in _STOPS else LiveKind.FAILED
        text = f"{first.says}; " if first.says else ""
        where = f" at iteration {self._progress.iteration:,}" if self._progress.iteration is not None else ""
        what = "the job was stopped" if kind is LiveKind.STOPPED else "the job has failed"
        says = f"{what}{where}: {text}{first.who} said it first, {len(ends)} so far"
        return LiveFinding(kind, now, JOB, says, line=first.place)


def _addresses(manifest: Manifest) -> Iterable[str]:
    return (address for names in manifest.node_addresses.values() for address in names)


def _timed(heard_lines: Iterable[Heard]) -> list[tuple[float | None, Heard]]:
    """Each line with its clock in seconds; one without has that of the line above it."""
    timed: list[tuple[float | None, Heard]] = []
    time: float | None = None
    for heard in heard_lines:
        if heard.time != NO_TIME:
            time = heard.time / 1e6
        timed.append((time, heard))
    return timed
