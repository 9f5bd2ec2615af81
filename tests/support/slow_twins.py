"""Slow twins of what core computes: plain loops that a person can check by eye; hypothesis compares them."""

from collections.abc import Mapping, Sequence


def median(values: Sequence[float]) -> float:
    """The value in the middle, or the mean of the two that are."""
    ordered = sorted(values)
    half = len(ordered) // 2
    return ordered[half] if len(ordered) % 2 else (ordered[half - 1] + ordered[half]) / 2


def deviation(value: float, others: Sequence[float]) -> float:
    """How many robust standard deviations (1.4826 MAD, at least a thousandth) a value is from the median of others."""
    middle = median(others)
    spread = 1.4826 * median([abs(other - middle) for other in others])
    return abs(value - middle) / max(spread, 0.001)


def edits(one: Sequence[int], other: Sequence[int]) -> int:
    """Levenshtein distance by its recurrence, a row at a time."""
    above = list(range(len(other) + 1))
    for at, event in enumerate(one, start=1):
        row = [at]
        for place, another in enumerate(other, start=1):
            row.append(min(above[place] + 1, row[-1] + 1, above[place - 1] + (event != another)))
        above = row
    return above[-1]


def distance(one: Sequence[int], other: Sequence[int]) -> float:
    """Mean of three shares: edits of the longer one, events left over when pairs are struck out, kinds not shared."""
    if list(one) == list(other):
        return 0.0
    left = list(other)
    unpaired = 0
    for event in one:
        if event in left:
            left.remove(event)
        else:
            unpaired += 1
    kinds = set(one) | set(other)
    alone = [kind for kind in kinds if kind not in one or kind not in other]
    shares = (
        edits(one, other) / max(len(one), len(other)),
        (unpaired + len(left)) / (len(one) + len(other)),
        len(alone) / len(kinds),
    )
    return sum(shares) / 3


def shift(values: Sequence[float], *, window: int, ratio: float, deviations: float) -> int | None:
    """First place from which on all values are so many times the median before, their median beyond its noise."""
    for at in range(window, len(values) - 2):
        before, after = values[:at], values[at:]
        low = median(before)
        if low > 0 and min(after) >= ratio * low and deviation(median(after), before) >= deviations:
            return at
    return None


def carried_times(times: Sequence[int], *, none: int) -> list[int]:
    """A row without a clock has the time of the nearest row above that has one; at the start, of the first below."""
    carried = []
    for at, time in enumerate(times):
        above = [other for other in times[:at] if other != none]
        below = [other for other in times[at:] if other != none]
        carried.append(time if time != none else above[-1] if above else below[0] if below else none)
    return carried


def carried_iterations(rows: Sequence[int | None], *, skew: int) -> list[int]:
    """Iteration of each row of a file; None is a row that counts nothing. Counting begins anew at its last fall."""
    begins, previous = 0, None
    for at, number in enumerate(rows):
        if number is not None:
            if previous is not None and number < previous - skew:
                begins = at
            previous = number
    carried = []
    for at in range(len(rows)):
        run = rows[begins : at + 1] if at >= begins else rows[: at + 1]
        carried.append(max((number for number in run if number is not None), default=-1))
    return carried


def counts(
    said: Mapping[str, Sequence[str]], cohort_of: Mapping[str, str]
) -> dict[tuple[str, str], tuple[int, int, int]]:
    """By cohort and text: how many speakers say it, how often in all, and how often the one who says it most."""
    result = {}
    for cohort in set(cohort_of.values()):
        members = [speaker for speaker in said if cohort_of[speaker] == cohort]
        for text in {text for member in members for text in said[member]}:
            times = [list(said[member]).count(text) for member in members if text in said[member]]
            result[cohort, text] = (len(times), sum(times), max(times))
    return result


def excess(said: Sequence[str], text: str, *, allowed: int, slack: float, spare: int) -> list[int]:
    """Places at which a speaker says a text beyond what is allowed; none when it hardly goes beyond."""
    places = [at for at, other in enumerate(said) if other == text]
    if allowed == 0:
        return places
    return places[allowed:] if len(places) > allowed * slack + spare else []


def noisy_or(weights: Sequence[float]) -> float:
    """Chance that at least one of independent signs is right."""
    doubt = 1.0
    for weight in weights:
        doubt *= 1 - weight
    return 1 - doubt
