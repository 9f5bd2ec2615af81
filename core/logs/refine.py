"""Masks that need more than one look: slow, so only the distinct bodies of a file come here, once each."""

import re
from functools import lru_cache

_CARETS = re.compile(r"\^{2,}|~{3,}\^*~*")
# What a text must hold, and how often, for the pattern to be worth a try; the pattern; what stands for it.
_REFINEMENTS: tuple[tuple[str, int, re.Pattern[str], str], ...] = (
    # IPv6 addresses, whole or in pieces: [fdff:ffff:<NUM>:<NUM>:bc<NUM>:<NUM>d:<NUM>:<NUM>]
    (":", 2, re.compile(r"\[(?:(?:[0-9a-f]|<NUM>|<HEX>|<TS>)*:){2,8}(?:[0-9a-f]|<NUM>|<HEX>|<TS>)*\]"), "[<IP>]"),
    ("-<NUM>", 1, re.compile(r"(?<![\w>])-<NUM>"), "<NUM>"),
    # progress bars: |███▌      |
    ("|", 1, re.compile(r"\|[\u2580-\u259f# ]+\||\|[\u2580-\u259f]+(?=<NUM>|\|)"), "|<BAR>|"),
    # words where letters and digits alternate are generated ids: f<NUM>_piuf<NUM>rhy<NUM>
    ("<NUM>", 3, re.compile(r"(?:[A-Za-z]*<NUM>[A-Za-z_]*){3,}(?:<NUM>)?"), "<ID>"),
    ("<NUM>,", 3, re.compile(r"<NUM>(?:, ?<NUM>){3,}"), "<NUM>, ..."),
    ("=====", 1, re.compile(r"={5,}"), "====="),
    ("-----", 1, re.compile(r"-{5,}"), "-----"),
    ("*****", 1, re.compile(r"\*{5,}"), "*****"),
    ("^^", 1, _CARETS, "^^"),
    ("~~~", 1, _CARETS, "^^"),
)


@lru_cache(maxsize=1 << 16)  # the files of one job share nearly all of their bodies
def refine(body: str) -> str:
    """Fold what the fast masks leave apart; slow, so only distinct bodies come here."""
    text = body.strip()
    if "<" in text or len(text) > 4:
        for needs, times, pattern, name in _REFINEMENTS:
            if needs in text and (times == 1 or text.count(needs) >= times):
                text = pattern.sub(name, text)
    return text
