"""First sentences in the language of a question: English, German or Chinese (sentences.toml)."""

import re
import tomllib
from collections.abc import Mapping
from functools import cache
from importlib.resources import files as package_files

from bot.ask.english import german_words
from bot.ask.question import Question

ENOUGH = 2  # German words of a German question: one may be a name or be meant in English
_CHINESE = re.compile(r"[\u4e00-\u9fff]")


def say(question: Question, key: str, **slots: object) -> str:
    """The sentence of a key with its slots filled, in the language of the question."""
    return _sentences()[key][language_of(question)].format(**slots)


def language_of(question: Question) -> str:
    """The language of a question: "zh" where it has Chinese letters, "de" where it has German words, else "en"."""
    if _CHINESE.search(question.text):
        return "zh"
    words = re.findall(r"[^\W_]+", question.text.lower())
    return "de" if german_words(words) >= min(ENOUGH, max(1, len(words) - 1)) else "en"


@cache
def _sentences() -> Mapping[str, Mapping[str, str]]:
    text = package_files("bot.ask").joinpath("sentences.toml").read_text(encoding="utf-8")
    return tomllib.loads(text)
