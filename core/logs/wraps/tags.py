"""Labels of launchers before what a logger writes: ``srun --label``, torchrun's ``--tee``, mpirun, pdsh and clush, Ray.

``core.logs.lines`` reads them, wherever they stand; they are taken off for the object or the pairs behind them, and put
back before the text.
"""

import re

from core.logs.wraps.line_forms import Cut, Run, RunKind, Token
from core.logs.wraps.peeled import Peeled, Wrap, usual

LABELS = (
    rb"(?: {0,6}[0-9]{1,6}: |\[default[0-9]+\]:|\[rank[0-9]+\]: ?|\[[0-9]+,[0-9]+\]<std(?:out|err)>: ?"
    rb"|\([A-Za-z_][A-Za-z0-9_]*(?: pid=[0-9]+(?:, ip=[0-9.]+)?|, ip=[0-9.]+)\) |[A-Za-z0-9][A-Za-z0-9_.-]*: ){1,4}"
)
_TAGS = re.compile(LABELS + rb'(?=\{"|(?:time|ts|level|lvl|msg|at|when)=)')
_NUMBER = re.compile(rb"[0-9]+")
_LEAST = 0.05  # of all lines, as for the objects themselves


def peel(line: bytes) -> Peeled | None:
    """The text behind the labels of a line; None where it has none."""
    match = _TAGS.match(line)
    return Peeled(line[match.end() :], tags=match[0]) if match else None


def _cut(line: bytes) -> Cut | None:
    """Numbers differ, of ranks and tasks; the blanks before them do not."""
    match = _TAGS.match(line)
    if match is None:
        return None
    tokens, at = list[Token](), 0
    for number in _NUMBER.finditer(match[0]):
        tokens += [line[at : number.start()], Run(RunKind.DIGITS, 7)]
        at = number.end()
    return Cut((*tokens, line[at : match.end()]), line[match.end() :])


fit = usual(Wrap("labels", peel, weak=True, cut=_cut), _LEAST)
