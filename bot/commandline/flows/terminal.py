"""A capture's answer at a terminal: what is wrong, the jobs, each finding with its sentence, what is not told.

Plain lines without boxes, as ``bot/commandline/terminal.py`` writes them; every name goes through ``harmless``.
"""

from collections.abc import Iterator

from rich.console import Console
from rich.text import Text

from bot.text.harmless import harmless
from bot.text.wording import counted
from core.flows.answer import FlowFinding, FlowsAnswer, JobAnswer, Subject

MAX_WIDTH, MIN_WIDTH = 110, 40  # columns, as bot/commandline/terminal.py
MAX_FINDINGS = 20  # chosen: a screen; --json has all
MAX_NAMES = 3  # servers of a job
TITLES = ("Job", "NICs", "DP", "PP", "TP", "steps", "period", "servers")
QUIET = ("pause", "slow_step")  # single steps: told in one line when there are many

KINDS = {
    "drift": "a drift",
    "hang": "a hang",
    "pause": "a pause",
    "slow_compute": "a slow accelerator",
    "slow_group": "a slow group",
    "slow_nic": "a slow link",
    "slow_step": "a slow step",
    "slow_switch": "a slow switch",
    "slowdown": "a slowdown",
}
_ORDER = ("hang", "slow_switch", "slow_nic", "slow_compute", "slow_group", "drift", "slowdown", "slow_step", "pause")


def print_flows(answer: FlowsAnswer, console: Console) -> None:
    """Write the answer to the console, as wide as that is."""
    width = max(MIN_WIDTH, min(console.width, MAX_WIDTH))
    for text, indent in _lines(answer):
        for line in text.wrap(console, width - indent) if text else [text]:
            line.rstrip()
            console.print(Text(" " * indent) + line, soft_wrap=True, markup=False, highlight=False, emoji=False)


def headline(answer: FlowsAnswer) -> str:
    """The answer in one sentence."""
    if not answer.jobs:
        return "No training job is seen in these flows."
    found = [(job, finding) for job in answer.jobs for finding in job.findings]
    loud = sorted((pair for pair in found if pair[1].kind not in QUIET), key=lambda pair: _ORDER.index(pair[1].kind))
    jobs = counted(len(answer.jobs), "job")
    if loud:
        job, finding = loud[0]
        more = f", and {counted(len(found) - 1, 'more finding')}" if len(found) > 1 else ""
        return f"{job.id}: {KINDS[finding.kind]}, {who(finding.subject)}{more}."
    if any(not len(job.timeline) for job in answer.jobs):
        return f"{jobs} seen; the records are too coarse to tell whether all of them are healthy."
    single = len(found)
    return f"{jobs} seen, no lasting slowness" + (f"; {counted(single, 'single slow step')}." if single else ".")


def _lines(answer: FlowsAnswer) -> Iterator[tuple[Text, int]]:
    """Each paragraph, and how far it is indented."""
    yield Text(headline(answer), "bold"), 0
    if answer.jobs:
        yield Text(), 0
        yield from _jobs(answer)
    found = [(job, finding) for job in answer.jobs for finding in job.findings]
    if found:
        yield Text(), 0
        yield Text("Findings", "bold"), 0
    for number, (job, finding) in enumerate(found[:MAX_FINDINGS], start=1):
        yield _finding(number, job, finding), 0
        yield Text(finding.because), 4
    if len(found) > MAX_FINDINGS:
        yield Text(f"and {len(found) - MAX_FINDINGS} more: --json has all of them"), 0
    if answer.skipped:
        yield Text(), 0
        yield Text("Not told", "bold"), 0
    for skip in answer.skipped:
        yield Text(f"{skip.step}: {harmless(skip.reason, 300)}"), 4
    yield Text(), 0
    yield Text(read_sentence(answer)), 0
    if not answer.jobs:
        yield Text("docs/how-to/flows.md tells what to capture, and how."), 0


def _jobs(answer: FlowsAnswer) -> Iterator[tuple[Text, int]]:
    """The table of jobs."""
    rows: list[tuple[str, ...]] = [TITLES]
    rows += [job_row(job) for job in answer.jobs]
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]) - 1)]
    for number, row in enumerate(rows):
        cells = [cell.ljust(width) for cell, width in zip(row, widths, strict=False)]
        yield Text("  ".join([*cells, row[-1]]), "bold" if not number else ""), 0


def job_row(job: JobAnswer) -> tuple[str, ...]:
    """The cells of a job below ``TITLES``."""
    steps = len(job.timeline)
    names = ", ".join(harmless(name, 30) for name in job.servers[:MAX_NAMES])
    more = f" and {len(job.servers) - MAX_NAMES} more" if len(job.servers) > MAX_NAMES else ""
    sizes = [str(size) if size is not None else "?" for size in (job.dp, job.pp, job.tp)]
    period = f"{job.timeline.period / 1e6:.3f} s" if steps else "?"
    return job.id, str(len(job.nics)), *sizes, str(steps) if steps else "?", period, names + more


def _finding(number: int, job: JobAnswer, finding: FlowFinding) -> Text:
    style = "" if finding.kind in QUIET else "bold red"
    text = Text(f"F{number}  {job.id}  ")
    text.append(f"{KINDS[finding.kind]}, {who(finding.subject)}", style)
    return text


def who(subject: Subject | None) -> str:
    """Who a finding names, in words."""
    if subject is None:
        return "nobody stands out"
    if subject.switch:
        return harmless(subject.switch, 40)  # the kind says that it is one
    if subject.nic:
        where = f" of {harmless(subject.server, 40)}" if subject.server and subject.server != subject.nic else ""
        return f"NIC {harmless(subject.nic, 40)}{where}"
    if subject.server:
        name = harmless(subject.server, 40)
        return name if name.lower().startswith("server") else f"server {name}"
    return f"group {subject.group}"


def read_sentence(answer: FlowsAnswer) -> str:
    """How many records were read, of which time."""
    seconds = (answer.span[1] - answer.span[0]) / 1e6
    by = f", by {', '.join(harmless(name, 30) for name in answer.exporters[:MAX_NAMES])}" if answer.exporters else ""
    more = f" and {len(answer.exporters) - MAX_NAMES} more" if len(answer.exporters) > MAX_NAMES else ""
    return f"Read {counted(answer.records, 'record')} of {seconds:.1f} s{by}{more}."
