"""Settings and versions that a question calls by their own names: "which torch, which backend"."""

import re

from bot.ask.arguments import shown_value
from bot.ask.job_settings import settings_of
from bot.ask.question import Question
from bot.ask.reply_lines import Lines, cited, quoted
from bot.ask.subject import Subject
from bot.ask.wanted_value import asks
from core.answer.search import seek

MAX_SHOWN = 4  # settings that an answer tells: as many as five lines hold beside their sentence
TERSE = 5  # words of a question that is hardly more than names: "torch and python version?"
_WORD = re.compile(r"[A-Za-z][\w-]{1,40}")
_ASKS = re.compile(r"\b(?:which|what|what.?s|welche\w?|version)\b|哪|什么|版本")
# "Jax Version: 0.4.38", "torch 2.13.0+cpu", "jax=0.4.38": a program's name and a number with two dots
_VERSION = (
    r"\b{name}(?:[ _-]version)?[ :=v]{{1,4}}v?"
    r"([0-9]{{1,4}}\.[0-9]{{1,4}}(?:\.[0-9]\w{{0,12}})?(?:[+-][\w.]{{1,30}})?)(?![\w.])"
)
_PROGRAMS = frozenset(
    "torch pytorch jax jaxlib tensorflow python cuda nccl cudnn rocm numpy transformers deepspeed".split(" ")  # noqa: SIM905
)

_OPTIONS = re.compile(
    r"^(?:(?:is|was|are|did|does|do) (?:it|we|they|this) (?:(?:us\w{1,3}|on|run\w{0,4}(?: on| with)?) )?)?"
    r"([a-z][\w.-]{1,30}) (?:or|oder) ([a-z][\w.-]{1,30})\W{0,3}$"
)


def either(subject: Subject, question: Question) -> Lines | None:
    """Which of two names is the value of a setting: "nccl or gloo?"; None where neither is or both are."""
    match = _OPTIONS.search(question.text.casefold().strip())
    if match is None:
        return None
    every = settings_of(subject)
    held = {
        option: [field for field, value in every.items() if str(value).strip("'\"").casefold() == option]
        for option in match.groups()
    }
    chosen = [option for option, fields in held.items() if fields]
    if len(chosen) != 1:
        return None
    named = ", ".join(held[chosen[0]][:MAX_SHOWN])
    return [cited(f"{chosen[0]}, by the settings of the job ({named}).")]


def exact_settings(subject: Subject, question: Question) -> Lines | None:
    """The values of settings whose whole names the question says, and versions that lines print; None without any."""
    text = question.text.casefold()
    if question.quoted or question.iterations or asks(question, "no_value_of"):
        return None
    if not (_ASKS.search(text) or len(text.split()) <= TERSE):
        return None
    words = [word.casefold() for word in _WORD.findall(question.text)]
    every = settings_of(subject)
    found = {
        field: value
        for word in dict.fromkeys(words)
        for field, value in every.items()
        if re.split(r"[.]", field.casefold())[-1].replace("-", "_") == word.replace("-", "_") and len(word) > 2
    }
    sentences = [f"{field}: {shown_value(field, value)}" for field, value in list(found.items())[:MAX_SHOWN]]
    lines: list[str] = []
    known = {field.casefold().rpartition(".")[2] for field in found}
    for word in dict.fromkeys(words):
        if word in _PROGRAMS - known:
            pattern = re.compile(_VERSION.format(name=re.escape(word)).encode(), re.IGNORECASE)
            said = seek(subject.parsed, [pattern], "a version")
            match = pattern.search(said.lines[0].text.encode()) if said.lines else None
            if match is not None:
                sentences.append(f"{word}: {match[1].decode()}")
                lines += quoted(said, 1, pattern)
    return [cited(f"{'; '.join(sentences)}."), *lines] if sentences else None
