"""Small checks that are put together to a schema; each yields its problems in Slack's words, with a JSON pointer."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

Check = Callable[[Any, str], Iterator[str]]


def problem(words: str, at: str) -> str:
    """A problem as Slack writes it."""
    return f"{words} [json-pointer:{at}]"


def string(most: int, least: int = 1) -> Check:
    """Text of limited length; the empty string is one of the commonest reasons for invalid_blocks."""

    def check(value: Any, at: str) -> Iterator[str]:
        if not isinstance(value, str):
            yield problem("must provide a string", at)
        elif len(value) < least:
            yield problem(f"must be more than {least - 1} characters", at)
        elif len(value) > most:
            yield problem(f"must be less than {most + 1} characters", at)

    return check


def boolean(value: Any, at: str) -> Iterator[str]:
    """True or false."""
    if not isinstance(value, bool):
        yield problem("must provide a boolean", at)


def whole(least: int, most: int) -> Check:
    """A whole number of a range."""

    def check(value: Any, at: str) -> Iterator[str]:
        if not isinstance(value, int) or isinstance(value, bool):
            yield problem("must provide an integer", at)
        elif not least <= value <= most:
            yield problem(f"must be between {least} and {most}", at)

    return check


def choice(*values: str) -> Check:
    """One of a few words."""

    def check(value: Any, at: str) -> Iterator[str]:
        if value not in values:
            yield problem(f"invalid value, must be one of: {', '.join(values)}", at)

    return check


def items(check_item: Check, most: int, least: int = 1) -> Check:
    """A list of limited length."""

    def check(value: Any, at: str) -> Iterator[str]:
        if not isinstance(value, list):
            yield problem("must provide an array", at)
            return
        if len(value) < least:
            yield problem(f"no fewer than {least} items allowed", at)
        if len(value) > most:
            yield problem(f"no more than {most} items allowed", at)
        for number, item in enumerate(value):
            yield from check_item(item, f"{at}/{number}")

    return check


@dataclass(frozen=True)
class Shape:
    """An object: fields it must have, fields it may have, and rules that look at all of it."""

    must: Mapping[str, Check]
    may: Mapping[str, Check]
    rules: tuple[Check, ...] = ()

    def __call__(self, value: Any, at: str) -> Iterator[str]:
        """Check one object; the rules may rely on fields that are right by themselves."""
        if not isinstance(value, dict):
            yield problem("must provide an object", at)
        elif found := tuple(self._of_fields(value, at)):
            yield from found
        else:
            for rule in self.rules:
                yield from rule(value, at)

    def _of_fields(self, value: Mapping[str, Any], at: str) -> Iterator[str]:
        for name in self.must:
            if name not in value:
                yield problem(f"missing required field: {name}", at)
        for name, item in value.items():
            check = self.must.get(name) or self.may.get(name)
            if check is None:
                yield problem(f"invalid additional property: {name}", at)
            else:
                yield from check(item, f"{at}/{name}")


def shape(must: Mapping[str, Check], may: Mapping[str, Check] | None = None, *rules: Check) -> Shape:
    """Put an object's checks together."""
    return Shape(must, may or {}, rules)


def typed(shapes: Mapping[str, Check]) -> Check:
    """An object whose ``type`` says which shape it has."""

    def check(value: Any, at: str) -> Iterator[str]:
        if not isinstance(value, dict):
            yield problem("must provide an object", at)
        elif not isinstance(kind := value.get("type"), str):
            yield problem("missing required field: type", at)
        elif kind not in shapes:
            yield problem(f"unsupported type: {kind}", f"{at}/type")
        else:
            yield from shapes[kind](value, at)

    return check


def any_of(*names: str) -> Check:
    """At least one of these fields must be there."""

    def check(value: Any, at: str) -> Iterator[str]:
        if not any(name in value for name in names):
            yield problem(f"missing required field: {' or '.join(names)}", at)

    return check


def different(*path: str, what: str) -> Check:
    """No value twice, in the items of a list: of the block ids of a message, for instance."""

    def check(value: Any, at: str) -> Iterator[str]:
        seen: set[str] = set()
        for number, item in enumerate(value if isinstance(value, list) else ()):
            found = item
            for step in path:
                found = found.get(step) if isinstance(found, dict) else None
            if isinstance(found, str) and found in seen:
                yield problem(f"`{what}` {found} already exists", f"{at}/{number}")
            elif isinstance(found, str):
                seen.add(found)

    return check


def both(*checks: Check) -> Check:
    """All of these checks, one after the other."""

    def check(value: Any, at: str) -> Iterator[str]:
        for check in checks:
            yield from check(value, at)

    return check
