"""Which node is an end of every connection that broke: each side tells of its own, and names the other.

A card or a link that no longer answers breaks all its connections. The others report them as it does itself, in the
same words, so that the message alone says that everybody is at fault.
"""

from collections.abc import Sequence

from core.events.messages import keys_of
from core.events.row_text import read_rows
from core.facts import Blame
from core.judge.candidates import Candidate
from core.model import Role
from core.nodes.blame import Names
from core.nodes.sign import Sign
from core.parsed import Parsed

MEET = 0.65  # as NAMED_BY_MOST of core.nodes.spatial: most others name it
MIN_PAIRS = 3  # connections: of two with a common end each other one may have lost the same peer
MAX_READ = 4_096  # lines: one a rank of the largest jobs, as core.nodes.suspicion reads

Pair = frozenset[str]


def common_end_signs(parsed: Parsed, candidates: Sequence[Candidate], names: Names) -> list[Sign]:
    """A sign for the only node that all broken connections have in common, of errors that name their other end."""
    signs = []
    for candidate in candidates:
        if (
            candidate.role is not Role.ROOT
            or candidate.fact.blame is not Blame.SELF
            or len(candidate.nodes) < MIN_PAIRS
        ):
            continue
        pairs = _pairs(parsed, candidate, names)
        ends = sorted(frozenset.intersection(*pairs)) if len(pairs) >= MIN_PAIRS else []
        if len(ends) == 1:
            because = f"All {len(pairs)} pairs of nodes that lost their connection meet at {ends[0]}."
            signs.append(Sign(ends[0], "peers", MEET, because, candidate.event, says="it lost all its connections"))
    return signs


def _pairs(parsed: Parsed, candidate: Candidate, names: Names) -> set[Pair]:
    """The two nodes of each line of an error, who says it and whom it names; none where not each names one."""
    table, found = parsed.table, set[Pair]()
    keys = keys_of(table, candidate.rows[:MAX_READ].tolist())
    texts = read_rows(parsed.files, table, [row for rows in keys.values() for row in rows])
    for row, rows in keys.items():
        speaker = table.origins[int(table.voice[row])].node or ""
        others = names.others(" ".join(texts.get(key, "") for key in rows), speaker)
        if not speaker or len(others) != 1:
            return set()
        found.add(frozenset({speaker, *others}))
    return found
