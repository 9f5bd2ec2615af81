"""The odd one in a list of all ranks below a complaint: a gradient norm that all share but one.

fairseq prints one when its workers disagree: ``grad_norm across the workers:``, then ``rank   6 = 1.98220110``.
"""

from collections.abc import Mapping, Sequence
from itertools import dropwhile, takewhile

import numpy as np

from core.events.row_text import read_rows
from core.judge.candidates import Candidate
from core.model import Role
from core.nodes.agreement import ODD_ONE
from core.nodes.sign import Sign
from core.nodes.told_subjects import NAMED_RANK, numbers_of
from core.parsed import Parsed
from core.shares import MIN_RANKS

MAX_LISTED = 4_096  # lines below a complaint that are read: one a rank of the largest jobs
MAX_BETWEEN = 64  # lines between its first one and its list: frames of a traceback, a headline
MAX_ROOTS = 6  # complaints that are looked at, the most telling first
SAME = 1e-3  # of a number, by which replicas that reduce in another order may differ
APART = 0.1  # of a number: what differs by so much from all that are the same is another one


def listed_signs(parsed: Parsed, candidates: Sequence[Candidate], home: Mapping[int, str]) -> list[Sign]:
    """A sign for the node of the one rank that a list of all ranks tells from the others.

    Args:
        home: node of each rank.
    """
    roots = [candidate for candidate in candidates if candidate.role is Role.ROOT and len(candidate.rows)]
    for root in roots[:MAX_ROOTS]:
        odd = _odd(_list_below(parsed, int(root.rows[-1])))
        if odd is None or odd[0] not in home:
            continue
        rank, own, usual = odd
        because = f"{parsed.table.called([rank], home[rank])} is listed with {own:g}, all others with {usual:g}."
        check = f"Run a step again on {home[rank]} and on another node, and compare the results bit by bit."
        says = f"it has {own:g} where all others have {usual:g}"
        return [Sign(home[rank], "agreement", ODD_ONE, because, root.event, says=says, check=check, ranks=(rank,))]
    return []


def _list_below(parsed: Parsed, row: int) -> dict[int, str]:
    """The line of each rank in the list that stands below a row; empty where none does."""
    table = parsed.table
    end = min(table.rows_of_file(int(table.file[row])).stop, row + 1 + MAX_LISTED)
    below = [text for _, text in sorted(read_rows(parsed.files, table, range(row + 1, end)).items())]
    between = dropwhile(lambda text: not NAMED_RANK.search(text), below)
    listed = list(takewhile(lambda text: NAMED_RANK.search(text) is not None, between))
    if not listed or below.index(listed[0]) > MAX_BETWEEN:
        return {}
    return {int(match["number"]): text for text in listed if (match := NAMED_RANK.search(text))}


def _odd(told: Mapping[int, str]) -> tuple[int, float, float] | None:
    """The only rank with another number than all others, its number and theirs; of lines with one number each."""
    values = {rank: numbers for rank, text in told.items() if len(numbers := numbers_of(text)) == 1}
    if len(values) != len(told) or len(values) <= MIN_RANKS:
        return None
    each = {rank: numbers[0].value for rank, numbers in values.items()}
    usual = float(np.median(list(each.values())))
    odd = [rank for rank, value in each.items() if abs(value - usual) > SAME * abs(usual)]
    if len(odd) != 1 or abs(each[odd[0]] - usual) <= APART * abs(usual):
        return None
    return odd[0], each[odd[0]], usual
