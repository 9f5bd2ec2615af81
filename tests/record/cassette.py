"""Recorded calls of a real model: how they are kept, and how they are played again."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import vcr  # type: ignore[import-untyped]  # it brings no types

CASSETTES = Path(__file__).parent / "cassettes"
MODEL = "qwen2.5-coder-1.5b-instruct"
URL = "http://model/v1"  # stands in the cassettes for wherever it answered
_KEPT = "content-type"


@contextmanager
def cassette(name: str, *, record: bool = False, folder: Path = CASSETTES) -> Iterator[Any]:
    """Inside, calls of a model are recorded anew, or answered from the cassette; any other call is refused."""
    path = folder / f"{name}.yaml"
    if record:
        path.unlink(missing_ok=True)
    recorder = vcr.VCR(
        record_mode="all" if record else "none",
        match_on=["method", "path", "question"],
        before_record_request=_request,
        before_record_response=_response,
        decode_compressed_response=True,
    )
    recorder.register_matcher("question", _same_question)
    with recorder.use_cassette(str(path)) as tape:
        yield tape


def _request(request: Any) -> Any:
    """Only what the model was asked: no key, host, cookie or version of a client; other traffic is not ours."""
    if not request.path.endswith("/chat/completions"):
        return None
    request.headers = {_KEPT: request.headers.get(_KEPT, "application/json")}
    request.uri = f"{URL}/chat/completions"
    return request


def _response(response: dict[str, Any]) -> dict[str, Any]:
    headers = {name.lower(): value for name, value in response["headers"].items()}
    return {**response, "headers": {_KEPT: headers.get(_KEPT, [])}}


def _same_question(one: Any, other: Any) -> None:
    assert json.loads(one.body) == json.loads(other.body)
