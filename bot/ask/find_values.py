"""Finding the value that a question asks for: the name that fits its words best, and what lines tell under it."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from bot.ask.named_values import NamedValue, values_in
from bot.ask.question import Question
from bot.ask.reply_lines import cited, quoted
from bot.ask.subject import Subject
from bot.ask.terms import same, stem_of, terms_of
from bot.ask.wanted_value import Wanted, asks, moment_of, wanted, way_of
from bot.ask.word_weights import WordWeights
from core.answer.job_lookup import by_time, found_rows
from core.answer.search import matching
from core.events.row_text import read_rows
from core.model import Scope

LINE = 0.6  # of what a word counts that stands in the line and not in the name
FITS = 0.15  # more for a value of the kind that is asked for: a path, a version, an address, a length of time
NARROW = 0.1  # more where the question says all of the name: "loss" is the loss, not the validation loss
KNOWN = 0.5  # share of the weight of what is asked for that must stand anywhere, for the rest to be left aside
MAX_KINDS = 16  # kinds of messages whose values are compared
MAX_LINES = 40  # of a message; chosen: longer ones are tracebacks and tables, whose first lines name what they are
MAX_ROWS = 4_000  # lines whose values are read, the first and the last ones
MAX_NAMING = 400  # lines of a kind that are read for names of nodes
MAX_ALIKE = 4  # names of a line that fit as well: the sizes of a layout
COUNTER = re.compile(
    r"\b(iterations?|iters?|it|steps?|updates?|upd|rounds?|batch(?:es)?|epochs?|ep|episodes?|schritt|runde)\s{0,3}#?([0-9]{1,9})\b|"
    r"第\s{0,2}([0-9]{1,9})\s{0,2}(?:步|轮|次)",
    re.IGNORECASE,
)
SPOKEN_CLOCK = re.compile(r"(?<![0-9:])([0-2]?[0-9]):([0-5][0-9])(?::([0-5][0-9]))?(?![0-9:])")
_FORMS = (
    (re.compile(r"\bversions?\b|\brelease\b|版本"), ("version",)),
    (
        re.compile(r"\b(?:file|path|director\w{1,3}|folder|where|shards?|bucket|url|part)\b|文件|路径|目录"),
        ("path", "quoted"),
    ),
    (re.compile(r"\b(?:address|ip|host|endpoint)\b|地址"), ("address",)),
)


@dataclass(frozen=True, slots=True)
class FoundValue:
    """A value where it stands: its row in the event table, its speaker, and the iteration after which it came."""

    row: int
    who: str
    at: str
    named: NamedValue


def found_values(weights: WordWeights, enough: float) -> list[list[FoundValue]]:
    """The values of the name that fits a question best, by their clocks, and of those in its lines that fit as well."""
    names = _names(weights)
    varies = any(asks(weights.question, way) for way in ("extreme", "rises", "moves", "both_sides", "onset"))
    for place, (score, event, name) in enumerate(names):
        if score < enough:
            return []
        kinds = [kind for near, kind, other in names if other == name and near >= score - NARROW][:MAX_ALIKE]
        chosen = [item for kind in kinds for item in _values_under(weights.subject, weights.question, kind, name)]
        chosen.sort(key=lambda item: (int(weights.subject.parsed.table.time[item.row]), item.row))
        same_all = varies and len({item.named.value for item in chosen}) < 2  # which has no highest and no course
        if same_all and place + 1 < len(names) and names[place + 1][0] >= max(enough, score - NARROW / 2):
            continue
        if chosen:
            alike = [other for near, kind, other in names if kind == event and near == score and other != name]
            return [
                chosen,
                *(_values_under(weights.subject, weights.question, event, other) for other in alike[:MAX_ALIKE]),
            ]
    return []


def _names(weights: WordWeights) -> list[tuple[float, int, str]]:
    """The names that values of the job have, the best first: how well one fits, its kind of message, and itself."""
    words = asked_words(weights)
    shares = sorted(((-weights.share(words, terms), at) for at, terms in enumerate(weights.messages)))[:MAX_KINDS]
    found: dict[tuple[int, str], float] = {}
    texts = _first_texts(weights.subject, [event for share, event in shares if share])
    for share, event in shares:
        for line in texts.get(event, "").splitlines()[:MAX_LINES]:
            every = [named for named in values_in(line) if _may_be(weights.question, named)]
            owns = [weights.share(words, named.terms) for named in every]
            for named, share_ in zip(every, owns, strict=True):
                own = share_ or (_implied(weights.question, named) * -share if not any(owns) else 0.0)
                if own:
                    score = own + LINE * (-share - own) + _fit(weights.question, named) + NARROW * _narrow(words, named)
                    found[event, named.name] = max(score, found.get((event, named.name), 0.0))
    return sorted(
        ((score, event, name) for (event, name), score in found.items()), key=lambda item: (-item[0], item[1:])
    )


def _may_be(question: Question, named: NamedValue) -> bool:
    """Whether a value may be what is asked for: no step by which lines count, no word where a count is wanted."""
    is_number = Wanted.HOW_MANY in wanted(question) or any(asks(question, way) for way in ("mean", "extreme", "rises"))
    counts = named.number is not None or not is_number
    if "://" in named.value and not _URL.search(question.text):  # a page to read, which no question asks for
        return False
    if _OF_SOURCE.search(named.name) or (_OF_SOURCE.search(named.value) and not _ASKS_SOURCE.search(question.plain)):
        return False  # "ProcessGroupNCCL.cpp:1662" is a place in a program
    if wanted(question)[:1] == (Wanted.HOW_LONG,):
        counts = counts and is_length(named)
    if Wanted.HOW_MANY in wanted(question) and "=memory" in terms_of(question.plain):
        counts = counts and ("=memory" in named.terms or _BYTES.search(named.value) is not None)
    return counts and not _STEPS & set(same(stem_of(named.name.split(" ")[-1].casefold())))


_OF_SOURCE = re.compile(r"\.(?:cpp|cc|c|h|py|rs|go|java|cu)$")
_ASKS_SOURCE = re.compile(r"\b(?:code|script|source|program|function|traceback)\b")
_BYTES = re.compile(r"[0-9] ?(?:[kmgt]i?b?|bytes)$", re.IGNORECASE)
_URL = re.compile(r"\b(?:ur[li]s?|link|address|endpoint|bucket|where|path|proxy|s3)\b", re.IGNORECASE)
_STEPS = frozenset(["=iteration", "epoch", "lineno", "line", "proc", "it"])  # what a line counts or numbers


def asked_words(weights: WordWeights) -> frozenset[str]:
    """The words of a question that may be a name's: not those of a step, a program or a way of asking."""
    question = weights.question
    text = f"{question.text.casefold()} {question.plain}"
    asking = [match[0] for way in _WAYS for match in way_of(way).finditer(text)]
    asking += [match[0] for match in SPOKEN_CLOCK.finditer(question.text)]
    asking += [match[1] for match in COUNTER.finditer(question.text) if match[1]]
    asking.append(moment_of(question.text))  # "before it went nan" tells when, and no name
    left = weights.words - terms_of(f"{' '.join(asking)} {_GENERAL}")  # of "and at step 28?" nothing is left
    known = weights.known(left)
    return known if weights.weight(known) >= KNOWN * weights.weight(left) else left


_WAYS = (
    "value", "mean", "final", "each", "rises", "moves", "extreme", "first", "before", "after", "good", "by_program",
    "compares_jobs", "stands", "both_sides", "onset",
)  # fmt: skip
_GENERAL = (
    "gpu step iteration iter update score result metric long big small large number took take taken report reported "
    "use used start began begin end high low size value amount"
)
_LENGTH = re.compile(r"[0-9] ?(?:[mun\u00b5]?s|secs?|seconds|min|minutes|h|hours)$")
_OF_TIME = re.compile(r"(?:^|[_ (])(?:ms|secs?|seconds|took|elapsed|duration|time)(?:$|[_ )])")


def _implied(question: Question, named: NamedValue) -> float:
    """Part of the words of a line that count as those of a value's name, as it is of the kind that is asked for."""
    long = Wanted.HOW_LONG in wanted(question) and is_length(named)
    path = named.kind == "path" and _FORMS[1][0].search(question.plain) is not None
    return 1.0 if long or path else 0.0


def is_length(named: NamedValue) -> bool:
    """Whether a value is a length of time, by its unit or its name."""
    return named.is_pace or _LENGTH.search(named.value) is not None or _OF_TIME.search(named.name) is not None


def _first_texts(subject: Subject, events: Sequence[int]) -> dict[int, str]:
    """What the first and the last line of each kind of message say; a progress bar tells no loss in its first one."""
    table = subject.parsed.table
    ends = {event: (int(rows[0]), int(rows[-1])) for event, rows in table.rows_of(list(events)).items() if len(rows)}
    texts = read_rows(subject.parsed.files, table, np.unique([row for pair in ends.values() for row in pair]))
    return {event: "\n".join(texts[row] for row in dict.fromkeys(pair) if row in texts) for event, pair in ends.items()}


def _fit(question: Question, named: NamedValue) -> float:
    """More for a value of the kind that is asked for, less for another kind."""
    text = f"{question.text.casefold()} {question.plain}"
    for form, kinds in _FORMS:
        if form.search(text):
            likely = named.kind in kinds or any(mark in named.value for mark in "/.")
            return FITS if likely else 0.0 if named.number is None else -FITS
    if "=pace" in terms_of(question.plain):  # "DeepSpeed" has the word, and tells none
        return FITS if named.is_pace else 0.0 if named.number is not None else -FITS
    if Wanted.HOW_LONG in wanted(question):
        return FITS if is_length(named) else 0.0
    if any(asks(question, way) for way in ("final", "mean", "extreme")):
        return -FITS if named.number is None else FITS
    return 0.0


def _narrow(words: frozenset[str], named: NamedValue) -> float:
    known = {term for word in words for term in (word, *same(word))}
    own = {term for term in named.terms if not term.startswith("=")}
    return len(own & known) / len(own) if own else 0.0


def compares(question: Question) -> bool:
    """Whether who is named is to be compared with others."""
    return asks(question, "beside") or question.says("compar", "differ", "than", "versus", "vs")


def _values_under(subject: Subject, question: Question, event: int, name: str) -> list[FoundValue]:
    """What the lines of a kind of message tell under a name: of who is named, by their clocks."""
    every = subject.parsed.table.rows_of([event]).get(event, np.zeros(0, np.intp))
    mine = every if compares(question) else _rows_meant(subject, every, question)
    return values_of_kind(subject, mine).get(name, [])


def _rows_meant(subject: Subject, rows: NDArray[np.intp], question: Question) -> NDArray[np.intp]:
    """The rows of who is named, else those that name them; all where nobody is named."""
    table = subject.parsed.table
    if question.ranks:
        return rows[np.isin(table.rank_of_voice[table.voice[rows]], question.ranks)]
    if not question.nodes:
        return rows
    places = [table.nodes.index(node) for node in question.nodes if node in table.nodes]
    own = rows[np.isin(table.node_of_voice[table.voice[rows]], places)]
    if len(own):
        return own
    texts = read_rows(subject.parsed.files, table, rows[:MAX_NAMING])
    return np.array([row for row, text in texts.items() if any(node in text for node in question.nodes)], np.intp)


def values_of_kind(subject: Subject, rows: NDArray[np.intp]) -> dict[str, list[FoundValue]]:
    """What lines of one kind tell under each name, by their clocks."""
    rows = by_time(subject.parsed.table, rows)
    rows = np.concatenate([rows[: MAX_ROWS // 2], rows[max(MAX_ROWS // 2, len(rows) - MAX_ROWS // 2) :]])
    texts = read_rows(subject.parsed.files, subject.parsed.table, rows)
    reached = dict(zip(rows.tolist(), subject.parsed.iterations.of_row[rows].tolist(), strict=True))
    found: dict[str, list[FoundValue]] = {}
    for row in rows.tolist():
        text = texts.get(row, "")
        counted = [f"{match[1] or 'step'} {match[2] or match[4]}" for match in COUNTED.finditer(text)]
        at = " ".join(counted[:2]) if counted else f"iteration {reached[row]:,}" if reached[row] >= 0 else ""
        named = {item.name: item for item in reversed(list(values_in(text)))}  # of two of a name the first one
        for name, item in reversed(named.items()):
            found.setdefault(name, []).append(FoundValue(row, _speaker(subject, row), at, item))
    return found


def read_by_suspect(subject: Subject) -> list[str]:
    """The last file of data that the first suspect said it reads, with its line; empty where it names none."""
    table, diagnosis = subject.parsed.table, subject.diagnosis
    if diagnosis.scope is not Scope.NODE or not diagnosis.nodes or diagnosis.nodes[0].node not in table.nodes:
        return []
    lead = subject.leading
    own = np.isin(table.rank_of_voice, lead.ranks) if lead is not None and len(lead.ranks) == 1 else None
    own = table.node_of_voice == table.nodes.index(diagnosis.nodes[0].node) if own is None else own
    rows = np.intersect1d(matching(subject.parsed, [_READS])[0], table.rows_of_voices(np.flatnonzero(own).tolist()))
    shown = quoted(found_rows(subject.parsed, "", by_time(table, rows.astype(np.intp))[::-1].tolist()), 1)
    says = f"Which one the error does not name; the last that {diagnosis.nodes[0].node} tells it read is in this line:"
    return [*shown, cited(says)] if shown else []


_READS = re.compile(
    rb"\b(?:read|load|open|fetch|shard|file|dataset)[a-z]{0,4}\b[^\n]{0,60}"
    rb"[/\w-]\.(?:jsonl?|parquet|tar|bin|idx|np[yz]|txt|csv|h5|arrow|gz|zst|mds)\b",
    re.IGNORECASE,
)


# How a line says which step it is about: "step=44", "[15]", "round 30:", "epoch 0 batch 27/40"
COUNTED = re.compile(
    r"\b(global_step|step|iteration|iter|it|round|batch|update|upd|epoch|episode|ep|u|n)[\"']?\s{0,3}[=:#]?\s{0,8}0{0,6}([0-9]{1,9})\b(?!\.[0-9])"
    r"|(?<=\])\s{0,2}(\[)([0-9]{1,9})\]",
    re.IGNORECASE,
)


def _speaker(subject: Subject, row: int) -> str:
    origin = subject.origin(row)
    rank = f"rank {origin.rank}" if origin.rank is not None else ""
    return " on ".join(part for part in (rank, origin.node or "") if part)
