"""A bounded table of distinct messages: of too many, those that are most alike give way to what they share.

Masks cannot collapse free text, host names or paths. Where a chunk, a file or a job says more different things than its
limit, messages are grouped by a coarse key, and the groups with most members are folded, the largest first, until the
table fits: each member is called by the key, in which ``<ANY>`` stands for what differs. A small group, where the one
line may be that tells of the failure, keeps its exact text; what a guard is made of (``core.logs.telling_words``) too.

A key depends on nothing but the text, and a key's key is itself. So whoever sees a key in one table finds its members
in another one, and calls them by it: the same line has the same event in all files, and in good jobs.
"""

import re
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Self, TypeVar

import numpy as np
from numpy.typing import NDArray

from core.logs.blocks import BLOCK_MARK, may_open
from core.logs.columns import Columns
from core.logs.messages import Grouping, find_messages, is_block
from core.logs.telling_words import may_tell, telling_parts, telling_words

ANY = "<ANY>"
MAX_TOKENS = 120  # a longer message is told by its first tokens
# Of 133 real jobs the one that says most has 1,102 distinct messages, its largest file 1,089 (docs/LOG.md).
JOB_TEXTS = 1 << 12  # a gigabyte of clean logs has 300; every later step looks at each, half a second for so many
JOB_CHARACTERS = 1 << 19  # of them together, five times what the job that says most has; rules search each of them
ALL_TEXTS = 1 << 19  # of all files or chunks of a job together, 200 bytes each
LEAST_TEXTS = 1 << 10  # of a file or chunk: what the files of a large job say is no more than that of a real one
FEW = 20  # members of a group that is not worth folding while there are larger ones
CROWD = 2  # times the limit of a chunk: of more bodies most are told by their length alone, for a look takes 20 us
_EDGE_ROWS = 1 << 10  # of a chunk: they may belong to a block that began before it, and a job ends with its reason
# Voices of a file: Llama 3 trained on 16,384 ranks (arXiv:2407.21783); each voice takes 0.2 ms until the answer.
MAX_VOICES = 1 << 14
LEAST_VOICES = 1 << 10  # of each of many files: 8 ranks of a node with the threads of NCCL are less than a hundred

_Text = TypeVar("_Text", str, bytes)


@dataclass(frozen=True, slots=True)
class Step:
    """What a key keeps of a message: plain words among so many first tokens, and what is telling; else nothing."""

    tokens: int
    telling: bool = True


STEPS = (Step(MAX_TOKENS), Step(4), Step(2), Step(0), Step(0, telling=False))
# Members of the smallest group that is folded, whether blocks are, and how; the type of an exception stays in any case.
_PASSES = ((FEW, False, STEPS[:-1]), (2, False, STEPS), (2, True, STEPS[:2]))

# Names that programs make: paths, pods, addresses of objects, key=value, what is too long for a word.
_MADE = re.compile(r"[^\W_][-_./=:@\\+~%&?,;|]+[^\W_]|\w{25}")


@dataclass(frozen=True, slots=True)
class Limits:
    """How many distinct messages a chunk and a file may have, and how many voices a file."""

    chunk: int = JOB_TEXTS
    file: int = JOB_TEXTS
    voices: int = MAX_VOICES


UNSHARED = Limits()  # of a file alone


def limits(sizes: Sequence[int], chunk_bytes: int) -> Limits:
    """The limits for a job with files of these sizes: all of its files, and all chunks that wait, share one table."""
    chunks = sum(size // chunk_bytes + 1 for size in sizes)
    voices = max(LEAST_VOICES, MAX_VOICES // max(1, len(sizes)))
    return Limits(_share(chunks), _share(len(sizes)), voices)


def _share(among: int) -> int:
    return min(JOB_TEXTS, max(LEAST_TEXTS, ALL_TEXTS // max(1, among)))


@dataclass(frozen=True, slots=True)
class Look:
    """What was seen of a text.

    plain: no token of it is made or telling. kept: else of each what is left of it among the first ones, and further
    right. parts: what is told by several tokens.
    """

    plain: bool
    kept: tuple[tuple[str, str], ...]
    parts: tuple[tuple[int, int], ...]

    @classmethod
    def of(cls, text: str) -> Self:
        """The look at a text as ``key`` cuts it: the same for all steps, and dear, so taken once."""
        tokens = _tokens(text)
        text = " ".join(tokens)
        plain = not may_tell(text) and _MADE.search(text) is None
        return cls(plain, () if plain else tuple(map(_kept, tokens)), tuple(telling_parts(text)))


def _tokens(text: str) -> list[str]:
    return text.removeprefix(BLOCK_MARK).split(" ", MAX_TOKENS)[:MAX_TOKENS]


def key(text: str, step: Step, look: Look | None = None) -> str:
    """The coarse key of a message: as many tokens, of which but some are kept."""
    mark = BLOCK_MARK if is_block(text) else ""
    tokens = _tokens(text)
    if not step.telling:
        return mark + " ".join([ANY] * len(tokens))
    look = look or Look.of(text)
    if look.plain:
        words = tokens[: step.tokens] + [ANY] * (len(tokens) - step.tokens)
    else:
        words = [early for early, _ in look.kept[: step.tokens]] + [late for _, late in look.kept[step.tokens :]]
    text = " ".join(tokens)
    for start, end in look.parts:
        place = text.count(" ", 0, start)
        after = place + text.count(" ", start, end) + 1
        words[place:after] = tokens[place:after]
    return mark + " ".join(words)


@lru_cache(maxsize=1 << 16)  # texts by the hundred thousand are made of the same words
def _kept(token: str) -> tuple[str, str]:
    """What is left of a token among the first ones, and further right."""
    telling = telling_words(token)
    made = f"{ANY}({','.join(telling)})" if telling else ANY
    early = made if _MADE.search(token) else token
    return early, early if telling else ANY


def folding(texts: Collection[str], limit: int) -> dict[str, str]:
    """What to call each text that gives way, so that the table has at most ``limit`` different ones.

    Texts whose key stands in the table already, because another table was too large, give way to it.
    """
    looks: dict[str, Look] = {}
    called = _by_known_keys(texts, looks)
    if len(texts) <= limit and not called:
        return {}
    left = {called.get(text, text) for text in texts}
    moved: dict[str, str] = {}
    for members, name in _groups_to_fold(left, limit, looks):
        left.difference_update(members)
        left.add(name)
        moved.update((text, name) for text in members if text != name)
    return {text: name for text in texts if (name := _last(moved, called.get(text, text))) != text}


def _by_known_keys(texts: Collection[str], looks: dict[str, Look]) -> dict[str, str]:
    """Members of keys that are in the table, by the coarsest of them; ``looks``: takes what was seen of each text."""
    known: dict[int, set[str]] = defaultdict(set)
    for text in texts:
        if ANY in text:
            known[text.count(" ")].add(text)
    found = {}
    for text in texts if known else ():
        here = known.get(min(text.count(" "), MAX_TOKENS - 1 + is_block(text)))
        if not here:
            continue
        # but for the last step: its keys are those of plain messages too, and what tells does not give way to them
        looks[text] = look = Look.of(text)
        names = (key(text, step, look) for step in reversed(STEPS[:-1]))
        name = next((name for name in names if name in here), text)
        if name != text:
            found[text] = name
    return found


def _groups_to_fold(left: set[str], limit: int, looks: dict[str, Look]) -> Iterator[tuple[list[str], str]]:
    """Groups and their keys, until ``left``, from which the caller takes them, is small enough."""
    for fewest, blocks, steps in _PASSES:
        for step in steps:
            if len(left) <= limit:
                return
            groups = defaultdict(list)
            for text in left:
                if is_block(text) != blocks:
                    continue
                if step.telling and text not in looks:
                    looks[text] = Look.of(text)
                if step.telling and looks[text].plain and text.count(" ") < step.tokens:
                    continue  # it is its own key, and nothing else's
                groups[key(text, step, looks.get(text))].append(text)
            large = [name for name, members in groups.items() if len(members) >= fewest]
            for name in sorted(large, key=lambda name: (-len(groups[name]), name)):
                if len(left) <= limit:
                    break
                yield groups[name], name


def _last(moved: Mapping[str, str], text: str) -> str:
    while text in moved:
        text = moved[text]
    return text


# --- tables of a chunk, a file and a job ------------------------------------------------------------------------------


def fold_chunk(columns: Columns, limit: int) -> Columns:
    """The chunk with about ``limit`` bodies, if those that make blocks, which stay as they are, leave room.

    Blocks of a crowd are left to the file, which looks for a bounded number of them; here each chunk has its own.
    """
    if len(columns.bodies) <= limit:
        return columns
    if (fewer := without_crowd(columns, limit)) is not columns:
        return fewer
    found = find_messages([len(columns)], lambda _: (columns.body, columns.prefix), columns.bodies, limit)
    is_free = np.ones(len(columns.bodies), np.bool_)
    is_free[columns.body[found.rows]] = False
    is_free[columns.body[:_EDGE_ROWS]] = False
    free = [place for place in np.flatnonzero(is_free).tolist() if not may_open(found.texts[found.of_body[place]])]
    texts = {place: found.texts[found.of_body[place]] for place in free}
    called = folding(set(texts.values()), max(LEAST_TEXTS, limit - len(columns.bodies) + len(free)))
    bodies = list(columns.bodies)
    for place, text in texts.items():
        if text in called:
            indent = b"  " if bodies[place].startswith(b"  ") else b""
            bodies[place] = indent + called[text].encode()
    numbers, of_body = _numbered(bodies)
    return replace(columns, bodies=tuple(numbers), body=of_body[columns.body])


def without_crowd(columns: Columns, limit: int) -> Columns:
    """The chunk itself, if it has at most CROWD times ``limit`` bodies; else with about as many as the limit.

    Those of its first and last rows stay, and of the others the first that may tell something or belong to a block, up
    to half of the limit, and then the first of all. What comes later is told by its number of words alone.
    """
    if len(columns.bodies) <= CROWD * limit:
        return columns
    stays = np.zeros(len(columns.bodies), np.bool_)
    stays[columns.body[:_EDGE_ROWS]] = stays[columns.body[-_EDGE_ROWS:]] = True
    tells = np.array([_may_matter(body) for body in columns.bodies], np.bool_)
    indented = np.array([body.startswith(b"  ") for body in columns.bodies], np.bool_)[columns.body]
    tells[columns.body[1:][indented[:-1]]] = True  # an exception stands below its frames, whatever it is called
    tells &= ~stays
    stays[np.flatnonzero(tells)[: limit // 2]] = True
    stays[np.flatnonzero(~stays & ~tells)[: max(0, limit - int(stays.sum()))]] = True
    bodies = [
        body if stay else _by_length(body.startswith(b"  "), min(body.count(b" "), MAX_TOKENS + 1))
        for body, stay in zip(columns.bodies, stays.tolist(), strict=True)
    ]
    numbers, of_body = _numbered(bodies)
    return replace(columns, bodies=tuple(numbers), body=of_body[columns.body])


def _may_matter(body: bytes) -> bool:
    text = body.decode("utf-8", "replace")
    return body.startswith(b"  ") or may_tell(text) or may_open(text)


@lru_cache(maxsize=1 << 9)
def _by_length(is_indented: bool, blanks: int) -> bytes:  # noqa: FBT001  # as it stands in the body
    words = min(MAX_TOKENS, blanks + 1 - 2 * is_indented)
    return b"  " * is_indented + b" ".join([ANY.encode()] * words)


def is_folded(texts: Iterable[str]) -> bool:
    """Whether some of these texts gave way to what they share."""
    return any(ANY in text for text in texts)


def fold_file(found: Grouping, limit: int) -> Grouping:
    """The messages of a file with at most ``limit`` texts."""
    if len(found.texts) <= limit:
        return found
    called = folding(found.texts, limit)
    numbers, of_text = _numbered([called.get(text, text) for text in found.texts])
    return replace(found, texts=tuple(numbers), of_body=of_text[found.of_body], message=of_text[found.message])


def fold_texts(tables: Sequence[tuple[str, ...]], limit: int = JOB_TEXTS) -> list[tuple[str, ...]]:
    """The texts of all files of a job, place by place, with at most ``limit`` different ones.

    And with about JOB_CHARACTERS at most: of longer texts as many fewer are kept.
    """
    characters = sum(len(text) for texts in tables for text in texts)
    if sum(map(len, tables)) <= limit and characters <= JOB_CHARACTERS:
        return list(tables)
    texts = set().union(*tables)
    characters = sum(map(len, texts))
    called = folding(texts, min(limit, JOB_CHARACTERS * len(texts) // max(1, characters)))
    return [tuple(called.get(text, text) for text in texts) for texts in tables] if called else list(tables)


def _numbered(texts: Iterable[_Text]) -> tuple[dict[_Text, int], NDArray[np.uint32]]:
    places: dict[_Text, int] = {}
    return places, np.array([places.setdefault(text, len(places)) for text in texts], np.uint32)
