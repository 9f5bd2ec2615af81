"""Patterns and entries for tests, with as few words as they need."""

from typing import Any

from faultlib.pattern import Category, Entry, Origin, Pattern, Sighting, Status, Step


def pattern(pattern_id: str, **fields: Any) -> Pattern:
    """A pattern; what is not said does not matter."""
    said: dict[str, Any] = {
        "title": f"Fault {pattern_id}",
        "category": Category.HARDWARE,
        "cause": "A cable was loose.",
        "fix": "Push the cable in.",
    }
    return Pattern(id=pattern_id, **said | fields)


def entry(
    pattern_id: str,
    *,
    status: Status = Status.APPROVED,
    origin: str = "team",
    sightings: tuple[Sighting, ...] = (),
    **fields: Any,
) -> Entry:
    """An entry that ada wrote and bob approved."""
    steps = [Step(version=1, action="draft", who="ada", at="2026-11-21T04:00:00Z", why="seen in j1")]
    if status is not Status.DRAFT and origin == "team":
        steps.append(Step(version=1, action="approve", who="bob", at="2026-11-21T05:00:00Z"))
    return Entry(
        pattern=pattern(pattern_id, **fields),
        version=1,
        revision=len(steps),
        status=status,
        origin=Origin(origin),
        history=tuple(steps),
        sightings=sightings,
    )
