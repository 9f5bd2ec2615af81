"""Keeps a Chroma index in step with the database, in a thread of its own; exact search answers until it is.

One process owns the index folder, through a lock; the others search exactly. At start the folder must carry an intact
seal and answer in a probe; otherwise it is built anew from the database. So a kill at any moment costs time, never an
answer.
"""

import shutil
import tempfile
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from threading import Condition, Event, Thread
from types import MappingProxyType

from faultlib import probe
from faultlib.chroma import SYNC_AFTER, Collection, version
from faultlib.database import locked
from faultlib.errors import IndexUnavailable, LibraryUnavailable
from faultlib.index import ExactIndex, Scored, Snapshot, Vector
from faultlib.index_seal import Seal, read_seal, write_seal

LOCK = "owner.lock"
_BATCH = 50  # vectors at once: Python stands still for 0.06 s a batch, with 250 for 0.2 s and once for 1.2 s
_NONE: Mapping[str, str] = MappingProxyType({})


@dataclass(frozen=True, slots=True)
class _Open:
    """The index as the thread has it open."""

    folder: Path
    collection: Collection
    keys: Mapping[str, str]


class ChromaIndex:
    """The same answers as ``ExactIndex``, from Chroma once it is ready."""

    kind = "chroma"

    def __init__(self, folder: Path, *, sync_after: int = SYNC_AFTER, probe_seconds: float = probe.SECONDS) -> None:
        self._folder = folder
        self._sync_after, self._probe_seconds = sync_after, probe_seconds
        self._exact = ExactIndex()
        self._changed = Condition()  # guards the five below
        self._wanted: Snapshot | None = None  # loaded, and not yet worked in
        self._serving: Collection | None = None  # holds exactly what was loaded last
        self._thread: Thread | None = None
        self._hopeless = False  # Chroma does not work here: do not try again
        self._state = "exact search: nothing was loaded yet"
        self._stop = Event()

    @property
    def state(self) -> str:
        """How it is, in words for people."""
        with self._changed:
            return self._state

    def load(self, snapshot: Snapshot) -> None:
        """Answer from this snapshot from now on: exactly at once, with Chroma when it holds the same."""
        self._exact.load(snapshot)
        with self._changed:
            self._wanted, self._serving = snapshot, None
            if self._hopeless or self._stop.is_set():
                self._wanted = None
            elif self._thread is None:
                self._state = "exact search: Chroma is starting"
                self._thread = Thread(target=self._run, name="chroma", daemon=True)
                self._thread.start()
            self._changed.notify_all()

    def nearest(self, vector: Vector, limit: int) -> Scored:
        """The ``limit`` most similar ones; equal ones by id."""
        with self._changed:
            serving = self._serving
        if serving is not None:
            try:
                return serving.nearest(vector, limit)
            except IndexUnavailable as error:
                self._give_up(error)
        return self._exact.nearest(vector, limit)

    def settle(self, seconds: float) -> bool:
        """Wait until what was loaded is worked in; False when it took longer."""
        with self._changed:
            return self._changed.wait_for(lambda: self._wanted is None, seconds)

    def close(self) -> None:
        """End the thread, which closes Chroma and gives the folder free."""
        self._stop.set()
        with self._changed:
            thread, self._serving = self._thread, None
            self._changed.notify_all()
        if thread is not None:
            thread.join()

    def _run(self) -> None:
        try:
            self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            with locked(self._folder / LOCK, wait=False) as lock:
                if lock is None:
                    self._leave("exact search: another process owns the Chroma index")
                else:
                    self._own(lock)
        except OSError as error:
            self._leave(f"exact search: {self._folder} cannot be written: {error.strerror or error}")
        except (IndexUnavailable, LibraryUnavailable) as error:
            self._give_up(error)

    def _own(self, lock: int) -> None:
        current: _Open | None = None
        try:
            while (snapshot := self._next()) is not None:
                try:
                    current = current or self._reopened(lock, snapshot)
                    if self._stop.is_set():  # the probe was ended early, and has said nothing against the index
                        break
                    current = self._follow(current, snapshot)
                except IndexUnavailable:  # once more, in a new folder; fails again: give up
                    _close(current)
                    current = None
                    current = self._follow(None, snapshot)
                if current is not None:
                    self._serve(current, snapshot)
        finally:
            _close(current)

    def _next(self) -> Snapshot | None:
        with self._changed:
            self._changed.wait_for(lambda: self._wanted is not None or self._stop.is_set())
            return None if self._stop.is_set() else self._wanted

    def _reopened(self, lock: int, snapshot: Snapshot) -> _Open | None:
        """The folder of last time, if it is what was sealed and answers."""
        seal = read_seal(self._folder, made_by=version())
        if seal is None:
            return None
        folder, count = self._folder / seal.folder, len(seal.keys)
        dimensions = snapshot.matrix.shape[1]
        if not probe.answers(folder, count, dimensions, stop=self._stop, lock=lock, seconds=self._probe_seconds):
            return None
        return _Open(folder, Collection(folder, sync_after=self._sync_after), seal.keys)

    def _follow(self, current: _Open | None, snapshot: Snapshot) -> _Open | None:
        """Bring the index to the snapshot: by what differs, or anew where most of it does. None: told to stop."""
        keys = dict(zip(snapshot.ids, snapshot.keys, strict=True))
        old = current.keys if current else _NONE
        same = {name for name, key in keys.items() if old.get(name) == key}
        if current is None or 2 * len(same) < len(old):
            _close(current)
            same, old, current = set(), _NONE, self._new()
        gone = [name for name in old if name not in keys]
        for start in range(0, len(gone), _BATCH):
            current.collection.delete(gone[start : start + _BATCH])
        places = [place for place, name in enumerate(snapshot.ids) if name not in same]
        for start in range(0, len(places), _BATCH):
            if self._stop.is_set():
                current.collection.close()
                return None
            some = places[start : start + _BATCH]
            current.collection.upsert([snapshot.ids[place] for place in some], snapshot.matrix[some])
            self._say(f"exact search: Chroma holds {len(same) + start + len(some):,} of {len(keys):,} vectors")
        if keys:
            current.collection.nearest(snapshot.matrix[0], 1)  # a query is what makes Chroma write its graph
        if current.collection.count() != len(keys):
            raise IndexUnavailable("Chroma lost vectors.")
        write_seal(self._folder, Seal(current.folder.name, version(), keys))
        return _Open(current.folder, current.collection, keys)

    def _new(self) -> _Open:
        """An empty index in a folder of its own: Chroma remembers a path that once failed."""
        for leftover in self._folder.glob("chroma-*"):
            shutil.rmtree(leftover, ignore_errors=True)
        folder = Path(tempfile.mkdtemp(prefix="chroma-", dir=self._folder))
        return _Open(folder, Collection(folder, sync_after=self._sync_after), _NONE)

    def _serve(self, current: _Open, snapshot: Snapshot) -> None:
        with self._changed:
            if self._wanted is snapshot:
                self._wanted, self._serving = None, current.collection
                self._state = f"Chroma, {len(current.keys):,} vectors"
                self._changed.notify_all()

    def _say(self, state: str) -> None:
        with self._changed:
            self._state = state

    def _leave(self, state: str) -> None:
        """Exact search for now; the next load tries again."""
        with self._changed:
            self._wanted, self._thread, self._state = None, None, state
            self._changed.notify_all()

    def _give_up(self, error: IndexUnavailable | LibraryUnavailable) -> None:
        with self._changed:
            self._wanted, self._serving, self._hopeless = None, None, True
            self._state = f"exact search: {error.message}"
            self._changed.notify_all()


def _close(opened: _Open | None) -> None:
    with suppress(IndexUnavailable):  # what cannot even be closed is built anew
        if opened is not None:
            opened.collection.close()
