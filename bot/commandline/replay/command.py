"""What ``firstfault replay plan`` and ``read`` do."""

import sys
from collections.abc import Sequence
from pathlib import Path

from bot.commandline.output import check_writable, patient_reader, write
from bot.commandline.replay.documents import plan_document, plan_of, reading_document
from bot.report.json_document import to_json
from bot.text.harmless import harmless
from core.errors import BadSettings
from core.replay.plan import Plan, make_plan, third_phase
from core.replay.replay_results import ReplayReading, ReplayVerdict, read
from sources.named_files import read_given, why_unreadable
from sources.replays import read_results

NAMED, INCONCLUSIVE = 0, 1  # exit codes, as docs/reference/command-line.md has them
MAX_SHOWN = 12  # names in a sentence; chosen: --json has all
LONGEST = 253  # characters of a name (RFC 1035)
_ACT = {
    ReplayVerdict.MACHINES: "Take {them} out, check {them}, and start the job again without.",
    ReplayVerdict.AMBIGUOUS: "A third round tells: each of them alone among nodes that passed (--third FILE).",
    ReplayVerdict.ONE_PHASE: "Run the pairs inside the failed groups: a link, or a fault that does not show each time.",
    ReplayVerdict.NOT_REPRODUCED: "Data, scale or communication of all data parallel parts remain; a person decides.",
}


def plan_for(nodes: Path, *, pipeline: int, chance: float, runs: int | None, command: str) -> int:
    """Print the plan of the nodes in a file."""
    plan = make_plan(_names(nodes), pipeline=pipeline, chance=chance, runs=runs)
    try:
        document = plan_document(plan, command)
    except ValueError as error:  # of shlex: a quote that is not closed
        raise BadSettings(f"--command cannot be split into words: {error}.") from error
    with patient_reader() as reader:
        sys.stdout.write(to_json(document))
    apart = "" if plan.unique else f" Up to {-(-plan.size // plan.count)} nodes share both groups: too few nodes."
    left = f" {len(plan.left)} nodes fit in no group." if plan.left else ""
    sys.stderr.write(
        f"{len(plan.nodes)} nodes, {plan.count} groups of {plan.size} a phase, {plan.runs} runs each; both phases show "
        f"a fault of chance {plan.chance:.2g} in {plan.both:.0%} of cases.{apart}{left}\n"
    )
    return reader.exit_code


def read_for(plan_file: Path, results: Path, *, third: Path | None, json: bool) -> int:
    """Say what the results mean; the exit code."""
    if third is not None:
        check_writable(third)
    plan = plan_of(_text(plan_file, "A plan is what firstfault replay plan printed."), plan_file.name)
    found, problems = read_results(results, {group.name for group in plan.groups})
    reading = read(plan, found)
    headline = _headline(plan, reading)
    if third is not None and reading.verdict is ReplayVerdict.AMBIGUOUS:
        _write_third(plan, reading, third)
    with patient_reader() as reader:
        if json:
            sys.stdout.write(to_json(reading_document(plan, reading, headline)))
        else:
            sys.stdout.write("".join(f"{line}\n" for line in (headline, *_lines(plan, reading, problems))))
    return reader.exit_code or (NAMED if reading.verdict is ReplayVerdict.MACHINES else INCONCLUSIVE)


def _write_third(plan: Plan, reading: ReplayReading, path: Path) -> None:
    round_three = third_phase(plan, reading.suspects, reading.healthy)
    if round_three is None:
        sys.stderr.write("Too few nodes passed for a third round with all suspects at once.\n")
        return
    write(path, to_json(plan_document(round_three, "")))
    sys.stderr.write(f"Third round: {path}\n")


def _headline(plan: Plan, reading: ReplayReading) -> str:
    names = [harmless(plan.nodes[place], 60) for place in reading.suspects]
    listed = ", ".join(names[:MAX_SHOWN]) + (f" and {len(names) - MAX_SHOWN} more" if len(names) > MAX_SHOWN else "")
    if reading.verdict is ReplayVerdict.MACHINES:
        return f"Faulty: {listed}."
    if reading.verdict is ReplayVerdict.AMBIGUOUS:
        return f"Some of these are faulty: {listed}."
    if reading.verdict is ReplayVerdict.ONE_PHASE:
        return f"It failed in one phase only, in groups of {listed}: nobody can be named."
    return "Not reproduced: no group failed more often than for other reasons."


def _lines(plan: Plan, reading: ReplayReading, problems: Sequence[str]) -> Sequence[str]:
    them = "it" if len(reading.suspects) == 1 else "them"
    shares = [
        f"  {harmless(plan.nodes[place], 60)}  {share:.0%}"
        for place, share in list(zip(reading.suspects, reading.share, strict=True))[:MAX_SHOWN]
        if len(reading.suspects) > 1
    ]
    missed = f"A fault as planned for escapes one phase or both in {reading.missed:.0%} of cases."
    return (
        *shares,
        _ACT[reading.verdict].format(them=them),
        missed,
        *(harmless(problem, 400) for problem in (*reading.told, *problems)),
    )


def _names(path: Path) -> list[str]:
    """A node a line; of a hostfile the first word, without what stands behind a #."""
    names = [
        words[0] for line in _text(path, "A node a line.").splitlines() if (words := line.partition("#")[0].split())
    ]
    bad = next((name for name in names if name.startswith("-") or "," in name or len(name) > LONGEST), None)
    if bad is not None:
        raise BadSettings(f"{harmless(bad, 60)} in {path.name} is no name of a node.", "One name a line.")
    return names


def _text(path: Path, hint: str) -> str:
    try:
        return read_given(path).decode("utf-8")
    except FileNotFoundError as error:
        raise BadSettings(f"There is no {path}.", hint) from error
    except (OSError, UnicodeDecodeError) as error:
        raise BadSettings(f"{path} cannot be read: {why_unreadable(error)}.", hint) from error
