"""Messages that tell numbers, as they belong together: one kind of line, whichever templates it fell into.

A template is what the parser found alike. Lines of one table may fall into several: a state changes (``cap=on``), or
the machines' names end in letters. And one template may hold several tables: exporters print a gauge a line, which
differs from the next one in a word, its name.
"""

import re
from collections import defaultdict
from collections.abc import Collection, Sequence

from core.parsed import Parsed

Lines = Sequence[tuple[int, str]]  # rows and their texts, in order
_NUMBERS = re.compile(r"<[A-Z]{2,4}>|\d+")  # as templates have them, and as lines do
_WORD = re.compile(r"(?P<value>=)?(?P<word>[^\W\d][\w.-]*)")  # a word behind "=" is a value, such as a state


def alike(parsed: Parsed, events: Sequence[int]) -> list[tuple[int, ...]]:
    """Messages with the same words and as many numbers, but for states and names of machines.

    In the order of the first of each.
    """
    names = _bare_names(parsed)
    pools: dict[tuple[int, tuple[str, ...]], list[int]] = defaultdict(list)
    for event in events:
        sample = parsed.table.templates[event].sample
        numbers = len(_NUMBERS.findall(sample))
        pools[numbers, _words(sample, names, values=False) or (sample,)].append(event)
    return [tuple(pool) for pool in pools.values()]


def kinds(parsed: Parsed, lines: Lines) -> list[Lines]:
    """The lines of such messages apart by their words, but for names of machines; in the order of the first of each."""
    names = _bare_names(parsed)
    found: dict[tuple[str, ...], list[tuple[int, str]]] = defaultdict(list)
    words = dict[str, tuple[str, ...]]()  # by the text without its numbers, of which lines of a message have few
    for row, text in lines:
        bare = _NUMBERS.sub("", text)
        if bare not in words:
            words[bare] = _words(bare, names, values=True)
        found[words[bare]].append((row, text))
    return list(found.values())


def _bare_names(parsed: Parsed) -> frozenset[str]:
    return frozenset(_NUMBERS.sub("", name) for name in parsed.nodes)


def _words(text: str, names: Collection[str], *, values: bool) -> tuple[str, ...]:
    """The words of a text without digits, in order."""
    found = _WORD.finditer(_NUMBERS.sub("", text))
    return tuple(match["word"] for match in found if match["word"] not in names and (values or not match["value"]))
