"""Templates of messages by Drain (drain3; He et al., ICWS 2017; L4, section 4.2), each distinct masked message once.

The only module that imports drain3.

Differs: L4 feeds every line in the order of the log. Here each distinct message comes once, the most frequent first,
so that neither the order of files nor the number of workers can change a template (docs/how-it-works.md); grouping
accuracy on the loghub sets is the same (docs/LOG.md). A guard token keeps messages apart that differ in a typed slot
(errno, exit code, Xid ...), in the name of a structured message, in how something ended, in their level or in being a
block: plain Drain merges ``Xid 79`` and ``Xid 94``, ``state UP`` and ``state DOWN``.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import blake2b

from drain3.drain import Drain, LogCluster

from core.logs.blocks import BLOCK_MARK
from core.logs.messages import is_block, plain

WILDCARD = "<*>"
SIMILARITY = 0.8  # share of equal tokens; best grouping accuracy of .4 to .8 on the loghub sets (docs/LOG.md)
_MAX_TOKENS = 120  # a longer message is told by its first tokens

_SLOT = re.compile(
    r"(?:errno|err|error|errn|\w*code|\w*status|signal|sig|xid(?:\s*\([^)]*\))?|rc|ret|http|exit)[\s:=(\[\"'#]{1,6}"
    r"(-?(?:0x[0-9a-f]+|\d{1,5}))\b",
    re.IGNORECASE,
)
# Words that say how something ended: "state UP" and "state DOWN" are two events.
_OUTCOME = re.compile(
    r"\b(?:success\w*|succe\w+|abort\w*|fail\w*|cancel\w*|kill\w*|down|up|lost|dead|timed out|timeout|refused|reset"
    r"|closed|denied|unreachable|corrupt\w*|invalid|error|exception|nan|inf)\b",
    re.IGNORECASE,
)
# What names the message in a structured log: two keys of MLPerf logging are two events.
_NAME = re.compile(r'"(?:key|event|event_name)": ?"([A-Za-z_][\w.-]{0,60})"')
_LEVEL = re.compile(
    r"\b(FATAL|CRITICAL|ERROR|WARN|WARNING|INFO|DEBUG|TRACE)\b|^\[?([EWIF])(?:<TS>| [\w./-]+:(?:<NUM>|\d+)\])"
)


@dataclass(frozen=True, slots=True)
class Template:
    """Constant part of a message; ``id`` is a hash of ``text``.

    block: whether the message is a block of lines.
    sample: its most frequent message, without wildcards; rules read this.
    """

    id: str
    text: str
    block: bool = False
    sample: str = field(default="", compare=False)


def template_id(text: str) -> str:
    """Sixteen hexadecimal digits of BLAKE2b: one collision in a million templates is as likely as 1 in 37 million."""
    return blake2b(text.encode(), digest_size=8).hexdigest()


def find_templates(counts: Mapping[str, int]) -> dict[str, Template]:
    """The template of every message text.

    Args:
        counts: how often each distinct message text occurs, over all jobs that are parsed together.
    """
    drain = _IndexedDrain()
    cluster_of = {}
    for text in sorted(counts, key=lambda text: (-counts[text], text)):
        cluster, _ = drain.add_log_message(f"{_guard(text)} {_clip(plain(text))}")
        cluster_of[text] = cluster
    made: dict[int, Template] = {}
    members: dict[int, list[str]] = {}
    for text, cluster in cluster_of.items():
        members.setdefault(cluster.cluster_id, []).append(text)
    for number, texts in members.items():
        # a template of one message is the message: its id does not depend on what else was parsed
        tokens = cluster_of[texts[0]].log_template_tokens[1:]
        text = plain(texts[0]) if len(texts) == 1 else " ".join(tokens)
        made[number] = _template(text, sample=texts[0])
    return {text: made[cluster.cluster_id] for text, cluster in cluster_of.items()}


class _IndexedDrain(Drain):  # type: ignore[misc]  # drain3 has no types
    """Drain of depth 4 (token count, first token, which is the guard), with an index in place of its tree.

    A leaf of the tree is walked through for each message, which takes minutes for ten thousand distinct ones. Who is
    similar differs in at most k places, so it shares a token in one of any k + 1 places: those where fewest share it.
    """

    def __init__(self) -> None:
        super().__init__(sim_th=SIMILARITY, param_str=WILDCARD)
        self._sharing: dict[_Place, list[int]] = {}

    def tree_search(self, _root: object, tokens: Sequence[str], similarity: float, include_params: bool) -> object:  # noqa: FBT001  # as drain3 calls it
        """The most similar cluster, the oldest of several; None when none is similar enough."""
        sharing = sorted((self._sharing.get(place, []) for place in _places(tokens)), key=len)
        differing = int(len(tokens) * (1 - similarity) + 1e-9)
        near = sorted(set().union(*sharing[: differing + 1]))
        return self.fast_match(near, tokens, similarity, include_params)

    def add_seq_to_prefix_tree(self, _root: object, cluster: LogCluster) -> None:
        """Remember a new cluster by all of its tokens; those that become wildcards later equal no token."""
        for place in _places(cluster.log_template_tokens):
            self._sharing.setdefault(place, []).append(cluster.cluster_id)


_Place = tuple[str, int, int, str]  # guard, number of tokens, place, token


def _places(tokens: Sequence[str]) -> Iterator[_Place]:
    for at, token in enumerate(tokens[1:] or ("",)):
        yield tokens[0], len(tokens), at, token


def _template(text: str, *, sample: str) -> Template:
    block = is_block(sample)
    return Template(template_id(f"{BLOCK_MARK}{text}" if block else text), text, block=block, sample=plain(sample))


def slots(text: str) -> tuple[str, ...]:
    """Values of the typed slots of a message: errno, exit codes, signals, status, Xid."""
    return tuple(match[1] for match in _SLOT.finditer(text))


def level(text: str) -> str:
    """Level that the message was logged at, as its first letter; empty when it names none."""
    match = _LEVEL.search(text[:200])
    return (match[1] or match[2])[0] if match else ""


def _guard(text: str) -> str:
    outcomes = sorted({match[0].lower() for match in _OUTCOME.finditer(text)})
    kind, names = "block" if is_block(text) else "line", _NAME.findall(text)
    guard = "|".join((kind, level(text), ",".join(slots(text)), ",".join(outcomes), ",".join(names)))
    return guard.replace(" ", "_")  # one token


def _clip(text: str) -> str:
    return " ".join(text.split(" ", _MAX_TOKENS)[:_MAX_TOKENS])
