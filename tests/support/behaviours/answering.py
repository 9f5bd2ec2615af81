"""What an answer says, and how questions about it are answered."""

import re

from benchmarks.support.patience import PATIENCE
from slacksim import Message
from tests.support.behaviours.stage import Stage, row
from tests.support.scene import serving
from tests.support.scene_jobs import HOSTILE, PING, QUIET


@row(14)
def where_to_look(stage: Stage) -> None:
    assert stage.answer.text.startswith("f01: Look at tr-03")


@row(15)
def stage_iteration_zone(stage: Stage) -> None:
    answer = stage.fresh("f07")
    assert "iteration" in answer.all_text
    assert re.search(r"\*Since\* (?:before )?20\d\d-\d\d-\d\d \d\d:\d\d:\d\d(?: UTC|, log time)", answer.all_text)


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
    assert uploaded(stage, stage.answer) == ["html", "pdf"]
    assert "Anomaly score" in stage.scene.in_thread(stage.answer, "in numbers").text
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
