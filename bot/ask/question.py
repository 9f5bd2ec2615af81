"""A question as code reads it: its names, numbers and quotes, and the whole in plain words."""

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace

from bot.ask.clauses import asking_part
from bot.ask.english import normal
from bot.text.harmless import harmless

MAX_QUESTION = 1_000  # characters that are read
MIN_ID = 4  # digits: a shorter number may be a rank or an iteration as well as the job's own id
_QUOTED = re.compile(r"[\"“”„«»`「」]([^\"“”„«»`「」]{2,200})[\"“”„«»`「」]|(?<!\w)'([^']{2,200})'(?!\w)")
_EVIDENCE = re.compile(r"(?<![\w-])([ENIP][1-9][0-9]?)(?![\w-])", re.IGNORECASE)
_RANKS = re.compile(
    r"\branks?\s{0,3}#?([0-9]{1,6})"
    r"(?:\s{0,3}(?:,|and|or|und|oder|vs\.?|to|-|和|与)\s{0,3}(?:rank\s{0,3})?#?([0-9]{1,6}))?",
    re.IGNORECASE,
)
_ITERATION = re.compile(
    r"(?:\b(?:iterations?|iters?|steps?|updates?|schritt)|迭代|步)\s{0,3}#?([0-9]{1,9})", re.IGNORECASE
)
_AT = re.compile(r"\b(?:at|@|bei) #?([0-9]{2,7})(?=\s{0,3}(?:[?,;]|$|and\b|und\b|of\b|on\b|in\b))", re.IGNORECASE)
_JOB = re.compile(r"\b(?:job|run)\s{1,3}#?([A-Za-z0-9][\w.-]{0,80})\b", re.IGNORECASE)
_TOKEN = re.compile(r"[A-Za-z0-9][\w.-]{1,80}")
_MENTION = re.compile(r"<[@!#][^>\s]{1,80}>")
_SPOKEN = re.compile(r"(?<![A-Za-z])([A-Za-z]{1,40})[ _#-]?([0-9]{1,9})(?![0-9])")
# What a job counts besides nodes and ranks: "worker 13"
UNITS = re.compile(
    r"\b(worker|task|process|proc|shard|actor|replica|peer|member|client|stage|trial)s? ?#?([0-9]{1,6})\b",
    re.IGNORECASE,
)
_LETTERS_NUMBER = re.compile(r"([A-Za-z]{1,40})[-_]?([0-9]{1,9})$")
_TAIL = re.compile(r"(?<![\w.])((?:\.[0-9]{1,3}){1,3})(?![\w.]?[0-9])")  # ".58" of 10.66.3.58, as people type it
_ANY_NODE = ("pod", "node", "host", "machine", "box", "server", "knoten")  # nouns that are no part of a node's name
_MENTIONS_RANKS = re.compile(r"rank", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Question:
    """What somebody asks.

    nodes, jobs: names of nodes of the job and of other jobs, in their order. unknown: what looks like a node's
    name, and is none of the job. ids: of evidence. quoted: what stands between quotation marks. plain: the whole in
    small English words, names by their kind (bot/ask/english.py). asking: the same of the part that asks.
    """

    text: str
    plain: str
    nodes: tuple[str, ...] = ()
    ranks: tuple[int, ...] = ()
    iterations: tuple[int, ...] = ()
    ids: tuple[str, ...] = ()
    jobs: tuple[str, ...] = ()
    quoted: tuple[str, ...] = ()
    unknown: tuple[str, ...] = ()
    asking: str = ""

    @property
    def asked(self) -> "Question":
        """The part that asks, by which the kind of an answer is known; what is stated beside it only says of what."""
        whole = self.asking in ("", self.plain)
        return self if whole else replace(self, plain=self.asking, text=asking_part(self.text))

    def says(self, *stems: str) -> bool:
        """Whether a word of the plain question begins with any of these."""
        return any(word.startswith(stems) for word in self.plain.split())


def read_question(text: str, nodes: Sequence[str], jobs: Collection[str] = (), own: str = "") -> Question:
    """The question with its names.

    Args:
        nodes: of the job.
        jobs: ids of the jobs beside it.
        own: id of the job.
    """
    text = harmless(_MENTION.sub(" ", text[: 2 * MAX_QUESTION]).strip(), MAX_QUESTION)
    text = _without_own(text, own, nodes)
    found = named_nodes(text, nodes)
    strangers = _strangers(text, nodes)
    ranks = [int(number) for match in _RANKS.finditer(text) for number in match.groups() if number]
    others = _other_jobs(text, jobs, own, [*nodes, *found.values()])
    ids = [
        name.upper() for name in _EVIDENCE.findall(text) if name.casefold() not in {job.casefold() for job in others}
    ]
    quoted = [(match[1] or match[2]).strip() for match in _QUOTED.finditer(text)]
    names = [*found.values(), *found, *strangers]
    return Question(
        text=text,
        plain=normal(text, names, others),
        asking=normal(asking_part(text), names, others),
        nodes=tuple(found),
        ranks=tuple(dict.fromkeys(ranks)),
        iterations=tuple(dict.fromkeys(int(number) for number in _ITERATION.findall(text) or _AT.findall(text))),
        ids=tuple(dict.fromkeys(ids)),
        jobs=tuple(others),
        quoted=tuple(dict.fromkeys(quoted)),
        unknown=tuple(strangers) if not found else (),
    )


def _without_own(text: str, own: str, nodes: Sequence[str]) -> str:
    """The text with "this job" for the job's own id, which no node has: its letters and digits tell nothing."""
    if not own or own in nodes or (own.isdecimal() and len(own) < MIN_ID):
        return text
    return re.sub(rf"(?<![\w./-])(?:job\s{{1,3}})?{re.escape(own)}(?![\w/-])", "this job", text, flags=re.IGNORECASE)


def named_nodes(text: str, nodes: Sequence[str]) -> dict[str, str]:
    """Nodes that a text names, in its order, with their spelling there; "node 1" is node-01 when only that one is.

    Of addresses their end is enough, and "pod 4" is lm-jax-4, where one node alone ends so.
    """
    spoken = {(match[1].casefold(), int(match[2])): match for match in _SPOKEN.finditer(text)}
    ends = _by_end(text, nodes)
    places: dict[str, tuple[int, str]] = {}
    small = text.lower()
    for node in nodes:  # tens of thousands, of which a question names one: an expression is made for that one only
        whole = rf"(?<![\w.-]){re.escape(node)}(?![\w-])"
        exact = re.search(whole, text, re.IGNORECASE) if node.lower() in small else None
        short = _LETTERS_NUMBER.search(node.split(".", maxsplit=1)[0])
        match = exact or (spoken.get((short[1].casefold(), int(short[2]))) if short else None) or ends.get(node)
        if match and not (match is not exact and _MENTIONS_RANKS.fullmatch(match[1])):
            places[node] = match.start(), match[0]
    return {node: places[node][1] for node in sorted(places, key=lambda node: (places[node][0], node))}


def _by_end(text: str, nodes: Sequence[str]) -> dict[str, re.Match[str]]:
    """The nodes that a text names by nothing but their end, each of which no other node has."""
    found: dict[str, re.Match[str]] = {}
    for match in _TAIL.finditer(text):
        mine = [node for node in nodes if node.endswith(match[1])]
        found |= {mine[0]: match} if len(mine) == 1 else {}
    for match in _SPOKEN.finditer(text):
        if match[1].casefold() in _ANY_NODE:
            tails = {node: _LETTERS_NUMBER.search(node.split(".", maxsplit=1)[0]) for node in nodes}
            mine = [node for node, tail in tails.items() if tail and int(tail[2]) == int(match[2])]
            found |= {mine[0]: match} if len(mine) == 1 else {}
    return found


def _other_jobs(text: str, jobs: Collection[str], own: str, nodes: Collection[str]) -> list[str]:
    """Jobs that are beside this one, and what is called one; words as "job died" are none."""
    by_name = {job.casefold(): job for job in jobs}
    taken = {node.casefold() for node in nodes} | {own.casefold()}
    named = [by_name[word.casefold()] for word in _TOKEN.findall(text) if word.casefold() in by_name]
    called = [word for word in _JOB.findall(text) if any(letter.isdigit() for letter in word)]
    return [job for job in dict.fromkeys((*named, *called)) if job.casefold() not in taken]


def _strangers(text: str, nodes: Sequence[str]) -> list[str]:
    """Names that look as the job's nodes do, and are none of them."""
    heads = {match[1].casefold() for node in nodes if (match := _LETTERS_NUMBER.search(node.split(".", maxsplit=1)[0]))}
    heads |= {"node", "gpu", "host"}
    named = [match for word in _TOKEN.findall(text) if (match := _LETTERS_NUMBER.fullmatch(word))]
    return [match[0] for match in named if match[1].casefold() in heads - {"rank", "iteration", "step"}]
