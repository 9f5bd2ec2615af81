"""What the head of a table calls its columns: ``host g util smclk temp`` above ``hal-02 1 100% 285 49``.

Columns stand between blanks, or between commas, as in what ``nvidia-smi --format=csv`` prints.
"""

from collections.abc import Sequence

import numpy as np

from core.events.row_text import read_rows
from core.parsed import Parsed

HEAD = 4  # rows at the beginning of a file, among which a table has its head


def column_names(parsed: Parsed, row: int, text: str) -> Sequence[str]:
    """The names of the columns of a row, one for each of its words; empty where no head has as many, without digits."""
    table, words = parsed.table, split_row(text)
    first = table.rows_of_file(int(table.file[row])).start
    for _, head in sorted(read_rows(parsed.files, table, np.arange(first, min(row, first + HEAD))).items()):
        names = split_row(head)
        if len(names) == len(words) and not any(character.isdigit() for character in head):
            return names
    return ()


def split_row(text: str) -> Sequence[str]:
    """The columns of a row."""
    return [word.strip() for word in text.split(",")] if "," in text else text.split()
