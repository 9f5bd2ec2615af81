"""Lines that programs and platforms really print, of tests/core/real_lines.tsv: what each means."""

from typing import NamedTuple

from tests.support.places import ROOT

FILE = ROOT / "tests" / "core" / "real_lines.tsv"
HARMLESS = "harmless"


class RealLine(NamedTuple):
    """One line, and what is expected of it: its role (``stop`` of what ended the job from outside) and kind."""

    role: str
    kind: str
    text: str


def _read() -> tuple[RealLine, ...]:
    rows = (line.split("\t") for line in FILE.read_text(encoding="utf-8").splitlines())
    # A row without tabs is the source of those below: a public issue (repository and number), or who prints them.
    return tuple(RealLine(*row) for row in rows if len(row) > 1)


REAL_LINES = _read()
