"""Which device is slow: the diagnosis tells of nodes and ranks, so the answer tells where devices are listed."""

import re

from bot.ask.question import Question
from bot.ask.reply_lines import Lines, cited
from bot.ask.subject import Subject
from bot.text import wording
from core.answer.search import matching

SHOWN = 2  # tables that are named; chosen: one line of a phone
_ASKED = re.compile(r"\bwh?ich (?:one of the |of the )?(?:gpu|device|card)s?\b|welche gpu|哪.{0,2}(?:gpu|卡)")
_SLOW = ("slow", "throttl", "lag", "drag", "straggl")
_TABLE = re.compile(r"(?:^|[/._-])(?:dmon|(?:nvidia|rocm|amd|npu|hl)-?smi)(?:[/._-]|$)")  # tools, as files are named
_HEADER = re.compile(rb"^# ?(?:Date |Time )?.{0,40}\bgpu\b", re.IGNORECASE)  # "# gpu    pwr  gtemp", as dmon prints


def slow_device(subject: Subject, question: Question) -> Lines | None:
    """That no device is named, whom the diagnosis suspects, and where devices are listed; None if not asked for one."""
    if not (_ASKED.search(f"{question.text.casefold()}\n{question.plain}") and question.says(*_SLOW)):
        return None
    suspect, table = next(iter(subject.diagnosis.nodes), None), subject.parsed.table
    headers, _ = matching(subject.parsed, [_HEADER])
    of = {int(table.file[row]) for row in headers}
    of |= {number for number, name in enumerate(table.files) if _TABLE.search(name.casefold())}
    mine = [number for number in sorted(of) if suspect and suspect.node in table.files[number]] or sorted(of)
    where = (
        f"; they are listed in {wording.names([table.files[number] for number in mine], SHOWN, 120)}" if mine else ""
    )
    lines = [cited(f"The diagnosis names no device{where}.")]
    if suspect:
        lines.append(
            cited(f"It suspects {suspect.node}: {suspect.because.removeprefix(f'{suspect.node}: ')}", suspect.id)
        )
    return lines
