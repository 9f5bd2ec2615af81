"""Objects of which the message stands in another one: Rust's tracing, and events of Kubernetes about a pod."""

import json
from typing import Any

from tests.support.wrapped_logs import layers, shown


def logged(*records: dict[str, Any]) -> bytes:
    """A record a line."""
    return b"".join(json.dumps(record).encode() + b"\n" for record in records)


def traced(second: int, message: str, *, rank: int = 6, **fields: Any) -> dict[str, Any]:
    """As tracing-subscriber has it (src/fmt/format/json.rs, 0.3): the event's fields in an object of their own."""
    return {
        "timestamp": f"2026-11-22T04:27:{second:02d}.267926Z",
        "level": "INFO",
        "fields": {"message": message, **fields},
        "target": "train",
        "rank": rank,
        "host": "gpu17",
    }


def test_an_event_of_tracing_is_its_speakers() -> None:
    """Time, rank and host stand beside the event; a list stays whole, and the number of a socket names no machine."""
    text = logged(
        *(traced(n, "step done", step=n) for n in range(8)),
        traced(8, "pinned", node=1),
        traced(9, "stack", frames=["ring::wait_recv", "train::step"]),
    )

    assert layers(text) == ["JSON"]
    assert shown(text)[-2:] == [
        "2026-11-22T04:27:08.267926Z gpu17 [rank6]: INFO pinned target=train",
        '2026-11-22T04:27:09.267926Z gpu17 [rank6]: INFO stack frames=["ring::wait_recv", "train::step"] target=train',
    ]


def test_the_span_around_an_event_tells_who_speaks() -> None:
    """Where the subscriber keeps no fields of its own beside it."""
    records = [
        {key: value for key, value in traced(n, "step done").items() if key not in ("rank", "host")}
        | {"span": {"rank": n % 2, "name": "worker"}}
        for n in range(8)
    ]

    assert shown(logged(*records))[1] == "2026-11-22T04:27:01.267926Z [rank1]: INFO step done target=train"


def test_a_hit_of_a_store_whose_fields_are_lists_is_none_of_tracing() -> None:
    """Elastic's fields API gives a list for each field."""
    hits = [{"_index": "logs", "fields": {"message": [f"step {n}"], "host.name": ["gpu17"]}} for n in range(8)]

    assert layers(logged(*hits)) == ["Elastic"]


def event(second: int, kind: str, name: str, reason: str, message: str, type_: str = "Normal") -> dict[str, Any]:
    """An event as ``kubectl get events -o json`` has it."""
    return {
        "lastTimestamp": f"2026-03-07T03:00:{second:02d}Z",
        "type": type_,
        "reason": reason,
        "involvedObject": {"kind": kind, "name": name, "namespace": "ml"},
        "message": message,
    }


def test_an_event_of_kubernetes_is_of_the_pod_that_it_is_about() -> None:
    """Neither "Normal" nor "Warning" is a machine, and a job is none."""
    text = logged(
        event(1, "PyTorchJob", "lora", "SuccessfulCreatePod", "Created pod: lora-worker-0"),
        *(event(n, "Pod", f"lora-worker-{n % 2}", "Pulled", "Container image is present") for n in range(2, 10)),
        event(20, "Pod", "lora-worker-0", "FailedMount", "MountVolume.SetUp failed for volume", "Warning"),
    )

    assert "Z lora-worker-0: " in shown(text)[-1]
    assert not any("Z Normal" in line or "Z Warning:" in line for line in shown(text))
