"""Results of a replay: a CSV of exit codes and digests, or a folder with a job folder a run."""

import re
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable
from pathlib import Path

from core.diagnose import diagnose
from core.errors import FirstfaultError, UnreadableLog
from core.model import Scope
from core.replay.replay_results import Result
from sources.folder import JobsFolder
from sources.tables import rows_of

_RUN = re.compile(r"(\d{1,2}-\d{1,6})[._](?:run)?\d{1,6}")


def read_results(path: Path, groups: Collection[str]) -> tuple[dict[str, Result], tuple[str, ...]]:
    """Runs and failures by group, and sentences about what was left out.

    A run without an exit code, or whose folder cannot be read, is unknown: it neither failed nor passed.

    Args:
        path: a CSV with the columns group, run, exit_code and perhaps digest, or a folder of job folders GROUP.RUN.
        groups: names of the groups of the plan.

    Raises:
        UnreadableLog: the path is not there, or holds no result of any group.
    """
    if not path.exists():
        raise UnreadableLog(
            f"There is no {path}.", "Results are a CSV group,run,exit_code, or a folder of job folders."
        )
    results, problems = _of_folder(path) if path.is_dir() else _of_table(path)
    strange = sorted({group for group, _ in results} - set(groups))
    if strange:
        problems = (
            *problems,
            f"Results of {len(strange)} groups that the plan does not have were left out: {strange[0]}.",
        )
    counts: dict[str, list[bool]] = defaultdict(list)
    for group, failed in results:
        if group in groups:
            counts[group].append(failed)
    if not counts:
        raise UnreadableLog(f"{path} holds no result of a group of the plan.", "Columns: group,run,exit_code.")
    return {group: Result(len(runs), sum(runs)) for group, runs in sorted(counts.items())}, problems


def _of_table(path: Path) -> tuple[list[tuple[str, bool]], tuple[str, ...]]:
    rows = [
        (row.get("group", "").strip(), row.get("exit_code", "").strip(), row.get("digest", "").strip())
        for row in rows_of(str(path))
    ]
    known = [(group, code, digest) for group, code, digest in rows if re.fullmatch(r"-?\d{1,5}", code)]
    usual = _usual(digest for _, code, digest in known if int(code) == 0 and digest)
    unknown = len(rows) - len(known)
    problems = (f"{unknown} runs have no exit code, and count as unknown.",) if unknown else ()
    return [
        (group, int(code) != 0 or bool(digest and usual and digest != usual)) for group, code, digest in known
    ], problems


def _usual(digests: Iterable[str]) -> str:
    """The digest of more than half of the runs; of fewer nobody knows which one is right."""
    counts = Counter(digests)
    best = counts.most_common(1)
    return best[0][0] if best and best[0][1] * 2 > counts.total() else ""


def _of_folder(path: Path) -> tuple[list[tuple[str, bool]], tuple[str, ...]]:
    """A run whose diagnosis finds that nothing failed has passed."""
    jobs = JobsFolder(path)
    found, problems = [], []
    for name in jobs.job_ids():
        match = _RUN.fullmatch(name)
        if not match:
            continue
        try:
            answer = diagnose(jobs.job(name), [])
        except FirstfaultError as trouble:
            problems.append(f"{name} counts as unknown: {trouble.message}")
            continue
        found.append((match[1], answer.scope is not Scope.NONE))
    return found, tuple(problems)
