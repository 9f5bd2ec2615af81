"""A rank behind clock and level, in a file that ranks share: ``2026-11-22 04:27:09 | INFO | [rank2] step 31``.

The text stays as it is, so that it is the same in files of one rank; the rank becomes the label. What follows without a
clock of its own, a traceback, belongs to the rank above it when that tells of an error: others write there too.
"""

import re
from collections.abc import Sequence

from core.logs.wraps.line_forms import Cut
from core.logs.wraps.peeled import Peeled, Wrap, evenly
from core.logs.wraps.shared_files import HEAD, LEVEL, cut_rank, has_clock, has_no_clock, tells_of_an_error

_RANK = re.compile(
    rb"[\[(<] ?(?:global[ _-]?)?rank ?[:=#]? {0,6}(?P<closed>[0-9]{1,6})(?:/[0-9]{1,7})? ?[\])>]"
    rb"|\brank[=:] ?(?P<field>[0-9]{1,6})\b(?![./])|\brank ?(?P<word>[0-9]{1,6}) ?[:|\]]"
    # a span of Rust's tracing (tracing-subscriber, fmt): "rank{id=10}: ", "train{rank=10 local=2}: "
    rb"|\b(?:rank\{\w{1,12}=|\w{1,20}\{(?:\w{1,20}=[^\s{}]{1,40} ){0,3}rank=)(?P<span>[0-9]{1,6})[ }]",
    re.IGNORECASE,
)
_PARTS = ("closed", "field", "word", "span")  # of _RANK: where the number stands
_CLOSED = re.compile(rb"[\[(<] ?(?:global[ _-]?)?rank ?[:=#]? {0,6}[0-9]{1,6}(?:/[0-9]{1,7})? ?[\])>]", re.IGNORECASE)
_LEVEL = rb"(?:" + LEVEL + rb"|[DIWEF])"
# What stands between a clock, a level or the name of a logger and the rank: no word of prose.
_BEFORE = re.compile(rb"(?:^|[\]|):>,;-]|[0-9Z]|\b" + _LEVEL + rb")[ \t\[(]*$", re.IGNORECASE)
_WORD = re.compile(rb"(?<![\w./:-])[A-Za-z]+(?![\w./:-])")
_MOST_WORDS = 2  # a level and the name of a logger, or a month and a level
_LABELLED = re.compile(rb"\[(?:default|rank)[0-9]+\]:|\([A-Za-z_]\w* pid=[0-9]+")  # by torchrun, torch, Ray
# A row of a list that one tells of all ranks, as Megatron-LM does (megatron/core/timers.py): "     rank 10: 6052.31"
_LISTED = re.compile(rb"\s{0,16}rank {1,6}[0-9]{1,6} ?[:=] ?[0-9]{1,12}(?:\.[0-9]{1,9})?\s{0,4}", re.IGNORECASE)
_TASK = re.compile(rb" {0,6}([0-9]{1,6}): ")  # by srun --label


def peel(line: bytes) -> Peeled | None:
    """The line, of the rank in its head."""
    match = _RANK.search(line, 0, HEAD)
    if match is None:
        return None
    before = line[: match.start()]
    if _BEFORE.search(before) is None or len(_WORD.findall(before)) > _MOST_WORDS:
        return None
    return Peeled(line, rank=int(match[_part(match)]))


def _part(match: re.Match[bytes]) -> str:
    return next(name for name in _PARTS if match[name])


def _cut(line: bytes) -> Cut | None:
    """The head word by word: clocks, numbers, and the rank."""
    match = _RANK.search(line, 0, HEAD - 20)
    if match is None:
        return None
    return cut_rank(line, match.start(), match.span(_part(match)), match.end())


_WRAP = Wrap("ranks", peel, continues=has_no_clock, goes_on=tells_of_an_error, cut=_cut)


def fit(lines: Sequence[bytes]) -> Wrap | None:
    """Most lines with a clock name their rank so, and nothing before the lines does it.

    Of one rank alone only what stands in brackets is its name: ``rank=2`` is a field of a record, beside others of it.

    Where srun's label is the rank, it also tells who spoke where no clock stands, and what srun itself said has none.
    """
    lines = evenly(lines)
    if b"rank" not in b"\n".join(lines).lower():  # the expression is dear, and files of a rank each name none
        return None
    tried = [line for line in lines if not _LISTED.fullmatch(_TASK.sub(b"", line, count=1))]
    heads = [line for line in tried if has_clock(line)] or tried
    ranks = [peeled.rank for line in heads if (peeled := peel(line)) is not None]
    tasks = [int(match[1]) if (match := _TASK.match(line)) else None for line in heads if peel(line) is not None]
    if 2 * sum(task == rank for task, rank in zip(tasks, ranks, strict=True)) > len(ranks):
        return None
    labelled = sum(_LABELLED.search(line, 0, HEAD) is not None for line in tried)
    several = len(set(ranks)) > 1 or all(_CLOSED.search(line, 0, HEAD) for line in heads if peel(line) is not None)
    return _WRAP if 2 * len(ranks) > len(heads) and several and 2 * labelled < len(tried) else None
