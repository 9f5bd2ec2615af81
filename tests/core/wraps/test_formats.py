"""Each wrapper is known by its content, and taken off: who spoke and when becomes the label, what was said the text."""

import pytest

from tests.support.wrapped_logs import layers, sample, shown, unwrapped

STEP = "step 31 loss 2.5"
CRI = b"2026-11-22T04:49:38.177137210Z stdout F "
DOCKER = b'{"log":"%s","stream":"stdout","time":"2026-11-22T04:49:38.17713721Z"}\n'


def test_what_containerd_and_crio_write() -> None:
    """Stamps lose what is below a microsecond, and keep their zone."""
    text = CRI + b"step 31 loss 2.5\n2026-11-22T05:49:39.5+01:00 stderr F Traceback (most recent call last):\n"

    assert layers(text) == ["CRI"]
    assert unwrapped(text) == (
        b"2026-11-22T04:49:38.177137Z \x1e\x1estep 31 loss 2.5\n"
        b"2026-11-22T05:49:39.5+01:00 \x1e\x1eTraceback (most recent call last):\n"
    )


def test_parts_of_a_line_are_joined_where_the_last_one_stands() -> None:
    """kubelet's P and F; a line of the other stream may stand between, and line numbers stay."""
    text = (
        b"2026-11-22T04:49:38.1Z stdout P one \n2026-11-22T04:49:38.2Z stderr F other\n"
        b"2026-11-22T04:49:38.3Z stdout P two \n2026-11-22T04:49:38.4Z stdout F three\n"
    )

    assert shown(text) == ["", "2026-11-22T04:49:38.2Z other", "", "2026-11-22T04:49:38.4Z one two three"]


def test_the_last_words_of_a_process_need_no_end() -> None:
    """A part that nothing follows is read with the last line."""
    text = CRI + b"step 31\n2026-11-22T04:49:38.1Z stdout P Segmentation\n2026-11-22T04:49:38.1Z stderr F kill\n"

    assert unwrapped(text).split(b"\n")[1:] == [b"", b"2026-11-22T04:49:38.1Z \x1e\x1ekill\r\x1e\x1eSegmentation", b""]


def test_what_docker_writes() -> None:
    """A record without a newline goes on in the next one."""
    text = DOCKER % b"step 31" + DOCKER % rb" loss 2.5\n" + DOCKER % rb"\u001b[31mred\u001b[0m \"quoted\" \u00e9\n"

    assert layers(text) == ["docker"]
    assert shown(text) == ["", f"2026-11-22T04:49:38.177137Z {STEP}", '2026-11-22T04:49:38.177137Z red "quoted" é']


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        (b"[pod/llama-0/pytorch] step 31 loss 2.5", f"llama-0 pytorch: {STEP}"),
        (
            b"[pod/llama-0/pytorch] 2026-11-22T04:49:38.177137210Z step 31 loss 2.5",
            f"2026-11-22T04:49:38.177137Z llama-0 pytorch: {STEP}",
        ),
        (b"2026-11-22T04:49:38.177137210Z step 31 loss 2.5", f"2026-11-22T04:49:38.177137Z {STEP}"),
    ],
)
def test_what_kubectl_writes(line: bytes, expected: str) -> None:
    """With --prefix, with --timestamps, with both."""
    assert shown(line + b"\n") == [expected]


def test_a_clock_of_the_programs_own_stays_where_it_is() -> None:
    """No program counts nanoseconds: a stamp with less is no wrapper by itself."""
    text = b"2026-11-22T04:49:38.177137Z step 31 loss 2.5\n" * 3

    assert unwrapped(text) == text


@pytest.mark.parametrize(
    ("form", "clock"),
    [
        ("short", b"1122 04:27:10.0 "),
        ("short-precise", b"1122 04:27:10.477538 "),
        ("short-iso", b"2026-11-22T04:27:10+0000 "),
        ("short-iso-precise", b"2026-11-22T04:27:10.477538+0000 "),
        ("short-full", b"2026-11-22T04:27:10Z "),
        ("short-unix", b"2026-11-22T04:27:10.477538Z "),
        ("short-monotonic", b""),
        ("short-delta", b""),
    ],
)
def test_what_journalctl_prints(form: str, clock: bytes) -> None:
    """Hosts, identifiers with process ids and messages of several lines; a daemon's name stays before what it says."""
    text = unwrapped(sample(f"journal.{form}"))
    said = shown(sample(f"journal.{form}"))

    assert text.startswith(clock + b"\x1enode=gpu14\x1funit=torchrun[6609]\x1e2026-11-22 04:27:10.462 | INFO ")
    assert b"\x1enode=gpu14\x1funit=kernel\x1ekernel: NVRM: Xid (PCI:0000:1a:00): 79, " in text
    assert [line.partition("torchrun[6609]: ")[2] for line in said[2:6]] == [
        "Traceback (most recent call last):",
        '  File "a.py", line 3, in <module>',
        "    main()",
        "RuntimeError: x",
    ]
    assert said[8].endswith("gpu14.cluster.local slurmd[812]: error: Node reboot")


def test_the_journal_names_units_too() -> None:
    """-o with-unit has the unit where the others have the identifier."""
    assert b"\x1enode=gpu14\x1funit=train.service[6610]\x1ered text" in unwrapped(sample("journal.with-unit"))


CAUSED = [
    "Traceback (most recent call last):",
    '  File "/opt/train.py", line 17, in work',
    '  File "/opt/train.py", line 13, in save',
    "OSError: [Errno 28] No space left on device",
    "",
    "The above exception was the direct cause of the following exception:",
    "",
    "Traceback (most recent call last):",
    '  File "/opt/train.py", line 28, in <module>',
    '  File "/opt/train.py", line 17, in work',
    "RuntimeError: checkpoint 31 was not written",
]


def said(name: str) -> list[bytes]:
    """What the loggers' lines say, without labels and stamps."""
    return [line.rpartition(b"\x1e")[2] for line in unwrapped(sample(name)).replace(b"\r", b"\n").splitlines()]


def test_what_structlog_writes() -> None:
    """Level, event, then the other fields by name, without those that say who spoke and when."""
    lines = unwrapped(sample("structlog.jsonl")).split(b"\n")

    assert said("structlog.jsonl")[:2] == [
        b"INFO train_step grad_norm=NaN loss=6.3526 step=31",
        b'WARNING slow step reason="shared storage is slow" seconds=4.2',
    ]
    assert lines[0].split(b"\x1e")[1] == b"node=gpu17\x1frank=3"
    assert len(lines) == 4  # of which the last is the end of the file


def test_a_traceback_in_a_field_becomes_lines_of_one_voice() -> None:
    """Each segment has the label, so that the lines stay together among those of other ranks."""
    *_, last, _ = unwrapped(sample("structlog.jsonl")).split(b"\n")

    assert {piece.partition(b"Z ")[2].split(b"\x1e")[1] for piece in last.split(b"\r")} == {b"node=gpu17\x1frank=3"}
    assert said("structlog.jsonl")[2:4] == [b"ERROR training failed step=31", b"Traceback (most recent call last):"]
    assert said("structlog.jsonl")[-1] == b"RuntimeError: checkpoint 31 was not written"


def test_a_traceback_of_objects_is_written_as_python_does() -> None:
    """structlog's dict_tracebacks: causes first."""
    lines = [line.decode() for line in said("structlog_dicts.jsonl")[3:]]

    assert [line for line in lines if not line.startswith("  File")] == [
        line for line in CAUSED if not line.startswith("  File")
    ]
    assert lines[1].startswith('  File "/opt/train.py", line ')
    assert lines[1].endswith(", in work")


def test_what_python_json_logger_writes() -> None:
    """A logger has a name; a time without a zone stays one."""
    assert said("python_json_logger.jsonl")[:3] == [
        b"INFO trainer: step done loss=2.5 step=31",
        b"ERROR trainer: training failed",
        b"Traceback (most recent call last):",
    ]
    assert unwrapped(sample("python_json_logger.jsonl")).startswith(b"2026-11-22T08:")


def test_an_empty_line_says_nothing() -> None:
    """Between the frames of a traceback that a shipper sent line by line."""
    text = b"".join(
        b'{"@timestamp":"2026-11-22T04:27:10Z","message":"%s","host":"gpu17"}\n' % t for t in (b"a", b"", b"b")
    )

    assert shown(text) == [f"2026-11-22T04:27:10Z gpu17: {said}" for said in ("a", "", "b")]


def test_what_loguru_writes() -> None:
    """The record tells level, time and message, the text the traceback, bound values are fields."""
    assert said("loguru.jsonl")[:3] == [
        b"INFO __main__: step 31 done step=31",
        b"ERROR __main__: training failed step=31",
        b"Traceback (most recent call last):",
    ]
    assert b"\x1erank=3\x1e" in unwrapped(sample("loguru.jsonl"))


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        (
            b'{"level":50,"time":1795321630477,"pid":7,"hostname":"gpu17","msg":"failed","err":{"type":"Error"},"v":1}',
            "2026-11-22T04:27:10.477000Z gpu17: ERROR failed err.type=Error",
        ),
        (
            b'{"level":"warn","ts":1795321630.477,"logger":"io","caller":"a.go:7","msg":"slow","rank":"2"}',
            "2026-11-22T04:27:10.477000Z [rank2]: WARNING io: slow caller=a.go:7",
        ),
        (
            (
                b'{"@timestamp":"2026-11-22T04:27:10.477Z","log.level":"info","message":"step 31 loss 2.5",'
                b'"kubernetes":{"pod":{"name":"llama-0"},"node":{"name":"gpu17"},"container":{"name":"pytorch"}},'
                b'"agent":{"type":"filebeat"},"host":{"name":"gpu17"},"stream":"stdout"}'
            ),
            f"2026-11-22T04:27:10.477Z llama-0 pytorch: INFO {STEP}",
        ),
        (
            (
                b'{"date":1795321630.477,"log":"step 31 loss 2.5","stream":"stderr",'
                b'"kubernetes":{"pod_name":"llama-0","container_name":"pytorch","host":"gpu17"}}'
            ),
            f"2026-11-22T04:27:10.477000Z llama-0 pytorch: {STEP}",
        ),
        (
            b'{"severity":"ERROR","message":"lost","timestamp":"2026-11-22T05:27:10+01:00","local_rank":1}',
            "2026-11-22T05:27:10+01:00 ERROR lost",
        ),
    ],
)
def test_what_other_loggers_and_shippers_write(line: bytes, expected: str) -> None:
    """pino, zap, Filebeat, Fluent Bit, Google's: the same few things under other names."""
    assert shown(line + b"\n") == [expected]


@pytest.mark.parametrize(
    "inside",
    [
        b'{"event":"done","level":"info","timestamp":"2026-11-22T04:27:10.477538Z","rank":3,"host":"gpu17","step":31}',
    ],
)
@pytest.mark.parametrize(
    "outside",
    [CRI, b"[pod/llama-3/pytorch] ", b"Nov 22 04:27:10 gpu17 torchrun[66]: ", b"3: ", b"(Worker pid=7, ip=10.0.0.3) "],
)
def test_layers_are_taken_off_one_after_the_other(inside: bytes, outside: bytes) -> None:
    """What the inner one says counts: it was nearer."""
    (line,) = shown(outside + inside + b"\n")

    assert line.startswith("2026-11-22T04:27:10.477538Z gpu17")
    assert line.endswith("INFO done step=31")


def test_three_layers() -> None:
    """Docker, which holds the journal's text, which holds a logger's."""
    inside = (
        rb"Nov 22 04:27:10 gpu17 python[66]: {\"msg\":\"done\",\"level\":\"info\",\"time\":\"2026-11-22T04:27:10Z\"}\n"
    )

    assert layers(DOCKER % inside) == ["docker", "journal", "JSON"]
    assert shown(DOCKER % inside) == ["2026-11-22T04:27:10Z gpu17 python[66]: INFO done"]
