"""What an answer says: where to look, what that stands on, what is missing, and nothing that log text could do."""

import re
from dataclasses import replace
from pathlib import Path

import pytest

from benchmarks.support.patience import PATIENCE
from slacksim import File, Message
from tests.support.scene import Folders, Scene, local_slack, serving
from tests.support.scene_jobs import HOSTILE, KEY, ORDER, QUIET, RUNNING
from tests.support.slack_payloads import violations
from tests.support.states import latest


@pytest.fixture(scope="module")
def answer(scene: Scene) -> Message:
    """f07, diagnosed once."""
    return scene.diagnosed("f07")


@pytest.fixture(scope="module")
def hostile(scene: Scene) -> Message:
    """A job whose log is an attack."""
    return scene.diagnosed(HOSTILE)


def everything(scene: Scene, message: Message) -> list[Message]:
    return [message, *(reply for reply in scene.slack.snapshot().thread(message) if reply.by_app)]


def shared_files(scene: Scene, message: Message) -> dict[str, File]:
    """What was uploaded below an answer, by name."""
    comment = scene.in_thread(message, "The full report")
    return {file.name: file for file in map(scene.slack.snapshot().file, comment.files)}


def test_the_first_line_says_where_to_look_and_when(answer: Message) -> None:
    """14, 15, 24: the notification names job, node, stage and iteration; below stand date and time zone."""
    assert re.match(r"f07: Look at gpu018: .* during training, (?:after|at) iteration 30", answer.text)
    assert "\n" not in answer.text
    assert len(answer.text) <= 380
    when = r"\*Since\* 2026-11-22 \d\d:\d\d:\d\d(?: UTC|, log time)"
    assert re.search(when, answer.all_text)


def test_every_claim_cites_evidence_that_opens_its_raw_lines(scene: Scene, answer: Message) -> None:
    """16: the modal marks the cited lines among their neighbours, with file and number."""
    carol = scene.user("carol")
    details = scene.details(answer)
    ids = re.findall(r"^\*(E\d)\*", details.all_text, re.MULTILINE)

    carol.click(details, "ff_lines")
    view = carol.wait_for_modal("line ", PATIENCE)

    assert ids[0] == "E1"
    assert re.search(r"\[E\d", details.all_text)
    assert view.title == "E1: raw lines"
    assert re.search(r"logs/\S+.* line \d+", view.all_text)
    assert "▶" in view.all_text
    carol.cancel()


def test_every_piece_of_evidence_opens_its_own_lines(scene: Scene, answer: Message) -> None:
    """16: each button, and each choice of the menu below them, shows what that id stands on, marked in its context."""
    carol, seen = scene.user("carol"), []
    answer = scene.details(answer)
    buttons = [block for block in answer.blocks if block.get("accessory", {}).get("action_id") == "ff_lines"]
    menus = [one for block in answer.blocks for one in block.get("elements", ()) if one.get("type") == "static_select"]
    choices = [option["value"] for menu in menus for option in menu["options"]]

    for block in buttons:
        carol.click(scene.copied(replace(answer, blocks=(block,))), "ff_lines")
        seen.append(carol.wait_for_modal("▶", PATIENCE))
        carol.cancel()
    for choice in choices:
        carol.click(answer, "ff_more_lines", choice)
        seen.append(carol.wait_for_modal("▶", PATIENCE))
        carol.cancel()

    opened = [view.title.partition(":")[0] for view in seen]
    assert opened == [block["accessory"]["value"].partition(":")[2] for block in buttons] + [
        choice.partition(":")[2] for choice in choices
    ]
    assert len(set(opened)) == len(opened) >= 4
    assert all(re.search(r"`logs/\S+` line \d+", view.all_text) for view in seen)


def test_every_notification_stands_alone(scene: Scene, answer: Message) -> None:
    """24: what a phone shows of each message in channel and thread is one line of words, without markup."""
    shown = [message.text for message in everything(scene, answer) if not message.files]

    assert len(shown) >= 3
    assert re.fullmatch(r"f07: \d pieces of evidence, what was read, what to check\.", shown[1])
    assert all(text.strip() and "\n" not in text and len(text) <= 380 for text in shown)
    assert not [text for text in shown if re.search(r"[*`]|<[@!h]|&lt;!date", text)]


def test_confidence_and_coverage_are_those_of_the_core(scene: Scene, answer: Message) -> None:
    """17, 18: the words of the diagnosis; what was read, what it was compared with, and that this is little."""
    run = latest(scene.bot.state, "T0FIRSTFAULT", answer.channel, "f07")
    assert run is not None
    saved = scene.bot.state.runs.answer(run.id)
    assert saved is not None
    assert saved.diagnosis is not None

    assert f"*Confidence* {saved.diagnosis.confidence}" in answer.all_text
    details = scene.details(answer).all_text
    assert "8 of 8 ranks" in details
    assert "2 successful jobs: s01, s03" in details
    assert "*Weak comparison* only 2 successful jobs" in details


def test_code_says_that_it_wrote_the_note(scene: Scene, answer: Message) -> None:
    """19: without a model nothing claims to be one's."""
    assert "Written by code from the evidence" in scene.details(answer).all_text


def test_nothing_conclusive_is_said_with_what_to_get(scene: Scene, room: str) -> None:
    """20, 21: no suspect, no confidence in nobody, no approve button; and that nothing similar is known."""
    quiet = scene.diagnosed(QUIET, room)

    assert quiet.text.startswith(f"{QUIET}: Nothing conclusive")
    assert "Check first" in scene.details(quiet).all_text
    assert "Nothing similar is known." in scene.details(quiet).all_text
    assert "Suspect" not in scene.details(quiet).all_text
    assert "*Confidence*" not in quiet.all_text
    assert "Approve and archive" not in quiet.all_text


def test_the_full_report_is_in_the_thread(scene: Scene, answer: Message) -> None:
    """22: one self-contained page that names the job; its title stands as text for those who do not see it."""
    file = shared_files(scene, answer)["f07.html"]

    assert file.alt_text == "f07: report"
    assert file.data is not None
    assert b"<svg" in file.data
    assert b"aria-label=" in file.data or b"<title>" in file.data


def test_charts_are_in_the_thread_and_in_words(scene: Scene, answer: Message) -> None:
    """22, 54: suspects and numbers as Slack draws them; the text says what they show, and no picture repeats it."""
    charts = scene.in_thread(answer, "in numbers")
    files = shared_files(scene, answer)

    assert [block["type"] for block in charts.blocks] == ["section", *["data_visualization"] * 2, "data_table"]
    assert charts.text.startswith("f07. Anomaly score of 4 nodes, 0 to 1. Suspects: gpu018 ")
    assert violations({"blocks": list(charts.blocks), "text": charts.text}) == []
    assert "f07.pdf" in files
    assert "f07.png" not in files


def test_a_workspace_without_charts_is_shown_the_picture(folders: Folders, tmp_path: Path) -> None:
    """22, 54: a picture beside the report, whose alternative text says what it shows; nothing stands there twice."""
    with (
        local_slack(lacking=("data_visualization", "data_table")) as slack,
        serving(slack, replace(folders, home=tmp_path)) as scene,
    ):
        answer = scene.diagnosed("f07")
        scene.in_thread(answer, "The full report")
        plot = shared_files(scene, answer)["f07.png"]

        assert not [one for one in slack.snapshot().thread(answer) if "in numbers" in one.all_text]

    assert plot.mimetype == "image/png"
    assert plot.title == "f07: plot"
    assert plot.alt_text.startswith("f07. Anomaly score of 4 nodes, 0 to 1. Suspects: gpu018 ")
    assert "Marked iterations: 30" in plot.alt_text
    assert plot.data is not None
    assert plot.data.startswith(b"\x89PNG")


def test_where_nothing_points_anywhere_nothing_is_uploaded(scene: Scene, room: str) -> None:
    """20, 22, 43: a report of nothing is noise."""
    quiet = scene.diagnosed(QUIET, room)

    scene.user("alice").reply(quiet, "what was it compared with?")
    scene.in_thread(quiet, "Compared with")
    assert not [message for message in everything(scene, quiet) if message.files]


def test_hostile_log_text_breaks_nothing_and_pings_nobody(scene: Scene, hostile: Message) -> None:
    """23: no mention, no control byte, no order of a log is more than text; Slack took every block as it was."""
    said = "\n".join(message.all_text for message in everything(scene, hostile))

    assert "CUDA out of memory" in said
    assert not re.search(r"<!(?!date\^\d+\^[^|<>]*\|[^<>]*>)|<@(?!U0ALICE>,|U0ALICE>\.)", said)
    assert not re.search(r"[\x00-\x08\x0b-\x1f\x7f\u202a-\u202e]", said)
    assert not [
        call for call in scene.slack.journal.calls() if "invalid_blocks" in call.outcome or "too_long" in call.outcome
    ]
    assert ORDER not in hostile.text


def test_no_secret_of_a_log_reaches_slack(scene: Scene, hostile: Message) -> None:
    """40: not in the answer, its thread, the raw lines or the form."""
    alice = scene.user("alice")

    alice.click(scene.details(hostile), "ff_lines")
    lines = alice.wait_for_modal("▶", PATIENCE)
    alice.cancel()
    alice.click(hostile, "ff_edit")
    form = alice.wait_for_modal("Root cause", PATIENCE)
    alice.cancel()
    alice.reply(hostile, "what did rank 1 complain about?")
    reply = scene.in_thread(hostile, "rank 1")

    shown = [message.all_text for message in everything(scene, hostile)]
    assert not [
        text for text in (*shown, lines.all_text, str(form.content), reply.all_text) if KEY[:5] in text
    ]  # nor its beginning, where a line is cut


def test_a_running_job_is_not_judged(scene: Scene, room: str) -> None:
    """7: it may still go on, so nobody is accused and nothing can be archived, where somebody wants to see it."""
    scene.ask(RUNNING, room, by="bob")
    scene.user("bob").click(scene.told("bob", "is still running"), "ff_anyway")
    running = scene.in_full(RUNNING, room)

    assert "still running" in running.text
    assert "Approve and archive" not in running.all_text
