"""How well messages are grouped, beside drain3: grouping accuracy on the sixteen sets of loghub, half a minute.

    python -m benchmarks.grouping LOGHUB                 print the table
    python -m benchmarks.grouping LOGHUB --write FILE    and write it into a document

LOGHUB is a copy of github.com/logpai/loghub: a folder a set, in it ``*_2k.log_structured.csv`` (or .zst).
A line is grouped right when those of its group are just those of its event (Zhu et al., ICSE 2019, "Tools and
Benchmarks for Automated Log Parsing"). Only the content of a line is grouped, without time, level and host, as there.
"""

import argparse
import csv
import io
import re
import sys
from collections import Counter
from collections.abc import Callable, Hashable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import mean

import zstandard
from drain3.drain import Drain

from benchmarks.quality.report import marks, table, write
from core.logs.lines import mask
from core.logs.refine import refine
from core.parsing.templates import find_templates

Groups = Sequence[Hashable]
# As plain as the masks of drain3's own example: addresses, hexadecimal words and whole numbers that stand alone.
_PLAIN = (
    (re.compile(r"\b\d{1,3}(?:\.\d{1,3}){3}\b"), "<:IP:>"),
    (re.compile(r"\b0x[0-9a-fA-F]+\b"), "<:HEX:>"),
    (re.compile(r"(?<![A-Za-z0-9])[-+]?\d+(?![A-Za-z0-9])"), "<:NUM:>"),
)


@dataclass(frozen=True, slots=True)
class Lines:
    """A set: what its lines say, and the event of each."""

    name: str
    texts: tuple[str, ...]
    events: tuple[str, ...]


def main() -> None:
    """Read, group, print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("loghub", type=Path, metavar="LOGHUB", help="folder with the sets")
    parser.add_argument("--write", type=Path, metavar="FILE", help="write the table into this document")
    options = parser.parse_args()
    sets = list(read(options.loghub))
    if not sets:
        sys.exit(f"{options.loghub} holds no */*_2k.log_structured.csv or .csv.zst")
    text = grouping_table(sets)
    print(text)
    if options.write:
        write(options.write, f"\n{text}\n", *marks("grouping"))


def read(folder: Path) -> Iterator[Lines]:
    """The sets of a folder."""
    for path in sorted(folder.glob("*/*_2k.log_structured.csv*")):
        packed = path.read_bytes()
        data = zstandard.ZstdDecompressor().stream_reader(packed).read() if path.suffix == ".zst" else packed
        rows = list(csv.DictReader(io.StringIO(data.decode("utf-8", "replace"))))
        yield Lines(path.parent.name, tuple(row["Content"] for row in rows), tuple(row["EventId"] for row in rows))


def grouping_table(sets: Sequence[Lines]) -> str:
    """A row a set, a column a method, masks by masks; the mean below."""
    columns = [(f"{name}, {masks}", masking, method) for masks, masking in MASKS.items() for name, method in METHODS]
    scores = [
        [accuracy(method(list(map(masking, lines.texts))), lines.events) for _, masking, method in columns]
        for lines in sets
    ]
    rows = [(lines.name, *map(_number, own)) for lines, own in zip(sets, scores, strict=True)]
    means = ("**mean**", *(f"**{_number(mean(column))}**" for column in zip(*scores, strict=True)))
    return table(("set", *(head for head, _, _ in columns)), [*rows, means])


def accuracy(groups: Groups, events: Sequence[str]) -> float:
    """Share of the lines whose group has the same lines as their event."""
    sizes, own = Counter(groups), Counter(events)
    pairs = Counter(zip(groups, events, strict=True))
    return sum(size for (group, event), size in pairs.items() if size == sizes[group] == own[event]) / len(events)


def _number(share: float) -> str:
    return f"{share:.3f}"


# --- masks and methods ------------------------------------------------------------------------------------------------


def _plain(line: str) -> str:
    for pattern, name in _PLAIN:
        line = pattern.sub(name, line)
    return line


def _ours(line: str) -> str:
    return refine(mask(line.encode("utf-8", "surrogateescape")).decode("utf-8", "replace"))


def _drain3(similarity: float) -> Callable[[Sequence[str]], Groups]:
    def group(texts: Sequence[str]) -> Groups:
        drain = Drain(sim_th=similarity)
        return [drain.add_log_message(text)[0].cluster_id for text in texts]

    return group


def _distinct(texts: Sequence[str]) -> Groups:
    found = find_templates(Counter(texts))
    return [found[text].id for text in texts]


MASKS: dict[str, Callable[[str], str]] = {"plain masks": _plain, "our masks": _ours}
METHODS = (
    ("drain3 (.4)", _drain3(0.4)),
    ("drain3 (.8)", _drain3(0.8)),
    ("ours: distinct, guard (.8)", _distinct),
)


if __name__ == "__main__":
    main()
