"""The specification by example: line forms of real logs (docs/reference/logs.md), and what becomes of them."""

from datetime import UTC, datetime

import pytest

from core.logs.learn_format import learn
from core.logs.lines import MAX_BODY, MAX_SEGMENT, NO_TIME, Format, mask, segments, take_apart

YEAR = 2026
FORMAT = Format(task_labels=True, hosts=(b"localhost", b"192.168.205.202", b"node-07"), year=YEAR)


def at(text: str) -> int:
    """Microseconds of a time in UTC."""
    return int(datetime.fromisoformat(text).replace(tzinfo=UTC).timestamp()) * 1_000_000


def micros(text: str, fraction: int) -> int:
    return at(text) + fraction


@pytest.mark.parametrize(
    ("line", "prefix", "body"),
    [
        (b" 0: INFO:megatron.core:setup", b" 0: ", b"INFO:megatron.core:setup"),
        (b'1329: :::MLLOG {"namespace": ""}', b"1329: ", b':::MLLOG {"namespace": ""}'),
        (
            b"3: [default3]:pretrain_gpt.py: error: unrecognized",
            b"3: [default3]:",
            b"pretrain_gpt.py: error: unrecognized",
        ),
        (
            b"localhost: [rank0]:[E328 00:21:12.920872216 ProcessGroupNCCL.cpp:683] [Rank 0] Watchdog caught",
            b"localhost: [rank0]:",
            b"[E<TS> ProcessGroupNCCL.cpp:<NUM>] [Rank <NUM>] Watchdog caught",
        ),
        (
            b"192.168.205.202:  iteration        1/      20 | consumed samples:",
            b"192.168.205.202: ",
            b"iteration <NUM>/ <NUM> | consumed samples:",
        ),
        (b"(Worker pid=2113, ip=10.0.3.7) ready", b"(Worker pid=2113, ip=10.0.3.7) ", b"ready"),
        (b"(train_fn pid=7) ready", b"(train_fn pid=7) ", b"ready"),
        (
            b"GPU-719:3198547:3203306 [6] proxy.cc:1458 NCCL WARN timeout",
            b"GPU-719:3198547:3203306 [6] ",
            b"proxy.cc:<NUM> NCCL WARN timeout",
        ),
        (b"18:06:52 [4] iter 345", b"", b"<TS> [<NUM>] iter <NUM>"),
        (b"[1,12]<stderr>: Traceback", b"[1,12]<stderr>: ", b"Traceback"),
        (b"node-07: 5: [rank5]: Traceback", b"node-07: 5: [rank5]: ", b"Traceback"),
        (b"node-08: nobody knows this host", b"", b"node-<NUM>: nobody knows this host"),
        (b"[default0]:  File x", b"[default0]:", b"  File x"),
        (b"[rank: 3] no label", b"", b"[rank: <NUM>] no label"),
        (b"0: 1: 2: 3: 4: a fifth label is text", b"0: 1: 2: 3: ", b"<NUM>: a fifth label is text"),
        (b"1234567: too long for a task", b"", b"<NUM>: too long for a task"),
    ],
)
def test_labels_before_a_line_are_kept_apart_from_what_it_says(line: bytes, prefix: bytes, body: bytes) -> None:
    """Labels may stack in any order, four deep; a host counts only when it is known."""
    parts = take_apart(line, FORMAT)

    assert (parts.prefix, parts.body) == (prefix, body)


@pytest.mark.parametrize(
    ("line", "body", "time"),
    [
        (b"2026-11-21 03:55:34,384 INFO up", b"<TS> INFO up", micros("2026-11-21T03:55:34", 384_000)),
        (b"[2026-11-21 03:55:36.735790] up", b"[<TS>] up", micros("2026-11-21T03:55:36", 735_790)),
        (b"2026-11-21T03:55:44.356Z up", b"<TS> up", micros("2026-11-21T03:55:44", 356_000)),
        (b"2026-11-21T03:55:44+01:00 up", b"<TS> up", at("2026-11-21T02:55:44")),
        (b"2026/11/21 03:55:44-0530 up", b"<TS> up", at("2026-11-21T09:25:44")),
        (b"11/21/2026 03:47:22 - INFO", b"<TS> - INFO", at("2026-11-21T03:47:22")),
        (b"[W1121 03:54:48.334874352 a.cpp:7]", b"[W<TS> a.cpp:<NUM>]", micros("2026-11-21T03:54:48", 334_874)),
        (b"W1121 03:55:42.708000 7519 torch", b"W<TS> <NUM> torch", micros("2026-11-21T03:55:42", 708_000)),
        (b"E328 00:21:12.920872216 x", b"E<TS> x", micros("2026-03-28T00:21:12", 920_872)),
        (b"22-Nov-26 03:47:22 x", b"<TS> x", at("2026-11-22T03:47:22")),
        (b"[22/Nov/2026:03:47:22 +0000]", b"[<TS> +<NUM>]", at("2026-11-22T03:47:22")),
        (b"22/11/2026 03:47:22 x", b"<TS> x", at("2026-11-22T03:47:22")),
        (b"26/11/22 03:47:22 INFO", b"<TS> INFO", at("2026-11-22T03:47:22")),
        (b"22/11/26 03:47:22 INFO", b"<TS> INFO", at("2026-11-22T03:47:22")),
        (b"E0000 00:00:1795319242.717182 37 x", b"E<TS> <NUM> x", micros("2026-11-22T03:47:22", 717_182)),
        (b"1795319242.5 step 3", b"<NUM> step <NUM>", micros("2026-11-22T03:47:22", 500_000)),
        (b"ts=1795319242.602 up", b"ts=<NUM> up", micros("2026-11-22T03:47:22", 602_000)),
        (b"took 1795319242.602 s", b"took <NUM> s", NO_TIME),
        (b"11-21 03:47:22 x", b"<TS> x", at("2026-11-21T03:47:22")),
        (b"[NeMo W 2025-04-30 16:35:21 nemo:405]", b"[NeMo W <TS> nemo:<NUM>]", at("2025-04-30T16:35:21")),
        (b"[Sun Feb 23 16:24:18 2025] NVRM", b"[Sun Feb <TS>] NVRM", at("2025-02-23T16:24:18")),
        (b"Feb  3 16:24:18 host kernel", b"Feb <TS> host kernel", at("2026-02-03T16:24:18")),
        (b"Feb   3 16:24:18 host kernel", b"Feb <NUM> <TS> host kernel", NO_TIME),
        (b"Dec 3 16:24:18 host kernel", b"Dec <TS> host kernel", at("2026-12-03T16:24:18")),
        (b"[12345.678901] kernel", b"[<NUM>] kernel", NO_TIME),
        (b'{"time_ms": 1715960318465, "a"', b'{"time_ms": <NUM>, "a"', 1_715_960_318_465_000),
        (
            b"[ERROR] HCCL(114650,python3):2025-06-19-09:28:35.212.164 [p2p_mgmt.cc:305]",
            b"[ERROR] HCCL(<NUM>,python<NUM>):<TS> [p<NUM>p_mgmt.cc:<NUM>]",
            micros("2025-06-19T09:28:35", 212_164),
        ),
        (b"12:34:56.789 up since 2026-11-21 03:55:34", b"<TS> up since <TS>", at("2026-11-21T03:55:34")),
        (b"." * 95 + b" 2026-11-21 03:55:34", b"." * 95 + b" <TS>", NO_TIME),
        (b"." * 95 + b"2026-11-21 03:55:34", b"." * 95 + b"<TS>", at("2026-11-21T03:55:34")),
        (b"no clock here", b"no clock here", NO_TIME),
    ],
)
def test_the_first_dated_clock_is_the_time_of_the_line(line: bytes, body: bytes, time: int) -> None:
    """All clocks become <TS>; one without a date, or far to the right, tells nothing of when the line was written."""
    parts = take_apart(line, FORMAT)

    assert (parts.body, parts.time) == (body, time)


@pytest.mark.parametrize(
    ("text", "body"),
    [
        (b"loss: 1.5E+00 | lr 3e-4, 12 of 80%", b"loss: <NUM> | lr <NUM>, <NUM> of <NUM>%"),
        (b"peer 10.0.3.7:29500 at 0x7f3a", b"peer <IP> at <HEX>"),
        (b"version 1.2.3", b"version <NUM>.<NUM>"),
        (b"run 12345678-abcd-1234-abcd-1234567890ab", b"run <HEX>"),
        (b"run ab345678-abcd-1234-abcd-1234567890ab", b"run <HEX>"),
        (b"sha beef0123456 and 01deadbeef", b"sha <HEX> and <HEX>"),
        (b"words: facade deadbeef bf16 fp8 a1b2", b"words: facade deadbeef bf<NUM> fp<NUM> a<NUM>b<NUM>"),
        (b"xbeef0123456 beef0123456x", b"xbeef<NUM> beef<NUM>x"),
        (b"tabs\tand   blanks \v here  ", b"tabs and blanks here"),
        (b"  two blanks are indented", b"  two blanks are indented"),
        (b"\t \tso are tabs", b"  so are tabs"),
        (b" one is not", b"one is not"),
        (b"   ", b""),
    ],
)
def test_what_varies_is_masked(text: bytes, body: bytes) -> None:
    """Numbers, addresses and hexadecimal words fall together; runs of white space do, too."""
    assert mask(text) == body


@pytest.mark.parametrize(
    "text",
    [
        b"[Errno 111] Connection refused",
        b"failed (exitcode: -9)",
        b"Exited with exit code 1",
        b"got status=12",
        b"vendor err 129",
        b"CUDA error: 719",
        b"Signal 11 received",
        b"HTTP 503",
        b"rc=0x1f",
    ],
)
def test_kinds_are_kept(text: bytes) -> None:
    """An errno, exit code, signal, status or Xid is the clue: two of them are two events (docs/explain/method.md)."""
    assert mask(text) == text


@pytest.mark.parametrize(
    ("text", "body"),
    [
        (b"exitcode  : -15", b"exitcode : -15"),
        (b"NVRM: Xid (PCI:0000:4b:00): 79, pid=8", b"NVRM: Xid (PCI:<NUM>:<NUM>b:<NUM>): 79, pid=<NUM>"),
        (b"Xid (PCI:0000:4b:00): 1.5", b"Xid (PCI:<NUM>:<NUM>b:<NUM>): <NUM>"),
    ],
)
def test_only_the_kind_is_kept(text: bytes, body: bytes) -> None:
    """What else varies in such a line is masked; torchrun aligns, NVIDIA writes the Xid behind an address."""
    assert mask(text) == body


@pytest.mark.parametrize(
    ("text", "body"),
    [
        (b"terror 7", b"terror <NUM>"),
        (b"error: 123456", b"error: <NUM>"),
        (b"error: 1.5", b"error: <NUM>"),
        (b"error        7", b"error <NUM>"),
        (b"errors 7", b"errors <NUM>"),
        (b"error7", b"error<NUM>"),
        (b"Xid (PCI:0000:4b:00) 79", b"Xid (PCI:<NUM>:<NUM>b:<NUM>) <NUM>"),
    ],
)
def test_measurements_that_look_like_kinds_are_masked(text: bytes, body: bytes) -> None:
    """A slot is a word of its own, a few signs before a short whole number."""
    assert mask(text) == body


def test_colours_are_removed() -> None:
    """ANSI sequences are neither text nor reason to miss a label."""
    parts = take_apart(b"\x1b[36m0: \x1b[0mstep \x1b[1;31m7\x1b[0m", FORMAT)

    assert (parts.prefix, parts.body) == (b"0: ", b"step <NUM>")


def test_bytes_that_are_no_text_are_kept() -> None:
    """NUL and what is not UTF-8 do not stop anything."""
    assert mask(b"a\0b \xff\xfe 7") == b"a\0b \xff\xfe <NUM>"


def test_endless_lines_are_cut() -> None:
    """A segment is looked at up to MAX_SEGMENT, and its body told apart up to MAX_BODY."""
    line = b"x" * MAX_SEGMENT + b" 2026-11-21 03:55:34"

    assert take_apart(line, FORMAT).body == b"x" * MAX_BODY
    assert take_apart(b"1" * MAX_SEGMENT + b"abcdef", FORMAT).body == b"<NUM>"


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        (b"", [(0, b"")]),
        (b"plain", [(0, b"plain")]),
        (b"windows\r", [(0, b"windows")]),
        (b" 1%\r 2%\rTraceback", [(0, b" 1%"), (4, b" 2%"), (8, b"Traceback")]),
        (b"\r\r", [(2, b"")]),
        (b"\r\ra", [(2, b"a")]),
    ],
)
def test_a_line_is_split_at_carriage_returns(line: bytes, expected: list[tuple[int, bytes]]) -> None:
    """A progress bar has many segments, and every line at least one."""
    assert list(segments(line)) == expected


def test_task_labels_are_learned_from_a_third_of_the_lines() -> None:
    """Job scripts print some lines of their own before srun labels the rest."""
    sample = b"loading modules\nstarting\n" + b"0: a\n"

    assert learn(sample, (), YEAR).task_labels
    assert not learn(b"no label\n" + sample, (), YEAR).task_labels
    assert not learn(b"", (), YEAR).task_labels


def test_hosts_are_learned_when_they_recur_or_are_known() -> None:
    """A word with a digit before many lines is a host, and so is one like it; so is a node of the manifest at once."""
    sample = b"gpu-01: a\n" * 5 + b"Note: b\n" * 5 + b"login: c\n" + b"gpu-02: d\n"

    assert learn(sample, (), YEAR).hosts == (b"gpu-01", b"gpu-02")
    assert learn(sample, (b"login", b"absent"), YEAR).hosts == (b"gpu-01", b"gpu-02", b"login")


def test_names_that_differ_in_numbers_only_are_hosts_of_few_lines_each() -> None:
    """pdsh of six machines that say three lines each; a word before a colon is none."""
    hosts = b"".join(b"gn0%d: worker %d up\ngn0%d: read 7 files\n" % (n, n, n) for n in range(1, 7))
    words = b"step: 1\nloss: 2\nlr: 3\nstep: 2\nloss: 1\nlr: 3\n" * 3

    assert learn(hosts, (), YEAR).hosts == tuple(b"gn0%d" % n for n in range(1, 7))
    assert learn(words, (), YEAR).hosts == ()


def test_blanks_behind_the_label_of_mpirun_are_those_of_the_line() -> None:
    """It writes none: a traceback keeps how it is indented."""
    known = Format(year=YEAR)

    assert take_apart(b'[1,0]<stderr>:  File "train.py", line 3', known).body.startswith(b"  File")
    assert take_apart(b"[1,0]<stderr>: it failed", known).body == b"it failed"
