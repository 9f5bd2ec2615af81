"""The patient client against a server that plays Slack's bad days; nobody sleeps."""

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, HTTPServer

import pytest
from slack_sdk.errors import SlackApiError

from bot.slack.client import FIRST_PAUSE, LONGEST_WAIT, ONCE_ONLY, TRIES, PatientClient, UnclearAnswer

Answer = Callable[[BaseHTTPRequestHandler], None]
UNCLEAR = ("500", "no answer", "half an answer", "no JSON", "internal_error", "service_unavailable")


@dataclass
class Slack:
    """Answers one after the other, the last one for good; what it was asked, and how long its caller slept."""

    url: str
    answers: list[Answer]
    asked: list[str] = field(default_factory=list)
    slept: list[float] = field(default_factory=list)

    def client(self, *, tries: int = TRIES) -> PatientClient:
        return PatientClient("xoxb-1", self.url, tries=tries, sleep=self.slept.append)


@contextmanager
def slack(*answers: Answer) -> Iterator[Slack]:
    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            self.rfile.read(int(self.headers["Content-Length"] or 0))
            playing.asked.append(self.path.rpartition("/")[2])
            answer = playing.answers.pop(0) if len(playing.answers) > 1 else playing.answers[0]
            answer(self)

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002 the library's name
            pass

    with HTTPServer(("127.0.0.1", 0), Handler) as server:
        playing = Slack(f"http://127.0.0.1:{server.server_port}/api/", list(answers))
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
        thread.start()
        try:
            yield playing
        finally:
            server.shutdown()
            thread.join()


def says(
    body: str = '{"ok": true, "ts": "1.0"}', status: int = 200, *, length: int = 0, retry_after: str = ""
) -> Answer:
    def answer(handler: BaseHTTPRequestHandler) -> None:
        handler.send_response(status)
        if retry_after:
            handler.send_header("Retry-After", retry_after)
        handler.send_header("Content-Length", str(length or len(body)))
        handler.end_headers()
        handler.wfile.write(body.encode())

    return answer


def refuses(word: str, status: int = 200, retry_after: str = "") -> Answer:
    return says(f'{{"ok": false, "error": "{word}"}}', status, retry_after=retry_after)


def unclear(how: str) -> Answer:
    return {
        "500": says("", 500),
        "no answer": lambda handler: handler.connection.close(),
        "half an answer": says('{"ok": tr', length=100),
        "no JSON": says("<html>"),
    }.get(how) or refuses(how)


@pytest.mark.parametrize(
    ("limited", "seconds"),
    [
        (refuses("ratelimited", 429, retry_after="7"), 7.0),
        (refuses("ratelimited", 429), 1.0),
        (refuses("ratelimited", 429, retry_after="soon"), 1.0),
        (refuses("ratelimited"), 1.0),
    ],
    ids=["with a time", "without", "with nonsense", "as a word only"],
)
@pytest.mark.parametrize("method", ["chat.postMessage", "users.info"])
def test_a_rate_limit_is_waited_for(method: str, limited: Answer, seconds: float) -> None:
    """As long as Slack says; a post as well, because one that was refused is not there."""
    with slack(limited, says()) as playing:
        answer = playing.client().api_call(method)
    assert answer["ts"] == "1.0"
    assert (playing.asked, playing.slept) == ([method] * 2, [seconds])


def test_a_long_rate_limit_is_the_callers_business() -> None:
    """Nobody is held up for longer than a person waits."""
    limited = refuses("ratelimited", 429, retry_after=str(LONGEST_WAIT + 1))
    with slack(limited) as playing, pytest.raises(SlackApiError):
        playing.client().api_call("users.info")
    assert (len(playing.asked), playing.slept) == (1, [])


@pytest.mark.parametrize("how", UNCLEAR)
@pytest.mark.parametrize("method", ["auth.test", "chat.update", "views.update"])
def test_what_may_be_done_twice_is_tried_again(method: str, how: str) -> None:
    """After no clear answer, with pauses that double; the third answer counts."""
    with slack(unclear(how), unclear(how), says()) as playing:
        assert playing.client().api_call(method)["ok"]
    assert (len(playing.asked), playing.slept) == (3, [FIRST_PAUSE, 2 * FIRST_PAUSE])


@pytest.mark.parametrize("how", UNCLEAR)
@pytest.mark.parametrize("method", sorted(ONCE_ONLY))
def test_what_may_stand_there_already_is_not_sent_again(method: str, how: str) -> None:
    """A post whose answer is lost is one request, and an error that says that it is not known what became of it."""
    with slack(unclear(how)) as playing, pytest.raises(UnclearAnswer, match=method):
        playing.client().api_call(method)
    assert (playing.asked, playing.slept) == ([method], [])


def test_it_gives_up() -> None:
    """After three tries, with what went wrong in words."""
    with slack(unclear("no answer")) as playing, pytest.raises(UnclearAnswer, match=r"^auth.test: \w"):
        playing.client().api_call("auth.test")
    assert len(playing.asked) == TRIES


def test_a_clear_no_is_told_at_once() -> None:
    """Nothing gets better by asking again."""
    with slack(refuses("channel_not_found")) as playing, pytest.raises(SlackApiError, match="channel_not_found"):
        playing.client().api_call("chat.update")
    assert (len(playing.asked), playing.slept) == (1, [])


@pytest.mark.parametrize("answer", [refuses("ratelimited", 429), says("", 500)], ids=["429", "500"])
def test_who_has_patience_of_its_own_is_not_held_up(answer: Answer) -> None:
    """With one try the answer comes at once, whatever it is."""
    with slack(answer) as playing, pytest.raises((SlackApiError, UnclearAnswer)):
        playing.client(tries=1).api_call("auth.test")
    assert (len(playing.asked), playing.slept) == (1, [])


def test_nobody_at_the_address_is_told_in_the_systems_words() -> None:
    """Who set the address wrong reads why there is no answer, and the token stands nowhere."""
    with slack(says()) as playing:
        pass
    with pytest.raises(UnclearAnswer, match=r"^auth.test: Connection refused$"):
        playing.client().api_call("auth.test")
