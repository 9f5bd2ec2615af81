"""What earlier attempts say of the next step: a crash loop, the same fault again, a change that came with it."""

from collections.abc import Sequence

from core.history.attempt import Attempt, End
from core.history.changes import changes, last_good
from core.next.situation import Past


def past_of(earlier: Sequence[Attempt], now: Attempt) -> Past:
    """The past of an attempt.

    A change counts only where no attempt up to the last good one ended in the same way, and the first attempt with it
    did. Whether nodes were checked meanwhile no log tells.

    Args:
        earlier: attempts before it, in their order.
        now: the attempt that just ended.
    """
    good, last = last_good(list(earlier)), earlier[-1] if earlier else None
    differs = changes(good, now) if good else None
    before = earlier[: earlier.index(good) + 1] if good else ()
    seen = any(one.ended_as(now) for one in before)
    first = next((one for one in earlier[len(before) :] if good and changes(one, now) == ()), now)
    reached = max((int(one.numbers[-1]) for one in earlier if len(one.numbers)), default=0)
    gained = int(now.numbers[-1]) - reached if len(now.numbers) else 0
    back = bool(good and last and differs == () and changes(good, last))
    return Past(
        again=_same_way(last, now) if last is not None and last.ended is End.FAILED else None,
        barren=_barren((*earlier, now)),
        gained=gained if gained > 0 else None,
        rolled_back=back,
        good=good.name if good else None,
        changes=() if differs and (seen or not first.ended_as(now)) else differs,
    )


def _same_way(one: Attempt, other: Attempt) -> bool:
    named = [{suspect.node for suspect in attempt.suspects} for attempt in (one, other)]
    return one.ended_as(other) and named[0] == named[1]


def _barren(attempts: Sequence[Attempt]) -> int:
    """Failed attempts in a row, to the last, of which no new checkpoint is known: none was told, none resumed from."""
    best, barren = 0, 0
    for place, one in enumerate(attempts):
        following = next((later.numbers for later in attempts[place + 1 : place + 2] if len(later.numbers)), None)
        resumed = int(following[0]) - 1 if following is not None else 0
        kept = max(resumed, max(one.checkpoints, default=0))
        if kept > best:
            best, barren = kept, 0
        elif one.ended is End.FAILED:
            barren += 1
    return barren
