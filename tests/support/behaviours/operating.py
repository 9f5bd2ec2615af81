"""What whoever runs the bot relies on, and what came later."""

import hashlib
import hmac
import json
import urllib.request
from dataclasses import replace
from datetime import timedelta

import pytest

from benchmarks.support import quick
from benchmarks.support.patience import PATIENCE
from benchmarks.support.stage import PATIENT, eventually, local_slack, make_stage
from bot.library.session import open_fault_library
from bot.settings import load_settings
from bot.slack.manifest import scopes
from bot.slack.parent_message import lines_of
from bot.state.answers import answer_text
from faultlib.pattern import Origin, Status
from slacksim import Snapshot
from tests.e2e_faults.test_restarts import test_bot_is_killed_in_a_run as killed_in_a_run
from tests.support.behaviours.answering import asked, uploaded
from tests.support.behaviours.approving import approved, undone
from tests.support.behaviours.asking import thinking
from tests.support.behaviours.stage import Stage, row
from tests.support.followed import Followed, write
from tests.support.program import listening
from tests.support.scene import ALERTS, PARTNER, SHARED, Folders, serving
from tests.support.scene_jobs import HOSTILE, KEY, QUIET, RUNNING
from tests.support.slack_payloads import violations

TEAM = "T0FIRSTFAULT"
GROUP = "G0ALICEBOB"  # direct messages of alice, bob and the bot
BARRED = "You are not on the list"


@row(38)
def model_down(stage: Stage) -> None:
    with stage.other("down", model="toy", model_url="http://127.0.0.1:9/v1", model_timeout=2) as scene:
        answer = scene.diagnosed("f02", stage.room())
        assert "Look at" in answer.text
        assert "model" in scene.details(answer).all_text.lower()


@row(39)
def nothing_lost_and_nothing_twice(stage: Stage) -> None:
    """Slack stumbles; and kill -9 of a bot in the middle of a run, with its sockets cut: the next one finishes."""
    room = stage.room()
    for trouble in ("ratelimited", "error", "lost"):
        stage.scene.slack.faults.call("chat.postMessage", trouble)
    answer = stage.scene.diagnosed("f42", room)
    assert [one.ts for one in stage.scene.slack.snapshot().messages(room) if not one.is_reply] == [answer.ts]
    run = stage.scene.bot.state.threads.run_of(TEAM, room, answer.ts)
    saved = stage.scene.bot.state.runs.answer(run or "")
    assert saved is not None
    shared, home = stage.place / "shared", stage.place / "killed"
    (shared / "library").mkdir(parents=True)
    home.mkdir()
    (shared / quick.ANSWER).write_text(answer_text(saved), encoding="ascii")
    with local_slack(timing=PATIENT) as slack:
        killed = make_stage(slack, shared, home)
        by_socket = {**killed.environment, "FIRSTFAULT_SLACK_TRANSPORT": "socket"}
        killed_in_a_run(replace(killed, environment=by_socket))


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
    uploaded(stage, stage.answer)  # the last that the bot says by itself
    before = len(stage.scene.slack.snapshot().thread(stage.answer))
    stage.scene.user("bob").reply(stage.answer, "thanks!")
    stage.scene.user("bob").reply(stage.answer, ":+1:")
    stage.scene.user("bob").reply(stage.answer, "<@U0CAROL> can you look?")
    asked(stage, 'did anybody see "muons"?', "muons")
    assert len(stage.scene.slack.snapshot().thread(stage.answer)) == before + 5
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("bot.slack.text_listener.LAPSE", timedelta(0))
        stage.scene.user("bob").reply(stage.answer, 'did anybody see "pions"?')
        stage.scene.ask("help", stage.answer.channel, by="carol")
        stage.scene.told("carol", "unwatch JOB")
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


@row(45)
def group_messages(stage: Stage) -> None:
    """A mention asks, what people say to each other does not; below the answer no mention is needed."""
    bob, scene = stage.scene.user("bob"), stage.scene
    bob.say("f07 has failed again", GROUP)
    bob.say("<@U0FIRSTFAULT> why did f07 fail?", GROUP)
    answer = scene.in_full("f07", GROUP)
    scene.user("alice").reply(answer, 'did anybody see "hyperons"?')
    assert "hyperons" in scene.in_thread(answer, "hyperons").all_text
    assert [one.ts for one in scene.slack.snapshot().messages(GROUP) if one.by_app and not one.is_reply] == [answer.ts]


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
    scene, room = stage.scene, stage.room()
    without_a_team(stage)
    for deed in (
        lambda: scene.ask("f01", room, by="dave"),
        lambda: scene.user("dave").click(stage.answer, "ff_again"),
        lambda: scene.user("dave").say("<@U0FIRSTFAULT> why did f01 fail?", SHARED),
    ):
        scene.slack.reload()
        deed()
        scene.told("dave", "of another organisation")
    scene.ask("f01", SHARED)
    scene.told("alice", "People of another organisation read this channel")
    assert scene.posts(room) == scene.posts(SHARED) == ()
    with stage.other("partner", allowed_teams=PARTNER) as allowing:
        assert "f02" in allowing.diagnosed("f02", SHARED, by="dave").text


def without_a_team(stage: Stage) -> None:
    """A click as an app hears of it that is installed for a whole organisation."""
    server = stage.scene.slack._server
    people = server.people
    again = next(
        one for block in stage.answer.blocks for one in block.get("elements", ()) if one.get("action_id") == "ff_again"
    )
    payload = people.interaction("block_actions", people.member("bob"))
    place = {"id": stage.room()}
    payload |= {"channel": place, "actions": [again], "trigger_id": "elsewhere", "team": None}
    assert server.run(people.hand_over("interactive", payload)).acknowledged
    stage.scene.slack.wait_for(
        lambda now: any("<@U0BOB>" in str(one.blocks) for one in now.messages(stage.answer.channel) if one.by_app),
        PATIENCE,
        "a second run for bob",
    )


def at_home(stage: Stage, name: str, words: str) -> None:
    """The app's page of a person, once it holds these words."""
    person = stage.scene.user(name)
    person.open_home()

    def holds(now: Snapshot) -> bool:
        return any(view.user == person.id and words in view.all_text for view in now.homes)

    stage.scene.slack.wait_for(holds, PATIENCE, f"the home of {name}, with {words!r}")


@row(52)
def agent_view(stage: Stage) -> None:
    bob = stage.scene.user("bob")
    stage.fresh("f15", by="bob")  # nobody has decided about it
    at_home(stage, "alice", "Waits for your decision")
    at_home(stage, "bob", "Failed lately")
    bob.open_home("messages")
    stage.scene.slack.wait_for(
        lambda _: stage.scene.slack.journal.calls("assistant.threads.setSuggestedPrompts", "ok"), PATIENCE, "prompts"
    )
    (call, *_) = stage.scene.slack.journal.calls("assistant.threads.setSuggestedPrompts", "ok")
    question = str(call.args["prompts"][0]["message"])
    job = question.split()[2]
    bob.direct(question)
    assert job in stage.scene.answer(job, bob.direct_channel).text


@row(53)
def scopes_are_used(stage: Stage) -> None:
    assert set(stage.scene.slack.workspace.app.scopes) == set(scopes())
    assert not [call for call in stage.scene.slack.journal.calls() if call.outcome == "missing_scope"]


@row(54)
def readable_on_a_phone(stage: Stage) -> None:
    """A PDF; Slack's own charts and table, in place of which a workspace that has none is shown the picture."""
    assert "pdf" in uploaded(stage, stage.answer)
    charts = stage.scene.in_thread(stage.answer, "in numbers")
    assert {"data_visualization", "data_table"} <= {block["type"] for block in charts.blocks}
    now = stage.scene.slack.snapshot()
    shown = {file for message in now.thread(stage.answer) for file in message.files}  # others asked of the same job
    (sheets,) = [file for file in now.files if file.id in shown and file.name == "f01.pdf"]
    assert (sheets.data or b"").startswith(b"%PDF-")


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
