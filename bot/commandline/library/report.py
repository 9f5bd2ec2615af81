"""``firstfault library report``: what the known faults cost, and what of the library a person should look at."""

import sys
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime

from bot.commandline.output import as_json, say
from bot.fetch.attempts import manifests_of
from bot.library.session import now, open_fault_library
from bot.settings import load_settings
from bot.text.harmless import harmless
from bot.text.wording import counted, names
from core.errors import FirstfaultError
from core.job import Manifest
from faultlib.answers import with_answers
from faultlib.pattern import Entry
from faultlib.software_gone import RECENT, Software
from faultlib.team_account import Account, account
from sources.jobs import open_source

SHOWN = 10  # lines of a part; --json has all


def report(jobs: str | None, *, json: bool) -> int:
    """Count what the known faults cost and print it; the exit code."""
    settings = load_settings()
    manifests: Sequence[Manifest] = ()
    try:
        manifests = manifests_of(open_source(jobs or settings.jobs, links=settings.follow_links), None)
    except FirstfaultError as trouble:
        sys.stderr.write(f"Without node-hours: {trouble.message}\n")
    with open_fault_library(settings) as library:
        entries = with_answers(library.entries(), library.judged())
        team_account = account(entries, now=now(), node_hours=node_hours(manifests), software=software_of(manifests))
    return say(as_json(document(team_account)) if json else "".join(f"{line}\n" for line in lines(team_account)))


def node_hours(manifests: Sequence[Manifest]) -> Mapping[str, float]:
    """What each job took, where its manifest names its nodes and when it began and ended."""
    return {
        manifest.job_id: len(manifest.nodes) * hours
        for manifest in manifests
        if manifest.nodes and (hours := _hours(manifest)) is not None
    }


def software_of(manifests: Sequence[Manifest]) -> Sequence[Software]:
    """What each job ran, where its manifest tells: the framework, and ``software`` by name."""
    found = []
    for manifest in manifests:
        software = manifest.extra.get("software")
        versions = {str(name): str(version) for name, version in software.items()} if isinstance(software, dict) else {}
        if manifest.framework:
            versions["framework"] = manifest.framework
        found.append(Software(manifest.job_id, _in_utc(manifest.start), versions))
    return found


def document(team_account: Account) -> dict[str, object]:
    """The account of the library as a JSON object, for programs."""
    return {
        "costs": [
            {"pattern": cost.entry.id, "jobs": cost.jobs, "node_hours": cost.node_hours} for cost in team_account.costs
        ],
        "returned": [{"pattern": entry.id, "jobs": jobs} for entry, jobs in team_account.returned],
        "never_seen": [entry.id for entry in team_account.silent],
        "not_seen_for_a_year": [entry.id for entry in team_account.old],
        "software_gone": [
            {"pattern": gone.entry.id, "software": gone.name, "had": gone.had, "now": gone.now}
            for gone in team_account.gone
        ],
        "conflicts": [[first.id, second.id] for first, second in team_account.conflicts],
        "nearly_the_same": [[first.id, second.id] for first, second in team_account.twins],
    }


def lines(team_account: Account) -> Iterator[str]:
    """A part for each question; one that has no answer is left out."""
    parts = (
        (
            "What cost most",
            [f"{_named(cost.entry)}: {_price(len(cost.jobs), cost.node_hours)}" for cost in team_account.costs],
        ),
        (
            "Came back after it was confirmed",
            [f"{_named(entry)}: {names(list(jobs), 5)}" for entry, jobs in team_account.returned],
        ),
        ("Never seen again since it was drafted", [_named(entry) for entry in team_account.silent]),
        (
            "Not seen for a year; to retire one: firstfault library retire PATTERN --why REASON",
            [_named(entry) for entry in team_account.old],
        ),
        (
            f"None of the latest {RECENT} jobs has their software; to retire one: firstfault library retire PATTERN",
            [
                f"{_named(gone.entry)}: {_versions(gone.name, gone.had)}, now {_versions('', gone.now)}"
                for gone in team_account.gone
            ],
        ),
        (
            "The same events and another cause; one of them is wrong, or too wide",
            [f"{first.id} and {second.id}" for first, second in team_account.conflicts],
        ),
        (
            "Nearly the same; to make one of them: firstfault library merge PATTERN INTO",
            [f"{first.id} and {second.id}" for first, second in team_account.twins],
        ),
    )
    if not any(found for _, found in parts):
        yield "No job has shown a pattern yet, and none needs a look."
    for title, found in parts:
        if found:
            yield f"{title}:"
            yield from (f"  {line}" for line in found[:SHOWN])
            if len(found) > SHOWN:
                yield f"  and {len(found) - SHOWN} more (--json)"


def _price(jobs: int, hours: float | None) -> str:
    return counted(jobs, "job") + ("" if hours is None else f", {hours:,.1f} node-hours")


def _versions(name: str, versions: Sequence[str]) -> str:
    return harmless(f"{name} {names(list(versions), 3)}".strip(), 120)


def _in_utc(start: str | None) -> str:
    """A start that sorts by time; empty where it does not tell, or has no time zone."""
    try:
        moment = datetime.fromisoformat(start or "")
    except ValueError:
        return ""
    return "" if moment.tzinfo is None else moment.astimezone(UTC).isoformat()


def _named(entry: Entry) -> str:
    return f"{entry.id} ({harmless(entry.pattern.title, 80)})"


def _hours(manifest: Manifest) -> float | None:
    try:
        took = datetime.fromisoformat(manifest.end or "") - datetime.fromisoformat(manifest.start or "")
    except (ValueError, TypeError):  # it does not say, or one of the two has no time zone
        return None
    return max(took.total_seconds(), 0.0) / 3600
