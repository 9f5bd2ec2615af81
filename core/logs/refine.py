"""Masks that need more than one look: slow, so only the distinct bodies of a file come here, once each."""

import re
from functools import lru_cache

_REFINEMENTS: tuple[tuple[re.Pattern[str], str], ...] = (
    # IPv6 addresses, whole or in pieces: [fdff:ffff:<NUM>:<NUM>:bc<NUM>:<NUM>d:<NUM>:<NUM>]
    (re.compile(r"\[(?:(?:[0-9a-f]|<NUM>|<HEX>|<TS>)*:){2,8}(?:[0-9a-f]|<NUM>|<HEX>|<TS>)*\]"), "[<IP>]"),
    (re.compile(r"(?<![\w>])-<NUM>"), "<NUM>"),
    # progress bars: |███▌      |
    (re.compile(r"\|[\u2580-\u259f# ]+\||\|[\u2580-\u259f]+(?=<NUM>|\|)"), "|<BAR>|"),
    # words where letters and digits alternate are generated ids: f<NUM>_piuf<NUM>rhy<NUM>
    (re.compile(r"(?:[A-Za-z]*<NUM>[A-Za-z_]*){3,}(?:<NUM>)?"), "<ID>"),
    (re.compile(r"<NUM>(?:, ?<NUM>){3,}"), "<NUM>, ..."),
    (re.compile(r"={5,}"), "====="),
    (re.compile(r"-{5,}"), "-----"),
    (re.compile(r"\*{5,}"), "*****"),
    (re.compile(r"\^{2,}|~{3,}\^*~*"), "^^"),
)


@lru_cache(maxsize=1 << 16)  # the files of one job share nearly all of their bodies
def refine(body: str) -> str:
    """Fold what the fast masks leave apart; slow, so only distinct bodies come here."""
    text = body.strip()
    if "<" in text or len(text) > 4:
        for pattern, name in _REFINEMENTS:
            text = pattern.sub(name, text)
    return text
