"""Progress that no iteration counter tells: the last state of progress bars."""

import re

from bot.ask.reply_lines import Lines, cited, quoted
from bot.ask.subject import Subject
from bot.text import wording
from core.answer.job_lookup import found_rows
from core.answer.search import matching
from core.events.row_text import read_rows

MAX_BARS = 5_000  # lines of progress bars that are read
# tqdm and its kin: "36/? [00:06<00:00, 5.34it/s, train_loss=6.400]", "12/200 [01:02<..., 1.2s/it]"
_BAR = re.compile(rb"\b[0-9]{1,9}/(?:\?|[0-9]{1,9}) ?\[[0-9:]{4,12}<")
_STATE = re.compile(
    r"([A-Za-z][\w ]{0,30}?)?:? {0,2}(?:[0-9]{1,3}%)?\|[^|]{0,200}\| ?"
    r"([0-9]{1,9})/(\?|[0-9]{1,9}) ?\[([0-9:]{4,12})<[^\]]{0,200}\]"
)


def told_bars(subject: Subject) -> Lines:
    """How far each progress bar came, with its line, the furthest first; empty without any."""
    lines: list[str] = []
    parsed = subject.parsed
    rows, _ = matching(parsed, [_BAR])
    furthest: dict[str, tuple[int, str, str, int]] = {}
    for row, text in read_rows(parsed.files, parsed.table, rows[-MAX_BARS:]).items():
        for match in _STATE.finditer(text):
            name, done = (match[1] or "").strip() or "a progress bar", int(match[2])
            if done >= furthest.get(name, (0,))[0]:
                furthest[name] = done, match[3], match[4], row
    for name, (done, total, spent, row) in sorted(furthest.items(), key=lambda item: -item[1][0])[:3]:
        found = found_rows(parsed, "", [row])
        of = "" if total == "?" else f" of {int(total):,}"
        who = f" of {found.who[0]}" if found.who and found.who[0] else ""
        says = (
            f"The progress bar “{name}”{who} came to {wording.counted(done, 'step')}{of}, {spent} after its beginning."
        )
        lines += [cited(says), *quoted(found, 1)]
    return lines
