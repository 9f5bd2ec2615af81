"""What a text speaks of: its words without endings, those that mean the same in logs and in questions as one."""

import re
from collections.abc import Iterable
from functools import cache

from bot.ask.word_lists import word_lists

MAX_TEXT = 2_000  # characters of a text whose words are read
_PARTS = re.compile(r"[A-Z]?[a-z]{2,40}|[A-Z]{2,20}(?![a-z])|[a-z]|[0-9]{1,12}", re.ASCII)
_NAME = re.compile(r"[A-Za-z0-9][\w.:/+-]{0,100}", re.ASCII)
_ENDINGS = (
    "ations", "ation", "ating", "ated", "ates", "ate", "ings", "ing", "ions", "ion", "ers", "ed", "es", "er", "s",
)  # fmt: skip
_LEFT = 4  # letters that a word keeps when its ending is taken off


def terms_of(text: str) -> frozenset[str]:
    """The terms of a text: whole names ("train_00005.jsonl"), and the stems of their words ("train", "jsonl")."""
    found: set[str] = set()
    for name in _NAME.findall(text[:MAX_TEXT]):
        whole = name.strip(".:/+-").casefold()
        parts = [part.casefold() for part in _PARTS.findall(name)]
        if len(parts) > 1 and not whole.isalpha():
            found.add(whole)
        found |= {term for part in (*parts, whole) if len(part) > 1 or part.isdigit() for term in same(stem_of(part))}
    return frozenset(found)


def stem_of(word: str) -> str:
    """A word without its ending."""
    for ending in _ENDINGS:
        if word.endswith(ending) and len(word) - len(ending) >= _LEFT:
            word = word.removesuffix(ending)
            doubled = len(word) > _LEFT and word[-1] == word[-2] and word[-1] not in "ls"  # dropped, killed, passed
            return word[:-1] if doubled else _without_e(word)
    return _without_e(word)


def _without_e(word: str) -> str:
    """So that "shape" and "shapes" have one stem."""
    return word[:-1] if word.endswith("e") and len(word) > _LEFT else word


def same(stem: str) -> Iterable[str]:
    """The terms that a stem stands for: itself, or the name of its group of words with one meaning."""
    return _groups().get(stem, (stem,))


@cache
def _groups() -> dict[str, tuple[str, ...]]:
    """The groups of each stem (words.toml, [same])."""
    groups = word_lists("words")["same"]
    found: dict[str, tuple[str, ...]] = {}
    for name, words in groups.items():
        for word in words.split():
            stem = stem_of(word)
            found[stem] = (*found.get(stem, (stem,)), f"={name}")
    return found


def alternatives(stem: str) -> frozenset[str]:
    """The stems that mean the same as a stem, itself among them; one alone where it stands in no group."""
    groups = {name for name in same(stem) if name.startswith("=")}
    return frozenset((stem, *(other for other, names in _groups().items() if groups & set(names))))
