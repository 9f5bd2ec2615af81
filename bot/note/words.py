"""The words of words.toml, ready to be looked up: plain ones, those that need a ground, and mechanisms."""

import re
import tomllib
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from functools import cache, cached_property, lru_cache
from importlib.resources import files

_MIN_STEM = 3  # letters that stay when an ending is cut off
_IRREGULAR = {
    "lost": "lose", "loses": "lose", "losing": "lose", "broke": "break", "broken": "break", "froze": "freeze",
    "frozen": "freeze", "sent": "send", "died": "die", "dies": "die", "closed": "close", "dying": "die", "saw":
    "see", "seen": "see", "fell": "fall", "fallen": "fall", "hung": "hang", "went": "go", "gone": "go", "said":
    "say",
}  # fmt: skip


class Phrases:
    """Phrases to look for in a text, as whole words in any case; made ready when they are first looked for."""

    def __init__(self, phrases: Collection[str]) -> None:
        self._phrases = phrases

    def search(self, text: str) -> re.Match[str] | None:
        """The first of them in a text."""
        return self._pattern.search(text)

    def fullmatch(self, text: str) -> re.Match[str] | None:
        """The one that is the whole text."""
        return self._pattern.fullmatch(text)

    def finditer(self, text: str) -> Iterator[re.Match[str]]:
        """All of them in a text."""
        return self._pattern.finditer(text)

    def sub(self, instead: str, text: str) -> str:
        """The text with something else in their place."""
        return self._pattern.sub(instead, text)

    @cached_property
    def _pattern(self) -> re.Pattern[str]:
        ordered = sorted(self._phrases, key=lambda phrase: (-len(phrase), phrase))
        return re.compile("|".join(map(_phrase, ordered)), re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Mechanism:
    """Something that can go wrong: how a sentence names it, and what in the evidence allows to."""

    name: str
    says: Phrases
    held: Phrases
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
    back: Phrases
    links: Phrases


@dataclass(frozen=True, slots=True)
class Words:
    """All lists."""

    plain: frozenset[str]  # stems
    hedges: Phrases
    certain: Phrases
    blame: Phrases
    strong_blame: Phrases
    failing: Phrases
    negation: Phrases
    orders: Phrases
    not_quoted: Phrases
    leakage: Phrases
    held_by: dict[str, Phrases]
    order: Order
    mechanisms: tuple[Mechanism, ...]


@cache
def words() -> Words:
    """The lists, read once."""
    told = tomllib.loads((files(__package__) / "words.toml").read_text(encoding="utf-8"))
    return Words(
        plain=frozenset(map(stem, told["plain"].split())),
        hedges=Phrases(told["hedges"]["words"].split()),
        certain=Phrases(told["certain"]["phrases"]),
        blame=Phrases(told["blame"]["phrases"]),
        strong_blame=Phrases(told["blame"]["strong"]),
        failing=Phrases(told["blame"]["failing"]),
        negation=Phrases([word for word in told["negation"]["words"].split() if word != "n't"] + ["*n't", "un*ed"]),
        orders=Phrases(told["orders"]["phrases"]),
        not_quoted=Phrases(told["orders"]["quoted"]),
        leakage=Phrases(told["leakage"]["phrases"]),
        held_by={word: Phrases(by) for word, by in told["held_by"].items()},
        order=_order(told["order"]),
        mechanisms=tuple(
            Mechanism(name, Phrases(one["says"]), Phrases([*one["says"], *one["held"]]), one.get("category", ""))
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
        back=Phrases(sets["back"]),
        links=Phrases(sets["links"]),
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


def _phrase(phrase: str) -> str:
    """A phrase as whole words; "*" stands for letters."""
    body = re.escape(phrase).replace(r"\*", "[a-z]*").replace(r"\ ", r"\s+")
    before = r"(?<![A-Za-z0-9_-])" if phrase[0].isalnum() else ""
    after = r"(?![A-Za-z0-9_-])" if phrase[-1].isalnum() else ""
    return before + body + after
