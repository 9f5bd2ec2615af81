"""What one voice said in its file, text by text, however long the file is."""

from collections.abc import Callable, Iterator
from typing import Protocol

import numpy as np
from numpy.typing import NDArray


class VoiceRows(Protocol):
    """Rows of one voice in its file."""

    def __len__(self) -> int: ...
    def rows(self, start: int, stop: int) -> NDArray[np.intp]:
        """Rows of the places from start to stop."""
        ...


class VoiceLines:
    """What one voice said, and on which rows of the file; read a page at a time, because a voice may say very much.

    in_vain: up to where an exception was looked for below the head of a traceback behind a bar; there was none.
    """

    def __init__(self, voice: VoiceRows, texts_of: Callable[[NDArray[np.intp]], list[str]]) -> None:
        self._voice, self._texts_of, self._size = voice, texts_of, len(voice)
        self._pages: dict[int, list[str]] = {}
        self._looked = 0
        self.in_vain = 0

    def __len__(self) -> int:
        return self._size

    @property
    def are_spent(self) -> bool:
        """Whether texts were asked for so often that what is looked for would cost more than it tells."""
        return self._looked > max(_LEAST_LOOKS, _LOOKS * self._size)

    def __getitem__(self, at: int) -> str:
        self._looked += 1
        number = at // _PAGE
        page = self._pages.get(number)
        if page is None:
            if len(self._pages) == _PAGES:
                del self._pages[next(iter(self._pages))]
            page = self._pages[number] = self._texts_of(self._voice.rows(number * _PAGE, (number + 1) * _PAGE))
        return page[at % _PAGE]

    def between(self, start: int, stop: int) -> Iterator[str]:
        """The texts from start to stop, or to the end."""
        return (self[at] for at in range(start, min(stop, self._size)))

    def adjacent(self, at: int) -> bool:
        """Whether the text before ``at`` stands in the row just above it."""
        if at == 0:
            return False
        above, row = self._voice.rows(at - 1, at + 1).tolist()
        return bool(row - above == 1)

    def has_row_above(self, at: int) -> bool:
        """Whether the file has a row above ``at`` at all."""
        return int(self._voice.rows(at, at + 1)[0]) > 0


# A row of a traceback is looked at up to a dozen times; heads below each other that never come to an exception
# ("9%| Traceback", each of a bar) would be read to the end of the log from each of them.
_LOOKS, _LEAST_LOOKS = 16, 1 << 20
_PAGE, _PAGES = 1 << 10, 8  # texts; a block is read forwards, and its verdict once more
