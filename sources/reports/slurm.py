"""What Slurm says of nodes: ``sinfo -R``, ``scontrol show node``, and ``sacctmgr show event`` (its history).

Formats are those of Slurm's own src/sinfo/opts.c, src/api/node_info.c and src/sacctmgr/event_functions.c. Times are of
the cluster's clock and carry no zone: they are read as UTC.
"""

import re
from collections.abc import Iterator, Sequence

from sources.moments import moment
from sources.reports.hostlist import expand
from sources.reports.report import NodeReport, is_planned

# State words in full or as tables shorten them ("drng", "down*", "IDLE+DRAIN"). What saves power, is being started, or
# is kept for somebody is out on purpose.
_OUT = re.compile(r"DOWN|DRAIN|DRNG|FAIL|NOT_RESPONDING|\bNO_RESPOND|ERR|INVAL|\*", re.IGNORECASE)
_ON_PURPOSE = re.compile(r"POWER|POW_|MAINT|REBOOT|BOOT|PLND|PLANNED|FUTR|FUTURE|~|#|%", re.IGNORECASE)
_REASON = re.compile(r"^(?P<reason>.{0,4096}?) ?\[(?P<who>[^\[\]@]{0,64})@(?P<when>[^\[\]]{4,32})\]$")
_NODE = re.compile(r"^NodeName=(\S{1,253})", re.MULTILINE)
_STATE = re.compile(r"(?:^|\s)State=(\S{1,200})")
_TABLE = re.compile(r"^-[- ]{2,}$")


def reads(text: str) -> bool:
    """Whether a text is one that these commands print."""
    return bool(_NODE.search(text[:4096])) or _head(text) is not None


def reports(text: str) -> Iterator[NodeReport]:
    """The reports in the output of one of the commands."""
    if _NODE.search(text[:4096]):
        yield from _of_nodes(text)
    elif (head := _head(text)) is not None:
        number, columns = head
        yield from _of_table(text.splitlines()[number + 1 :], columns)


def _of_nodes(text: str) -> Iterator[NodeReport]:
    """``scontrol show node``: also of nodes that are well."""
    starts = [match.start() for match in _NODE.finditer(text)]
    for start, end in zip(starts, [*starts[1:], len(text)], strict=True):
        record = text[start:end]
        name, state = _NODE.match(record), _STATE.search(record)
        line = next((line.strip() for line in record.splitlines() if line.lstrip().startswith("Reason=")), "")
        match = _REASON.match(line.removeprefix("Reason="))
        reason = match["reason"] if match else line.removeprefix("Reason=")
        if name is None:
            continue
        state_word = state[1] if state else ""
        yield NodeReport(
            name[1],
            reason or state_word.lower(),
            moment(match["when"]) if match else None,
            out=_OUT.search(state_word) is not None,
            planned=_planned(state_word, reason),
        )


def _head(text: str) -> tuple[int, dict[str, slice | int]] | None:
    """The line of names above a table, and where each column stands: places of characters, or numbers of parts."""
    for number, line in enumerate(text.splitlines()[:20]):
        words = line.replace("|", " ").split()
        upper = {word.upper() for word in words}
        if {"REASON", "NODELIST"} <= upper or {"NODENAME", "TIMESTART"} <= upper:
            if "|" in line:
                return number, {word.strip().upper(): place for place, word in enumerate(line.split("|"))}
            return number, _columns(line, text.splitlines()[number + 1 : number + 2])
    return None


def _columns(head: str, below: Sequence[str]) -> dict[str, slice | int]:
    """Columns of fixed width: sinfo's begin with their names, those of sacctmgr are as wide as its dashes."""
    if below and _TABLE.match(below[0]):
        spans = [match.span() for match in re.finditer(r"-+", below[0])]
        return {head[low:high].strip().upper(): slice(low, high) for low, high in spans}
    starts = [(match.start(), match[0].upper()) for match in re.finditer(r"\S+", head)]
    ends = [*(start for start, _ in starts[1:]), None]
    return {name: slice(start, end) for (start, name), end in zip(starts, ends, strict=True)}


def _of_table(rows: Sequence[str], columns: dict[str, slice | int]) -> Iterator[NodeReport]:
    """``sinfo -R`` and ``sacctmgr show event``; events of a whole cluster name no node."""
    for row in rows:
        if not row.strip() or _TABLE.match(row):
            continue
        parts = row.split("|")

        def cell(*names: str, row: str = row, parts: Sequence[str] = parts) -> str:
            for name in names:
                at = columns.get(name)
                if isinstance(at, slice):
                    return row[at].strip()
                if at is not None and at < len(parts):
                    return parts[at].strip()
            return ""

        state, reason = cell("STATE"), cell("REASON")
        for node in expand(cell("NODELIST", "NODENAME")):
            yield NodeReport(
                node,
                reason or state.lower(),
                moment(cell("TIMESTAMP", "TIMESTART")),
                moment(cell("TIMEEND")),
                out=not state or _OUT.search(state) is not None,
                planned=_planned(state, reason),
            )


def _planned(state: str, reason: str) -> bool:
    return _ON_PURPOSE.search(state) is not None or is_planned(reason)
