"""What must hold after the faults, read from Slack's side, from the state and from the fault library alone.

``missing``: what was promised and is not there (yet). ``wrong``: what may never be, whenever one looks: something that
stands twice, or an archive that is not what people decided.
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from benchmarks.campaign.people import APPROVERS, OFFER, CampaignJob
from benchmarks.support.stage import FINISHED, WHOLE, Stage, kind_of
from bot.library.session import open_fault_library
from bot.settings import Settings
from bot.state.answers import SavedAnswer
from bot.state.runs import Run
from bot.state.small_values import Status as Ending
from bot.state.state import State, open_state
from faultlib.life import job_of_draft
from faultlib.pattern import Entry, Origin, Status
from slacksim import Message, Snapshot

# What an audit may tell of a run, a letter a deed: edited, approved, merged, rejected, undone, cancelled.
_DEEDS = {"edited": "e", "approved": "a", "merged": "m", "rejected": "r", "undone": "u", "cancelled": "c"}
_STORY = re.compile(r"c?(e*[amr]u)*e*[amr]?")
_DONE_BY = {"approve": "am", "approve twice": "am", "edit": "e", "reject": "r", "undo": "u"}


@dataclass(frozen=True)
class Facts:
    """One look at everything."""

    slack: Snapshot
    heard: str  # all messages that were acknowledged; Slack gives up what is not, after some tries
    runs: Mapping[str, Sequence[Run]]  # by job, oldest first
    posts: Sequence[Mapping[str, Any]]
    deeds: Mapping[str, str]  # by run, as in _DEEDS
    standing: Mapping[str, Mapping[str, Any]]  # decisions, by run
    titles: Mapping[tuple[str, int], str]  # of drafts, by run and revision
    no_report: frozenset[str]  # runs whose answer has none, or is about nothing that a report would show
    open_ends: Sequence[str]  # what the state itself says is not done
    patterns: Sequence[Entry]  # of the team, in use or not

    @property
    def by_token(self) -> Mapping[str, Message]:
        """The posts of runs, by their tokens; which stands twice is found by ``wrong``."""
        return dict(_tokens(self.slack))


def look(stage: Stage) -> Facts:
    """Everything, now; Slack last, because what the state says was posted must be there."""
    state = open_state(stage.state / "state.db")
    try:
        rows = state.database.query("SELECT id FROM runs ORDER BY seq")
        runs = [run for row in rows if (run := state.runs.get(row["id"])) is not None]
        posts = state.database.query("SELECT run, kind, token, ts FROM posts")
        deeds: dict[str, str] = {}
        for entry in state.audit.entries():
            deeds[entry.target] = deeds.get(entry.target, "") + _DEEDS.get(entry.what, "")
        decisions = state.database.query(
            "SELECT run, revision, verdict, pattern, joins FROM decisions WHERE undone_at IS NULL"
        )
        drafts = {
            (draft.run, draft.revision): str(draft.note["title"])
            for run in runs
            for draft in state.drafts.revisions(run.id)
        }
        ends = tuple(_open_ends(state))
        answers = {run.id: state.runs.answer(run.id) for run in runs}
    finally:
        state.close()
    settings = Settings(library=stage.home / "library", cache=stage.home / "cache")
    with open_fault_library(settings, embeds=False) as library:
        patterns = [item for item in library.entries() if item.origin is Origin.TEAM]
    by_job: dict[str, list[Run]] = {}
    for run in runs:
        by_job.setdefault(run.job, []).append(run)
    standing = {row["run"]: row for row in decisions}
    without = frozenset(run for run, answer in answers.items() if answer is not None and not has_report(answer))
    events = stage.slack.journal.deliveries("events_api")
    heard = "\n".join(str(event.payload["event"].get("text")) for event in events if event.outcome == "ack")
    return Facts(stage.slack.snapshot(), heard, by_job, posts, deeds, standing, drafts, without, ends, patterns)


def has_report(answer: SavedAnswer) -> bool:
    """Whether its report is posted: one without events and nodes is not, as after a log file was emptied."""
    diagnosis = answer.diagnosis
    is_of_something = bool(answer.history) or (diagnosis is not None and (diagnosis.events or diagnosis.nodes))
    return bool(answer.report) and bool(is_of_something)


def _open_ends(state: State) -> Iterator[str]:
    if waiting := len(state.database.query("SELECT seq FROM inbox WHERE done_at IS NULL")):
        yield f"{waiting} envelopes in the inbox"
    for decision in state.drafts.pending(state.clock()):
        yield f"{decision.run}: approved, and not archived"
    for row in state.database.query("SELECT id FROM questions WHERE told = 0"):
        yield f"{row['id']}: a question without its reply"
    for row in state.database.query("SELECT run FROM drawings WHERE told = 0"):
        yield f"{row['run']}: a report that is still to be drawn"


# --- what is lost when it does not come ---


def missing(facts: Facts, cases: Iterable[CampaignJob]) -> list[str]:
    """What was promised, and is not there."""
    found = list(facts.open_ends)
    by_token = facts.by_token
    for post in facts.posts:
        if post["ts"] is None:
            found.append(f"{post['run']}: {post['kind']} was begun, and is not known to stand there")
        elif not any(token in by_token for token in post["token"].split()):
            found.append(f"{post['run']}: {post['kind']} does not stand in Slack")
    for case in cases:
        found += [f"{case.job}: {what}" for what in _missing_of(facts, case)]
    return found


def _missing_of(facts: Facts, case: CampaignJob) -> Iterator[str]:
    runs = facts.runs.get(case.job, ())
    by_event = not case.settled and case.way in ("mention", "message") and case.job in facts.heard
    heard = case.runs + case.heard + by_event
    if len(runs) < heard and not _told_privately(facts, case):
        yield f"acknowledged {heard} times, and there are {len(runs)} runs"
    for run in runs:
        if not run.told:
            yield f"{run.id} is {run.status}, and nobody was told how it ended"
            continue
        if run.status is Ending.FAILED and not case.excused:
            yield f"{run.id} failed: {run.failure.message if run.failure else 'no reason'}"
        if run.status is Ending.CANCELLED and not case.cancelled and "c" not in facts.deeds.get(run.id, ""):
            yield f"{run.id} was cancelled, and nobody wanted that"
        if run.message_ts or run.status is not Ending.CANCELLED:
            yield from _missing_in_slack(facts, case, run)
    yield from _undecided(facts, case, runs)
    replies = [reply for run in runs for reply in _thread(facts, run)]
    for words in case.questions:
        if words in facts.heard and not any(f"{words}: N1" in reply.all_text for reply in replies):
            yield f"no reply to {words!r}"


def _missing_in_slack(facts: Facts, case: CampaignJob, run: Run) -> Iterator[str]:
    parent = next((m for m in facts.slack.everything if (m.channel, m.ts) == (run.channel, run.message_ts)), None)
    if parent is None:
        yield f"{run.id} has no message"
        return
    if FINISHED not in parent.all_text:
        yield f"{run.id} is {run.status}, and its message does not show it"
    if run.status is Ending.DONE:
        thread = Counter(kind_of(message) for message in _thread(facts, run))
        needed = Counter({"report": 1}) if case.real else WHOLE
        if run.id in facts.no_report:
            needed = needed - Counter({"report": 1})  # the disk was full: the answer comes without it
        if needed - thread:
            yield f"{run.id}: in its thread is missing {', '.join(needed - thread)}"


def _undecided(facts: Facts, case: CampaignJob, runs: Sequence[Run]) -> Iterator[str]:
    """What was wished and acknowledged is done, or the person knows why not."""
    done = "".join(facts.deeds.get(run.id, "") for run in runs)
    for what, acknowledged in case.wishes:
        if acknowledged and not set(_DONE_BY[what]) & set(done) and not _told_privately(facts, case):
            yield f"{what} was acknowledged, and neither done nor refused (deeds {done or '-'}, {case})"


def _told_privately(facts: Facts, case: CampaignJob) -> bool:
    whispers = [m for name in APPROVERS for m in facts.slack.ephemerals(name)]
    if any(m.channel == case.room and m.ts > case.since and OFFER not in m.all_text for m in whispers):
        return True
    answers = [m for m in facts.slack.everything if m.by_app and m.channel == case.room and m.ts > case.since]
    return case.way == "message" and any(m.metadata is None and not m.files for m in answers)  # all is private there


# --- what may never be ---


def wrong(facts: Facts, cases: Iterable[CampaignJob]) -> list[str]:
    """What stands twice, or was archived as nobody wanted it."""
    return [*_twice(facts, cases), *_wrong_archive(facts)]


def _twice(facts: Facts, cases: Iterable[CampaignJob]) -> Iterator[str]:
    tokens = Counter(token for token, _ in _tokens(facts.slack))
    yield from (f"{token} stands {times} times in Slack" for token, times in tokens.items() if times > 1)
    known = {token for post in facts.posts for token in post["token"].split()}
    for token, message in _tokens(facts.slack):
        if token not in known:
            yield f"nobody wrote down: {message.channel} {message.ts} {message.all_text[:60]!r}"
    for case in cases:
        runs = facts.runs.get(case.job, ())
        if len(runs) > case.asked:
            yield f"{case.job}: asked {case.asked} times, and there are {len(runs)} runs"
        for run in runs:
            if not _STORY.fullmatch(facts.deeds.get(run.id, "")):
                yield f"{run.id}: the audit tells {facts.deeds[run.id]}"


def _wrong_archive(facts: Facts) -> Iterator[str]:
    """Every pattern of the team, and every job in one, is an approval that stands, and the other way round."""
    jobs = {run.id: run.job for runs in facts.runs.values() for run in runs}
    approved = {(row["pattern"], jobs[run]) for run, row in facts.standing.items() if row["pattern"]}
    own = [(entry.id, job_of_draft(entry) or "") for entry in facts.patterns if entry.status is Status.APPROVED]
    joined = [(entry.superseded_by, job_of_draft(entry) or "") for entry in facts.patterns if entry.superseded_by]
    for pattern, job in sorted(approved - {*own, *joined}):
        yield f"{job} is approved as {pattern}, and the library does not have it so"
    for pattern, job in sorted({*own, *joined} - approved):
        yield f"{pattern} is in use for {job}, and no such approval stands"
    made = Counter(job for _, job in own)
    yield from (f"{job} has made {times} patterns" for job, times in made.items() if times > 1)
    by_id = {entry.id: entry for entry in facts.patterns}
    for run, row in facts.standing.items():
        entry, approved_as = by_id.get(row["pattern"]), facts.titles.get((run, row["revision"]))
        if entry is None or row["joins"] or (entry.id, jobs[run]) not in own:
            continue
        if entry.pattern.title != approved_as:
            yield f"{entry.id} is called {entry.pattern.title!r}, and {approved_as!r} was approved"


# --- what stands in Slack ---


def _tokens(slack: Snapshot) -> Iterator[tuple[str, Message]]:
    """Every post of the bot with what it is known by in the state: its token, or its files."""
    for message in slack.everything:
        if message.by_app and not message.only_for:
            if message.metadata:
                yield str(message.metadata["event_payload"]["token"]), message
            yield from ((file, message) for file in message.files)


def _thread(facts: Facts, run: Run) -> list[Message]:
    """What the bot posted for the run, but for its parent message; another run may share the thread."""
    tokens = {token for post in facts.posts if post["run"] == run.id for token in post["token"].split()}
    mine = {message.ts: message for token, message in _tokens(facts.slack) if token in tokens}
    return [message for ts, message in mine.items() if ts != run.message_ts]
