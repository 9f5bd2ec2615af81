"""Everything that leaves the machine passes bot/outgoing/door.py, and no secret passes with it."""

import ast
import json
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

from bot.outgoing.door import clean_file, for_model, for_slack, response_for_slack
from tests.support.places import ROOT
from tests.test_house import MAY_IMPORT, modules

SECRET = "hf_" + "aZ3" * 12
# What can speak to a network, by its first name or, where a package does more than that, by a longer one.
NETWORK = {
    "_socket", "aiohttp", "asyncio.open_connection", "asyncio.open_unix_connection", "asyncio.start_server", "botocore",
    "boto3", "dask", "distributed", "fsspec", "ftplib", "grpc", "http.client.HTTPConnection",
    "http.client.HTTPSConnection", "http.server", "httpcore", "httpx", "httpx2", "imaplib", "logging.handlers",
    "multiprocessing.connection", "openai", "paramiko", "poplib", "requests", "s3fs", "slack_bolt", "slack_sdk",
    "smtplib", "socket", "socketserver", "ssl", "telnetlib", "urllib.request", "urllib3", "waitress", "websocket",
    "websockets", "xmlrpc",
}  # fmt: skip
MAY_SPEAK = {
    "bot/outgoing/door.py": "the door: uploads",
    "bot/commandline/end_signals.py": "a pair of sockets of this process, to which a signal writes",
    "bot/slack/connect.py": "listens to Slack; every acknowledgement passes the door",
    "bot/slack/boundary.py": "tells people privately what went wrong; every text passes the door",
    "bot/slack/click_listener.py": "names the acknowledgement of a click in a type",
    "bot/slack/intake.py": "what the inbox takes in; nothing leaves by it",
    "bot/chat/openai_model.py": "the one client of the model; every message passes the door",
    "bot/chat/bounds.py": "its HTTP client, which openai is given",
    "bot/fetch/cluster.py": "tells Dask workers which files to read: paths, no text of logs",
    "bot/slack/http_server.py": "hears Alertmanager, answers /healthz and /metrics: numbers, no text of logs",
    "sources/bucket.py": "reads jobs; writes nothing",
}
# Names of slack_sdk and slack_bolt that stand for types and errors; where a WebClient is made is tested by itself.
HARMLESS = {
    "App", "AuthorizeResult", "SlackApiError", "SlackClientError", "SlackRequestError", "SlackResponse", "WebClient",
}  # fmt: skip
PROCESSES = {  # who may start programs: a program could be curl
    "bot/commandline/check_nodes/run.py", "bot/commandline/local_slack.py", "bot/jobs/child_process.py",
    "faultlib/probe.py", "sources/flows/nfdump.py",
}  # fmt: skip


def house() -> list[Path]:
    return [path for package in MAY_IMPORT if package not in ("lab", "slacksim") for path in modules(package)]


@cache
def tree(path: Path) -> tuple[ast.AST, ...]:
    """Every node of a file; each is read once, however many rules it is held against."""
    return tuple(ast.walk(ast.parse(path.read_text(encoding="utf-8"))))


def names_of(path: Path) -> Iterator[str]:
    """Full names of what a file imports, at any depth of it."""
    for node in tree(path):
        if isinstance(node, ast.Import):
            yield from (name.name for name in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            yield from (f"{node.module}.{name.name}" for name in node.names)
        elif isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            yield f"{node.value.id}.{node.attr}"


def speaks(name: str) -> bool:
    package, _, last = name.partition(".")
    if package in ("slack_sdk", "slack_bolt") and name.rpartition(".")[2] in HARMLESS:
        return False
    return (
        package in NETWORK
        or any(name == module or name.startswith(module + ".") for module in NETWORK if "." in module)
        or (package == "http" and (last.startswith("server") or last == "client"))  # import http.client, and all of it
    )


@pytest.mark.parametrize(
    "name",
    ["http.client", "http.client.HTTPSConnection", "socket.create_connection", "ssl", "logging.handlers.HTTPHandler",
     "multiprocessing.connection.Client", "requests", "asyncio.open_connection", "http.server"],
)  # fmt: skip
def test_what_speaks_is_known(name: str) -> None:
    """Python's own ways out, too; the errors of HTTP are none."""
    assert speaks(name)
    assert not speaks("http.client.HTTPException")


def test_nothing_but_the_door_and_who_passes_it_speaks_to_a_network() -> None:
    """A new file that sends by itself fails here: send by the door, or add it above with the reason."""
    speakers = {str(path.relative_to(ROOT)) for path in house() if any(map(speaks, names_of(path)))}

    assert speakers == set(MAY_SPEAK)


def test_a_client_of_slack_is_made_in_one_place() -> None:
    """Elsewhere WebClient is a type: only PatientClient, whose calls pass the door, is ever made."""
    made = {
        str(path.relative_to(ROOT))
        for path in house()
        for node in tree(path)
        if (isinstance(node, ast.Call) and getattr(node.func, "id", getattr(node.func, "attr", "")) == "WebClient")
        or (isinstance(node, ast.ClassDef) and "WebClient" in {getattr(base, "id", "") for base in node.bases})
    }

    assert made == {"bot/slack/client.py"}


def starts(name: str) -> bool:
    package, _, last = name.partition(".")
    own = package == "os" and last.startswith(("system", "popen", "exec", "spawn", "posix_spawn"))
    return own or package in ("subprocess", "pty") or name.startswith("asyncio.create_subprocess")


def test_few_files_start_programs() -> None:
    """A program could send as well; who starts one is known by name."""
    starters = {str(path.relative_to(ROOT)) for path in house() if any(map(starts, names_of(path)))}

    assert starters == PROCESSES


def test_texts_for_slack_are_clean_and_its_own_words_stay() -> None:
    """Ids, times and tokens are Slack's; whatever else is a string is taken for text of a log."""
    call = {
        "channel": "C0ALERTS",
        "metadata": {"event_payload": {"token": SECRET}},
        "text": f"it said {SECRET}",
        "blocks": [{"type": "section", "block_id": SECRET, "text": {"type": "mrkdwn", "text": f"`{SECRET}`"}}],
    }

    sent = for_slack(call)

    assert sent["metadata"] == call["metadata"]
    assert sent["blocks"][0]["block_id"] == SECRET
    assert (sent["text"], sent["blocks"][0]["text"]["text"]) == ("it said [key-1]", "`[key-1]`")


def test_a_form_that_slack_sdk_has_written_as_text_stays_json() -> None:
    """The files of an upload are JSON in a form."""
    files = json.dumps([{"id": "F0", "title": 'a "quoted" password="hunter2" title'}])

    sent = json.loads(for_slack({"files": files})["files"])

    assert sent == [{"id": "F0", "title": 'a "quoted" password="[secret-1]" title'}]


def test_a_name_that_is_there_is_not_given_again() -> None:
    """Two secrets of one message have two names, though one was replaced before."""
    sent = for_slack({"text": f"{SECRET}", "blocks": ["password=[key-1]"]})

    assert sent["text"] == "[key-2]"


def test_acknowledgements_models_and_files_are_clean() -> None:
    """The other ways out."""
    assert SECRET not in response_for_slack(json.dumps({"view": {"title": SECRET}}))
    assert response_for_slack("") == ""
    assert SECRET not in response_for_slack(SECRET)
    assert SECRET not in response_for_slack(json.dumps(SECRET))
    assert SECRET not in response_for_slack(json.dumps([SECRET]))
    assert SECRET not in for_model(SECRET)
    assert SECRET.encode() not in clean_file(f"<pre>{SECRET}</pre>".encode())


@pytest.mark.parametrize("data", [b"\x89PNG\r\n\x1a\n\x00", b"\xff\xfe"])
def test_a_picture_stays_as_it_is(data: bytes) -> None:
    """What is no text holds no text."""
    assert clean_file(data) == data
