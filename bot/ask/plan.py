"""Which looks answer a question: chosen from a fixed list, by code or by a model.

Code goes by what the question names (nodes, ranks, iterations, evidence, quoted words) and by a few words of the field;
what names nothing is searched for by its own words.
"""

import re
import tomllib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files as package_files

from core.parsing.parsed import Parsed

MAX_LOOKS = 4  # an answer has five lines
MAX_QUESTION = 1_000  # characters that are read
_MAX_WORDS = 4  # of a search
_TWO = 2

LOOKS = {
    "verdict": "what the diagnosis says: where to look, how sure, what to check",
    "evidence": "one piece of evidence by its id (E1, N1, I1, P1), with its lines",
    "known": "faults of the library that fit this job, with the fix that worked",
    "coverage": "which logs were read, which are missing, what it was compared with",
    "of_node": "what one node wrote: complaints, last words, last iteration",
    "of_rank": "what one rank wrote",
    "of_iteration": "who completed an iteration, and what complained after it",
    "compare": "two nodes beside each other",
    "ends": "when each node wrote its last line",
    "numbers": "values of a number that the logs carry: loss, grad norm, iteration time",
    "stacks": "where the dumped processes stand",
    "search": "lines that hold some words; of one node or rank, if that is named",
}


@dataclass(frozen=True, slots=True)
class Look:
    """One look: its name from ``LOOKS`` and what it is about; what it does not need stays empty."""

    name: str
    node: str = ""
    other: str = ""
    number: int | None = None  # a rank or an iteration
    words: tuple[str, ...] = ()  # to search for; an evidence id; the name of a number


_QUOTED = re.compile(r"[\"“”`]([^\"“”`]{2,200})[\"“”`]|(?<!\w)'([^']{2,200})'(?!\w)")
_EVIDENCE = re.compile(r"\b([ENIP][1-9]\d?)\b")
_RANKS = re.compile(r"\branks?\s*#?(\d{1,6})(?:\s*(?:,|and|or|vs\.?|to|-)\s*(?:rank\s*)?#?(\d{1,6}))?", re.IGNORECASE)
_ITERATION = re.compile(r"\b(?:iterations?|iters?|steps?)\s*#?(\d{1,9})", re.IGNORECASE)
_TERM = re.compile(r"\b(?:[A-Z]{2,}[A-Za-z0-9]*(?:[_.:/-]\w+)*|[A-Za-z]+[_./:]\w[\w./:-]*|Xid|[A-Z]\w+Error)\b")
_WORD = re.compile(r"[^\W\d_][\w-]{2,}", re.UNICODE)


@dataclass(frozen=True, slots=True)
class _Words:
    """Words by which code chooses (words.toml)."""

    intents: tuple[tuple[str, re.Pattern[str]], ...]
    numbers: tuple[tuple[str, re.Pattern[str]], ...]
    stop: frozenset[str]


@cache
def _words() -> _Words:
    said = tomllib.loads(package_files("bot.ask").joinpath("words.toml").read_text(encoding="utf-8"))
    tables = [
        tuple((name, re.compile(rf"\b(?:{'|'.join(words)})", re.IGNORECASE)) for name, words in said[table].items())
        for table in ("intents", "numbers")
    ]
    return _Words(tables[0], tables[1], frozenset(said["search"]["stop"].split()))


def plan(question: str, parsed: Parsed) -> tuple[Look, ...]:
    """The looks that code chooses for a question, the most specific first; at most MAX_LOOKS."""
    looks = named_looks(question, parsed)
    if not looks and (words := _content(question[:MAX_QUESTION])):
        return (Look("search", words=tuple(words[:_MAX_WORDS])),)
    return looks


def named_looks(question: str, parsed: Parsed) -> tuple[Look, ...]:
    """The looks that the question's own names and words of the field point to; none where it names nothing."""
    return tuple(dict.fromkeys(_looks(question[:MAX_QUESTION], parsed)))[:MAX_LOOKS]


def _looks(text: str, parsed: Parsed) -> Iterator[Look]:
    nodes = named_nodes(text, parsed.nodes)
    ranks = [int(number) for match in _RANKS.finditer(text) for number in match.groups() if number]
    words = quoted(text)
    yield from (Look("evidence", words=(name,)) for name in _EVIDENCE.findall(text))
    terms = words or _terms(text, nodes)
    node, rank = nodes[0] if nodes else "", ranks[0] if ranks else None
    yield from (Look("search", node=node, number=rank, words=(word,)) for word in terms)
    if len(nodes) >= _TWO:
        yield Look("compare", node=nodes[0], other=nodes[1])
    yield from (Look("of_node", node=node) for node in nodes[: 1 if len(nodes) < _TWO else 0])
    yield from (Look("of_rank", number=rank) for rank in ranks[:_TWO])
    yield from (Look("of_iteration", number=int(number)) for number in _ITERATION.findall(text)[:_TWO])
    intents = [name for name, pattern in _words().intents if pattern.search(text)]
    if "numbers" in intents:
        yield from (Look("numbers", words=(name,)) for name, called in _words().numbers if called.search(text))
    yield from (Look(name) for name in intents if name != "numbers")


def named_nodes(text: str, nodes: Sequence[str]) -> list[str]:
    """Nodes that a text names, in its order; "node 1" and "Node1" are node-01 when that is the only such node."""
    spoken = _spoken(text)
    found = {node: place for node in nodes if (place := _place(node, text, spoken)) >= 0}
    return sorted(found, key=lambda node: (found[node], node))


def quoted(text: str) -> list[str]:
    """What stands between quotation marks or backticks."""
    return [(match[1] or match[2]).strip() for match in _QUOTED.finditer(text)]


def _place(node: str, text: str, spoken: dict[tuple[str, int], int]) -> int:
    exact = re.search(rf"(?<![\w.-]){re.escape(node)}(?![\w-])", text, re.IGNORECASE)
    if exact:
        return exact.start()
    short = re.fullmatch(r"([A-Za-z]+)[-_]?0*(\d+)", node.split(".", maxsplit=1)[0])
    return spoken.get((short[1].casefold(), int(short[2])), -1) if short else -1


def _spoken(text: str) -> dict[tuple[str, int], int]:
    """Letters and number of each "name 7", "name-07", "name7" of a text, and where it stands."""
    pairs = re.finditer(r"([A-Za-z]+)[ _#-]?0*(\d+)\b", text)
    return {(pair[1].casefold(), int(pair[2])): pair.start() for pair in pairs}


def _terms(text: str, nodes: Sequence[str]) -> list[str]:
    """Words that stand in logs rather than in speech: NCCL, SIGKILL, ibv_poll_cq, RuntimeError."""
    known = {node.casefold() for node in nodes}
    terms = [term for term in _TERM.findall(text) if term.casefold() not in known and not _EVIDENCE.fullmatch(term)]
    return list(dict.fromkeys(terms))[:_TWO]


def _content(text: str) -> list[str]:
    words = [word.strip("-") for word in _WORD.findall(text)]
    return list(dict.fromkeys(word for word in words if word.casefold() not in _words().stop))
