"""Asking: every way to do it, and a plain answer to everything that cannot be diagnosed."""

import pytest

from benchmarks.support.patience import PATIENCE
from benchmarks.support.stage import FINISHED, eventually
from tests.support.scene import ELSEWHERE, Scene
from tests.support.scene_jobs import NO_LOGS, QUIET, RUNNING

GROUP = "G0ALICEBOB"  # direct messages of alice, bob and the bot


@pytest.mark.parametrize("typed", ["", "../../etc/passwd", "two words and more"])
def test_what_is_no_job_gets_the_usage_and_failed_jobs_to_pick_from(scene: Scene, room: str, typed: str) -> None:
    """2: told to the asker alone; nothing is posted."""
    carol = scene.user("carol")
    before = len(scene.slack.snapshot().ephemerals("carol"))

    carol.command(f"/diagnose {typed}", room)
    told = scene.slack.wait_for(lambda now: now.ephemerals("carol")[before:], PATIENCE, "a private answer")[-1]

    assert "Which job?" in told.all_text or "cannot be a job id" in told.all_text
    assert "j03" in told.all_text  # the latest by its id
    assert scene.posts(room) == ()


def test_a_failed_job_of_the_list_is_diagnosed_by_picking_it(scene: Scene, room: str) -> None:
    """2: the menu below the usage asks for the job."""
    carol = scene.user("carol")
    carol.command("/diagnose", room)
    usage = scene.slack.wait_for(
        lambda now: next((m for m in now.ephemerals("carol") if m.channel == room), None), PATIENCE, "the usage"
    )

    carol.click(usage, "ff_diagnose", QUIET)

    assert scene.parent(QUIET, room).text.startswith(f"{QUIET}: ")


def test_help_status_list_and_cancel_are_told_to_the_asker_alone(scene: Scene, room: str) -> None:
    """3: each word has its answer; list names what was diagnosed here, cancel what there is to cancel."""
    scene.diagnosed(QUIET, room)

    for word, answer in (
        ("help", "shows the latest diagnoses"),
        ("status", "Nothing waits"),
        ("list", f"{QUIET}> answered"),
        (f"cancel {QUIET}", "No diagnosis of `x7003` waits or runs"),
    ):
        scene.user("bob").command(f"/diagnose {word}", room)
        assert scene.told("bob", answer).channel == room
    assert len([call for call in scene.posts(room) if "thread_ts" not in call.args]) == 1


def test_a_mention_asks_as_the_command_does(scene: Scene, room: str) -> None:
    """4: and both events that one mention makes are one question."""
    scene.user("bob").say(f"@firstfault diagnose {QUIET}", room)

    answer = scene.answer(QUIET, room)

    assert "<@U0BOB>" in scene.details(answer).all_text
    assert len([call for call in scene.posts(room) if "thread_ts" not in call.args]) == 1


def test_the_shortcut_answers_in_the_thread_of_the_message(scene: Scene, room: str) -> None:
    """4: an alert of another system names the job; the diagnosis stands below it."""
    alert = scene.user("bob").say(f"ALERT job {QUIET} has failed on 8 nodes", room)

    outcome = scene.user("carol").shortcut("diagnose_message", alert)
    answer = scene.slack.wait_for(
        lambda now: next((m for m in now.thread(alert) if FINISHED in m.all_text), None), PATIENCE, "the answer"
    )

    assert outcome.acknowledged
    assert answer.text.startswith(f"{QUIET}: Nothing conclusive")
    assert "<@U0CAROL>" in scene.details(answer).all_text


def test_a_shortcut_on_a_message_without_a_job_says_how_to_ask(scene: Scene, room: str) -> None:
    """2, 4: nothing is guessed."""
    chat = scene.user("bob").say("good morning", room)

    scene.user("bob").shortcut("diagnose_message", chat)

    assert scene.told("bob", "Which job?").channel == room


def test_a_direct_message_is_enough(scene: Scene) -> None:
    """5: no mention is needed, the job's id alone is a question, and the thread below it can be asked."""
    carol = scene.user("carol")

    carol.direct(QUIET)
    answer = scene.answer(QUIET, carol.direct_channel)
    carol.reply(answer, "what was it compared with?")

    assert "Compared with" in scene.in_thread(answer, "Compared").all_text
    assert answer.text.startswith(f"{QUIET}: Nothing conclusive")


def test_in_a_group_message_a_mention_asks_and_talk_does_not(scene: Scene) -> None:
    """45: what people say to each other is theirs; below the answer no mention is needed."""
    bob = scene.user("bob")
    bob.say("f07 has failed again", GROUP)
    bob.say("<@U0FIRSTFAULT> why did f07 fail?", GROUP)
    answer = scene.in_full("f07", GROUP)

    scene.user("alice").reply(answer, 'did anybody see "hyperons"?')

    assert "hyperons" in scene.in_thread(answer, "hyperons").all_text
    assert [one.ts for one in scene.slack.snapshot().messages(GROUP) if one.by_app and not one.is_reply] == [answer.ts]


def test_where_the_bot_is_not_it_says_how_to_invite_it(scene: Scene) -> None:
    """6: privately, with the command to repeat; nothing is queued, and after the invitation it works."""
    bob = scene.user("bob")

    scene.ask(QUIET, ELSEWHERE, by="bob")
    told = scene.told("bob", "I am not in this channel")
    eventually(lambda: not scene.bot.state.runs.active("T0FIRSTFAULT", ELSEWHERE), "a queue without this channel")
    bob.command("/invite @firstfault", ELSEWHERE)
    scene.ask(QUIET, ELSEWHERE, by="bob")

    assert "/invite @" in told.all_text
    assert f"/diagnose {QUIET}" in told.all_text
    assert scene.answer(QUIET, ELSEWHERE).text.startswith(f"{QUIET}: Nothing conclusive")


def test_an_unknown_job_is_told_with_names_that_look_like_it(scene: Scene, room: str) -> None:
    """7: privately; a typing error is nobody else's business."""
    scene.ask("f41", room, by="bob")

    told = scene.told("bob", "There is no job f41")

    assert "Did you mean" in told.all_text
    assert scene.posts(room) == ()


@pytest.mark.parametrize(
    ("job", "said", "offered"),
    [
        (NO_LOGS, "has no log files", ()),
        (RUNNING, "is still running", ("ff_watch", "ff_anyway")),
        ("s01", "completed", ("ff_anyway",)),
    ],
)
def test_a_job_with_nothing_to_diagnose_is_told_to_the_asker_alone(
    scene: Scene, room: str, job: str, said: str, offered: tuple[str, ...]
) -> None:
    """7, 43: no logs, still running, succeeded: each in words of its own, and nobody else reads them."""
    scene.ask(job, room, by="bob")

    told = scene.told("bob", said)
    actions = [one["action_id"] for block in told.blocks for one in block.get("elements", ()) if "action_id" in one]

    assert [action for action in actions if action != "ff_diagnose"] == list(offered)
    assert scene.posts(room) == ()


def test_a_job_asked_again_is_shown_and_not_done_again(scene: Scene, room: str) -> None:
    """8: when it is finished, with a link to the answer and a button that does it again."""
    answer = scene.diagnosed(QUIET, room)

    scene.ask(QUIET, room, by="bob")
    told = scene.told("bob", "was diagnosed before")
    scene.user("bob").click(told, "Run again")
    again = scene.answer_after(answer, QUIET)

    assert f"p{answer.ts.replace('.', '')}" in told.all_text
    assert "<@U0BOB>" in scene.details(again).all_text
