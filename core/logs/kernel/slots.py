"""Typed slots: the numbers that keep their value, because the word before them says that they are kinds."""

import numpy as np
from numpy.typing import NDArray

from core.logs.kernel.letters import CLASS, GAP, LETTER, LOWER, PCI, as_word
from core.logs.kernel.machine import byte, compiled, digits_end, word
from core.logs.lines import MAX_SLOT_DIGITS, MAX_SLOT_GAP, SLOT_ENDS, SLOT_WORDS

_BLANK, _CLOSE, _COLON, _X = b" ):x"


def _backwards(letters: bytes) -> int:
    """The last letter highest, as they are met when a text is read from its end."""
    return int.from_bytes(letters[::-1], "big")


def _last_pairs() -> NDArray[np.bool_]:
    pairs = np.zeros(1 << 10, np.bool_)
    for letters in (*SLOT_WORDS, *SLOT_ENDS):
        pairs[(letters[-2] & 31) << 5 | letters[-1] & 31] = True
    return pairs


_WORDS = np.array(sorted(_backwards(letters) for letters in SLOT_WORDS), np.int64)
_ENDS = np.array([_backwards(end) for end in SLOT_ENDS], np.int64)
_END_LENGTHS = np.array([len(end) for end in SLOT_ENDS], np.int64)
_LONGEST = max(len(letters) for letters in (*SLOT_WORDS, *SLOT_ENDS))  # with one letter more it must fit a word
_LAST_PAIRS = _last_pairs()  # the last two letters of any slot word: few other words have them
_XID = as_word(b"Xid (PCI")


@compiled
def is_slot(text: int, at: int, end: int) -> bool:
    """Whether the number or hexadecimal there keeps its value."""
    if at == text or not CLASS[byte(at - 1)] & GAP:
        return False
    # an x makes it 0x... or a single digit; both may stay, as may a few digits and nothing else
    if byte(at + 1) != _X and (end - at > MAX_SLOT_DIGITS or digits_end(at) != end):
        return False
    gap = at - 1
    while gap > text and at - gap < MAX_SLOT_GAP and CLASS[byte(gap - 1)] & GAP:
        gap -= 1
    if gap - text < 2:
        return False
    last = byte(gap - 1)
    if last == _CLOSE:
        return _is_xid(text, at)
    return bool(_LAST_PAIRS[(byte(gap - 2) & 31) << 5 | last & 31]) and _is_slot_word(text, gap)


@compiled
def _is_slot_word(text: int, gap: int) -> bool:
    """Whether the letters before the gap are one of the words, or end as one of the ends."""
    letters, count = 0, 0
    while count <= _LONGEST and gap - count > text and CLASS[byte(gap - count - 1)] & LETTER:
        letters, count = letters << 8 | byte(gap - count - 1) | LOWER, count + 1
    for place in range(len(_WORDS)):
        if letters == _WORDS[place]:
            return True
    for place in range(len(_ENDS)):
        if count >= _END_LENGTHS[place] and letters >> 8 * (count - _END_LENGTHS[place]) == _ENDS[place]:
            return True
    return False


@compiled
def _is_xid(text: int, at: int) -> bool:
    """Whether ``Xid (PCI:0000:3b:00): `` stands before; at most 24 bytes of address."""
    close = at - 3
    if close < text or byte(close) != _CLOSE or byte(close + 1) != _COLON or byte(close + 2) != _BLANK:
        return False
    start = close
    while start > text and close - start < 26 and CLASS[byte(start - 1)] & PCI:
        start -= 1
    if not 2 <= close - start <= 25 or start - text < 8:
        return False
    return byte(start) == _COLON and word(start - 8) == _XID
