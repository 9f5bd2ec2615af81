"""The app's home is a page that Slack takes, whatever jobs are called."""

from dataclasses import replace

from bot.slack.home import HomeContent, Undecided, home_view, suggested_prompts
from bot.state.small_values import Status
from bot.state.watches import Watch
from tests.support.diagnoses import job_wide
from tests.support.slack_payloads import violations
from tests.support.slack_samples import AT, EVIL, run


def watch(job: str) -> Watch:
    return Watch("w-1", "T0", "C0", "", job, "U0ALICE", AT, AT)


def test_slack_takes_every_home() -> None:
    """Empty, full, and with names that want to be markup; only what an approver may decide waits for one."""
    evil = [replace(run(status), id=f"r-{status}", job=EVIL[:120]) for status in Status]
    waiting = [Undecided(hostile_run, job_wide(), 1) for hostile_run in evil]
    pages = [
        HomeContent(),
        HomeContent(
            asked=evil,
            waiting=waiting,
            running=[EVIL[:120]] * 9,
            direct="D0ALICE",
            watches=[watch(EVIL)] * 99,
            failed=[EVIL] * 9,
            library="12 patterns in use.",
            headlines={hostile_run.id: EVIL for hostile_run in evil},
        ),
        HomeContent(asked=evil[:1], waiting=[], addresses={evil[0].id: "https://x.slack.com/archives/C0/p1"}),
    ]

    shown = [home_view(page) for page in pages]

    assert [violations(view) for view in shown] == [[], [], []]
    assert ["Waits for your decision" in str(view) for view in shown] == [False, True, False]
    assert "<!channel>" not in str([block["text"] for block in shown[1]["blocks"] if "text" in block])


def test_what_is_suggested_fits() -> None:
    """Four questions at most, about the latest failed jobs, and what else there is; none where none failed."""
    assert [len(suggested_prompts(["f1"] * number)) for number in (0, 1, 9)] == [1, 2, 4]
    assert suggested_prompts(["f07"])[0] == {"title": "Why did f07 fail?", "message": "Why did f07 fail?"}
