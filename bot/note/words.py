"""The words of words.toml, ready to be looked up: plain ones, those that need a ground, and mechanisms."""

import re
import tomllib
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from importlib.resources import files

_MIN_STEM = 3  # letters that stay when an ending is cut off
_IRREGULAR = {
    "lost": "lose", "loses": "lose", "losing": "lose", "broke": "break", "broken": "break", "froze": "freeze",
    "frozen": "freeze", "sent": "send", "died": "die", "dies": "die", "closed": "close", "dying": "die", "saw":
    "see", "seen": "see", "fell": "fall", "fallen": "fall", "hung": "hang", "went": "go", "gone": "go", "said":
    "say",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Mechanism:
    """Something that can go wrong: how a sentence names it, and what in the evidence allows to."""

    name: str
    says: re.Pattern[str]
    held: re.Pattern[str]
    category: str = ""


@dataclass(frozen=True, slots=True)
class Order:
    """Lists that tell which words bind others: bot/note/tokens.py and bot/note/order.py."""

    light: frozenset[str]
    copulas: frozenset[str]
    determiners: frozenset[str]
    pronouns: frozenset[str]
    joins: frozenset[str]
    under: frozenset[str]
    prepositions: frozenset[str]
    parting: frozenset[str]
    limits: frozenset[str]
    hedges: frozenset[str]
    actors: frozenset[str]  # stems
    speaks: frozenset[str]  # stems
    back: re.Pattern[str]
    links: re.Pattern[str]


@dataclass(frozen=True, slots=True)
class Words:
    """All lists; patterns match whole words in any case."""

    plain: frozenset[str]  # stems
    hedges: re.Pattern[str]
    certain: re.Pattern[str]
    blame: re.Pattern[str]
    strong_blame: re.Pattern[str]
    failing: re.Pattern[str]
    negation: re.Pattern[str]
    orders: re.Pattern[str]
    not_quoted: re.Pattern[str]
    leakage: re.Pattern[str]
    held_by: dict[str, re.Pattern[str]]
    order: Order
    mechanisms: tuple[Mechanism, ...]


@cache
def words() -> Words:
    """The lists, read once."""
    told = tomllib.loads((files(__package__) / "words.toml").read_text(encoding="utf-8"))
    return Words(
        plain=frozenset(map(stem, told["plain"].split())),
        hedges=_any(told["hedges"]["words"].split()),
        certain=_any(told["certain"]["phrases"]),
        blame=_any(told["blame"]["phrases"]),
        strong_blame=_any(told["blame"]["strong"]),
        failing=_any(told["blame"]["failing"]),
        negation=_any([word for word in told["negation"]["words"].split() if word != "n't"] + ["*n't", "un*ed"]),
        orders=_any(told["orders"]["phrases"]),
        not_quoted=_any(told["orders"]["quoted"]),
        leakage=_any(told["leakage"]["phrases"]),
        held_by={word: _any(by) for word, by in told["held_by"].items()},
        order=_order(told["order"]),
        mechanisms=tuple(
            Mechanism(name, _any(one["says"]), _any([*one["says"], *one["held"]]), one.get("category", ""))
            for name, one in told["mechanisms"].items()
        ),
    )


def _order(told: dict[str, str]) -> Order:
    sets = {name: frozenset(text.split()) for name, text in told.items()}
    return Order(
        light=sets["light"] | sets["copulas"] | sets["determiners"],
        copulas=sets["copulas"],
        determiners=sets["determiners"],
        pronouns=sets["pronouns"],
        joins=sets["joins"],
        under=sets["under"],
        prepositions=sets["prepositions"],
        parting=sets["parting"],
        limits=sets["limits"] | sets["parting"] | sets["hedges"],
        hedges=sets["hedges"],
        actors=stems(sets["actors"]),
        speaks=stems(sets["speaks"]),
        back=_any(sets["back"]),
        links=_any(sets["links"]),
    )


@lru_cache(maxsize=20_000)
def stem(word: str) -> str:
    """The word without its ending: "timed", "times" and "time" are one."""
    word = word.casefold().replace("\u2019", "'").removesuffix("'s").removesuffix("'")
    word = _IRREGULAR.get(word, word)
    for ending, instead in (("ies", "y"), ("ied", "y"), ("ing", ""), ("ed", ""), ("es", ""), ("s", "")):
        cut = word.removesuffix(ending) + instead
        if word.endswith(ending) and len(cut) >= _MIN_STEM and not word.endswith("ss"):
            word = cut
            break
    word = word.removesuffix("e") if len(word) > _MIN_STEM else word
    doubled = len(word) > _MIN_STEM and word[-1] == word[-2] and word[-1] not in "aeiouls"
    return word[:-1] if doubled else word


def stems(values: Iterable[str]) -> frozenset[str]:
    """The stems of words."""
    return frozenset(map(stem, values))


def mechanisms_in(text: str) -> tuple[Mechanism, ...]:
    """The mechanisms that a text names."""
    return tuple(one for one in words().mechanisms if one.says.search(text))


def _any(phrases: Sequence[str] | Collection[str]) -> re.Pattern[str]:
    ordered = sorted(phrases, key=lambda phrase: (-len(phrase), phrase))
    return re.compile("|".join(map(_phrase, ordered)), re.IGNORECASE)


def _phrase(phrase: str) -> str:
    """A phrase as whole words; "*" stands for letters."""
    body = re.escape(phrase).replace(r"\*", "[a-z]*").replace(r"\ ", r"\s+")
    before = r"(?<![A-Za-z0-9_-])" if phrase[0].isalnum() else ""
    after = r"(?![A-Za-z0-9_-])" if phrase[-1].isalnum() else ""
    return before + body + after
