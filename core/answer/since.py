"""Since which iteration the numbers of a suspect tell it: not that at which they were next printed.

Who prints its times every 25 steps tells in the line of step 100 what began after step 75; and where the pace of the
job itself fell before that, it fell for the same reason.
"""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from core.judge.ending import Ending
from core.nodes.sign import Sign
from core.parsed import Parsed

_PRINTED = "series"  # channel of numbers that are told now and then


def with_onsets(parsed: Parsed, signs: Sequence[Sign], ending: Ending) -> tuple[Sign, ...]:
    """The signs, those by numbers since the first iteration that the first such number may be of."""
    return tuple(_with_onset(parsed, sign, ending) if sign.channel == _PRINTED else sign for sign in signs)


def _with_onset(parsed: Parsed, sign: Sign, ending: Ending) -> Sign:
    if sign.iteration is None or sign.event is None or not sign.rows:
        return sign
    table, slow = parsed.table, ending.slow or ending.drift
    rows = table.rows_of([sign.event])[sign.event]
    own = rows[np.isin(table.voice[rows], table.voice[np.array(sign.rows, np.intp)])]
    reached = np.asarray(parsed.iterations.of_row[own], np.int64)
    before = reached[(reached >= 0) & (reached < sign.iteration)]
    since = int(before.max()) + 1 if len(before) else sign.iteration
    if slow is not None and slow.iteration <= sign.iteration and not slow.than_good_jobs:
        since = slow.iteration
    return replace(sign, iteration=since)
