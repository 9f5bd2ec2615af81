"""Who speaks in a running job, how often, and who has gone silent while the others go on.

Nothing here is an absolute time-out. What somebody says again and again is a beat: an iteration line, a telemetry line,
the statistics of a node daemon. Somebody is silent when it says nothing at all, for far longer than it ever paused
between two of one of its beats, and than its peers pause in the same beat meanwhile. When all pause alike (a
checkpoint, an evaluation, a hang), nobody is silent; who has no beat, or one of its own, never is.
"""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from statistics import median

from core.job import Manifest
from core.live.findings import LiveFinding, LiveKind, duration
from core.live.progress import LivePace
from core.logs.origins import Origin, Program, Voice, find_origins
from core.naming import natural, together

# Of the lab's successful jobs and the public ones with clocks; benchmarks/watching.py, docs/how-to/watch.md
SILENCE = 2.5  # times its own longest pause, and the longest one of its peers meanwhile. Above 2: while less than a
# period has gone by, the longest pause of a peer with the same beat is half of it at least
SILENCE_SECONDS = 5.0  # less is no silence
MIN_WORDS, MIN_OWN = 4, 3  # of a beat among the peers, and of one's own, before it is known
MAX_BEATS = 64  # of one speaker; of more, those that were heard least are forgotten
BEATS_KEPT = 16  # words of a beat whose times are kept
MAX_VOICES = 50_000  # prefixes hold thread ids: more of them are not told apart


class Speaker:
    """A rank, a launcher, a daemon of a node: whatever files it writes to."""

    def __init__(self, name: str, origin: Origin) -> None:
        self.name = name
        self.node = origin.node
        self.rank = origin.rank
        self.program = origin.program
        self.last: float | None = None
        self.beats: dict[bytes, LivePace] = {}
        self.told_silent: float | None = None  # since when it is told that it is silent

    def speak(self, body: bytes, at: float) -> None:
        """It says something, and perhaps the same as before."""
        self.last = at
        pace = self.beats.get(body)
        if pace is None:
            if len(self.beats) >= MAX_BEATS:
                self._forget()
            pace = self.beats[body] = LivePace(BEATS_KEPT)
        pace.speak(at)

    def _forget(self) -> None:
        by_words = sorted(self.beats, key=lambda body: (self.beats[body].words, self.beats[body].last or 0.0))
        for body in by_words[: MAX_BEATS // 2]:
            del self.beats[body]


@dataclass(frozen=True, slots=True)
class _Silence:
    """Somebody's silence: its own longest pause in a beat, and that of its peers meanwhile."""

    speaker: Speaker
    quiet: float
    own: float
    peers: float


class Speakers:
    """All speakers of a job."""

    def __init__(self, manifest: Manifest) -> None:
        self._manifest = manifest
        self._voices: dict[tuple[str, bytes], Speaker] = {}
        self._speakers: dict[str, Speaker] = {}
        self._known: list[Voice] = []

    def meet(self, voices: Iterable[tuple[str, bytes]]) -> None:
        """Find out who is behind voices that are new; what one tells about another counts (core.logs.origins)."""
        new = [Voice(*voice) for voice in dict.fromkeys(voices) if voice not in self._voices]
        if not new or len(self._known) > MAX_VOICES:
            return
        self._known += new
        for voice, origin in zip(self._known, find_origins(self._known, self._manifest), strict=True):
            speaker = self._speaker(voice, origin)
            self._voices[voice.file, voice.prefix] = speaker

    def of(self, file: str, prefix: bytes) -> Speaker | None:
        """The speaker behind a prefix of a file; None where that is not known yet."""
        return self._voices.get((file, prefix))

    def ranks(self) -> tuple[int, ...]:
        """The ranks that have spoken."""
        found = {
            speaker.rank for speaker in self._speakers.values() if speaker.rank is not None and speaker.last is not None
        }
        return tuple(sorted(found))

    def look(self, now: float) -> list[LiveFinding]:
        """Who has gone silent since the last look, and who speaks again."""
        findings = []
        for group in _by_node([item for item in self._find_silent(now) if item.speaker.told_silent is None]):
            findings.append(_finding(group, now))
            for silence in group:
                silence.speaker.told_silent = now
        # only a word of its own takes it back: when its peers stop too, it is no less silent
        again = [
            item
            for item in self._speakers.values()
            if item.told_silent is not None and (item.last or 0.0) > item.told_silent
        ]
        for speaker in again:
            speaker.told_silent = None
        return [*findings, *_resumed(again, now)]

    def _find_silent(self, now: float) -> list[_Silence]:
        """Who says nothing while its peers go on, by the beat that tells it most clearly."""
        quiet = [
            speaker
            for speaker in self._speakers.values()
            if speaker.last is not None and now - speaker.last >= SILENCE_SECONDS
        ]
        found = [_silence(speaker, self._speakers.values(), now) for speaker in quiet]
        return [silence for silence in found if silence is not None]

    def _speaker(self, voice: Voice, origin: Origin) -> Speaker:
        name = _name(voice, origin)
        known = self._voices.get((voice.file, voice.prefix))
        if known is not None and known.name == name:
            return known
        if name not in self._speakers:
            self._speakers[name] = Speaker(name, origin)
        speaker = self._speakers[name]
        speaker.node = speaker.node or origin.node
        return speaker


def _name(voice: Voice, origin: Origin) -> str:
    if origin.rank is not None:
        return f"rank {origin.rank}"
    if origin.program is Program.RANK:
        place = f"local rank {origin.local_rank}" if origin.local_rank is not None else voice.file
        return f"{place} of {origin.node}" if origin.node else place
    return voice.file.removeprefix("logs/")


def _silence(speaker: Speaker, everybody: Iterable[Speaker], now: float) -> _Silence | None:
    last = speaker.last if speaker.last is not None else now
    quiet, found = now - last, None
    for body, beat in speaker.beats.items():
        own = beat.longest()
        if beat.words < MIN_OWN or quiet < SILENCE * own:
            continue
        peers = [peer.beats[body] for peer in everybody if peer is not speaker and body in peer.beats]
        paused = [peer.longest_between(last, now) for peer in peers if peer.words >= MIN_WORDS]
        if paused and quiet >= SILENCE * median(paused) and (found is None or own > found.own):
            found = _Silence(speaker, quiet, own, median(paused))
    return found


def _finding(group: Sequence[_Silence], now: float) -> LiveFinding:
    """One finding for those of one node."""
    node = group[0].speaker.node
    names = together(sorted((silence.speaker.name for silence in group), key=natural))
    quiet, own = min(silence.quiet for silence in group), max(silence.own for silence in group)
    where = f" on {node}" if node and not all(node in silence.speaker.name for silence in group) else ""
    paused = duration(max(silence.peers for silence in group))
    says = (
        f"{names}{where}: no word for {duration(quiet)}; {'their' if len(group) > 1 else 'its'} longest pause before"
        f" was {duration(own)}, and the peers paused {paused} at most meanwhile"
    )
    return LiveFinding(LiveKind.SILENT, now, node or names, says, quiet, own)


def _resumed(again: Sequence[Speaker], now: float) -> list[LiveFinding]:
    """The alarm about a node is taken back by those of it that speak again."""
    groups: dict[str, list[str]] = defaultdict(list)
    for speaker in again:
        groups[speaker.node or speaker.name].append(speaker.name)
    return [
        LiveFinding(LiveKind.RESUMED, now, place, f"{together(sorted(names, key=natural))} can be heard again")
        for place, names in sorted(groups.items())
    ]


def _by_node(silent: Sequence[_Silence]) -> list[list[_Silence]]:
    groups: dict[str, list[_Silence]] = defaultdict(list)
    for silence in silent:
        groups[silence.speaker.node or silence.speaker.name].append(silence)
    return [groups[node] for node in sorted(groups, key=natural)]
