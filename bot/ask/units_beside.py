"""Whether one node or rank is slower than the others: the times that all of them tell of their own, side by side."""

from collections import defaultdict
from statistics import median

import numpy as np

from bot.ask.find_values import is_length
from bot.ask.named_values import values_in
from bot.ask.reply_lines import Lines, cited
from bot.ask.subject import Subject
from bot.ask.terms import terms_of
from bot.ask.wanted_value import yes_or_no
from bot.ask.word_weights import WordWeights
from bot.text import wording
from core.answer.job_lookup import by_time
from core.events.row_text import read_rows
from core.naming import natural

APART = 1.3  # times the middle of the others that is slower, as for iterations that take longer
LEAST = 3  # values of each speaker of which a middle is taken
MAX_ROWS = 4_000  # lines of a kind that are read
MAX_LISTED = 6  # values in one sentence; chosen; of more the largest are told


def slower(weights: WordWeights) -> Lines:
    """A yes or no, with the middle of each one's times under the name that parts them most; empty without any."""
    best: tuple[float, str, dict[str, float]] | None = None
    times, words = _times(weights), weights.words
    said = [name for name in times if weights.share(words, terms_of(name))]
    for name, of_unit in times.items():
        if said and name not in said:
            continue
        middles = {unit: median(values) for unit, values in of_unit.items() if len(values) >= LEAST}
        if len(middles) < 2 or not all(value > 0 for value in middles.values()):
            continue
        top = max(middles.values())
        apart = top / median(middles.values()) if len(middles) > 2 else top / min(middles.values())
        if best is None or apart > best[0]:
            best = apart, name, middles
    if best is None:
        return []
    apart, name, middles = best
    ordered = sorted(middles.items(), key=lambda item: (-item[1], natural(item[0])))
    listed = ", ".join(f"{unit} {value:g}" for unit, value in ordered[:MAX_LISTED])
    slow = [unit for unit, value in ordered if value >= APART * median(middles.values())] if apart >= APART else []
    if slow:
        yes = "Yes: " if yes_or_no(weights.question) else ""
        says = f"{yes}{wording.names(slow, 3, 80)} took longer than the others by their own lines"
    else:
        says = "No: by their own lines none took much longer than the others"
    return [cited(f"{says}; {name}, the middle of each: {listed}.")]


def _times(weights: WordWeights) -> dict[str, dict[str, list[float]]]:
    """Lengths of time by their names and who tells them, nodes, else ranks; without any, values that are asked for.

    "engine 8" numbers an engine, and its number is no time.
    """
    subject, words = weights.subject, weights.words
    table = subject.parsed.table
    long: dict[str, dict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
    named_so: dict[str, dict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
    for rows in table.rows_of(list(range(len(table.templates)))).values():
        voices = set(table.voice[rows[:MAX_ROWS]].tolist())
        units = {_unit(subject, voice) for voice in voices} - {""}
        if len(units) < 2:
            continue
        texts = read_rows(subject.parsed.files, table, by_time(table, np.asarray(rows[:MAX_ROWS], np.intp)))
        for row, text in texts.items():
            unit = _unit(subject, int(table.voice[row]))
            for named in values_in(text) if unit else ():
                if named.number is not None and (is_length(named) or weights.share(words, named.terms)):
                    (long if is_length(named) else named_so)[named.name][unit].append(named.number)
    return long or named_so


def _unit(subject: Subject, voice: int) -> str:
    origin = subject.parsed.table.origins[voice]
    home = subject.home.get(origin.rank) if origin.rank is not None else None
    return origin.node or home or (f"rank {origin.rank}" if origin.rank is not None else "")
