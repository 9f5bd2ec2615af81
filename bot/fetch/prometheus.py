"""Metrics of a job live from Prometheus: one range query over its time, as a file of metrics/ (core/metrics).

Nothing is sent but the query: PromQL, the names of the job's nodes in it, start, end and step; and to the server that
the settings name, what they hold to prove who asks.
"""

import base64
import io
import json
import re
import urllib.error
from collections.abc import Sequence
from dataclasses import replace
from http.client import HTTPException
from urllib.parse import unquote, urlencode, urlsplit, urlunsplit

from bot.outgoing.door import query
from bot.settings import Settings
from core.course.job_clock import moment
from core.job import Job, LogFile
from core.metrics.series import SECOND, span_of
from core.model import Skipped
from core.parsed import Parsed

NAME = "metrics/prometheus.json"
NODES = "$nodes"  # stands for the job's nodes in a query, as a regular expression
# What core/metrics/metric_kinds.py knows, by the names of DCGM's exporter and node_exporter
_NAMES = "DCGM_FI_.*|node_infiniband_.*|node_network_(receive|transmit)_(bytes|errs|drop)_total|.*(xid|ecc|link_down).*"
DEFAULT_QUERY = " or ".join(
    f'{{__name__=~"{_NAMES}",{label}=~"($nodes)(:[0-9]+)?"}}' for label in ("Hostname", "node", "instance")
)
TIMEOUT = 30.0  # seconds; Prometheus itself gives up after 120 (--query.timeout)
MARGIN = 60 * SECOND  # before and after the job: clocks differ
STEP, POINTS = 15, 2_000  # seconds at least, as exporters are scraped; points of a series (Prometheus allows 11,000)
MAX_BYTES = 64 << 20  # as of a file in metrics/ (core/dumps/plain_values.py)
_WHO = "; who asks is proved with FIRSTFAULT_METRICS_TOKEN, or _USER and _PASSWORD, to the server of FIRSTFAULT_METRICS"
_PROOF = {401: _WHO, 403: _WHO}
_PLAIN = re.compile(r"[A-Za-z0-9][\w.-]{0,252}")  # what a machine may be called; anything else is not sent


_PORTS = {"http": 80, "https": 443}  # of addresses that name none


def authorization_for(address: str, settings: Settings) -> str:
    """What the settings hold to prove who asks, as a header; empty for any server but that of FIRSTFAULT_METRICS."""
    if _origin(address) != _origin(settings.metrics):
        return ""
    if token := settings.metrics_token.get_secret_value():
        return f"Bearer {token}"
    password = settings.metrics_password.get_secret_value()
    return _basic(settings.metrics_user, password) if settings.metrics_user or password else ""


def with_live_metrics(
    parsed: Parsed, address: str, promql: str, *, authorization: str = ""
) -> tuple[Parsed, tuple[Skipped, ...]]:
    """The job with what Prometheus knows of it; that it cannot be asked ends no diagnosis.

    Args:
        address: of Prometheus, http or https; a name and password in it are for it alone.
        promql: the query, with ``$nodes``; empty: ``DEFAULT_QUERY``.
        authorization: as ``authorization_for`` gives it.
    """
    wanted = promql or DEFAULT_QUERY
    nodes = [node for node in parsed.nodes if parsed.unit == "node" and _PLAIN.fullmatch(node)]
    span = _span(parsed)
    if NODES in wanted and not nodes:
        return parsed, (Skipped("metrics", "no node of the job has a name to ask Prometheus for"),)
    if span is None:
        return parsed, (Skipped("metrics", "neither job.json nor the logs tell from when to when to ask Prometheus"),)
    try:
        answer = _ask(address, wanted.replace(NODES, _either(nodes)), span, authorization)
    except (OSError, HTTPException, ValueError) as trouble:
        return parsed, (Skipped("metrics", f"Prometheus at {_host(address)} gave no metrics: {_reason(trouble)}"),)
    file = LogFile(NAME, len(answer), f"live {len(answer)}", lambda: io.BytesIO(answer))
    job: Job = replace(parsed.job, metrics=tuple(sorted((*parsed.job.metrics, file), key=lambda file: file.name)))
    return replace(parsed, job=job), ()


def _span(parsed: Parsed) -> tuple[int, int] | None:
    """From when to when, in microseconds: by job.json where it has both, else by the clock of the logs as UTC."""
    manifest, logs = parsed.job.manifest, span_of(parsed.table)
    first = moment(manifest.start) or (logs[0] if logs else None)
    last = moment(manifest.end) or (logs[1] if logs else None)
    return (first - MARGIN, last + MARGIN) if first is not None and last is not None and last >= first else None


def _either(nodes: Sequence[str]) -> str:
    """A regular expression of RE2 within a text of PromQL: a point in brackets needs no backslash."""
    return "|".join(node.replace(".", "[.]") for node in nodes)


def _host(address: str) -> str:
    try:
        return urlsplit(address).hostname or "it"
    except ValueError:  # brackets that are not closed
        return "it"


def _origin(address: str) -> tuple[str, str, int] | None:
    """Scheme, host and port: another one of these is another server; None of what is no address."""
    try:
        parts = urlsplit(address)
        port = parts.port or _PORTS.get(parts.scheme, 0)
    except ValueError:
        return None
    return (parts.scheme, parts.hostname, port) if parts.hostname else None


def _basic(user: str, password: str) -> str:
    return f"Basic {base64.b64encode(f'{user}:{password}'.encode()).decode()}"


def _bare(address: str) -> tuple[str, str]:
    """The address without a name and password, and the header that these make; empty without."""
    parts = urlsplit(address)
    credentials, at, place = parts.netloc.rpartition("@")
    user, _, password = credentials.partition(":")
    header = _basic(unquote(user), unquote(password)) if at else ""
    return urlunsplit(parts._replace(netloc=place)), header


def _ask(address: str, promql: str, span: tuple[int, int], authorization: str) -> bytes:
    first, last = (time / SECOND for time in span)
    step = max(STEP, -(-(last - first) // POINTS))
    form = urlencode({"query": promql, "start": f"{first:.3f}", "end": f"{last:.3f}", "step": f"{step:.0f}"})
    place, own = _bare(address)
    place = f"{place.rstrip('/')}/api/v1/query_range"
    answer = query(place, form, timeout=TIMEOUT, most=MAX_BYTES, authorization=own or authorization)
    document = json.loads(answer)
    if not isinstance(document, dict) or document.get("status") != "success":
        raise ValueError("its answer is none of Prometheus")
    return answer


def _reason(trouble: Exception) -> str:
    """What went wrong, in the words of Prometheus where it has some."""
    if isinstance(trouble, urllib.error.HTTPError):
        try:
            document = json.loads(trouble.read(4_096))
            return f"{document['errorType']}: {document['error']}"[:300]
        except (OSError, ValueError, KeyError, TypeError):
            return f"status {trouble.code}{_PROOF.get(trouble.code, '')}"
    if isinstance(trouble, json.JSONDecodeError):
        return "its answer is no JSON"
    return str(getattr(trouble, "reason", "") or trouble)[:300] or type(trouble).__name__
