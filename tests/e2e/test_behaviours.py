"""The sixty behaviours that people expect of the bot, a row each, in the local Slack; files beside this go deeper."""

import hashlib
import hmac
import json
import os
import re
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from benchmarks.support.patience import PATIENCE
from benchmarks.support.stage import eventually
from bot.library.session import open_fault_library
from bot.settings import load_settings
from bot.slack.answer import lines_of
from bot.slack.manifest import scopes
from faultlib.pattern import Origin, Status
from slacksim import Message
from tests.support.followed import Followed, write
from tests.support.gated_model import gated
from tests.support.program import listening
from tests.support.scene import ALERTS, ELSEWHERE, Folders, Scene, serving
from tests.support.scene_jobs import HOSTILE, KEY, NO_LOGS, PING, QUIET, RUNNING
from tests.support.slack_payloads import violations

# Six minutes: a bot for each setting, a diagnosis for most rows; most of it is in the files beside this, too.
pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif("FIRSTFAULT_BEHAVIOURS" not in os.environ, reason="FIRSTFAULT_BEHAVIOURS=1 runs the sixty"),
]
TEAM = "T0FIRSTFAULT"
BARRED = "You are not on the list"
NOT_SHOWN = {
    39: "kill -9 needs a process of its own: tests/e2e_faults/test_kills.py, test_restarts.py",
    45: "the local Slack has no conversations of a group: tests/bot/slack/test_questions_in_thread.py reads its events",
}
MISSING = {
    51: "people of other organisations are answered like any others; a null team alone is served",
    52: "no agent_view and no suggested prompts: Home and app_home_opened are there",
    54: "no PDF and no native charts: picture and page are in the thread",
}


@dataclass
class Stage:
    """The bot, f01 answered in a channel where nothing else was said, and channels for more."""

    scene: Scene
    rooms: Iterator[str]
    answer: Message
    place: Path

    def room(self) -> str:
        return next(self.rooms)

    def fresh(self, job: str = "f01", *, by: str = "alice") -> Message:
        return self.scene.diagnosed(job, self.room(), by=by)

    @contextmanager
    def other(self, name: str, **settings: Any) -> Iterator[Scene]:
        """A bot with other settings and a state of its own, in place of the first as long as it runs."""
        folders = replace(self.scene.folders, home=self.place / name)
        try:
            with serving(self.scene.slack, folders, **settings) as scene:
                yield scene
        finally:
            self.scene.slack.use_http(f"http://127.0.0.1:{self.scene.bot.request_port}/slack/events")


Row = Callable[[Stage], None]
ROWS: dict[int, Row] = {}


def row(number: int) -> Callable[[Row], Row]:
    def kept(check: Row) -> Row:
        ROWS[number] = check
        return check

    return kept


@pytest.fixture(scope="module")
def stage(scene: Scene, rooms: Iterator[str], tmp_path_factory: pytest.TempPathFactory) -> Stage:
    return Stage(scene, rooms, scene.diagnosed("f01", next(rooms)), tmp_path_factory.mktemp("others"))


@pytest.mark.parametrize(
    "number",
    [
        pytest.param(at, marks=pytest.mark.xfail(reason=MISSING[at], strict=True)) if at in MISSING else at
        for at in range(1, 61)
    ],
)
def test_the_bot_behaves(stage: Stage, number: int) -> None:
    """Each behaviour is exercised as a person would, or its row says where it is and why not here."""
    if number in NOT_SHOWN:
        pytest.skip(NOT_SHOWN[number])
    ROWS[number](stage)


# --- ask ----------------------------------------------------------------------------------------------------------


@row(1)
def acknowledged_at_once(stage: Stage) -> None:
    outcome = stage.scene.ask(QUIET, stage.room())
    assert outcome.acknowledged
    assert outcome.seconds < 1


@row(2)
def usage_for_no_job(stage: Stage) -> None:
    room = stage.room()
    stage.scene.ask("../etc", room, by="bob")
    stage.scene.ask("", room, by="carol")
    assert "JOB" in stage.scene.told("carol", "Which job?").all_text
    assert stage.scene.posts(room) == ()


@row(3)
def words_of_the_command(stage: Stage) -> None:
    for word, said in (
        ("help", "unwatch JOB"),
        ("list", "diagnose"),
        ("status", "runs"),
        ("cancel f01", "No diagnosis"),
    ):
        stage.scene.ask(word, stage.answer.channel, by="bob")
        stage.scene.told("bob", said)


@row(4)
def mention_and_shortcut(stage: Stage) -> None:
    room = stage.room()
    stage.scene.user("bob").say(f"@firstfault diagnose {QUIET}", room)
    assert QUIET in stage.scene.answer(QUIET, room).text
    alert = stage.scene.user("bob").say("job f02 died", stage.room())
    stage.scene.user("bob").shortcut("diagnose_message", alert)
    assert "f02" in stage.scene.in_thread(alert, "Run again").text


@row(5)
def direct_messages(stage: Stage) -> None:
    carol = stage.scene.user("carol")
    carol.direct(QUIET)
    assert QUIET in stage.scene.answer(QUIET, carol.direct_channel).text


@row(6)
def not_in_the_channel(stage: Stage) -> None:
    stage.scene.ask(QUIET, ELSEWHERE, by="bob")
    assert "/invite @" in stage.scene.told("bob", "I am not in this channel").all_text


@row(7)
def plain_answers(stage: Stage) -> None:
    room = stage.room()
    for job, said in (
        ("f9999", "There is no job"),
        (NO_LOGS, "no log files"),
        (RUNNING, "still running"),
        ("s01", "completed"),
    ):
        stage.scene.ask(job, room, by="bob")
        stage.scene.told("bob", said)
    assert stage.scene.posts(room) == ()


@row(8)
def asked_again(stage: Stage) -> None:
    stage.scene.ask("f01", stage.answer.channel, by="carol")
    told = stage.scene.told("carol", "was diagnosed before")
    assert f"p{stage.answer.ts.replace('.', '')}" in told.all_text
    assert "Run again" in told.all_text


# --- progress -----------------------------------------------------------------------------------------------------


@row(9)
def one_message(stage: Stage) -> None:
    answer = stage.fresh(QUIET)
    parents = [call for call in stage.scene.posts(answer.channel) if "thread_ts" not in call.args]
    assert len(parents) == 1
    assert stage.scene.edits(answer)


@row(10)
def steps_with_counts(stage: Stage) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("bot.slack.run_messages.EDIT_EVERY", 0.0)
        answer = stage.fresh("f02")
    edits = [str(call.args.get("blocks")) for call in stage.scene.edits(answer)]
    assert any("reading f02" in edit and " of " in edit for edit in edits)


@contextmanager
def thinking(stage: Stage, name: str) -> Iterator[tuple[Scene, Message]]:
    """A bot whose model does not answer, and the message of the run that waits for it."""
    with gated() as (_, endpoint), stage.other(name, model="toy", model_url=endpoint.url, model_timeout=300) as scene:
        room = stage.room()
        scene.ask("f02", room, by="bob")
        yield scene, scene.until(scene.parent("f02", room), "note is being written")
        scene.ask("cancel f02", room, by="bob")


@row(11)
def cancel(stage: Stage) -> None:
    with thinking(stage, "cancel") as (scene, message):
        scene.user("carol").click(message, "Cancel")
        scene.told("carol", "may cancel it")
        scene.user("bob").click(message, "Cancel")
        scene.slack.wait_for(lambda now: "*Cancelled*" in now.message(message.channel, message.ts).all_text, 5)


@row(12)
def place_in_the_queue(stage: Stage) -> None:
    with thinking(stage, "queue") as (scene, message):
        scene.ask(QUIET, message.channel, by="carol")
        assert "next in the queue" in scene.parent(QUIET, message.channel).text


@row(13)
def deadline(stage: Stage) -> None:
    with (
        gated() as (_, endpoint),
        stage.other("deadline", model="toy", model_url=endpoint.url, model_timeout=300, deadline=12) as scene,
    ):
        room = stage.room()
        scene.ask("f02", room)
        assert "*This is a part of the answer*" in scene.answer("f02", room).all_text


# --- answer -------------------------------------------------------------------------------------------------------


@row(14)
def where_to_look(stage: Stage) -> None:
    assert stage.answer.text.startswith("f01: Look at tr-03")


@row(15)
def stage_iteration_zone(stage: Stage) -> None:
    answer = stage.fresh("f07")
    assert "iteration" in answer.all_text
    assert re.search(r"\*Since\* .* \(20\d\d-\d\d-\d\d, (?:UTC|zone as in the logs)\)", answer.all_text)


@row(16)
def raw_lines(stage: Stage) -> None:
    stage.scene.user("carol").click(stage.scene.details(stage.answer), "ff_lines")
    shown = stage.scene.user("carol").wait_for_modal("▶", PATIENCE)
    stage.scene.user("carol").cancel()
    assert "logs/" in shown.all_text


@row(17)
def confidence(stage: Stage) -> None:
    assert "*Confidence*" in stage.answer.all_text


@row(18)
def coverage(stage: Stage) -> None:
    said = stage.scene.details(stage.answer).all_text
    assert "ranks" in said
    assert "successful job" in said


@row(19)
def who_wrote_the_note(stage: Stage) -> None:
    assert "without a model" in stage.scene.details(stage.answer).all_text.lower() or "by code" in (
        stage.scene.details(stage.answer).all_text.lower()
    )


@row(20)
def nothing_conclusive(stage: Stage) -> None:
    answer = stage.fresh(QUIET)
    assert "Nothing conclusive" in answer.text
    assert "ff_approve" not in str(answer.blocks)


@row(21)
def similar_or_none(stage: Stage) -> None:
    assert "Nothing similar is known." in stage.scene.details(stage.fresh(QUIET)).all_text


def uploaded(stage: Stage, answer: Message) -> list[str]:
    stage.scene.in_thread(answer, "The full report")
    now = stage.scene.slack.snapshot()
    return sorted(name.rpartition(".")[2] for message in now.thread(answer) for name in _names(stage, message))


def _names(stage: Stage, message: Message) -> list[str]:
    files = {file.id: file for file in stage.scene.slack.snapshot().files}
    return [files[one].name for one in message.files]


@row(22)
def plot_and_report(stage: Stage) -> None:
    assert uploaded(stage, stage.answer) == ["html", "png"]
    assert all(file.alt_text for file in stage.scene.slack.snapshot().files)


@row(23)
def hostile_text(stage: Stage) -> None:
    answer = stage.fresh(HOSTILE)
    said = str([message.blocks for message in (answer, *stage.scene.slack.snapshot().thread(answer))])
    assert "<!channel>" not in said
    assert PING not in said


@row(24)
def notification(stage: Stage) -> None:
    assert "*" not in stage.answer.text
    assert "Look at" in stage.answer.text


# --- follow-up ----------------------------------------------------------------------------------------------------


def asked(stage: Stage, words: str, said: str, *, by: str = "bob") -> Message:
    stage.scene.user(by).reply(stage.answer, words)
    return stage.scene.in_thread(stage.answer, said)


@row(25)
def without_mention(stage: Stage) -> None:
    assert asked(stage, "what was it compared with?", "ompared").by_app


@row(26)
def once(stage: Stage) -> None:
    stage.scene.slack.faults.delivery("events_api", "duplicate")
    asked(stage, 'did anybody see "neutrinos"?', "neutrinos")
    asked(stage, 'did anybody see "quantum flux"?', "quantum flux")
    replies = [one.all_text for one in stage.scene.slack.snapshot().thread(stage.answer) if one.by_app]
    assert [sum(word in one for one in replies) for word in ("neutrinos", "quantum flux")] == [1, 1]


@row(27)
def not_in_the_logs(stage: Stage) -> None:
    reply = asked(stage, 'did anybody see "warp core"?', "No line holds")
    assert len(reply.all_text.removeprefix(reply.text).strip().splitlines()) <= 5


@row(28)
def edits_are_no_questions(stage: Stage) -> None:
    mine = stage.scene.user("bob").reply(stage.answer, 'did anybody see "tachyons"?')
    stage.scene.in_thread(stage.answer, "tachyons")
    stage.scene.user("bob").edit(mine, 'did anybody see "gluons"?')
    asked(stage, 'did anybody see "bosons"?', "bosons")
    assert not any("gluons" in one.all_text for one in stage.scene.slack.snapshot().thread(stage.answer) if one.by_app)


@row(29)
def two_at_once(stage: Stage) -> None:
    stage.scene.user("bob").reply(stage.answer, 'did anybody see "leptons"?')
    stage.scene.user("carol").reply(stage.answer, 'did anybody see "quarks"?')
    first, second = (stage.scene.in_thread(stage.answer, word) for word in ("leptons", "quarks"))
    assert first.ts != second.ts


@row(30)
def after_a_restart(stage: Stage) -> None:
    try:
        with serving(stage.scene.slack, stage.scene.folders):
            asked(stage, 'did anybody see "hadrons"?', "hadrons")
    finally:
        stage.scene.slack.use_http(f"http://127.0.0.1:{stage.scene.bot.request_port}/slack/events")


# --- approve ------------------------------------------------------------------------------------------------------


def approved(stage: Stage, answer: Message, *, by: str = "alice") -> Message:
    stage.scene.user(by).click(answer, "ff_approve")
    return stage.scene.until(answer, "Fault pattern `")


def undone(stage: Stage, answer: Message, *, by: str = "alice") -> Message:
    stage.scene.user(by).click(stage.scene.shown(answer), "Undo")
    return stage.scene.until(answer, "Approve and archive")


@row(31)
def only_approvers(stage: Stage) -> None:
    stage.scene.user("carol").click(stage.answer, "ff_approve")
    stage.scene.told("carol", BARRED)
    with stage.other("nobody", approvers="") as scene:
        answer = scene.diagnosed("f02", stage.room())
        scene.user("alice").click(answer, "ff_approve")
        scene.told("alice", "the list of approvers is empty")


@row(32)
def one_click_and_errors_inline(stage: Stage) -> None:
    approved(stage, stage.answer)
    answer = undone(stage, stage.answer)
    alice = stage.scene.user("alice")
    alice.click(answer, "ff_edit")
    alice.wait_for_modal("Root cause", PATIENCE)
    assert "title" in alice.submit({"title": " "}).errors
    alice.cancel()


@row(33)
def two_clicks_one_pattern(stage: Stage) -> None:
    stage.scene.user("alice").click(stage.answer, "ff_approve")
    stage.scene.user("alice").click(stage.answer, "ff_approve")
    stage.scene.told("alice", "has approved it")
    undone(stage, stage.scene.until(stage.answer, "Fault pattern `"))


@row(34)
def old_revisions_are_refused(stage: Stage) -> None:
    answer, alice = stage.fresh("f07"), stage.scene.user("alice")
    alice.click(answer, "ff_edit")
    alice.wait_for_modal("Root cause", PATIENCE)
    alice.submit({"cause": "Somebody pulled the cable"})
    stage.scene.until(answer, "Fault pattern `")
    undone(stage, answer)
    alice.click(stage.scene.copied(answer), "ff_approve")
    stage.scene.told("alice", "The note has changed")


@row(35)
def named_and_undone(stage: Stage) -> None:
    said = approved(stage, stage.answer).all_text
    assert "*Approved* by <@U0ALICE>" in said
    assert "UTC" in said
    undone(stage, stage.answer)


@row(36)
def reject_asks_why(stage: Stage) -> None:
    alice = stage.scene.user("alice")
    alice.click(stage.answer, "ff_reject")
    alice.wait_for_modal("Why is it wrong?", PATIENCE)
    assert alice.submit({"reason": " "}).errors
    alice.submit({"reason": "A drill"})
    assert "A drill" in stage.scene.until(stage.answer, "*Rejected*").all_text
    undone(stage, stage.answer)


@row(37)
def only_approved_is_confirmed(stage: Stage) -> None:
    answer = stage.fresh("f42")
    assert "confirmed by alice" not in answer.all_text.lower().replace("not confirmed by", "")


# --- operate ------------------------------------------------------------------------------------------------------


@row(38)
def model_down(stage: Stage) -> None:
    with stage.other("down", model="toy", model_url="http://127.0.0.1:9/v1", model_timeout=2) as scene:
        answer = scene.diagnosed("f02", stage.room())
        assert "Look at" in answer.text
        assert "model" in scene.details(answer).all_text.lower()


@row(40)
def secrets_and_health(stage: Stage) -> None:
    with urllib.request.urlopen(f"http://127.0.0.1:{stage.scene.bot.health_port}/healthz") as health:
        assert health.status == 200
    answer = stage.fresh(HOSTILE)
    assert KEY not in str([message.blocks for message in (answer, *stage.scene.slack.snapshot().thread(answer))])
    assert next(iter(stage.scene.bot.state.audit.entries(team=TEAM))).what == "asked"


@row(41)
def eight_lines(stage: Stage) -> None:
    for job in ("f01", "f07", QUIET):
        assert lines_of(stage.fresh(job).blocks) <= 8


@row(42)
def silent_when_not_asked(stage: Stage) -> None:
    before = len(stage.scene.slack.snapshot().thread(stage.answer))
    stage.scene.user("bob").reply(stage.answer, "thanks!")
    stage.scene.user("bob").reply(stage.answer, ":+1:")
    stage.scene.user("bob").reply(stage.answer, "<@U0CAROL> can you look?")
    asked(stage, 'did anybody see "muons"?', "muons")
    assert len(stage.scene.slack.snapshot().thread(stage.answer)) == before + 5
    clock, state = stage.scene.bot.state.clock, stage.scene.bot.state
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("bot.slack.questions_in_thread.LAPSE", timedelta(0))
        stage.scene.user("bob").reply(stage.answer, 'did anybody see "pions"?')
        stage.scene.ask("help", stage.answer.channel, by="carol")
        stage.scene.told("carol", "unwatch JOB")
    assert clock is state.clock
    assert not any("pions" in one.all_text for one in stage.scene.slack.snapshot().thread(stage.answer) if one.by_app)


@row(43)
def nothing_to_diagnose(stage: Stage) -> None:
    room = stage.room()
    stage.scene.ask(RUNNING, room, by="bob")
    assert "ff_watch" in str(stage.scene.told("bob", "is still running").blocks)
    assert stage.scene.posts(room) == ()


@row(44)
def any_sentence(stage: Stage) -> None:
    room = stage.room()
    stage.scene.ask("why did F02 fail?", room)
    assert "f02" in stage.scene.answer("f02", room).text
    stage.scene.ask("f41", room, by="bob")
    assert "ff_diagnose" in str(stage.scene.told("bob", "Did you mean").blocks)


@row(46)
def status_at_once(stage: Stage) -> None:
    before = len(stage.scene.slack.journal.calls("assistant.threads.setStatus", "ok"))
    asked(stage, 'did anybody see "kaons"?', "kaons")
    assert len(stage.scene.slack.journal.calls("assistant.threads.setStatus", "ok")) == before + 1


@row(47)
def the_queue_moves(stage: Stage) -> None:
    with thinking(stage, "moves") as (scene, message):
        for job in ("f07", QUIET):
            scene.ask(job, message.channel, by="carol")
            scene.parent(job, message.channel)
        last = scene.until(scene.parent(QUIET, message.channel), "place 2 in the queue")
        scene.ask("cancel f07", message.channel)
        scene.until(last, "next in the queue")
        scene.ask(f"cancel {QUIET}", message.channel)
        scene.until(last, "*Cancelled*")


@row(48)
def by_itself(stage: Stage) -> None:
    room, place = stage.room(), stage.place / "followed"
    write(place / "jobs" / "old-1", status="FAILED")
    folders = Folders(place, place / "jobs", place / "cache")
    try:
        with serving(stage.scene.slack, folders, follow_channel=room) as scene:
            followed = Followed(scene, room)
            eventually(scene.bot.state.followed.begun, "the first look")
            followed.fails("new-1", run="llama", attempt=1)
            followed.look()
            first = scene.answer("new-1", room)
            followed.fails("new-2", run="llama", attempt=2)
            followed.look()
            scene.in_thread(first, "new-2: ")
    finally:
        stage.scene.slack.use_http(f"http://127.0.0.1:{stage.scene.bot.request_port}/slack/events")


@row(49)
def alerts(stage: Stage) -> None:
    with stage.other("alerts", alert_channels=ALERTS) as scene:
        alert = scene.slack.post_by_program(ALERTS, "[FIRING:1] JobFailed job_id=f02")
        assert "f02" in scene.in_thread(alert, "Run again").text


@row(50)
def webhook(stage: Stage) -> None:
    with listening() as (address, heard), stage.other("webhook", webhook=address, webhook_secret="ours") as scene:
        scene.diagnosed("f02", stage.room())
        eventually(lambda: heard, "a delivery")
    headers, body = heard[0].headers, heard[0].body
    signed = hmac.new(b"ours", f"{headers['X-Firstfault-Timestamp']}.".encode() + body, hashlib.sha256).hexdigest()
    assert headers["X-Firstfault-Signature"] == f"v1={signed}"
    assert json.loads(body)["job"] == "f02"


@row(51)
def other_organisations(stage: Stage) -> None:
    server = stage.scene.slack._server
    people = server.people
    again = next(
        one for block in stage.answer.blocks for one in block.get("elements", ()) if one.get("action_id") == "ff_again"
    )
    payload = people.interaction("block_actions", people.member("bob"))
    payload["user"] = {**payload["user"], "team_id": "T0ELSEWHERE"}
    payload |= {"channel": {"id": stage.answer.channel}, "actions": [again], "trigger_id": "elsewhere", "team": None}
    assert server.run(people.hand_over("interactive", payload)).acknowledged
    stage.scene.user("bob").wait_for_ephemeral("another organisation", 5)


@row(52)
def agent_view(stage: Stage) -> None:
    stage.scene.user("bob").open_home()
    stage.scene.slack.wait_for(lambda now: any(view.user == "U0BOB" for view in now.homes), PATIENCE, "the home of bob")
    assert stage.scene.slack.journal.calls("assistant.threads.setSuggestedPrompts", "ok")


@row(53)
def scopes_are_used(stage: Stage) -> None:
    assert set(stage.scene.slack.workspace.app.scopes) == set(scopes())
    assert not [call for call in stage.scene.slack.journal.calls() if call.outcome == "missing_scope"]


@row(54)
def readable_on_a_phone(stage: Stage) -> None:
    assert "pdf" in uploaded(stage, stage.answer)


@row(55)
def gist_for_screen_readers(stage: Stage) -> None:
    assert "Confidence:" in stage.answer.text
    assert "Next:" in stage.answer.text


@row(56)
def asked_how(stage: Stage) -> None:
    alice = stage.scene.user("alice")
    approved(stage, stage.answer)
    alice.wait_for_modal("meets this fault next", PATIENCE)
    alice.submit({"how": "dmesg shows the kill"})
    stage.scene.until(stage.answer, "dmesg shows the kill")
    with open_fault_library(load_settings()) as library:
        team = [entry for entry in library.entries(Status.APPROVED) if entry.origin is Origin.TEAM]
    assert [entry.pattern.confirmation for entry in team] == ["dmesg shows the kill"]
    undone(stage, stage.answer)


@row(57)
def approvers_by_team(stage: Stage) -> None:
    room = stage.room()
    with stage.other("teams", approvers=f"{room}:U0CAROL, U0BOB") as scene:
        here, there = scene.diagnosed("f02", room), scene.diagnosed("f02", stage.room())
        scene.user("carol").click(there, "ff_approve")
        scene.told("carol", BARRED)
        scene.user("carol").click(here, "ff_approve")
        scene.until(here, "*Approved* by <@U0CAROL>")


@row(58)
def symptoms_warn(stage: Stage) -> None:
    answer = stage.fresh("f02")
    (approve,) = [
        one for block in answer.blocks for one in block.get("elements", ()) if one.get("action_id") == "ff_approve"
    ]
    assert "Many causes leave" in str(approve.get("confirm"))


@row(59)
def this_was_it(stage: Stage) -> None:
    answer = stage.fresh("f02")
    faults = stage.scene.in_thread(answer, "Known faults like this")
    stage.scene.user("bob").click(faults, "ff_fits", "This was it")
    stage.scene.told("bob", "was it")


@row(60)
def next_step(stage: Stage) -> None:
    assert "*Next*" in stage.answer.all_text
    assert violations({"blocks": list(stage.answer.blocks), "text": stage.answer.text}) == []
