"""Blocks of programs beside Python, in lines of public logs; each stands below its source."""

import pytest

from tests.core.test_blocks import said


def test_a_stack_of_java_below_a_python_exception_is_part_of_it() -> None:
    """py4j prints the Java exception in the text of its own (dagster-io/dagster 2432)."""
    (only,) = said(
        "Traceback (most recent call last):",
        '  File "/opt/spark/python/py4j/protocol.py", line 328, in get_return_value',
        "    format(target_id, '.', name), value)",
        "py4j.protocol.Py4JJavaError: An error occurred while calling o130.jdbc.",
        ": org.apache.spark.SparkException: Exception thrown in awaitResult: ",
        "\tat org.apache.spark.util.ThreadUtils$.awaitResult(ThreadUtils.scala:226)",
        "\tat java.lang.Thread.run(Thread.java:748)",
        "Caused by: java.io.IOException: No space left on device",
        "\tat java.io.FileOutputStream.writeBytes(Native Method)",
        "\t... 3 more",
    )

    assert only.text == (
        "¶ Py<NUM>JJavaError: An error occurred while calling o<NUM>.jdbc. / org.apache.spark.SparkException: "
        "Exception thrown in awaitResult: / java.io.IOException: No space left on device"
    )
    assert (only.lines, only.keys) == (tuple(range(1, 11)), (4, 5, 8))


def test_the_record_of_spark_belongs_to_the_exception_below() -> None:
    """spark Executor.scala, by log4j; the day has two figures of the year (intel/analytics-zoo 357)."""
    first, second = said(
        "20/11/22 04:00:00 ERROR Executor: Exception in task 0.0 in stage 3.0 (TID 3)",
        "java.lang.OutOfMemoryError: Java heap space",
        "\tat org.apache.spark.storage.BlockManager.doPut(BlockManager.scala:1091)",
        "20/11/22 04:00:01 INFO Executor: Not reporting error to driver during JVM shutdown.",
    )

    assert (first.text, first.lines, first.keys) == (
        "¶ java.lang.OutOfMemoryError: Java heap space",
        (1, 2, 3),
        (2,),
    )
    assert second.lines == (4,)


def test_paddles_report_of_a_signal_is_called_by_its_summary() -> None:
    """Paddle init.cc (opendatalab/PDF-Extract-Kit 74)."""
    report = said(
        "--------------------------------------",
        "C++ Traceback (most recent call last):",
        "--------------------------------------",
        "No stack trace in paddle, may be caused by external reasons.",
        "",
        "----------------------",
        "Error Message Summary:",
        "----------------------",
        "FatalError: `Segmentation fault` is detected by the operating system.",
        '  [TimeInfo: *** Aborted at 1722663940 (unix time) try "date -d @1722663940" if you are using GNU date ***]',
        "  [SignalInfo: *** SIGSEGV (@0x0) received by PID 5695 (TID 0x7f370f34f280) from PID 0 ***]",
        "",
    )

    assert [one.text for one in report[1:]] == [
        "¶ FatalError: `Segmentation fault` is detected by the operating system.",
        "",
    ]
    assert (report[1].lines, report[1].keys) == (tuple(range(2, 12)), (9,))


def test_a_dying_interpreter_tells_its_c_stack_too() -> None:
    """CPython 3.14 (Python/traceback.c, the example of the faulthandler documentation)."""
    (only,) = said(
        "Fatal Python error: Segmentation fault",
        "",
        "Current thread 0x00007fb899f39700 [python] (most recent call first):",
        '  File "/opt/python/Lib/ctypes/__init__.py", line 486 in string_at',
        '  File "<stdin>", line 1 in <module>',
        "",
        "Current thread's C stack trace (most recent call first):",
        '  Binary file "/opt/python/python", at _Py_DumpStack+0x42 [0x5b27f7d7147e]',
        "  <truncated rest of calls>",
    )

    assert (only.text, only.lines) == ("¶ Fatal Python error: Segmentation fault", tuple(range(1, 10)))


def test_a_traceback_with_the_head_of_torchs_logger_on_each_line_is_one_message() -> None:
    """torch, _logging; its warning says that it was caught, and is a line (public jobs of 56 ranks)."""
    head = "[rank52]:W0619 13:43:42.956000 190186 torch/_inductor/codecache.py:1045] [2/0]"
    lines = [
        f"{head} fx graph cache unable to load compiled graph",
        f"{head} Traceback (most recent call last):",
        f'{head}   File "/usr/lib/python3.12/torch/_inductor/codecache.py", line 1041, in iterate_over_candidates',
        f'{head}     with open(os.path.join(subdir, path), "rb") as f:',
        f"{head}          ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^",
        f"{head} FileNotFoundError: [Errno 2] No such file or directory: '/tmp/aotautograd/106374.tmp'",
    ]

    found = said(*lines, *lines)

    assert [one.lines for one in found] == [(1,), (2, 3, 4, 5, 6), (7,), (8, 9, 10, 11, 12)]
    assert found[1].text == (
        "W<TS> <NUM> torch/_inductor/codecache.py:<NUM>] [<NUM>/<NUM>] FileNotFoundError: [Errno 2] No such file or "
        "directory: '/tmp/aotautograd/<NUM>.tmp'"
    )


def test_hccls_table_of_links_is_one_message() -> None:
    """CANN 8.0, hccl comm_base.cc: a frame, a head, a row for each peer; what counts are the rows."""
    head = "[ERROR] HCCL(26251,python3):2025-01-24-11:24:07.476.{} [comm_base.cc:{}][42715]   "
    texts = [
        "_________________________LINK_ERROR_INFO_________________________",
        "|  comm error, device[0] num[1]  |",
        "|  dest_ip(rank_id)  |  src_ip(rank_id)   |   Role   |   Status   |",
        "|--------------------|--------------------|----------|------------|",
        "|  124.0.0.21(0)   |   124.0.0.11(1)   |  client  | no connect |",
        "_________________________________________________________________",
        "the connection failure between this device and target device may be due to the following reasons:",
    ]
    only, below = said(*(head.format(100 + n, 967 + n) + text for n, text in enumerate(texts)))

    assert (only.text, only.lines, only.keys) == (
        "\u00b6 HCCL _LINK_ERROR_INFO_: | no connect |",
        (1, 2, 3, 4, 5, 6),
        (5,),
    )
    assert below.lines == (7,)


@pytest.mark.parametrize("separator", ["\\n", "#012", "\\\\n"])
def test_a_traceback_in_one_line_is_called_by_its_exception(separator: str) -> None:
    """As a logger of objects escapes it, or rsyslog (parser.escapecontrolcharactersonreceive)."""
    told = separator.join(
        (
            "Traceback (most recent call last):",
            '  File "/opt/train.py", line 3, in main',
            "    raise ValueError(x)",
            "ValueError: boom",
        )
    )
    (only,) = said(f"Nov 22 04:27:10 gpu14 torchrun[6609]: {told}")

    assert only.text == "¶ ValueError: boom"


def test_a_traceback_in_one_line_that_is_too_long_to_be_kept_is_a_line() -> None:
    """Its exception stands beyond what tells one line from another, so it is not made up."""
    frames = "\\n".join(f'  File "/opt/train.py", line {number}, in f' for number in range(80))
    found = said(f'{{"exception": "Traceback (most recent call last):\\n{frames}\\nValueError: boom"}}', "after")

    assert not any(one.text.startswith("¶") for one in found)


def test_a_panic_of_rust_is_called_by_what_it_says() -> None:
    """std/src/panicking.rs: the place, the message below it, and how to get a backtrace."""
    new = said(
        "thread 'main' (1121) panicked at src/ring.rs:28:67:",
        "index out of bounds: the len is 512 but the index is 700",
        "note: run with `RUST_BACKTRACE=1` environment variable to display a backtrace",
        "shard 0: bye",
    )
    old = said("thread 'main' panicked at 'index out of bounds: the len is 3 but the index is 9', src/main.rs:2:5")

    assert next((one.text, one.lines) for one in new) == (
        "\u00b6 index out of bounds: the len is <NUM> but the index is <NUM>",
        (1, 2, 3),
    )
    assert "panicked at 'index out of bounds" in old[0].text


def test_the_backtrace_of_rust_belongs_to_its_panic() -> None:
    """With RUST_BACKTRACE=1."""
    (only,) = said(
        "thread 'tokio-runtime-worker' panicked at src/net.rs:9:5:",
        'called `Result::unwrap()` on an `Err` value: Error { kind: UnexpectedEof, message: "unexpected eof" }',
        "stack backtrace:",
        "   0: rust_begin_unwind",
        "             at /rustc/9fc6b431/library/std/src/panicking.rs:665:5",
        "   1: core::panicking::panic_fmt",
        "note: Some details are omitted, run with `RUST_BACKTRACE=full` for a verbose backtrace.",
    )

    assert only.lines == (1, 2, 3, 4, 5, 6, 7)
    assert "UnexpectedEof" in only.text


def test_a_dump_whose_rows_a_collector_gave_a_level_is_one_dump() -> None:
    """Google's collector calls all that stands on the error stream an ERROR; the dump is faulthandler's."""
    told = said(
        "ERROR Thread 0x00007f22b91fe640 (most recent call first):",
        'ERROR   File "/usr/lib/python3.12/threading.py", line 355 in wait',
        "ERROR Current thread 0x00007fd959b2831c (most recent call first):",
        'ERROR   File "/deps/train.py", line 801 in main',
        "INFO completed step: 84",
    )

    assert [(one.text, one.lines) for one in told] == [
        ("Stack dump of all threads", (1, 2, 3, 4)),
        ("INFO completed step: <NUM>", (5,)),
    ]
