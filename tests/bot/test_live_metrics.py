"""Metrics live from Prometheus: the real program where it is installed, and a server that answers as it does."""

import json
import math
import shutil
import socket
import subprocess
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import parse_qs

import pytest

from benchmarks.support.patience import PATIENCE
from bot.fetch.prometheus import authorization_for, with_live_metrics
from bot.settings import load_settings
from core.diagnose import diagnose_parsed
from core.errors import BadSettings
from tests.core.metrics.test_metrics import END, stopped
from tests.support.jobs import START, parse
from tests.support.program import listening

EPOCH = int(START.timestamp())


def clock_of(node: int, second: int) -> float:
    """A clock that fell on node-2 ten minutes before the end."""
    return (210 if node == 2 and second > 1800 else 1410) + 5 * math.sin(second + node)


def matrix() -> bytes:
    """A range query's answer as Prometheus 2.42 gives it."""
    series = [
        {
            "metric": {"__name__": "DCGM_FI_DEV_SM_CLOCK", "Hostname": f"node-{node}", "gpu": "0"},
            "values": [[EPOCH + second, str(clock_of(node, second))] for second in range(0, END, 15)],
        }
        for node in range(4)
    ]
    return json.dumps({"status": "success", "data": {"resultType": "matrix", "result": series}}).encode()


def test_a_node_that_leaves_its_peers_is_named_from_prometheus() -> None:
    """As from a file in metrics/; what was asked holds the query, its nodes and its time, and nothing else."""
    with listening(body=matrix()) as (address, heard):
        parsed, skipped = with_live_metrics(parse(stopped()), address, "")

    answer = diagnose_parsed(parsed)
    assert skipped == ()
    assert [suspect.node for suspect in answer.nodes] == ["node-2"]
    assert answer.metrics[0].lines[0].file == "metrics/prometheus.json"
    (asked,) = heard
    form = parse_qs(asked.body.decode())
    assert asked.path == "/api/v1/query_range"
    assert set(form) == {"query", "start", "end", "step"}
    assert 'Hostname=~"(node-0|node-1|node-2|node-3)(:[0-9]+)?"' in form["query"][0]
    assert float(form["end"][0]) - float(form["start"][0]) == pytest.approx(
        END + 60
    )  # the first line comes after a minute
    assert "Authorization" not in asked.headers


def test_a_query_of_ones_own_is_sent_with_the_nodes_in_it() -> None:
    """Points of names count as points."""
    with listening(body=matrix()) as (address, heard):
        with_live_metrics(parse(stopped()), address, 'up{instance=~"$nodes"}')

    assert parse_qs(heard[0].body.decode())["query"] == ['up{instance=~"node-0|node-1|node-2|node-3"}']


@pytest.mark.parametrize(
    ("status", "body", "says"),
    [
        (400, b'{"status":"error","errorType":"bad_data","error":"invalid parameter"}', "bad_data: invalid parameter"),
        (503, b"down", "status 503"),
        (302, b"", "status 302"),
        (200, b"<html>", "no JSON"),
        (200, b"[1]", "none of Prometheus"),
    ],
)
def test_what_goes_wrong_is_told_and_ends_no_diagnosis(status: int, body: bytes, says: str) -> None:
    """In the words of Prometheus where it has some; no redirect is followed."""
    elsewhere = {"Location": "http://127.0.0.1:1/"} if status == 302 else None
    with listening(status, body, elsewhere) as (address, heard):
        parsed, (skipped,) = with_live_metrics(parse(stopped()), address, "")

    assert skipped.step == "metrics"
    assert says in skipped.reason
    assert parsed.job.metrics == ()
    assert len(heard) == 1


def test_nobody_there_is_told_without_the_address_of_a_secret() -> None:
    """A name and password in the address are not told."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    _, (skipped,) = with_live_metrics(parse(stopped()), f"http://me:hunter2@127.0.0.1:{port}", "")

    assert "127.0.0.1 gave no metrics" in skipped.reason
    assert "hunter2" not in skipped.reason


def header(monkeypatch: pytest.MonkeyPatch, address: str, **settings: str) -> str | None:
    """The proof that a server is shown when it is asked at this address."""
    with listening(body=matrix()) as (home, asked):
        for name, value in {"METRICS": home, **settings}.items():
            monkeypatch.setenv(f"FIRSTFAULT_{name}", value)
        place = address.format(home=home, port=home.rpartition(":")[2])
        with_live_metrics(parse(stopped()), place, "", authorization=authorization_for(place, load_settings()))
    return asked[0].headers.get("Authorization") if asked else None


@pytest.mark.parametrize(
    ("settings", "shown"),
    [
        ({"METRICS_TOKEN": "s3cret"}, "Bearer s3cret"),
        ({"METRICS_USER": "me", "METRICS_PASSWORD": "p:w"}, "Basic bWU6cDp3"),
        ({}, None),
    ],
)
def test_the_server_of_the_settings_is_shown_who_asks(
    monkeypatch: pytest.MonkeyPatch, settings: dict[str, str], shown: str | None
) -> None:
    """A token, or a name and password; nothing where nothing is set."""
    assert header(monkeypatch, "{home}", **settings) == shown
    assert header(monkeypatch, "{home}/prometheus/", **settings) == shown


@pytest.mark.parametrize(
    "metrics", ["http://prometheus.example:9090", "https://127.0.0.1:{port}", "http://127.0.0.1:1"]
)
def test_no_other_server_is_shown_who_asks(monkeypatch: pytest.MonkeyPatch, metrics: str) -> None:
    """Another host, scheme or port than those of the settings: the query goes there, the token does not."""
    with listening(body=matrix()) as (home, asked):
        monkeypatch.setenv("FIRSTFAULT_METRICS", metrics.format(port=home.rpartition(":")[2]))
        monkeypatch.setenv("FIRSTFAULT_METRICS_TOKEN", "s3cret")
        proof = authorization_for(home, load_settings())
        with_live_metrics(parse(stopped()), home, "", authorization=proof)

    assert "Authorization" not in asked[0].headers
    assert "s3cret" not in str(asked)


def test_a_name_and_password_in_the_address_are_shown_to_it() -> None:
    """And are no part of the host."""
    with listening(body=matrix()) as (home, asked):
        _, skipped = with_live_metrics(parse(stopped()), home.replace("://", "://me:p%40w@"), "")

    assert skipped == ()
    assert asked[0].headers["Authorization"] == "Basic bWU6cEB3"


def test_who_is_not_let_in_is_told_what_proves_who_asks() -> None:
    """The names of the settings, and nothing that they hold."""
    with listening(401) as (home, _):
        _, (skipped,) = with_live_metrics(parse(stopped()), home, "", authorization="Bearer s3cret")

    assert "status 401" in skipped.reason
    assert "FIRSTFAULT_METRICS_TOKEN" in skipped.reason
    assert "s3cret" not in skipped.reason


def test_a_token_that_would_be_two_headers_is_refused_without_being_told(monkeypatch: pytest.MonkeyPatch) -> None:
    """A line break in it."""
    monkeypatch.setenv("FIRSTFAULT_METRICS_TOKEN", "s3cret\r\nHost: evil")
    with pytest.raises(BadSettings) as refused:
        load_settings()
    assert "s3cret" not in f"{refused.value.message} {refused.value.hint}"


def test_a_token_that_stands_in_another_place_than_the_address_is_refused(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """The file of --env-file names the address, the environment the token."""
    (tmp_path / "x.env").write_text("FIRSTFAULT_METRICS=http://evil.example\n", encoding="utf-8")
    monkeypatch.setenv("FIRSTFAULT_ENV_FILE", str(tmp_path / "x.env"))
    monkeypatch.setenv("FIRSTFAULT_METRICS_TOKEN", "s3cret")
    with pytest.raises(BadSettings):
        load_settings()


def test_an_address_without_a_scheme_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """As any other address among the settings."""
    monkeypatch.setenv("FIRSTFAULT_METRICS", "prometheus:9090")
    with pytest.raises(BadSettings):
        load_settings()


@contextmanager
def real_prometheus(folder: Path) -> Iterator[str]:
    """Prometheus as it is installed, with the clocks of four nodes as its exporter would have given them."""
    text = ["# TYPE DCGM_FI_DEV_SM_CLOCK gauge"]
    text += [
        f'DCGM_FI_DEV_SM_CLOCK{{Hostname="node-{node}",gpu="0"}} {clock_of(node, second)} {EPOCH + second}'
        for node in range(4)
        for second in range(0, END, 15)
    ]
    (folder / "clocks.txt").write_text("\n".join([*text, "# EOF", ""]))
    (folder / "prometheus.yml").write_text("")
    blocks = ["promtool", "tsdb", "create-blocks-from", "openmetrics", str(folder / "clocks.txt"), str(folder / "data")]
    subprocess.run(blocks, check=True, capture_output=True)
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        at = f"127.0.0.1:{free.getsockname()[1]}"
    where = [f"--config.file={folder}/prometheus.yml", f"--storage.tsdb.path={folder}/data"]
    where += [f"--web.listen-address={at}", "--storage.tsdb.retention.time=100y"]
    with subprocess.Popen(["prometheus", *where], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
        try:
            _wait_until_ready(f"http://{at}/-/ready", process)
            yield f"http://{at}"
        finally:
            process.terminate()


def _wait_until_ready(address: str, process: "subprocess.Popen[bytes]") -> None:
    deadline = time.monotonic() + PATIENCE
    while True:
        try:
            with urllib.request.urlopen(address, timeout=PATIENCE):
                return
        except OSError:
            assert process.poll() is None, "Prometheus has ended"
            assert time.monotonic() < deadline, "Prometheus does not answer"


def test_the_real_prometheus_is_asked(tmp_path: Path) -> None:
    """Its own parser takes our usual query, and the node is named."""
    if shutil.which("prometheus") is None or shutil.which("promtool") is None:
        pytest.skip("prometheus is not installed")
    with real_prometheus(tmp_path) as address:
        parsed, skipped = with_live_metrics(parse(stopped()), address, "")
        _, (refused,) = with_live_metrics(parse(stopped()), address, "up{")

    assert skipped == ()
    assert [suspect.node for suspect in diagnose_parsed(parsed).nodes] == ["node-2"]
    assert "bad_data" in refused.reason
