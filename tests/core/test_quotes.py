"""What a sentence quotes of a log line: the message, without who spoke and when."""

import pytest

from core.judge.ranking import quote


@pytest.mark.parametrize(
    ("line", "quoted"),
    [
        ("[I1121 04:20:16.050827937 socket.cpp:955] [c10d] The client", "[c10d] The client"),
        ("11: [rank11]:W0527 00:19:13.488000 263699 torch/x.py:228] [3/0] Error", "[3/0] Error"),
        ("host=ring-0 rank=0 2026/11/22 13:22:05.205605 level=fatal err=x", "level=fatal err=x"),
        ("[16:56:31.632033 ERROR rtrain::worker] fatal: loss inf", "fatal: loss inf"),
        ("[2026-11-22 13:18:31 seq p3] update 28: ready", "update 28: ready"),
        ("[2026-11-22 13:32:07,545] [    INFO] - global rank 3", "global rank 3"),
        ("(RayTrainWorker pid=19476, ip=10.192.0.14) AssertionError: ids", "AssertionError: ids"),
        ("v100x16-2: [rank5]: FileNotFoundError: [Errno 2]", "FileNotFoundError: [Errno 2]"),
        (
            "[ERROR] RUNTIME(4150867,msame):2022-09-22-09:27:46.404.607 [task.cc:1021]4150867 PrintErrorInfo:failed",
            "PrintErrorInfo:failed",
        ),
        ("[1,3]<stderr>:OSError: 20000 requested", "OSError: 20000 requested"),
        ("seg-c [rank2]: KeyError: 'base'", "KeyError: 'base'"),
        (
            '{"ts": "2026-11-22T13:19:34.910+00:00", "level": "error", "logger": "main", "msg": "no such key"}',
            "no such key",
        ),
        ('{"a": 1}', '{"a": 1}'),
        ("17:57:43.22 save_done r=3", "save_done r=3"),
        ("2025-Aug-09 08:08:38.047297 52:52 ERROR  TDRV:log   Failed to", "52:52 ERROR TDRV:log Failed to"),
        ("[rank3]: tensorflow.python.framework.errors_impl.InvalidArgumentError: Graph", "InvalidArgumentError: Graph"),
        ("ray.exceptions.RayTaskError(ValueError): ray::f()", "RayTaskError(ValueError): ray::f()"),
        # what only looks like a label is the message
        ("node-02 noded[21421]: INFO kernel: python", "node-02 noded[21421]: INFO kernel: python"),
        ("[NCCL] error 5", "[NCCL] error 5"),
        ("worker died (pid=7)", "worker died (pid=7)"),
        ("[rank3]:", "[rank3]:"),
    ],
)
def test_a_quote_is_the_message(line: str, quoted: str) -> None:
    """A phone has room for the message alone."""
    assert quote(line) == quoted
