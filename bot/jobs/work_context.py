"""What carrying out a run and a question have in common: what they need, limits, child processes, careful telling."""

import logging
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import Any, TypeVar

from bot.jobs.child_process import ChildProcess
from bot.jobs.lease_keeper import EndReason, Lease
from bot.jobs.listener import Counters, Listener
from bot.jobs.messages import AnswerMessage, Ask, ChildOrder, Diagnose, Draw, FailureMessage, ReplyMessage, TellHistory
from bot.jobs.run_files import RunFiles
from bot.jobs.spare_child import SpareChild
from bot.jobs.tasks import TASKS
from bot.outgoing.errors import ASK, Failure, public_failure, without_places
from bot.state.answers import SavedAnswer
from bot.state.leases import Leases
from bot.state.small_values import Status, new_id
from bot.state.state import State
from core.errors import Audience

MAX_DEATHS = 2  # of children over one row: the first may have been an accident of the machine
_LOG = logging.getLogger(__name__)
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Limits:
    """How much at a time, and how long.

    poll_seconds: how soon work that another process has queued is found; that of this one is told by ``Worker.wake``.
    spare: hold a child ready, for its memory.
    """

    runs: int = 1
    questions: int = 1
    run_seconds: float = 900
    question_seconds: float = 120
    poll_seconds: float = 0.5
    spare: bool = False

    @property
    def run_time(self) -> timedelta:
        """How long a run may take."""
        return timedelta(seconds=self.run_seconds)


@dataclass(frozen=True)
class WorkContext:
    """What the work needs; built once by the worker."""

    state: State
    listener: Listener
    counters: Counters
    files: RunFiles
    limits: Limits
    owner: str
    environment: Mapping[str, str]
    version: str = ""
    tasks: Mapping[str, str] = field(default_factory=lambda: TASKS)
    spare: SpareChild | None = None  # None: every child is started when it is needed

    @contextmanager
    def child(
        self, lease: Lease, task: str, body: Diagnose | TellHistory | Ask | Draw, home: str = ""
    ) -> Iterator[ChildProcess]:
        """A child for this task; afterwards nothing of it is left, and the next is held ready.

        Args:
            home: the run in whose folder it works, when that is not what the lease is about.
        """
        waited_for = None if isinstance(body, Draw) else self.spare  # nobody waits for pictures
        with self.files.temporary(home or lease.id) as temporary:
            order = ChildOrder(self.tasks[task], body, str(temporary))
            ready = waited_for.take(order) if waited_for else None
            process = ready or ChildProcess(order, temporary=temporary, environment=self.environment)
            job = body.answer.job if isinstance(body, Ask | Draw) else body.job
            _LOG.info("%s: %s %s in process %d", lease.id, task, job, process.pid, extra={"run": lease.id, "job": job})
            with lease.running(process):
                yield process
        if self.spare:  # now, not at once: it would take the processor from who is waited for
            self.spare.prepare()


@dataclass(frozen=True, slots=True)
class ChildTask:
    """What a child works on: in words, how many died over it, how long it may take, since when somebody waits."""

    what: str
    attempts: int
    seconds: float
    asked_at: datetime


class Work(ABC):
    """One kind of work: how its rows are claimed, carried out and told. task: as it is counted."""

    task: str

    def __init__(self, context: WorkContext, leases: Leases) -> None:
        """leases: of the table that its rows are in."""
        self._context = context
        self.leases = leases

    def conclude(self, lease: Lease, status: Status, failure: Failure | None = None, *, asked_at: datetime) -> None:
        """Write down how it ended, and tell, unless it is another's meanwhile."""
        mine = self.leases.conclude(lease.id, self._context.owner, status, failure)
        seconds = (self._context.state.clock() - asked_at).total_seconds()
        reference = failure.reference if failure else ""
        _LOG.info(
            "%s: %s%s", lease.id, status if mine else "lost", f" ({reference})" if reference else "",
            extra={"run": lease.id, "outcome": str(status), "seconds": round(seconds, 3), "reference": reference},
        )  # fmt: skip
        if mine:
            self._context.counters.finished(self.task, str(status), seconds)
            self.tell(lease)

    @abstractmethod
    def carry_out(self, lease: Lease) -> None:
        """Carry out a claimed row, until somebody was told."""

    @abstractmethod
    def tell(self, lease: Lease) -> None:
        """Tell how a concluded row ended."""

    def run_child(
        self, lease: Lease, order: Ask | Draw, keep: Callable[[Any], object], about: ChildTask, home: str = ""
    ) -> None:
        """Give a child its order, keep the answer or reply that it ends with, and conclude; nobody sees progress.

        Args:
            home: the run in whose folder it works, when that is not what the lease is about.
        """
        ending: SavedAnswer | str | Failure | None = None
        with self._context.child(lease, self.task, order, home) as process:
            for message in process.messages():
                match message:
                    case AnswerMessage(answer, final) if final:
                        ending = answer
                    case ReplyMessage(text):
                        ending = text
                    case FailureMessage(failure, trace, audience):
                        ending = logged(lease, failure, trace, audience)
        if lease.why is EndReason.LOST:
            return
        if isinstance(ending, SavedAnswer | str):
            keep(ending)
            self.conclude(lease, Status.DONE, asked_at=about.asked_at)
        elif reason := ending or self.failed(lease, process, about.what, about.attempts, about.seconds):
            self.conclude(lease, Status.FAILED, reason, asked_at=about.asked_at)

    def failed(self, lease: Lease, process: ChildProcess, work: str, attempts: int, seconds: float) -> Failure | None:
        """Why work has failed whose child had no last word; None: it is handed back, to be tried again."""
        if lease.why is EndReason.STOPPED:
            self.leases.hand_back(lease.id, self._context.owner, counted=False)
            return None
        if lease.why is EndReason.DEADLINE:
            return too_late(work, seconds)
        failure = died(lease, process, work)
        told_to_end = process.was_told_to_end()
        if not told_to_end:
            self._context.counters.child_died(self.task)
        again = told_to_end or attempts + 1 < MAX_DEATHS
        if again and self.leases.hand_back(lease.id, self._context.owner, counted=not told_to_end):
            return None
        return failure

    def tell_at_last(self, lease: Lease, call: Callable[[], None]) -> None:
        """The last call about it; when it raises, it comes again later. Broad except: the listener is foreign code."""
        try:
            call()
        except Exception:  # noqa: BLE001 the boundary to the listener
            reference = new_id("e")
            _LOG.exception("%s: telling failed (%s)", lease.id, reference, extra={"run": lease.id})
            if not self.leases.tell_later(lease.id, self._context.owner):
                _LOG.error("%s: telling failed too often, giving up", lease.id, extra={"run": lease.id})
        else:
            self.leases.mark_told(lease.id, self._context.owner)


def mention(lease: Lease, call: Callable[[], None]) -> None:
    """A call that only informs: its trouble is logged and costs nothing else. Broad except as in ``tell_at_last``."""
    try:
        call()
    except Exception as error:  # noqa: BLE001 the boundary to the listener
        _LOG.warning("%s: %s while telling of progress", lease.id, type(error).__name__, extra={"run": lease.id})


def there(row: T | None, lease: Lease) -> T:
    """The row of a lease, which the state holds as long as somebody works on it."""
    if row is None:
        raise LookupError(f"{lease.id} is gone from the state")
    return row


def died(lease: Lease, process: ChildProcess, work: str) -> Failure:
    """A child that ended without a last word, for the asker; the log has what it wrote last."""
    reference, how = new_id("e"), process.how_it_ended()
    _LOG.error(
        "%s: child %s (%s); after signal 9 the kernel's log tells whether memory ran out\n%s",
        lease.id, how, reference, process.last_lines(),
        extra={"run": lease.id, "reference": reference},
    )  # fmt: skip
    hint = f"Most likely memory ran out. {ASK}" if "signal 9" in how else ASK
    return Failure(f"{work} ended twice without an answer ({how}).", hint, "ChildDied", reference)


def too_late(work: str, seconds: float, hint: str = "Ask again.") -> Failure:
    """The deadline came before there was anything to say."""
    return Failure(f"{work} took longer than {seconds:,.0f} s and was stopped.", hint, "Deadline", new_id("e"))


def logged(lease: Lease, failure: Failure, trace: str, audience: Audience) -> Failure:
    """What the asker may read of it; the rest stands in our log, under the reference that they are told."""
    if audience is Audience.ASKER and not trace:
        return failure
    reference = new_id("e")
    _LOG.error(
        "%s: %s: %s %s (%s)\n%s", lease.id, failure.kind, failure.message, failure.hint, reference, trace,
        extra={"run": lease.id, "reference": reference},
    )  # fmt: skip
    return replace(public_failure(failure, audience), reference=reference)


def shareable(lease: Lease, answer: SavedAnswer, *, final: bool) -> SavedAnswer:
    """What may be shown of an answer: no place of the server in what tells why something is missing; our log has it."""
    if answer.diagnosis is None:
        return answer
    skipped = tuple(replace(skip, reason=without_places(skip.reason)) for skip in answer.diagnosis.skipped)
    diagnosis, note = replace(answer.diagnosis, skipped=skipped), answer.note
    if note is not None:  # it may tell the address of a model that gave no answer
        note = note.model_copy(update={"unavailable": without_places(note.unavailable)})
    if final and (diagnosis != answer.diagnosis or note != answer.note):
        kept = [*(skip.reason for skip in answer.diagnosis.skipped), answer.note.unavailable if answer.note else ""]
        _LOG.warning("%s: %s", lease.id, " ".join(filter(None, kept)), extra={"run": lease.id})
    return replace(answer, diagnosis=diagnosis, note=note)
