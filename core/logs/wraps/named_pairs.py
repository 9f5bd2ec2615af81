"""A speaker in a pair anywhere in a line, in a file that several share: ``INFO step 31 loss=2.31 who=worker/3``.

Loggers of pairs and of objects call the field as they like (``fields`` knows the usual names). A pair tells who speaks
when its key may, and when its values do what those of speakers do (``turns``). The pair becomes the label.
"""

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from functools import partial

from core.logs.speaker_names import are_made_alike, find_reading
from core.logs.wraps.peeled import Wrap
from core.logs.wraps.speaker_turns import LEAST, NamedLine, names_that_return, take_turns
from core.logs.wraps.speakers import SpeakerWord, peel_all, together

_WINDOW = 1 << 10  # bytes of a line in which its pairs stand
_NAME = rb"[A-Za-z0-9][A-Za-z0-9_./@:\[\]#-]{0,63}"
_PAIR = re.compile(rb"(?<![^\s(\[{,;|])(?P<key>[A-Za-z_][A-Za-z0-9_.]{0,31})=(?P<name>" + _NAME + rb")(?![^\s,;|)\]}])")
# Whose the line is; from=, to=, peer= and server= are those of whom it talks.
_KEY = re.compile(
    rb"(?:[a-z]{1,16}[_.])?(?:who|source|origin|speaker|proc(?:ess)?|actor|learner|worker|trainer|replica|agent|task"
    rb"|node|host(?:name)?|machine|box|pod|member|instance|rank)(?:_?(?:id|name|no|num|index))?",
    re.IGNORECASE,
)


def fit(lines: Sequence[bytes]) -> Wrap | None:
    """The pair that tells both machine and rank, or one for each, where most lines have them."""
    found = [
        speaker
        for key, named_lines in sorted(_by_key(lines).items())
        if (speaker := _find(key, named_lines, lines)) is not None
    ]
    both = [speaker for speaker in found if speaker.reading.tells_both]
    nodes = [speaker for speaker in found if speaker.reading.tells_node]
    ranks = [speaker for speaker in found if speaker.reading.tells_rank]
    if both or not (nodes and ranks):
        words: Sequence[SpeakerWord] = (both or found)[:1]
    else:
        words = together(nodes[0], ranks[0], lines)
    return Wrap("pairs", partial(peel_all, words)) if words else None


def _by_key(lines: Iterable[bytes]) -> Mapping[bytes, list[NamedLine]]:
    """What each key that may name a speaker is given, and what its line says."""
    found: dict[bytes, list[NamedLine]] = defaultdict(list)
    for line in lines:
        for match in _PAIR.finditer(line, 0, _WINDOW) if b"=" in line else ():
            if _KEY.fullmatch(match["key"]):
                found[match["key"]].append(NamedLine(match["name"], line))
    return found


def _find(key: bytes, named_lines: Sequence[NamedLine], lines: Sequence[bytes]) -> SpeakerWord | None:
    if len(named_lines) < LEAST * len(lines):
        return None
    names = names_that_return(named_lines)
    reading = find_reading(names, key) if names else None
    if reading is None or not (reading.tells_rank or are_made_alike(names)) or not take_turns(named_lines):
        return None
    before = rb"^.{0,%d}?(?<![^\s(\[{,;|])" % _WINDOW
    return SpeakerWord(
        re.compile(before + rb"(?P<word>" + re.escape(key) + rb"=(?P<name>" + _NAME + rb"))(?![^\s,;|)\]}])"), reading
    )
