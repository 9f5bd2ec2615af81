"""Logs as log stores give them: answers of their APIs, on one line or printed over many, and what their tools print."""

import json
from typing import Any

import pytest

from core.logs.lines import LABEL_MARK
from tests.support.wrapped_logs import layers, sample, shown, unwrapped

TRACEBACK = 'Traceback (most recent call last):\n  File "train.py", line 3, in <module>\nRuntimeError: peer is gone'
LOGGED = json.dumps(
    {"event": "failed", "level": "error", "timestamp": "2026-11-22T04:27:12.1Z", "rank": 1, "exception": TRACEBACK}
)
NANOSECONDS = 1795321630477538000
MILLISECONDS = NANOSECONDS // 1_000_000
CONTAINER = f"gpu17-application.var.log.containers.llama-0_research_pytorch-{'a' * 64}.log"

LOKI: Any = {
    "status": "success",
    "data": {
        "resultType": "streams",
        "result": [
            {
                "stream": {"pod": "llama-0", "container": "pytorch"},
                "values": [[str(NANOSECONDS), "step 31"], [str(NANOSECONDS), LOGGED]],
            },
            {"stream": {"instance": "gpu17:9100"}, "values": [[str(NANOSECONDS), TRACEBACK, {"rank": "3"}]]},
        ],
        "stats": {"summary": {"values": [1, 2]}},
    },
}
ELASTIC: Any = {
    "took": 3,
    "hits": {
        "total": {"value": 2},
        "hits": [
            {
                "_index": "logs",
                "_source": {
                    "@timestamp": "2026-11-22T04:27:10.477538Z",
                    "message": "step 31",
                    "kubernetes": {"pod": {"name": "llama-0"}, "container": {"name": "pytorch"}},
                    "agent": {"type": "filebeat"},
                },
            },
            {
                "_index": "logs",
                "_source": {
                    "@timestamp": "2026-11-22T04:27:10.477538Z",
                    "message": LOGGED,
                    "kubernetes": {"pod_name": "llama-0", "container_name": "pytorch"},
                },
            },
            {
                "_index": "logs",
                "fields": {
                    "@timestamp": ["2026-11-22T04:27:10.477538Z"],
                    "message": [TRACEBACK],
                    "host.name": ["gpu17"],
                },
            },
        ],
    },
}
CLOUDWATCH: Any = {
    "events": [
        {"logStreamName": CONTAINER, "timestamp": MILLISECONDS, "message": "step 31\n", "ingestionTime": MILLISECONDS},
        {"logStreamName": CONTAINER, "timestamp": MILLISECONDS, "message": LOGGED, "ingestionTime": MILLISECONDS},
        {"logStreamName": "job/gpu17", "timestamp": MILLISECONDS, "message": TRACEBACK, "ingestionTime": MILLISECONDS},
    ],
    "searchedLogStreams": [],
}
GOOGLE: Any = [
    {
        "textPayload": "step 31\n",
        "timestamp": "2026-11-22T04:27:10.477538123Z",
        "resource": {"labels": {"pod_name": "llama-0", "container_name": "pytorch"}},
    },
    {
        "jsonPayload": {"message": "failed", "rank": 1, "exception": TRACEBACK},
        "severity": "ERROR",
        "timestamp": "2026-11-22T04:27:12.1Z",
        "resource": {"labels": {"pod_name": "llama-0", "container_name": "pytorch"}},
    },
    {"textPayload": TRACEBACK, "timestamp": "2026-11-22T04:27:10.477Z", "resource": {"labels": {"pod_name": "gpu17"}}},
]
ANSWERS = {"loki": LOKI, "elastic": ELASTIC, "cloudwatch": CLOUDWATCH, "google": GOOGLE}


def said(content: bytes) -> list[tuple[bytes, bytes]]:
    """Fields and text of each segment that anybody said."""
    segments = [piece for line in unwrapped(content).split(b"\n") for piece in line.split(b"\r") if piece]
    return [(fields, text) for _, fields, text in (piece.split(LABEL_MARK) for piece in segments)]


@pytest.mark.parametrize("indent", [None, 2])
@pytest.mark.parametrize("store", sorted(ANSWERS))
def test_answers_of_stores(store: str, indent: int | None) -> None:
    """Who wrote each record, and its lines, whether the answer stands on one line or on hundreds."""
    texts = said(json.dumps(ANSWERS[store], indent=indent).encode() + b"\n")

    assert [text for _, text in texts] == [
        b"step 31",
        b"ERROR failed",
        *TRACEBACK.encode().split(b"\n"),
        *TRACEBACK.encode().split(b"\n"),
    ]
    assert texts[0][0].startswith(b"node=llama-0\x1f")
    assert texts[0][0].endswith(b"unit=pytorch")
    assert b"rank=1" in texts[1][0]
    assert b"gpu17" in texts[-1][0]


@pytest.mark.parametrize("store", sorted(ANSWERS))
def test_a_record_stands_at_its_own_line(store: str) -> None:
    """In an answer that was printed over several lines, the line with the message is the one that is cited."""
    printed = json.dumps(ANSWERS[store], indent=2).encode()
    lines, stored = unwrapped(printed).split(b"\n"), printed.split(b"\n")

    (number,) = (at for at, line in enumerate(lines) if line.endswith(b"step 31"))
    assert len(lines) == len(stored)
    assert b"step 31" in b"".join(stored[number : number + 3])


def test_several_answers_in_one_file() -> None:
    """Pages of an answer, one behind the other."""
    pages = (json.dumps(LOKI) + "\n").encode() * 3

    assert len(said(pages)) == 3 * 8
    assert unwrapped(pages).count(b"\n") == 3


def test_an_answer_that_was_cut_is_text_from_there() -> None:
    """What stood before is read; the rest is shown as it is, and marked."""
    cut = json.dumps(LOKI).encode()[:-120]

    texts = said(cut)

    assert texts[0][1] == b"step 31"
    assert texts[-1][0] == b"broken=1"


def test_a_document_that_is_no_log_stays_as_it_is() -> None:
    """A configuration beside the logs."""
    text = json.dumps({"model": {"layers": 2}, "events": [{"name": "start"}]}, indent=2).encode()

    assert unwrapped(text) == text


PRINTED: dict[str, tuple[list[str], list[str]]] = {
    "logcli": (
        [f'2026-11-22T04:27:1{n}Z {{container="pytorch", pod="llama-{n % 2}"}}   step {n}' for n in range(4)],
        ["2026-11-22T04:27:10Z llama-0 pytorch: step 0", "2026-11-22T04:27:11Z llama-1 pytorch: step 1"],
    ),
    "logcli jsonl": (
        [
            json.dumps({"labels": {"pod": "llama-0"}, "line": text, "timestamp": "2026-11-22T05:27:10.4775+01:00"})
            for text in ("step 0", LOGGED)
        ],
        ["2026-11-22T05:27:10.4775+01:00 llama-0: step 0", "2026-11-22T04:27:12.1Z llama-0 [rank1]: ERROR failed |"],
    ),
    "elasticdump": (
        [json.dumps(hit) for hit in ELASTIC["hits"]["hits"]],
        ["2026-11-22T04:27:10.477538Z llama-0 pytorch: step 31"],
    ),
    "events": (
        [json.dumps(event) for event in CLOUDWATCH["events"]],
        ["2026-11-22T04:27:10.477000Z llama-0 pytorch: step 31"],
    ),
    "aws logs tail": (
        [f"2026-11-22T04:27:1{n}.477000+00:00 pytorch/llama-{n % 2} step {n}" for n in range(4)],
        ["2026-11-22T04:27:10.477000+00:00 pytorch/llama-0: step 0"],
    ),
    "aws logs tail --format short": (
        [f"2026-11-22T04:27:1{n} {LOGGED}" for n in range(4)],
        ["2026-11-22T04:27:12.1Z [rank1]: ERROR failed | 2026-11-22T04:27:12.1Z [rank1]: Traceback "],
    ),
    "stern": (
        [f"llama-{n % 2} pytorch step {n}" for n in range(6)],
        ["llama-0 pytorch: step 0", "llama-1 pytorch: step 1"],
    ),
    "docker compose logs": (
        [f"trainer-{n % 2}   | step {n}" for n in range(6)] + ["store       | | ready", "store       | ok"],
        ["trainer-0: step 0", "trainer-1: step 1"],
    ),
    "names before bars that nothing pads": (
        [f"{name}  | step {n}" for n in range(12) for name in ("red", "green", "blue")]
        + ["green  | Traceback (most recent call last):"]
        + [f'green  |   File "train.py", line {n}' for n in range(9)],
        ["red: step 0", "green: step 0"],
    ),
    "objects with names of their own": (
        [f'{{"v":"info","ms":179536976{n}265,"who":"w{n % 2}","txt":"round closed","round":{n}}}' for n in range(4)],
        ["2026-11-22T17:49:20.265000Z INFO round closed round=0 who=w0"],
    ),
    "objects with a clock without a date, and a word": (
        [f'{{"r":{n % 2},"when":"22/17:57:3{n}.90","do":"{"save" if n == 2 else "upd"}","u":{n}}}' for n in range(6)],
        ["17:57:30.90 upd r=0 u=0", "17:57:31.90 upd r=1 u=1", "17:57:32.90 save r=0 u=2"],
    ),
    "stern -A -t": (
        [f"research llama-{n % 2} pytorch 2026-11-22T04:27:10.477538123Z step {n}" for n in range(6)],
        ["2026-11-22T04:27:10.477538Z llama-0 pytorch: step 0"],
    ),
    "stern -o json": (
        ['{"message":"step 0","nodeName":"gpu17","namespace":"r","podName":"llama-0","containerName":"pytorch"}'],
        ["llama-0 pytorch: step 0"],
    ),
    "logfmt": (
        ['time="2026-11-22T04:27:10Z" level=warning msg="step done" rank=2 why="a \\"b\\""', "when=x at=INFO msg=y"],
        ['2026-11-22T04:27:10Z [rank2]: WARNING step done why="a \\"b\\""', "INFO y"],
    ),
    "logfmt without a message": (
        [
            "ts=2026-11-22T04:27:10Z lvl=info node=kes-1 evt=pushed cycle=7 push_ms=3",
            'ts=2026-11-22T04:27:11Z lvl=fatal node=k-1 at="Traceback (most recent call last): //   in f // OSError"',
        ],
        [
            "2026-11-22T04:27:10Z kes-1: INFO cycle=7 evt=pushed push_ms=3",
            " | ".join(
                f"2026-11-22T04:27:11Z k-1: {text}"
                for text in ("FATAL", "Traceback (most recent call last):", "  in f", "OSError")
            ),
        ],
    ),
}


@pytest.mark.parametrize("tool", sorted(PRINTED))
def test_what_tools_print(tool: str) -> None:
    """logcli, elasticdump, aws, stern, and logfmt."""
    lines, expected = PRINTED[tool]

    found = shown("".join(f"{line}\n" for line in lines).encode())

    assert [line[: len(text)] for line, text in zip(found, expected, strict=False)] == expected


def test_the_label_of_a_task_is_no_identifier() -> None:
    """What srun labelled, behind the stream of CloudWatch: no line of the journal's."""
    text = b"".join(b"2026-11-22T04:27:1%d.477000+00:00 slurm/4711 %d: step 3\n" % (n, n % 2) for n in range(6))

    assert layers(text) == ["aws logs tail"]
    assert said(text)[1] == (b"node=slurm/4711", b"1: step 3")


def test_what_aws_prints_of_objects() -> None:
    """--format json: an object stands on lines of its own below its event."""
    text = b"".join(b"2026-11-22T04:27:1%d+00:00 pytorch/llama-%d step %d\n" % (n, n % 2, n) for n in range(6))
    text += b"2026-11-22T04:27:17+00:00 pytorch/llama-1 \n" + json.dumps(json.loads(LOGGED), indent=4).encode() + b"\n"

    lines = shown(text)

    assert lines[-1].startswith("2026-11-22T04:27:12.1Z pytorch/llama-1 [rank1]: ERROR failed | ")
    assert lines[7:-1] == [""] * (len(lines) - 8)


def test_a_message_of_several_lines_goes_on_below_its_event() -> None:
    """aws, logcli and journalctl print the further lines of a message as they are."""
    text = b"".join(b"2026-11-22T04:27:1%d+00:00 pytorch/llama-%d step %d\n" % (n, n % 2, n) for n in range(6))

    assert said(text + b"  File x\n\n")[-2:] == [(b"node=pytorch/llama-1", b"  File x"), (b"node=pytorch/llama-1", b"")]


@pytest.mark.parametrize("form", ["json", "json-seq", "json-pretty", "export", "verbose"])
def test_other_forms_of_the_journal(form: str) -> None:
    """All fields are there, but bytes that are no text only in some."""
    texts = said(sample(f"journal.{form}"))

    assert texts[0] == (
        b"node=gpu14\x1funit=torchrun[6609]",
        b"2026-11-22 04:27:10.462 | INFO     | __main__:main:43 - rank 0 of 4 on gpu14",
    )
    assert [text for _, text in texts[2:6]] == [
        b"Traceback (most recent call last):",
        b'  File "a.py", line 3, in <module>',
        b"    main()",
        b"RuntimeError: x",
    ]
    assert texts[6][1] == (b"[12B blob data]" if form == "verbose" else b"bytes \xff\xfe bad")
    assert texts[-2] == (b"node=gpu14.cluster.local\x1funit=slurmd", b"slurmd[812]: error: Node reboot")
    assert unwrapped(sample(f"journal.{form}")).count(b"Z \x1enode=") == len(texts)


RANKS = b"".join(b"2026-11-22 04:27:%02d | INFO | [rank%d] step %d\n" % (n, n % 2, n) for n in range(9))


def test_a_rank_behind_the_clock_becomes_the_label() -> None:
    """The text stays; a traceback below an error is the same rank's, and what has a clock and no rank is nobody's."""
    failed = b"2026-11-22 04:27:09 | ERROR | [rank0] training failed\n"
    trace = b"Traceback (most recent call last):\nRuntimeError: lost [rank1]\n"
    text = RANKS + failed + trace + b"2026-11-22 04:28:00 | INFO | bye\n"

    assert layers(text) == ["ranks"]
    assert said(text)[-4:] == [
        (b"rank=0", b"2026-11-22 04:27:09 | ERROR | [rank0] training failed"),
        (b"rank=0", b"Traceback (most recent call last):"),
        (b"rank=0", b"RuntimeError: lost [rank1]"),
        (b"", b"2026-11-22 04:28:00 | INFO | bye"),
    ]
    assert shown(text)[0] == "2026-11-22 04:27:00 | INFO | [rank0] step 0"


def test_what_stands_below_a_line_that_is_well_may_be_of_any_rank() -> None:
    """Ranks that share a file write their tracebacks where another one's step was last."""
    text = RANKS + b"Traceback (most recent call last):\nRuntimeError: lost [rank1]\n"

    assert said(text)[-2:] == [(b"", b"Traceback (most recent call last):"), (b"", b"RuntimeError: lost [rank1]")]


@pytest.mark.parametrize(("apart", "known"), [(0, []), (4, ["ranks"])], ids=["rank", "node"])
def test_where_sruns_label_is_the_rank_it_tells_enough(apart: int, known: list[str]) -> None:
    """srun's own words have none, and are nobody's; where its number is that of a node, the head names the rank."""
    ranks = b"".join(b"%d: 2026-11-22 04:27:09 [ERROR] [rank%d] push\n" % (n % 2, n % 2 + apart) for n in range(9))

    assert layers(ranks + b"srun: error: Node failure on gpu019\n") == known


@pytest.mark.parametrize(
    "form",
    [
        b"[RANK %d]", b"(rank %d)", b"rank=%d", b"[Rank %d]", b"[rank: %d]", b"<global_rank %d>",
        b"rank{id=%d}:", b"run{job=a rank=%d local=3}:", b"[rank %d/48]", b"[rank %2d/48]",
    ],
)  # fmt: skip
def test_ranks_are_written_in_many_ways(form: bytes) -> None:
    """As Lightning, Accelerate, NeMo, spans of Rust's tracing and people write them."""
    text = b"".join(b"11/22/2026 04:27:%02d - INFO - train - " % n + form % (n % 2) + b" step 3\n" for n in range(9))

    assert said(text)[1][0] == b"rank=1"


@pytest.mark.parametrize(
    "text",
    [
        b"".join(b"2026-11-22 04:27:09 | INFO | waiting for [rank%d] since 7 s\n" % (n % 2) for n in range(9)),
        b"".join(b"[rank%d]: 2026-11-22 04:27:09 | INFO | [rank%d] step 3\n" % (n % 2, n % 2) for n in range(9)),
        b"".join(
            b"2026-11-22 04:27:09 | INFO | step 3 of a long line that talks about rank %d:\n" % n for n in range(9)
        ),
    ],
    ids=["others", "labelled already", "prose"],
)
def test_what_is_no_rank_of_the_speaker(text: bytes) -> None:
    """A rank that is talked about is none."""
    assert unwrapped(text) == text
