"""Answers about other jobs: compare with one, what changed, seen before, which others failed."""

import json
import re
from collections.abc import Mapping
from typing import Any

from bot.ask.apart import beside_job
from bot.ask.arguments import argument_changes, commands_of, printed_changes, shown_value
from bot.ask.question import Question
from bot.ask.reply_lines import Lines, cited, joined
from bot.ask.subject import Subject
from bot.text import wording
from core.history.attempt import Attempt
from core.history.changes import changes
from core.job import Manifest, Status
from core.live.findings import duration
from core.model import Diagnosis, Role, Scope

_COMMANDS = ("launch_command", "command", "cmd", "argv", "args")  # told argument by argument
_OWN = ("job_id", "start", "end", "status", "node_ranks", "node_addresses", "exit_codes", "rank_exit_codes", "source")


def compare(subject: Subject, question: Question) -> Lines | None:
    """The other job's fault, settings, code and pace beside this one's; the baseline where none is named."""
    baseline = subject.diagnosis.coverage.baseline_ids
    name = next(iter(question.jobs), "") or next(iter(baseline), "")
    if not name:
        return [
            cited("There is no successful job with these settings to compare with; name a job: “compare with JOB”.")
        ]
    other = subject.beside.subject(name)
    if other is None:
        return [cited(f"There is no job {name} beside this one that could be read.")]
    mine, theirs = subject.diagnosis, other.diagnosis
    same = [cited(_same(mine, theirs, name))] if theirs.scope is not Scope.NONE or _SAME.search(question.plain) else []
    sentences = [
        *same,
        cited(f"{name}: {wording.sentence(theirs.headline).rstrip('.')} ({theirs.confidence})."),
    ]
    differ = _differences(other.parsed.job.manifest, subject.parsed.job.manifest)
    sentences.append(
        cited(
            f"Different from {name} by job.json: {'; '.join(differ[:6])}."
            if differ
            else f"job.json tells of no difference to {name}."
        )
    )
    paces = [item.parsed.iterations.course.pace() for item in (subject, other)]
    if paces[0] and paces[1]:
        sentences.append(
            cited(f"An iteration took {duration(paces[0].step)} here and {duration(paces[1].step)} in {name}.")
        )
    reached = [item.parsed.iterations.last for item in (subject, other)]
    if None not in reached:
        sentences.append(cited(f"This one came to iteration {reached[0]:,}, {name} to {reached[1]:,}."))
    numbers = beside_job(subject, other, name, question)
    return [*numbers, *sentences] if question.iterations else [*sentences[:3], *numbers[:1], *sentences[3:]]


_SAME = re.compile(r"\b(?:same|also|too|alike|similar|fail|failed|crash|crashed|fault|again)\b")


def changed(subject: Subject, question: Question) -> Lines:
    """What differs from the last successful job with the same settings, or from a job that is named."""
    own = subject.parsed.job.manifest
    others = {manifest.job_id: manifest for manifest in subject.beside.manifests()}
    before = next((others[name] for name in question.jobs if name in others), None) or good_job(subject)
    if before is None:
        return [cited("There is no successful job with these settings, so nothing tells what changed.")]
    other = subject.beside.subject(before.job_id)
    printed = printed_changes(other, subject) if other else []
    differ = _differences(before, own)
    sentences = []
    if printed:
        sentences.append(cited(f"In the settings that the logs print, since {before.job_id}: {'; '.join(printed)}."))
    if differ:
        sentences.append(cited(f"By job.json, since {before.job_id} ({before.status}): {'; '.join(differ[:8])}."))
    elif not printed:
        sentences.append(cited(f"Nothing that job.json tells of differs from {before.job_id} ({before.status})."))
    given = (own.arguments and before.arguments) or (commands_of(own.extra) and commands_of(before.extra))
    known = (("code", own.code and before.code), ("arguments", given or printed))
    silent = [what for what, differing in known if not differing]
    if silent:
        sentences.append(
            cited(f"job.json does not hold the {' and the '.join(silent)} of both jobs, so that may have changed too.")
        )
    unseen = [event for event in subject.diagnosis.events if event.unseen and event.role is Role.ROOT]
    sentences += [cited(f"New in the logs: {subject.sentence_of(event)}", event.id) for event in unseen[:2]]
    return sentences


def argument_line(subject: Subject) -> str:
    """What the command has differently from that of a successful job; empty where nothing is known."""
    manifest = good_job(subject)
    sentences = argument_changes(manifest.extra, subject.parsed.job.manifest.extra) if manifest else []
    if manifest is None or not sentences:
        return ""
    return cited(f"Its command differs from that of {manifest.job_id}, which succeeded: {'; '.join(sentences[:6])}.")


def good_job(subject: Subject) -> Manifest | None:
    """The successful job with the same settings whose size and command are the most alike, of several the last."""
    ids, own = subject.diagnosis.coverage.baseline_ids, subject.parsed.job.manifest
    good = [manifest for manifest in subject.beside.manifests() if manifest.job_id in ids]
    return max(
        good,
        key=lambda manifest: (
            manifest.world_size == own.world_size,
            -len(argument_changes(manifest.extra, own.extra)),
            manifest.job_id,
        ),
        default=None,
    )


def before(subject: Subject, question: Question) -> Lines:
    """Whether the library knows this fault, and whether a named node failed in other jobs."""
    sentences = [line for node in question.nodes[:1] for line in _jobs_of(subject, node)]
    exact = [fault for fault in subject.known if fault.exact]
    for fault in exact[:2]:
        seen = (
            f" Seen in {wording.names(fault.jobs, 6, 60)}."
            if fault.jobs
            else " No other job of yours is filed under it."
        )
        team = "Yes" if not fault.seed else "This kind of fault is known, but not from your team"
        sentences.append(cited(f"{team}: “{fault.title}” ({wording.vouched(fault)}).{seen}", fault.id))
        sentences.append(cited(f"What helped: {fault.fix}", fault.id))
    if not exact and subject.known:
        alike = subject.known[0]
        sentences.append(
            cited(
                f"Not exactly; most alike is “{alike.title}” ({wording.likeness(alike)}, {wording.vouched(alike)}).",
                alike.id,
            )
        )
    if sentences:
        return sentences
    return [cited("The fault library holds nothing that fits or looks like this job.")]


def _jobs_of(subject: Subject, node: str) -> list[str]:
    every = [
        manifest
        for manifest in subject.beside.manifests()
        if node in manifest.nodes and manifest.job_id != subject.parsed.job.id
    ]
    failed = [manifest.job_id for manifest in every if manifest.status in (Status.FAILED, Status.CANCELLED)]
    if not every:
        return [cited(f"No other job beside this one names {node} in its job.json.")]
    good = [manifest.job_id for manifest in every if manifest.status is Status.COMPLETED]
    sentences = f"{node} was in {wording.counted(len(every), 'other job')}: {len(failed):,} failed or were cancelled"
    sentences += f" ({wording.names(failed, 8, 60)})" if failed else ""
    sentences += f", {len(good):,} completed ({wording.names(good, 5, 60)})" if good else ""
    return [cited(f"{sentences}. Whether {node} was at fault there is in their diagnoses.")]


def _same(mine: Diagnosis, theirs: Diagnosis, name: str) -> str:
    """Whether both fail in the same way, by what their diagnoses say broke."""
    if theirs.scope is Scope.NONE:
        return f"No: nothing of {name} is at fault."
    causes = [diagnosis.next.cause if diagnosis.next else "" for diagnosis in (mine, theirs)]
    if not all(causes):
        return f"The logs do not tell whether {name} failed the same way: what broke is not known in both."
    nodes = [{suspect.node for suspect in diagnosis.nodes[:1]} for diagnosis in (mine, theirs)]
    if causes[0] != causes[1]:
        return f"No: here {causes[0]}; in {name}: {causes[1]}."
    where = (
        " on the same node"
        if nodes[0] and nodes[0] == nodes[1]
        else " on another node"
        if nodes[0] and nodes[1]
        else ""
    )
    return f"The same kind of fault{where}: {causes[0]}."


def _differences(before_: Manifest, after: Manifest) -> list[str]:
    """What job.json tells differently, code and arguments first."""
    sentences = list(changes(_attempt(before_), _attempt(after)) or ())
    sentences += argument_changes(before_.extra, after.extra)
    left_out = (*_OWN, *(_COMMANDS if commands_of(before_.extra) and commands_of(after.extra) else ()))
    one, other = (
        flat_fields({name: value for name, value in job.extra.items() if name not in left_out})
        for job in (before_, after)
    )
    sentences += [
        f"{name} {shown_value(name, one.get(name, '(none)'))} to {shown_value(name, other.get(name, '(none)'))}"
        for name in sorted(one.keys() | other.keys())
        if one.get(name) != other.get(name) and not name.startswith(("arguments", "code", "nodes"))
    ]
    if set(before_.nodes) != set(after.nodes):
        new, gone = (sorted(set(a) - set(b)) for a, b in ((after.nodes, before_.nodes), (before_.nodes, after.nodes)))
        sentences.append(
            joined(
                f"nodes: {wording.names(new, 4, 60)} new" if new else "nodes:",
                f"{wording.names(gone, 4, 60)} gone" if gone else "",
            )
        )
    return sentences


def _attempt(manifest: Manifest) -> Attempt:
    return Attempt(manifest.job_id, 0, 0, code=manifest.code, arguments=manifest.arguments)


def flat_fields(fields: Mapping[str, Any], head: str = "") -> dict[str, str]:
    """The fields of a job.json by dotted names."""
    found: dict[str, str] = {}
    for name, value in fields.items():
        if isinstance(value, Mapping):
            found |= flat_fields(value, f"{head}{name}.")
        else:
            found[f"{head}{name}"] = (
                value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, sort_keys=True)
            )
    return found
