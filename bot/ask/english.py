"""A question in plain English words: names by their kind, slips mended, German and Chinese word by word."""

import re
import unicodedata
from collections.abc import Collection, Mapping, Sequence
from functools import cache

from rapidfuzz import process
from rapidfuzz.distance import OSA

from bot.ask.word_lists import word_lists

SLIPS = {4: 1, 8: 2}  # letters of a word from which on so many slips are mended; shorter words are too like each other
EVENT, NODE, JOB, NUMBER = "evidenceid", "nodename", "otherjob", "7"
THING = "something"  # a word with a digit in it that names no node: a port, a file, a counter
KINDS = {"EVENT": EVENT, "NODE": NODE, "JOB": JOB, "NUMBER": NUMBER}  # as labelled questions write them

_EVIDENCE = re.compile(r"\b[ENIPenip][1-9][0-9]?\b")
_NUMBER = re.compile(r"(?<![\w.-])#?[0-9]{1,12}(?:[.,][0-9]{1,6})?(?![\w.-])")
_NAMED = re.compile(r"\b(?=[\w.-]{0,62}[0-9])[A-Za-z][\w.-]{1,62}\b")  # a word with a digit in it that nobody knows
_SHORT = re.compile(
    r"(?<![\w.-])(?:b4|2nd|1st|tl;dr)(?![\w.-])", re.IGNORECASE
)  # words of chats that have a digit in them
_PATH = re.compile(r"(?<![\w./:])/[\w.-]{1,60}(?:/[\w.*-]{1,60}){1,12}/?")
_CHINESE = re.compile(r"[\u4e00-\u9fff]{1,200}")
_WORD = re.compile(r"[^\W_]{1,64}(?:['\u2019][a-z]{1,4})?")


def normal(text: str, nodes: Collection[str] = (), jobs: Collection[str] = ()) -> str:
    """The question in small English words.

    Args:
        nodes: spellings in the text that name nodes of the job.
        jobs: the same of other jobs.
    """
    for names, kind in ((nodes, NODE), (jobs, JOB)):
        for name in sorted(names, key=len, reverse=True):
            text = re.sub(rf"(?<![\w.-]){re.escape(name)}(?![\w-])", f" {kind} ", text, flags=re.IGNORECASE)
    text = _PATH.sub(" path ", text)
    text = _EVIDENCE.sub(f" {EVENT} ", _SHORT.sub(lambda word: _glossary()["short"][word[0].casefold()], text))
    text = _NUMBER.sub(f" {NUMBER} ", _NAMED.sub(f" {THING} ", text))
    return _plain(text)


def labelled() -> tuple[tuple[str, str], ...]:
    """All labelled questions, with what each wants to know."""
    questions = word_lists("questions")
    return tuple(
        (_plain(_kinds(line)), intent) for intent, lines in questions.items() for line in lines.strip().splitlines()
    )


def _kinds(line: str) -> str:
    for name, kind in KINDS.items():
        line = re.sub(name, f" {kind} ", line)
    return line


def _plain(text: str) -> str:
    text = unicodedata.normalize("NFKC", text).lower()
    text = _CHINESE.sub(lambda part: f" {_english(part[0])} ", text)
    words = _WORD.findall(text.replace("\u2019", "'"))
    if is_german(words):
        words = [_from_german(word) for word in words]
    short = _glossary()["short"]
    return " ".join(" ".join(short.get(word, word) for word in words).split()) or text.strip()


# --- other languages ------------------------------------------------------------------------------------------------


@cache
def _glossary() -> Mapping[str, dict[str, str]]:
    return word_lists("glossary")


def is_german(words: Sequence[str]) -> bool:
    """Whether any word is German and no English one."""
    german, english = _glossary()["german"], _glossary()["search"]["english_too"].split()
    written = (word if word in english else _with_umlauts(word) for word in words)
    return any((german.get(word, word) != word and word not in english) or _stem(word) for word in written)


def _with_umlauts(word: str) -> str:
    """A German word as the glossary spells it, if it is typed without umlauts there: "haengen", "laeuft"."""
    if not any(pair in word for pair in _UMLAUTS) or word in _glossary()["german"]:
        return word
    spelt = word
    for pair, letter in _UMLAUTS.items():
        spelt = spelt.replace(pair, letter)
    return spelt if spelt in _glossary()["german"] or _stem(spelt) else word


_UMLAUTS = {"ae": "ä", "oe": "ö", "ue": "ü"}


def _stem(word: str) -> str:
    """The entry of the glossary with an open end that the word begins with."""
    if not word.startswith(_stems()):  # nearly every word; the rest is slow
        return ""
    return max((stem for stem in _stems() if word.startswith(stem)), key=len)


@cache
def _stems() -> tuple[str, ...]:
    stems = (entry[:-1] for entry in _glossary()["german"] if entry.endswith("*"))
    return tuple(stem for stem in stems if len(stem) > 3)


def _from_german(word: str) -> str:
    german = _glossary()["german"]
    word = _with_umlauts(word)
    stem = _stem(word)
    return german.get(word, german[f"{stem}*"] if stem else word)


def _english(text: str) -> str:
    """A run of Chinese, the longest entries first; what no entry holds is left out."""
    chinese = _glossary()["chinese"]
    longest = max(map(len, chinese))
    words, at = [], 0
    while at < len(text):
        size = next((size for size in range(longest, 0, -1) if text[at : at + size] in chinese), 0)
        words += [chinese[text[at : at + size]]] if size else []
        at += max(1, size)
    return " ".join(words)


# --- slips ----------------------------------------------------------------------------------------------------------


def mended(text: str, known: Collection[str]) -> str:
    """The text with each unknown word replaced by a known one that it is a slip of, if there is one."""
    return " ".join(word if word in known or not word.isalpha() else _nearest(word, known) for word in text.split())


def _nearest(word: str, known: Collection[str]) -> str:
    most = max((slips for letters, slips in SLIPS.items() if len(word) >= letters), default=0)
    found = process.extractOne(word, known, scorer=OSA.distance, score_cutoff=most) if most else None
    return found[0] if found and found[0][0] == word[0] else word
