"""What of a job was not read, gathered by reason: a sentence for each, and no list without an end."""

from collections import defaultdict


class LeftOut:
    """Names that were left out, by the beginning of the sentence that says why."""

    def __init__(self) -> None:
        self._names: defaultdict[str, list[str]] = defaultdict(list)

    def add(self, reason: str, name: str) -> None:
        """Note a name under a reason."""
        self._names[reason].append(name)

    def problems(self) -> list[str]:
        """A sentence for each reason, with the first names."""
        return [f"{reason}: {_some(sorted(names))}." for reason, names in sorted(self._names.items())]


def _some(names: list[str], most: int = 3) -> str:
    return ", ".join(names[:most]) + (f" and {len(names) - most} more" if len(names) > most else "")
