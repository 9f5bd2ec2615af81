"""The lines that tell of saving a checkpoint: the last ones, the step that they name, and the ranks that wrote them."""

import re
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from core.answer.job_lookup import LookResult
from core.answer.search import MAX_SEARCHED, matching, rows_of_lines, tell
from core.events.row_text import read_rows
from core.model import Line
from core.parsed import Parsed

MAX_REPORT = 400  # characters: longer lines are printed settings
MAX_ROWS = 50_000  # lines about saving whose ranks are told apart
INTERVAL = re.compile(rb"(?:save|checkpoint|ckpt)[-_ ](?:interval|every|steps|freq)", re.IGNORECASE)
LOADED = re.compile(rb"(?:load|resum|restor)[^\n]{0,40}(?:checkpoint|ckpt)", re.IGNORECASE)
_SAVED = re.compile(
    rb"\b(?:saved|wrote|written|stored|dumped)\b[^\n]{0,80}(?:checkpoint|ckpt|model|state|step|\.pt)"
    rb"|(?:checkpoint|ckpt)[^\n]{0,80}\b(?:saved|wrote|written|completed?|stored|done)\b"
    rb"|\('[^'\n]{1,200}\.pth\.tar', "  # the list of timm/utils/checkpoint_saver.py, "Current checkpoints:"
    rb"|\b(?:finished|completed|done) (?:saving|writing|storing|dumping|uploading)\b[^\n]{0,80}(?:checkpoint|ckpt)"
    rb"|\b(?:uploaded|exported|persisted|flushed|synced|pushed)\b[^\n]{0,80}"
    rb"(?:checkpoint|ckpt|weights|model|shard|snapshot|global_?step)"
    rb"|\b(?:checkpoint|ckpt|weights|state|shard|snapshot)\b[^\n]{0,80}"
    rb"\b(?:uploaded|exported|persisted|flushed|synced|written|saved)\b"
    rb"|\b(?:checkpoint|ckpt)[:_. -](?:end|ok)\b"
    rb"|\bcheckpoint save : rank : [0-9]{1,7} : iteration : [0-9]"  # NeMo, nemo/utils/callbacks/dist_ckpt_io.py
    rb"|(?<![a-z])(?:checkpoint|ckpt)_(?:done|saved|written|complete)|\bsave_(?:done|end|ok|complete)|\bsaved\b[^\n]{0,80}\.(?:npy|npz|pth|bin|safetensors|msgpack|h5)\b"
    rb"|\bsaved(?: [\w.]{1,20}=| in [0-9]| [0-9]{1,9}\b|[ .!]{0,3}$)"
    rb"|\b(?:checkpoint|ckpt) (?:at|@) (?:it|iter|iteration|step|round|epoch) ?[0-9]"
    rb"|\b(?:checkpoint|ckpt)\b[^\n]{0,40}\b(?:created|committed)\b|\bcommitted\b[^\n]{0,40}(?:checkpoint|ckpt|step)"
    rb"|\bsave (?:done|ok|complete)\b"
    rb"|\b(?:checkpoint|ckpt)\b[^\n]{0,40}\bwrite [0-9.]{1,12} ?[kmgt]i?b in [0-9]"
    rb"|\b(?:snapshot|restart(?: file)?)\b[^\n]{0,80}\b(?:written|ok|done|complete)\b"
    rb"|\bsnapshot[\"']?[^\n]{0,40}\b(?:round|step|iter(?:ation)?|epoch)[\"']?[=: ]{1,3}[0-9]"
    rb"|\b(?:sicherung|zwischenstand)\b[^\n]{0,80}\b(?:fertig|geschrieben|gespeichert|beendet|abgeschlossen)\b"
    rb"|" + "保存(?:完成|成功|完毕)|已保存".encode(),
    re.IGNORECASE,
)
# One of them stands in each such line; to look for one takes a tenth of the time that all of the above takes.
_WHAT = (
    *(
        b"step",
        b"state",
        b"model",
        b"checkpoint",
        b"ckpt",
        b".pt",
        b"weights",
        b"shard",
        b"snapshot",
        b"save",
    ),
    *(b"restart", b"sicherung", b"zwischenstand", "保存".encode()),
)
# And one of these too
_WORDS = (
    *(b"saved", b"wrote", b"written", b"stored", b"dumped", b"complete", b"done", b"finished", b".pth.tar"),
    *(b"uploaded", b"exported", b"persisted", b"flushed", b"synced", b"pushed", b"snapshot"),
    *(b"created", b"committed", b"restart", b"save : rank", b"write", b"save ok"),
    *(b"ckpt:", b"ckpt_", b"ckpt-", b"ckpt.", b"ckpt ", b"checkpoint:", b"checkpoint_", b"checkpoint-"),
    *(
        b"sicherung",
        b"zwischenstand",
        "保存".encode(),
        b"save_",
        b"checkpoint at",
        b"checkpoint @",
        b"ckpt at",
        b"ckpt @",
    ),
)
BEGUN = re.compile(
    rb"\b(?:saving|writing|storing|dumping|uploading|exporting|persisting|flushing|taking)\b[^\n]{0,80}"
    rb"(?:checkpoint|ckpt|model|state|shard|snapshot|weights|global_?step)"
    rb"|" + "(?:开始|正在)保存".encode(),
    re.IGNORECASE,
)  # of transformers that is all that is printed; whether it was finished, such a line does not tell
_SOURCE = re.compile(r"\b(?:print|log(?:ger|ging)?(?:\.\w{1,20})?|save)\(")
_STEP = re.compile(  # "ba200" is Composer's, a batch (composer/callbacks/checkpoint_saver.py)
    r"(?:step|iter|iteration|checkpoint at it|round|\bupd|(?<![a-z])ba)[\"']?[-_ =/:]{0,6}0{0,12}([0-9]{1,9})"
    r"|(?:checkpoint|ckpt)[\"']?[-_ =/:]{0,6}0{0,12}([0-9]{1,9})",
    re.IGNORECASE,
)
_ANY_NUMBER = re.compile(r"(?<![0-9:])0{0,12}([0-9]{1,9})(?![0-9:]|[.,][0-9]{1,3} ?[A-Za-z])")
AN_INDEX = (
    2  # times a checkpoint's number that the job has come to, for that number to count checkpoints, not iterations
)


@dataclass(frozen=True, slots=True)
class Savings:
    """The last lines that report a saving, the last one first. step: that they name, None where none does.

    after: where none does, the iteration that most who wrote them had completed. ranks: who wrote a line about that
    step. steps: all that lines name, in order. missing: who did so of an earlier step, or is a rank of the job where
    there was none, and not of this one; empty where one rank alone saves. whole: the last step that all of them
    report, where some are missing.
    """

    found: LookResult
    step: int | None = None
    after: int | None = None
    ranks: tuple[int, ...] = ()
    missing: tuple[int, ...] = ()
    whole: int | None = None
    steps: tuple[int, ...] = ()


def savings(parsed: Parsed) -> Savings:
    """What lines report; command lines and printed arguments are no reports."""
    rows, whole = matching(parsed, [_SAVED], words=_WORDS, others=_WHAT)
    searched = None if whole else MAX_SEARCHED
    found = tell(parsed, rows, "a checkpoint that was saved", latest=True, searched=searched)
    result = _reports(found)
    lines = result.lines
    step = next((number for line in lines if (number := _step_of(parsed, line)) is not None), None)
    if step is None:
        return Savings(result, after=_after(parsed, rows))
    by_step = _ranks(parsed, rows, step)
    steps = tuple(sorted({*by_step, step}))
    ranks = by_step.pop(step, set())
    every = set().union(*by_step.values()) if by_step else {*parsed.table.ranks, *parsed.job.manifest.node_of_rank}
    missing = tuple(sorted(every - ranks)) if len(ranks) > 1 else ()
    everywhere = max((number for number, those in by_step.items() if missing and every <= those), default=None)
    return Savings(result, step, None, tuple(sorted(ranks)), missing, everywhere, steps)


def _step_of(parsed: Parsed, line: Line) -> int | None:
    """The step of a saving that a line names by its word, or by a number as the job had come to."""
    table = parsed.table
    rows = rows_of_lines(table, table.files.index(line.file), [line.line])
    return _steps_in(parsed, {rows[0]: line.text}).get(rows[0]) if rows else None


def _steps_in(parsed: Parsed, texts: Mapping[int, str]) -> dict[int, int | None]:
    """The same for the texts of some rows; asked once for all, because there may be many."""
    rows = [row for row, text in texts.items() if _is_said(text)]
    reached = parsed.iterations.of_row[np.array(rows, np.intp)].tolist()
    numbers = parsed.iterations.course.numbers.astype(np.int64)
    near = int(np.median(np.diff(numbers))) if len(numbers) > 1 else 1
    return {row: _step_in(texts[row], after, near) for row, after in zip(rows, reached, strict=True)}


def _step_in(text: str, after: int, near: int) -> int | None:
    """The step that a text names; behind "checkpoint" a number far below what was reached counts checkpoints.

    Args:
        after: the iteration that the job had come to.
        near: between two that are counted.
    """
    match = _STEP.search(text)
    if match is not None and match[1]:
        return int(match[1])
    if match is not None and (after <= 0 or AN_INDEX * int(match[2]) >= after):
        return int(match[2])
    if after <= LEAST_STEP:
        return None
    return next((number for number in map(int, _ANY_NUMBER.findall(text)) if abs(number - after) <= near), None)


LEAST_STEP = 20  # below which a number of a line may as well be a length or a size


def _reports(found: LookResult) -> LookResult:
    """Those of some lines that report something."""
    kept = [at for at, line in enumerate(found.lines) if _is_said(line.text)]
    who, clocks = tuple(found.who[at] for at in kept), tuple(found.clock[at] for at in kept)
    return LookResult("", tuple(found.lines[at] for at in kept), who, clocks)


def begun(parsed: Parsed) -> tuple[LookResult, tuple[int, ...]]:
    """The lines that tell that a saving began, the last one first, and the steps that all of them name, in order."""
    rows, _ = matching(parsed, [BEGUN])
    found = _reports(tell(parsed, rows, "a saving that began", latest=True))
    texts = read_rows(parsed.files, parsed.table, rows[-MAX_ROWS:])
    return found, tuple(sorted({step for step in _steps_in(parsed, texts).values() if step is not None}))


def _after(parsed: Parsed, rows: Sequence[int]) -> int | None:
    """The iteration after which most of the lines of the last saving came."""
    texts = read_rows(parsed.files, parsed.table, rows[-MAX_ROWS:])
    kept = [row for row in rows[-MAX_ROWS:] if row in texts and _is_said(texts[row])]
    at = np.array(kept, np.intp)
    voices, after = parsed.table.voice[at].tolist(), parsed.iterations.of_row[at].tolist()
    reached = dict(zip(voices, after, strict=True))  # the last one of each speaker
    often = Counter(number for number in reached.values() if number > 0)
    return max(often, key=lambda number: (often[number], number)) if often else None


def _ranks(parsed: Parsed, rows: Sequence[int], step: int) -> dict[int, set[int]]:
    """The ranks that report a saving, by the step that they name: this one and those before it."""
    texts = read_rows(parsed.files, parsed.table, rows[-MAX_ROWS:])
    ranks: dict[int, set[int]] = defaultdict(set)
    for row, number in _steps_in(parsed, texts).items():
        rank = parsed.table.origins[parsed.table.voice[row]].rank
        if number is not None and number <= step:
            ranks[number].update(() if rank is None else (rank,))
    return ranks


def _is_said(text: str) -> bool:
    """Whether a line reports something; printed arguments, command lines and lines of source in a traceback do not."""
    if len(text) >= MAX_REPORT or "..." in text or "--" in text or _SOURCE.search(text):
        return False
    return not INTERVAL.search(text.encode())
