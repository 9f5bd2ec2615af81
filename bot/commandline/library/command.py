"""What ``firstfault library`` does once its words are understood; loaded only when one of its commands runs."""

import getpass
import os
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path

from bot.commandline.library.terminal import changes, hits, numbers, page, table
from bot.commandline.output import as_json, put, say
from bot.fetch.jobs import Request
from bot.investigate import investigate
from bot.library.session import open_fault_library
from bot.settings import load_settings
from bot.text.harmless import harmless, storable
from bot.text.wording import names
from core.errors import BadSettings, FirstfaultError
from faultlib.answers import Answers, Verdict
from faultlib.draft import pattern_of
from faultlib.embedding import EmbeddingUnavailable
from faultlib.errors import PatternNotFound, StaleRevision, WrongStep
from faultlib.findings import Finding, finding_of
from faultlib.library import Library
from faultlib.likely_patterns import same_fault, told_for
from faultlib.lint import faults_of
from faultlib.near_duplicates import nearly
from faultlib.pattern import Entry, Origin, Pattern, Status
from faultlib.pattern_text import MAX_BYTES, BadPattern, read_entry, write_entry, write_pattern
from faultlib.question_search import find
from sources.named_files import read_given, why_unreadable

MAX_TOLD = 5  # patterns that a new one is compared with in words
DONE, NOTHING = 0, 1  # exit codes, as docs/reference/command-line.md has them


def search(words: str, *, limit: int, json: bool) -> int:
    """Patterns that read like the words; 1 when nothing similar is known."""
    with open_fault_library(load_settings()) as library:
        try:
            meaning = library.similarities(words) if words.strip() else {}
        except EmbeddingUnavailable as trouble:
            sys.stderr.write(f"Compared by words only: {trouble.message}\n")
            meaning = {}
        found = find(words, library.entries(), meaning, limit=limit)
    rows = [
        {"pattern": hit.entry.id, "score": hit.score, "because": hit.because, "title": hit.entry.pattern.title}
        for hit in found
    ]
    return say(as_json(rows) if json else hits(found)) or (DONE if found else NOTHING)


def list_patterns(*, status: str | None, seeds: bool, json: bool) -> int:
    """All patterns of a status."""
    with open_fault_library(load_settings()) as library:
        entries = [entry for entry in library.entries(*_statuses(status)) if seeds or entry.origin is not Origin.SEED]
    return say(as_json([_row(entry) for entry in entries]) if json else table(entries))


def show(pattern: str, *, toml: bool) -> int:
    """One pattern."""
    with open_fault_library(load_settings()) as library:
        entry = library.entry(pattern)
        joined = [other.id for other in library.entries(Status.SUPERSEDED) if other.superseded_by == entry.id]
    return say(write_entry(entry) if toml else page(entry, joined))


def versions(pattern: str) -> int:
    """What each version of a pattern changed."""
    with open_fault_library(load_settings()) as library:
        entry, patterns = library.entry(pattern), library.versions(pattern)
    return say(changes(entry, patterns))


def draft(job: str, jobs: str | None) -> int:
    """The pattern of a job as text."""
    answer = investigate(Request(job, jobs, paths=True), load_settings())
    nobody = not answer.diagnosis.events and not answer.diagnosis.nodes
    if nobody and finding_of(answer.diagnosis) in (Finding.UNCLEAR, Finding.STOPPED):
        raise FirstfaultError(
            f"The diagnosis of {harmless(job, 120)} shows no event and no suspect: there is nothing to know it by.",
            "firstfault diagnose says what is missing.",
        )
    pattern = pattern_of(answer.diagnosis)
    with open_fault_library(load_settings(), embeds=False) as library:
        sys.stderr.write(_told_for(library, pattern))
    return say(write_pattern(pattern))


def import_paths(paths: Sequence[Path], *, approve: bool, dry_run: bool, who: str | None) -> int:
    """Take in every file of these paths, or none of them."""
    entries = _read(paths)
    settings, name = load_settings(), _who(who)
    if dry_run:
        with open_fault_library(settings, embeds=False) as library:
            told = "".join(_told_for(library, entry.pattern) for entry in entries)
        return say(f"{len(entries)} {_patterns(entries)} read, no mistake.\n{told}")
    refused: list[FirstfaultError] = []
    with open_fault_library(settings) as library:
        for entry in entries:
            try:
                sys.stdout.write(storable(_take(library, entry, approve=approve, who=name)))
            except (StaleRevision, WrongStep) as trouble:
                refused.append(trouble)
    if refused:
        raise BadPattern("\n".join(trouble.message for trouble in refused), refused[0].hint)
    return DONE


def export(folder: Path, *, seeds: bool) -> int:
    """Write a file a pattern."""
    with open_fault_library(load_settings()) as library:
        entries = [entry for entry in library.entries() if seeds or entry.origin is not Origin.SEED]
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for entry in entries:
            put(folder / f"{entry.id}.toml", write_entry(entry).encode())
    except OSError as error:
        reason = error.strerror or type(error).__name__
        raise BadSettings(
            f"Cannot write to {harmless(str(folder), 300)}: {reason}", "Choose a folder that can be written."
        ) from error
    return say(f"{len(entries)} {_patterns(entries)} written to {harmless(str(folder), 300)}\n")


def approve(pattern: str, *, who: str | None, why: str, how: str) -> int:
    """Confirm a draft, or bring back what was retired; ``how`` it was confirmed is kept with its words."""
    with open_fault_library(load_settings()) as library:
        entry, new = library.approve(pattern, who=_who(who), why=why, revision=library.entry(pattern).revision)
        offer = _offer(library, entry) if new else ""
        kept = bool(how.strip()) and how.strip() != entry.pattern.confirmation
        if kept:
            words = Pattern.model_validate({**dict(entry.pattern), "confirmation": how})
            entry = library.edit(entry.id, words, who=_who(who), why=why, revision=entry.revision)
    step = entry.confirmed
    by = f" already by {step.who}, {step.at[:10]}" if step and not new else ""
    told = "; how is kept with it now" if kept and not new else ""
    ask = (
        ""
        if entry.pattern.confirmation
        else f"How was it confirmed? firstfault library approve {entry.id} --how TEXT\n"
    )
    return say(f"{entry.id} is confirmed{harmless(by, 120)}{told}.\n{ask}{offer}")


def answer(pattern: str, job: str, *, right: bool | None, who: str | None) -> int:
    """Keep what somebody says of a pattern that was shown; what it comes to now."""
    verdict = Verdict.WITHDRAWN if right is None else Verdict.RIGHT if right else Verdict.WRONG
    with open_fault_library(load_settings()) as library:
        new = library.answer(pattern, job, verdict, who=_who(who))
        now = library.answers().get(pattern, Answers())
    sentence = f"{pattern}: {verdict} ({harmless(job, 120)}){'' if new else ', as you said before'}."
    return say(f"{sentence} So far {now.right} right, {now.wrong} wrong.\n")


def check(paths: Sequence[Path]) -> int:
    """Read every file of these paths; what is wrong with them, a line each."""
    entries = _read(paths)
    faults = list(faults_of(entries))
    say("".join(f"{harmless(fault, 300)}\n" for fault in faults) or f"{len(entries)} {_patterns(entries)}, no fault.\n")
    return NOTHING if faults else DONE


def merge(draft: str, into: str, *, who: str | None, why: str) -> int:
    """Let one pattern take the jobs of another, which is superseded by it."""
    with open_fault_library(load_settings()) as library:
        entry = library.entry(draft)
        if entry.status is Status.APPROVED:
            library.supersede(draft, into, who=_who(who), why=why, revision=entry.revision)
        else:
            library.merge(draft, into, who=_who(who), why=why, revision=entry.revision)
    return say(f"{draft} is merged into {into}.\n")


def retire(pattern: str, *, who: str | None, why: str) -> int:
    """Take a pattern out of use."""
    with open_fault_library(load_settings()) as library:
        entry = library.retire(pattern, who=_who(who), why=why, revision=library.entry(pattern).revision)
    return say(f"{entry.id} is retired.\n")


def stats(*, json: bool) -> int:
    """What the library holds."""
    with open_fault_library(load_settings()) as library:
        counts = library.stats()
    fields = {
        "by_status": dict(counts.by_status),
        "by_origin": dict(counts.by_origin),
        "sightings": counts.sightings,
        "steps": counts.steps,
        "vectors_by_model": dict(counts.vectors_by_model),
        "index": counts.index,
        "index_state": counts.index_state,
        "bytes": counts.bytes,
        "writable": counts.writable,
    }
    return say(as_json(fields) if json else numbers(counts))


def _take(library: Library, entry: Entry, *, approve: bool, who: str) -> str:
    """Put one imported entry into the library; what was done, as a sentence."""
    if not entry.history:  # written by hand: its life begins here
        drafted = library.draft(entry.pattern, who=who, why="imported", job="")
        if not approve:
            return f"{drafted.id}: {drafted.status}\n"
        entry, _ = library.approve(drafted.id, who=who, why="imported", revision=drafted.revision)
        ask = (
            ""
            if entry.pattern.confirmation
            else f", and does not say how it was confirmed (approve {entry.id} --how TEXT)"
        )
        return f"{entry.id}: {entry.status}{ask}\n{_offer(library, entry)}"
    if (here := _edited_in_its_file(library, entry)) is not None:
        edited = library.edit(here.id, entry.pattern, who=who, why="edited in its file", revision=here.revision)
        return f"{edited.id}: {edited.status}, now version {edited.version}\n"
    new = library.put(entry)
    return f"{entry.id}: {entry.status}{'' if new else ', was here already'}\n"


def _edited_in_its_file(library: Library, entry: Entry) -> Entry | None:
    """The pattern that is here, where the file is its export with other words: nothing was done to it since."""
    try:
        here = library.entry(entry.id)
    except PatternNotFound:
        return None
    as_exported = here.history == entry.history and here.status is entry.status
    return here if as_exported and here.pattern != entry.pattern else None


def _told_for(library: Library, pattern: Pattern) -> str:
    """Of which known jobs a pattern would be told, were it confirmed, and why: so a person sees what is too wide."""
    told = told_for(pattern, library.entries())[:MAX_TOLD]
    jobs = ((entry, level, [seen.job for seen in entry.sightings if seen.job]) for entry, level in told)
    return "".join(
        f"{pattern.id} would be told for {entry.id} too"
        f"{harmless(f' ({names(seen, 3)})', 200) if seen else ''}: {level}.\n"
        for entry, level, seen in jobs
    )


def _offer(library: Library, entry: Entry) -> str:
    """That it may be the fault of another pattern, and how to make one of both; mostly nothing."""
    entries = library.entries()
    near, likeness = nearly(entry.pattern, entries, {}), "is nearly"
    if near is None:
        near, likeness = same_fault(entry.pattern, entries), "may be the same fault as"
    if near is None:
        return ""
    return f"It {likeness} {near.id}: firstfault library merge {entry.id} {near.id} makes one of both.\n"


def _read(paths: Sequence[Path]) -> list[Entry]:
    """Every entry of these files and folders; all mistakes are told at once."""
    entries, mistakes = [], []
    for path in _files(paths):
        try:
            entries.append(read_entry(read_given(path, MAX_BYTES).decode("utf-8"), str(path)))
        except BadPattern as trouble:
            mistakes.append(trouble)
        except (OSError, UnicodeDecodeError) as error:
            mistakes.append(BadPattern(f"{path}: {why_unreadable(error)}", "Name a .toml file or a folder of them."))
    if mistakes:
        raise BadPattern("\n".join(trouble.message for trouble in mistakes), mistakes[0].hint)
    return entries


def _files(paths: Iterable[Path]) -> list[Path]:
    files = [file for path in paths for file in (sorted(path.glob("*.toml")) if path.is_dir() else [path])]
    if not files:
        raise BadPattern("There is no .toml file in the folder.", "Name a .toml file or a folder of them.")
    return files


def _statuses(status: str | None) -> tuple[Status, ...]:
    try:
        return (Status(status),) if status else ()
    except ValueError as error:
        raise BadSettings(f"{harmless(status or '', 40)} is no status.", f"One of: {', '.join(Status)}.") from error


def _who(who: str | None) -> str:
    """Who acts, for the audit trail; the name of the user of this machine unless another is given."""
    try:
        return who or getpass.getuser()
    except (OSError, KeyError):
        return f"user {os.getuid()}"


def _row(entry: Entry) -> dict[str, object]:
    return {
        "pattern": entry.id,
        "title": entry.pattern.title,
        "category": entry.pattern.category,
        "status": entry.status,
        "origin": entry.origin,
        "version": entry.version,
        "jobs": [sighting.job for sighting in entry.sightings],
    }


def _patterns(entries: Sequence[Entry]) -> str:
    return "pattern" if len(entries) == 1 else "patterns"
