"""The app's home is a page that Slack takes, whatever jobs are called."""

from dataclasses import replace

from bot.slack.home import HomeContent, home_view
from bot.state.values import Status
from bot.state.watches import Watch
from tests.support.slack_payloads import violations
from tests.support.slack_samples import AT, EVIL, run


def watch(job: str) -> Watch:
    return Watch("w-1", "T0", "C0", "", job, "U0ALICE", AT, AT)


def test_slack_takes_every_home() -> None:
    """Empty, full, and with names that want to be markup; only what an approver may decide waits for one."""
    evil = [replace(run(status), id=f"r-{status}", job=EVIL[:120]) for status in Status]
    pages = [
        HomeContent(),
        HomeContent(
            asked=evil, waiting=evil, watches=[watch(EVIL)] * 99, failed=[EVIL] * 9, library="12 patterns in use."
        ),
        HomeContent(asked=evil[:1], waiting=[], addresses={evil[0].id: "https://x.slack.com/archives/C0/p1"}),
    ]

    shown = [home_view(page) for page in pages]

    assert [violations(view) for view in shown] == [[], [], []]
    assert ["Waits for your decision" in str(view) for view in shown] == [False, True, False]
    assert "<!channel>" not in str(shown[1])
