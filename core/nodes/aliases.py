"""What nodes call themselves: a word and a number, ``worker 2``, ``shard 0``, ``Knoten 3``, which no two of them share.

A server that waits says for whom by such a name, and it need not be the rank: workers may be counted without it. A node
may have several of them: ``engine 16``, ``engine 18``.
"""

import re
from collections import defaultdict
from collections.abc import Mapping, Sequence

import numpy as np

from core.events.row_text import read_rows
from core.events.table import rows_by
from core.parsed import Parsed
from core.shares import MAJORITY

FIRST_LINES = 8  # of each voice: who it is, a process says when it begins
FIRST_ROWS = 512  # of each file, in which these are: several may write to one
MIN_NAMED = 2  # nodes that call themselves so, beside a server that may not
MAX_NODES = 1024  # as many as are read in a tenth of a second
# A word of letters with a number of its own behind it, as in process 1/3: not in a longer word, a version or a path
ALIAS = re.compile(r"(?<![\w.-])([^\W\d_]{2,16})(?:[ =:#_-]|[ =:]{0,2}[\[(])(\d{1,4})(?![\w.:-]*\d)(?!/\d+[/.])")

Alias = tuple[str, int]


def find_aliases(parsed: Parsed) -> dict[Alias, str]:
    """The node of each word and number, in lower case, by which nodes call themselves in their first lines.

    Of a word each node has one number, the first that stands behind it, or as many as the others; together they count
    from 0 or 1 on.
    """
    found: dict[Alias, str] = {}
    for word, several in _said_first(parsed).items():
        firsts = {node: numbers[:1] for node, numbers in several.items()}
        named = next((of for of in (firsts, several) if _count(of, parsed)), {})
        found |= {(word, number): node for node, numbers in named.items() for number in numbers}
    return found


def _said_first(parsed: Parsed) -> Mapping[str, Mapping[str, Sequence[int]]]:
    """Of each word the numbers behind it in the first lines of each node, in their order, each once."""
    table = parsed.table
    if not MIN_NAMED <= len(table.nodes) <= MAX_NODES:
        return {}
    first: dict[str, list[int]] = defaultdict(list)
    for file in np.unique(table.file_of_voice).tolist():
        whole = table.rows_of_file(file)
        rows = np.arange(whole.start, min(whole.stop, whole.start + FIRST_ROWS))
        rows = rows[table.head[rows]]
        for voice, places in rows_by(table.voice[rows], np.arange(len(rows))):
            node = table.origins[voice].node
            if node:
                first[node] += rows[places[:FIRST_LINES]].tolist()
    texts = read_rows(parsed.files, table, sorted(row for rows in first.values() for row in rows))
    own: dict[str, dict[str, dict[int, None]]] = defaultdict(lambda: defaultdict(dict))
    for node, lines in sorted(first.items()):
        for row in sorted(lines):
            for word, number in ALIAS.findall(texts.get(row, "")):
                own[word.lower()][node][int(number)] = None
    return {word: {node: list(numbers) for node, numbers in named.items()} for word, named in own.items()}


def _count(named: Mapping[str, Sequence[int]], parsed: Parsed) -> bool:
    """Whether most nodes have the word, each with as many numbers that no other has, evenly from 0 or 1 on."""
    enough = len(named) >= max(MIN_NAMED, len(parsed.table.nodes) * MAJORITY)
    numbers = sorted(number for own in named.values() for number in own)
    each = {len(own) for own in named.values()}
    step = numbers[1] - numbers[0] if each != {1} else 1  # each engine of two devices is called after its first
    evenly = step > 0 and numbers == list(range(numbers[0], numbers[0] + len(numbers) * step, step))
    return enough and len(each) == 1 and numbers[0] in (0, 1) and evenly
