"""What earlier attempts say of the next step: a crash loop, the same fault again, a change that came with it."""

from collections.abc import Sequence

from core.history.attempt import Attempt, End
from core.history.changes import changes, last_good
from core.next.situation import Past


def past_of(earlier: Sequence[Attempt], now: Attempt) -> Past:
    """The past of an attempt.

    Good is the last one that made a checkpoint and did not end in this way. A change counts only where no attempt up to
    it ended so either, and the first attempt with the change did. Whether nodes were checked meanwhile job.json tells,
    and no log.

    Args:
        earlier: attempts before it, in their order.
        now: the attempt that just ended.
    """
    last = earlier[-1] if earlier else None
    good = last_good([attempt for attempt in earlier if attempt.ended is not End.FAILED or not attempt.ended_as(now)])
    differs = changes(good, now) if good else None
    before = earlier[: earlier.index(good) + 1] if good else ()
    seen = any(attempt.ended_as(now) for attempt in before)
    first = next((attempt for attempt in earlier[len(before) :] if good and changes(attempt, now) == ()), now)
    reached = max((int(attempt.numbers[-1]) for attempt in earlier if len(attempt.numbers)), default=0)
    gained = int(now.numbers[-1]) - reached if len(now.numbers) else 0
    back = bool(good and last and differs == () and changes(good, last))
    since_checks = _since_checks((*earlier, now))
    return Past(
        again=_same_way(last, now) if last is not None and last.ended is End.FAILED else None,
        barren=barren((*earlier, now)),
        gained=gained if gained > 0 else None,
        checked=since_checks is not None or None,
        reattempts=since_checks or 0,
        rolled_back=back,
        good=good.name if good else None,
        changes=() if differs and (seen or not first.ended_as(now)) else differs,
    )


def _same_way(one: Attempt, other: Attempt) -> bool:
    named = [{suspect.node for suspect in attempt.suspects} for attempt in (one, other)]
    return one.ended_as(other) and named[0] == named[1]


def _since_checks(attempts: Sequence[Attempt]) -> int | None:
    """How often it was started since checks passed, after the last attempts that all failed in one way; None: never."""
    in_a_row = [attempts[-1]]
    for attempt in reversed(attempts[:-1]):
        if attempt.ended is not End.FAILED or not _same_way(attempt, attempts[-1]):
            break
        in_a_row.append(attempt)
    return max((place for place, attempt in enumerate(in_a_row) if attempt.checked), default=None)


def barren(attempts: Sequence[Attempt]) -> int:
    """Failed attempts in a row, to the last, of which no new checkpoint is known: none was told, none resumed from."""
    best, count = _resumed(attempts[0]), 0
    for place, attempt in enumerate(attempts):
        resumed = _resumed(attempts[place + 1]) if place + 1 < len(attempts) else 0
        kept = max(resumed, max(attempt.checkpoints, default=0))
        if kept > best:
            best, count = kept, 0
        elif attempt.ended is End.FAILED:
            count += 1
    return count


def _resumed(attempt: Attempt) -> int:
    """The iteration that an attempt went on from; 0 where it counts none."""
    return int(attempt.numbers[0]) - 1 if len(attempt.numbers) else 0
