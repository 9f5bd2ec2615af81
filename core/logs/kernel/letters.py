"""What kind of letter each byte is: the character classes of ``core.logs.lines`` as one table of bits."""

import numpy as np
from numpy.typing import NDArray

from core.logs.lines import SLOT_GAP

LOWER = 0x20  # the bit that makes a letter small

DIGIT, LOW_HEX, ANY_HEX, PCI, WORD, NAME, LETTER, SPACE, GAP, JOINS = (1 << bit for bit in range(10))


def _classes() -> NDArray[np.uint16]:
    digit, low, upper = b"0123456789", b"abcdefghijklmnopqrstuvwxyz", b"ABCDEFGHIJKLMNOPQRSTUVWXYZ"
    members = {
        DIGIT: digit,
        LOW_HEX: b"abcdef",
        ANY_HEX: digit + b"abcdefABCDEF",
        WORD: digit + low + upper + b"_",  # what \b in a pattern calls a word
        NAME: digit + low + upper + b"_.-",  # of hosts
        PCI: digit + b"abcdefABCDEF:.",
        SPACE: b" \t\n\v\f\r",
        GAP: bytes(SLOT_GAP),
        LETTER: low + upper + b"_",
        JOINS: b"abcdefxE.:-/ ",  # after digits: there may be more to it than a plain number
    }
    table = np.zeros(256, np.uint16)
    for bit, letters in members.items():
        table[list(letters)] |= bit
    return table


CLASS = _classes()


def as_word(letters: bytes) -> int:
    """Eight bytes at most as ``machine.word`` loads them."""
    return int.from_bytes(letters.ljust(8, b"\0"), "little")
