"""HTTP without a Slack library, to see what really goes over the wire."""

import json
import urllib.error
import urllib.request
from dataclasses import dataclass
from typing import Any

from benchmarks.support.patience import PATIENCE


@dataclass(frozen=True)
class Answer:
    status: int
    headers: dict[str, str]
    body: bytes

    @property
    def json(self) -> Any:
        return json.loads(self.body)


def ask(url: str, body: Any = None, **headers: str) -> Answer:
    """GET, or POST with a body: bytes as they are, anything else as JSON."""
    data = body if isinstance(body, bytes | None) else json.dumps(body).encode()
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    if data is not None:
        named.setdefault("Content-Type", "application/json")
    try:
        with urllib.request.urlopen(urllib.request.Request(url, data, named), timeout=PATIENCE) as answer:
            return Answer(answer.status, dict(answer.headers), answer.read())
    except urllib.error.HTTPError as error:
        with error:
            return Answer(error.code, dict(error.headers), error.read())
