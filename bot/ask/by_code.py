"""An answer without a model: the sentences of the looks, and the lines that show them, at most five in all."""

from collections.abc import Sequence

from bot.harmless import harmless
from bot.wording import without_clock
from core.answer.look import Found

MAX_ANSWER_LINES = 5
MAX_LINE = 220  # characters of a quoted line: two rows of a phone
MAX_SENTENCE = 600
NOT_FOUND = "Not in the logs"
HELP = "Ask about a node, a rank, an iteration, a piece of evidence (E1), or some words of the logs."


def answer_by_code(found: Sequence[Found]) -> tuple[str, ...]:
    """Each look's sentence with some of its lines, the first look having most room; what nobody found is said once."""
    if not found:
        return (HELP,)
    telling = [one for one in found if one.lines or not one.says.startswith("No ")]
    if not telling:
        return (f"{NOT_FOUND}: {' '.join(_lower(one.says) for one in found[:2])}",)
    room = MAX_ANSWER_LINES - min(len(telling), MAX_ANSWER_LINES)
    answer: list[str] = []
    for number, one in enumerate(telling[:MAX_ANSWER_LINES]):
        share = min(len(one.lines), room - (room // 2 if number + 1 < len(telling) else 0))
        answer.append(harmless(one.says, MAX_SENTENCE))
        answer += [quoted(one, place) for place in range(share)]
        room -= share
    return tuple(answer)


def quoted(found: Found, place: int) -> str:
    """A line with its clock, who wrote it, and where it stands."""
    line = found.lines[place]
    lead = " ".join(part for part in (found.clock[place], harmless(found.who[place], 60)) if part)
    where = f"({harmless(line.file, 160)}:{line.line})"
    text = line.text.strip()
    if found.clock[place]:
        text = without_clock(text)
    return f"{f'{lead}: ' if lead else ''}{harmless(text, MAX_LINE)} {where}"


def _lower(sentence: str) -> str:
    return sentence[:1].lower() + sentence[1:]
