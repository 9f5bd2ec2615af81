"""Who may talk to the local Slack, and the control API over HTTP."""

import subprocess
import sys
from typing import Any

import pytest
from slack_sdk import WebClient

from slacksim import LocalSlackError, Slack, start
from tests.support.places import ROOT
from tests.support.plain_http import Answer, ask
from tests.support.slack_calls import ALERTS, post
from tests.support.toy_bot import ToyBot

NO_PATH = "/p/guessed/"


def do(slack: Slack, **order: Any) -> Answer:
    return ask(f"{slack.page_url}do", order)


@pytest.mark.parametrize(
    "headers",
    [
        {"Host": "firstfault.example.com"},
        {"Origin": "https://example.com"},
        {"Origin": "http://127.0.0.1:1"},
        {"Origin": "null"},
        {"Sec_Fetch_Site": "cross-site"},
        {"Sec_Fetch_Site": "same-site", "Sec_Fetch_Mode": "no-cors"},
    ],
)
def test_other_web_pages_are_turned_away(slack: Slack, headers: dict[str, str]) -> None:
    """Neither another name for this machine nor a request of another page gets in, even with the right secret."""
    assert ask(f"{slack.page_url}state", **headers).status == 403
    assert ask(f"{slack.api_url}api.test", **headers).status == 403


def test_the_page_needs_its_secret(slack: Slack) -> None:
    """Page, state and acts are below an address that cannot be guessed."""
    base = slack.api_url.removesuffix("/api/")

    statuses = [ask(base + path).status for path in ("/", NO_PATH, f"{NO_PATH}state", f"{NO_PATH}journal")]

    assert statuses == [404] * 4
    assert ask(f"{base}{NO_PATH}do", {"do": "say"}).status == 404
    assert len(slack.page_url.rstrip("/").rpartition("/")[2]) >= 32


def test_the_page_brings_a_strict_policy(slack: Slack) -> None:
    """No inline script, no foreign source, no frame around it, no referrer."""
    headers = ask(slack.page_url).headers

    policy = headers["Content-Security-Policy"]
    assert "default-src 'none'" in policy
    assert "script-src 'self'" in policy
    assert "unsafe" not in policy
    assert "frame-ancestors 'none'" in policy
    assert headers["Referrer-Policy"] == "no-referrer"
    assert headers["X-Content-Type-Options"] == "nosniff"


@pytest.mark.parametrize("name", ["..%2Fdriver.py", "%2Fetc%2Fpasswd", "missing.js", "index.py", ".."])
def test_only_files_of_the_page_are_served(slack: Slack, name: str) -> None:
    """No path leads out of the folder."""
    assert ask(f"{slack.page_url}page/{name}").status == 404


def test_the_page_loads_nothing_from_elsewhere() -> None:
    """No address of another machine stands in the page's files, but for the name space of SVG."""
    found = [
        f"{path.name}: {line.strip()}"
        for path in sorted((ROOT / "slacksim" / "page").iterdir())
        for line in path.read_text(encoding="utf-8").splitlines()
        if "://" in line.replace("http://www.w3.org/2000/svg", "").replace("https?://", "")
        if not line.lstrip().startswith("//")
    ]

    assert found == []


def test_the_page_never_makes_markup_of_text() -> None:
    """No HTML string is ever parsed: text only becomes text nodes."""
    scripts = [path.read_text(encoding="utf-8") for path in (ROOT / "slacksim" / "page").glob("*.js")]

    assert len(scripts) >= 8
    for word in ("innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "eval(", "new Function", "srcdoc"):
        assert not any(word in script for script in scripts), word


def test_uploaded_pages_are_sealed(slack: Slack, client: WebClient) -> None:
    """A report opens in a sandbox without an origin; an unknown type is only ever downloaded."""
    client.files_upload_v2(channel=ALERTS, content="<script>1</script>", filename="r.html")
    client.files_upload_v2(channel=ALERTS, content="MZ", filename='a".exe')
    page, program = slack.snapshot().files

    base = slack.api_url.removesuffix("/api/")
    shown = ask(f"{base}/file/{page.key}/r.html")
    loaded = ask(f"{base}/file/{program.key}/x")

    assert shown.headers["Content-Security-Policy"].startswith("sandbox allow-scripts; default-src 'none'")
    assert shown.headers["Content-Type"].startswith("text/html")
    assert loaded.headers["Content-Disposition"] == 'attachment; filename="a.exe"'
    assert loaded.headers["Content-Type"] == "application/octet-stream"
    assert ask(f"{base}/file/{page.id}/x").status == 404


def test_a_program_can_act_as_a_person(slack: Slack, bot: ToyBot) -> None:
    """Everything that the Python driver does can be done over HTTP."""
    said = do(slack, do="say", user="alice", channel=ALERTS, text="f02 failed").json
    asked = do(slack, do="command", user="alice", channel=ALERTS, text="/diagnose f02").json
    message = slack.wait_for_message("#training-alerts", "Start with `node-01`")
    slack.wait_for_message("#training-alerts", "Plot and full report.")
    here = {"channel": ALERTS, "ts": message.ts}
    done = [
        do(slack, do="react", user="bob", name="eyes", **here),
        do(slack, do="click", user="alice", action="edit", **here),
        do(slack, do="submit", user="alice", values={"cause": "node-01 hung"}),
        do(slack, do="shortcut", user="bob", callback_id="diagnose_message", **here),
        do(slack, do="fault", kind="duplicate", target="events_api"),
        do(slack, do="fault", kind="error", target="chat.update"),
        do(slack, do="open_home", user="bob"),
    ]
    seen = ask(f"{slack.page_url}state?as=alice").json
    journal = ask(f"{slack.page_url}journal").json

    assert said["result"]["text"] == "f02 failed"
    assert asked["result"]["acknowledged"]
    assert [answer.status for answer in done] == [200] * 7
    assert bot.archived == [("node-01 hung", "U0ALICE")]
    assert seen["me"] == "U0ALICE"
    assert [c["method"] for c in journal["calls"] if c["method"] == "views.open"] == ["views.open"]


@pytest.mark.parametrize(
    ("order", "status"),
    [
        ({"do": "explode"}, 400),
        ({"do": "say", "user": "alice"}, 400),
        ({"do": "say", "user": "alice", "channel": ALERTS, "text": "x", "more": 1}, 400),
        ({"do": "say", "user": "nobody", "channel": ALERTS, "text": "x"}, 409),
        ({"do": "submit", "user": "alice"}, 409),
        ({"do": "fault", "kind": "explode"}, 409),
        ([], 400),
    ],
)
def test_wrong_orders_are_told(slack: Slack, order: Any, status: int) -> None:
    """An order that makes no sense is refused with words, never with a broken server."""
    answer = ask(f"{slack.page_url}do", order)

    assert answer.status == status
    assert answer.json["error"]


def test_orders_are_json_only(slack: Slack) -> None:
    """A form that another page could send blindly is no order."""
    order = b'{"do": "say", "user": "alice", "channel": "C0ALERTS", "text": "x"}'

    assert ask(f"{slack.page_url}do", order, Content_Type="text/plain").status == 415
    assert slack.snapshot().everything == ()


def test_a_program_can_wait_for_news(slack: Slack) -> None:
    """With after= the answer comes when there is something newer, or after the given seconds."""
    first = ask(f"{slack.page_url}state?as=alice").json
    quiet = ask(f"{slack.page_url}state?as=alice&after={first['version']}&seconds=0.05").json
    slack.user("bob").say("news")
    news = ask(f"{slack.page_url}state?as=alice&after={first['version']}").json

    assert quiet["version"] == first["version"]
    assert [message["text"] for message in news["messages"]] == ["news"]
    assert ask(f"{slack.page_url}state?as=nobody").status == 404
    assert ask(f"{slack.page_url}state?after=x").status == 400


def test_a_person_sees_only_their_own(slack: Slack, client: WebClient) -> None:
    """The state of one person holds no direct message or ephemeral message of another."""
    slack.user("alice").direct("for the app")
    client.chat_postEphemeral(channel=ALERTS, user="U0ALICE", text="for alice")
    post(client, text="for all")

    texts = {
        name: {message["text"] for message in ask(f"{slack.page_url}state?as={name}").json["messages"]}
        for name in ("alice", "bob")
    }

    assert texts == {"alice": {"for the app", "for alice", "for all"}, "bob": {"for all"}}


@pytest.mark.parametrize("how", ["refresh_requested", "close", "hard", "mute"])
def test_sockets_can_be_ended_over_http(slack: Slack, how: str) -> None:
    """Without a connection it is no error."""
    assert do(slack, do="disconnect", how=how).json == {"ok": True, "result": None}


def test_a_socket_needs_a_ticket(slack: Slack) -> None:
    """The address of apps.connections.open works once; others are refused."""
    base = slack.api_url.removesuffix("api/")

    assert ask(f"{base}link/?ticket=guessed").status == 403


def test_a_taken_port_is_told(slack: Slack) -> None:
    """A second server on the same port ends with the reason."""
    port = int(slack.api_url.split(":")[2].split("/")[0])

    with pytest.raises(LocalSlackError, match=f"cannot listen on port {port}"), start(port=port):
        pass


def test_it_runs_alone() -> None:
    """``python -m slacksim`` tells what a browser and a bot need, and answers."""
    command = [sys.executable, "-m", "slacksim", "--port", "0"]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            told = [process.stdout.readline().split() for _ in range(6)]
            page, api = told[0][-1], told[2][0].removeprefix("SLACK_API_URL=")
            statuses = ask(page).status, ask(f"{api}auth.test").json["error"]
        finally:
            process.terminate()

    assert statuses == (200, "not_authed")
    assert [line[0].partition("=")[0] for line in told[3:]] == [
        "SLACK_BOT_TOKEN",
        "SLACK_APP_TOKEN",
        "SLACK_SIGNING_SECRET",
    ]
