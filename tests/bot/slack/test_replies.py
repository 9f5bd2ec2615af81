"""Private answers: each says what happened and what to do, whatever was typed."""

import json
from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest

from bot.outgoing.errors import Failure
from bot.slack import actions, private_replies
from bot.slack.blocks import MAX_JSON, Message, json_size
from bot.slack.thread import failure_message
from bot.state.drafts import Decision, Verdict
from bot.state.errors import StaleRevision
from bot.state.small_values import Status
from bot.text.harmless import storable
from core.errors import BadJobId, JobNotFound, NoLogs
from faultlib.pattern import Category, Entry, Origin, Pattern, Sighting, Step
from faultlib.pattern import Status as InLibrary
from slacksim.blocks import problems_of_message
from sources.job_ids import check_job_id
from tests.support.slack_samples import AT, EVIL, as_read, entities, run, strings

GOLDEN = Path(__file__).parent / "golden"
ADDRESS = "https://example.slack.com/archives/C0/p1"
APPROVED = Decision("r-7f3k2q", 1, Verdict.APPROVED, "U0ADA", AT, pattern="network-link-down-2")


def known_kind(foreign: str) -> Entry:
    """A pattern of the team whose words are somebody's."""
    words = Pattern(
        id="network-link-down",
        title=storable(foreign).strip()[:150] or "?",
        category=Category.HARDWARE,
        cause="A",
        fix="B",
    )
    step = Step(version=1, action="approve", who="ada", at="2026-11-20T16:02:11Z")
    seen = Sighting(job=storable(foreign)[:60] or "f01", at=step.at)
    return Entry(
        pattern=words,
        version=1,
        revision=2,
        status=InLibrary.APPROVED,
        origin=Origin.TEAM,
        history=(step,),
        sightings=(seen,),
    )


def messages(foreign: str = "f07") -> Iterator[tuple[str, Message]]:
    asked_run = run(job=foreign)
    yield "help", private_replies.HELP
    yield "usage", private_replies.usage_reply(("f07", "1437825", foreign))
    yield (
        "unknown_job",
        private_replies.refused_reply(JobNotFound(f"There is no job {foreign} below examples.", "Did you mean f07?")),
    )
    yield (
        "no_logs",
        private_replies.refused_reply(
            NoLogs(f"Job {foreign} has no log files.", "Log files belong into logs/."), ("f07",)
        ),
    )
    yield "failure", failure_message(Failure(f"It broke: {foreign}", "Ask again.", "X", "e-1"))
    yield "not_in_channel", private_replies.not_in_channel_reply(foreign)
    yield "already", private_replies.already_reply(asked_run, ADDRESS)
    yield "answered", private_replies.answered_reply(asked_run, ADDRESS)
    yield (
        "list",
        private_replies.list_reply((asked_run, replace(asked_run, status=Status.FAILED)), {asked_run.id: ADDRESS}),
    )
    yield "list_empty", private_replies.list_reply(())
    waiting = replace(asked_run, id="r-2", status=Status.QUEUED)
    yield "status", private_replies.status_reply((replace(asked_run, status=Status.RUNNING), waiting), {"r-2": 1})
    yield "status_empty", private_replies.status_reply((), {})
    yield "cancelled", private_replies.cancelled_reply(replace(asked_run, status=Status.CANCELLED))
    yield "cancelled_late", private_replies.cancelled_reply(asked_run)
    yield "nothing_to_cancel", private_replies.nothing_to_cancel_reply(foreign)
    yield "not_yours", private_replies.not_yours_reply(asked_run)
    yield "not_approver", private_replies.not_approver_reply(f"<@U0ADA>, ada@example.org, @oncall, {foreign}")
    yield "no_approvers", private_replies.NO_APPROVERS
    yield "join", private_replies.join_reply(asked_run, 2, known_kind(foreign))
    yield "decided", private_replies.decided_reply(APPROVED)
    yield "stale", private_replies.stale_reply(StaleRevision(seen=1, revision=2, by="U0BOB", at=AT))
    yield "nothing_to_undo", private_replies.NOTHING_TO_UNDO
    yield "gone", private_replies.GONE
    yield "thanks", private_replies.THANKS


def test_slack_takes_every_private_answer() -> None:
    """Whatever was typed as a job id, the answer is valid and pings nobody."""
    for name, message in [*messages(), *messages(EVIL), *messages(""), *messages("x" * 9_000)]:
        assert problems_of_message(list(message.blocks)) == (), name
        assert json_size(message.blocks) <= MAX_JSON, name
        assert message.text, name
        found = [entity for text in (message.text, *strings(list(message.blocks))) for entity in entities(text)]
        ours = [
            entity
            for entity in found
            if entity in {"<@U0ALICE>", "<@U0BOB>", "<@U0ADA>"} or entity.startswith(f"<{ADDRESS}|")
        ]
        assert found == ours, name


def test_private_answers_look_as_recorded(golden: Callable[[Path, str], None]) -> None:
    """All of them in one file, as a reviewer reads them in the diff."""
    everything = {name: message.arguments() for name, message in messages()}
    golden(GOLDEN / "replies.json", json.dumps(everything, indent=1, ensure_ascii=False) + "\n")


def test_each_refusal_is_another_answer() -> None:
    """Unknown job, no logs, bad id: each in plain words of its own, with what to try."""
    with pytest.raises(BadJobId) as bad:
        check_job_id("../../etc/passwd")
    shown = [
        "\n".join(strings(list(private_replies.refused_reply(error).blocks)))
        for error in (
            bad.value,
            JobNotFound("There is no job f70.", "Did you mean f07?"),
            NoLogs("Job f70 has no log files.", "Look."),
        )
    ]

    assert len(set(shown)) == 3
    assert "Did you mean f07?" in shown[1]


def test_only_real_ids_are_offered() -> None:
    """A folder with a strange name is no choice, and no choice comes twice."""
    menu = private_replies.usage_reply(("f07", "../x", "f07", "<!channel>", "f08")).blocks[1]["elements"][0]

    assert menu["action_id"] == actions.DIAGNOSE
    assert [option["value"] for option in menu["options"]] == ["f07", "f08"]


def test_long_lists_are_cut_and_counted() -> None:
    """A list shows what a person reads, and says how many more there are."""
    runs = tuple(replace(run(), id=f"r-{number}", asked_at=AT + timedelta(minutes=number)) for number in range(30))

    assert "and 20 older ones" in "\n".join(strings(list(private_replies.list_reply(runs).blocks)))
    assert "and 20 more runs" in "\n".join(strings(list(private_replies.status_reply(runs, {}).blocks)))


def test_every_status_has_a_word() -> None:
    """A list says of each run what became of it."""
    shown = [private_replies.list_reply((run(status),)).blocks for status in Status]

    assert len({json.dumps(blocks) for blocks in shown}) == len(Status)


def test_the_second_click_is_told_who_was_first() -> None:
    """Nobody wonders whether the own click counted."""
    assert "<@U0ADA> has approved it as `network-link-down-2`, 2026-11-21 04:11 UTC." in as_read(
        "\n".join(strings(list(private_replies.decided_reply(APPROVED).blocks)))
    )


def test_the_invitation_can_be_copied() -> None:
    """Where the bot is not a member, the exact command is given."""
    shown = "\n".join(strings(list(private_replies.not_in_channel_reply("f07").blocks)))

    assert "`/invite @Firstfault`" in shown
    assert "`/diagnose f07`" in shown
