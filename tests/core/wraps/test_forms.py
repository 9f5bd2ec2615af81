"""Lines of known forms are unwrapped all at once, and just as they are one by one."""

import io
import json
from functools import partial

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from core.logs.lines import LABEL_MARK
from core.logs.wraps import cri, docker, journal, json_lines, kubectl, logfmt, ranks, speaker_heads, tags, unwrap
from core.logs.wraps.line_blocks import FAST_BYTES, Blocks
from core.logs.wraps.line_forms import Form, Run, RunKind, make_form, match, put_together, tokens_of_line
from core.logs.wraps.peeled import Wrap
from core.logs.wraps.sample import find_wrapping
from core.logs.wraps.unwrap import Unwrapper
from core.logs.wraps.unwrapped_stream import OpenUnwrapped
from tests.support.wrapped_logs import unwrapped

STAMP = b"2026-11-22T04:49:38.177137210Z"
STARTED = b'"timestamp": "2026-11-22T04:49:38.177137Z"'
OBJECTS = (
    b'{"step": 31, "loss": 6.35, "event": "train_step", "host": "gpu17", "rank": 2, "job": "a b", "level": "INFO", %s}'
    % STARTED,
    b'{"step": 7, "loss": NaN, "event": "train step", "host": "gpu18", "rank": 12, "job": "", "level": "info", %s}'
    % STARTED,
    b'{"event":"x=1","why":"it is slow","level":"warning","rank":"3","config":{"lr":1e-3,"name":"a"},"ok":true}',
    b'{"event":"x","why":"slow","level":"warning","rank":03,"config":{"lr":-0,"name":"a b"},"ok":null}',
    b'{"message": "saved", "levelname": "INFO", "name": "trainer", "asctime": "2026-11-22 04:49:38,177", "to": "a=b"}',
    b'{"message": "", "levelname": "INFO", "name": "", "asctime": "2026-11-22 04:49:38,177", "to": "\\u00e9 \xc3\xa9"}',
    b'{"event":"failed","level":"error","exception":"Traceback\\nX: y","rank":1}',
    b'{"event":"failed","level":"error","exception":null,"rank":-1,"time":0.35,"list":[1,2]}',
    b'{"event":"half',
    b'that was it"}',
    b'  {"event":"indented","level":"info"}',
    b'{"event":"twice","event":"again","level":"info"}',
    b'{"msg":"' + b"long " * 300 + b'","level":30,"key":"' + b"k" * 1200 + b'"}',
)
TEXTS = (
    b"step 31 loss 2.5", b"", b"Traceback (most recent call last):", b'  File "a.py", line 3', b"a\rb\r",
    b"\x1b[31mred\x1b[0m text", b"mark \x1e here", b'ends like one"}', b"\xff\xfe bytes", b"[rank3]: 3: text",
    b"x" * 200,
)  # fmt: skip
PAIRS = (
    b"ts=2026-11-22T04:49:38.177137Z level=info step=31 loss=6.35 fwd_s=0.12 host=gpu17 rank=2 job=a",
    b"ts=2026-11-22T04:49:39.277137Z level=info step=32 loss=nan fwd_s=1e-3 host=gpu17 rank=2 job=",
    b'time="2026-11-22T04:49:38Z" level=warning msg="step done" why="it is slow" to=a=b',
    b'time="2026-11-22T04:49:38Z" level=warning msg="x=1" why="slow" to=\xc3\xa9',
    b'when=2026-11-22T04:49:38Z at=info msg=done at="b c" local_rank=03 pid=12',
    b'at="info now" msg=done when=0.5',
    b"level=info  msg=two",
    b"level=info msg=end ",
    b" level=info msg=in",
    b'level=info msg="with \\n escape" a=b\\c',
    b"level=info msg=a level=error",
    b"level=info msg",
    b"step=3 loss=2",
    b'level=info msg=a key="Traceback (most recent call last):"',
    b"level=info msg=a/b pod=x=y node=n-1,2",
    b"level=info msg=half\x1c ts=1795321630.477",
    b"level=info msg= rank=-1 ts=12",
    b"level=30 msg=\x1b[31mred",
    b"level=info msg=a tail=" + b"k" * 1200,
)
DOCKER = b'{"log":"a\\n","stream":"stdout","time":"%s"}' % STAMP
HEADS: dict[str, tuple[Wrap, tuple[bytes, ...]]] = {
    "cri": (
        cri.fit([STAMP + b" stdout F x"]) or pytest.fail("no CRI"),
        (
            STAMP + b" stdout F ", STAMP + b" stderr F ", STAMP + b" stdout P ", STAMP[:20],
            b"2026-11-22T05:49:38.5+01:00 stdout F ", STAMP + b" stdout F:x ", b"2026-11-22T05:49:38Z stdout F ",
        ),
    ),
    "kubectl": (
        kubectl.fit_stamp([STAMP + b" x"]) or pytest.fail("no kubectl"),
        (STAMP + b" ", b"2026-11-22T04:49:38.17713Z ", b"2026-11-22T04:49:38.1771371+01:00 ", STAMP),
    ),
    "prefix": (
        kubectl.fit_prefix([b"[pod/a-0/b] x"]) or pytest.fail("no prefix"),
        (b"[pod/llama-0/pytorch] ", b"[pod/llama-1/side-car] ", b"[pod/llama-1/x]", b"[pod/_/x] "),
    ),
    "journal": (
        journal.fit([b"Nov 22 04:27:10 gpu14 torchrun[6609]: x"]) or pytest.fail("no journal"),
        (
            b"Nov 22 04:27:10 gpu14 torchrun[6609]: ", b"Nov 22 04:27:10.477538 gpu15.a.b torchrun[12]: ",
            b"Nov 23 04:27:10 gpu14 kernel: ", b"Nov  3 04:27:10 gpu14 slurmd[812]: ", b"                         ",
            b"2026-11-22T04:27:10+0000 gpu14 python[1]: ", b"Sun 2026-11-22 04:27:10 UTC gpu14 a.service[6609]: ",
            b"1795321630.477538 gpu14 torchrun[6609]: ", b"[ 1630.477538] gpu14 torchrun[6609]: ", b"-- Boot 12 --",
        ),
    ),
    "ranks": (
        ranks.fit([b"04:27:10 [rank%d] x" % n for n in range(9)]) or pytest.fail("no ranks"),
        (
            b"2026-11-22 04:27:09,123 [INFO] [rank2] ", b"2026-11-22 04:27:09,123 [INFO] [rank11] ", b"[rank02] ",
            b"2026-11-22 04:27:09 | INFO | trainer:7 - (rank 0) ", b"04:27:09 | rank=3 | ",
            b"2026-11-22T04:27:09.123Z  INFO rank{id=10}: ", b"2026-11-22T04:27:09.123Z  INFO run{a=b rank=7 c=3}: ",
            b"2026-11-22 04:27:09 | bye ", b"",
        ),
    ),
    "columns": (
        speaker_heads.fit([b"04:27:%02d [rank%d]: step %d" % (n // 4, n % 4, n // 4) for n in range(60)])
        or pytest.fail("no columns"),
        (
            b"04:27:09,123 [rank2]: ", b"04:27:10 [rank11]: ", b"04:27:10 [rank03]: ", b"04:27:10 [rank4]:",
            b"[rank2]: ", b"04:27:10 step [rank2]: ", b"04:27:10 [rank1234567]: ", b"04:27:10 ", b"",
        ),
    ),
    "tags": (
        tags.fit([b'3: {"a"']) or pytest.fail("no tags"),
        (b" 3: ", b"12: [default1]:", b"(W pid=7, ip=10.0.0.3) ", b""),
    ),
    "json": (json_lines.fit(OBJECTS[:1]) or pytest.fail("no JSON"), (b"",)),
    "logfmt": (logfmt.fit(PAIRS[:1]) or pytest.fail("no logfmt"), (b"",)),
    "docker": (docker.fit([DOCKER]) or pytest.fail("no docker"), (b"",)),
}  # fmt: skip
STACKS = (
    ("cri",), ("kubectl",), ("prefix", "kubectl"), ("journal",), ("ranks",), ("columns",), ("json",), ("docker",),
    ("cri", "json"),
    ("logfmt",), ("cri", "logfmt"),
    ("tags", "json"), ("kubectl", "ranks"), ("docker", "journal"), ("cri", "journal", "json"),
)  # fmt: skip


def line_of(stack: tuple[str, ...], heads: list[bytes], text: bytes) -> bytes:
    line = b"".join(heads) + text
    if "docker" in stack:
        said = line.decode("utf-8", "replace") + "\n"
        return json.dumps({"log": said, "stream": "stdout", "time": STAMP.decode()}, separators=(",", ":")).encode()
    return line.replace(b"\n", b"")


@st.composite
def logs(draw: st.DrawFn) -> tuple[tuple[str, ...], list[bytes]]:
    """Layers, and lines that are wrapped in them, more or less."""
    stack = draw(st.sampled_from(STACKS))
    known = OBJECTS if "json" in stack else PAIRS if "logfmt" in stack else ()
    texts = st.sampled_from((*TEXTS, *known)) | st.binary(max_size=8)
    heads = st.tuples(*(st.sampled_from(HEADS[name][1]) for name in stack))
    lines = st.builds(lambda some, text: line_of(stack, list(some), text), heads, texts)
    few = draw(st.lists(lines, min_size=1, max_size=6))
    return stack, draw(st.lists(st.sampled_from(few), max_size=30))


def one_by_one(layers: list[Wrap], lines: list[bytes]) -> bytes:
    return b"".join(line + b"\n" for line in Unwrapper(layers).unwrap(lines))


@pytest.mark.slow
@given(log=logs(), cut=st.integers(1, 12))
@example(log=(("json",), [OBJECTS[0]] * 5), cut=3)
@example(log=(("logfmt",), [line for line in PAIRS for _ in range(2)] + [*PAIRS]), cut=3)
@settings(deadline=None, max_examples=400, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])
def test_blocks_say_what_the_lines_say_one_by_one(log: tuple[tuple[str, ...], list[bytes]], cut: int) -> None:
    """Whatever stands between lines of known forms: parts, broken ones, what goes on with the line above."""
    stack, lines = log
    lines = [line for text in lines for line in text.split(b"\n")]
    layers = [HEADS[name][0] for name in stack]
    fast = Blocks(Unwrapper(layers), layers)

    said = [fast.unwrap(b"".join(line + b"\n" for line in lines[at : at + cut])) for at in range(0, len(lines), cut)]

    assert b"".join(said) == one_by_one(layers, lines)


@pytest.mark.parametrize("cut", [1, 7, 200])
def test_fields_that_are_new_in_each_record_are_read_up_to_a_bound(cut: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Then records stand as they are, the same line by line and by blocks; no forged label passes."""
    monkeypatch.setattr(unwrap, "MAX_LAYOUTS", 20)
    monkeypatch.setattr(unwrap, "MAX_BEYOND", 20)
    usual = b'{"level": "info", "msg": "step", "n": 1}'
    new = [b'{"level": "info", "msg": "at", "k%d": 1, "in": {"a%d": 2}}' % (n, n) for n in range(100)]
    odd = [usual + b"\r", b"\x1b[31m" + usual, LABEL_MARK + b"n=gpu-7 " + usual, b"plain\rtext", b""]
    lines = [*(line for pair in zip(new, [usual] * 100, strict=True) for line in pair), *odd]
    layers = [HEADS["json"][0]]
    unwrapper = Unwrapper(layers)
    fast = Blocks(unwrapper, layers)

    said = [fast.unwrap(b"".join(line + b"\n" for line in lines[at : at + cut])) for at in range(0, len(lines), cut)]

    found = b"".join(said)
    assert found == one_by_one(layers, lines)
    assert found.count(b"\n") == len(lines)
    assert found.replace(LABEL_MARK, b"").startswith(b"INFO at in.a0=2 k0=1\nINFO step n=1\n")
    assert new[-1] in found
    assert found.count(LABEL_MARK) == 2 * len([*lines, b"the part behind a carriage return"])
    assert (
        unwrapper.capped == "records with more than 20 different sets of fields: the rest of it was read as it stands."
    )


@pytest.mark.parametrize("stack", STACKS, ids="-".join)
def test_usual_lines_have_a_form(stack: tuple[str, ...]) -> None:
    """None of the hot formats is left to be understood line by line."""
    layers = [HEADS[name][0] for name in stack]
    text = {"json": OBJECTS[0], "logfmt": PAIRS[0]}.get(stack[-1], TEXTS[0])
    line = line_of(stack, [HEADS[name][1][0] for name in stack], text)
    tokens = tokens_of_line(line, layers)

    form = make_form(line, tokens or (), lambda one: next(Unwrapper(layers).unwrap((one,))))

    assert form is not None
    contents = match(form, line)
    assert contents is not None
    assert put_together(form.pieces, contents) + b"\n" == one_by_one(layers, [line])


def test_a_rank_in_brackets_is_one_layer() -> None:
    """It is a column of speakers too, for which lines would be unwrapped one by one."""
    lines = [b"2026-11-22 04:27:%02d [rank%d] iteration %d loss=0.1" % (n // 4, n % 4, n // 4) for n in range(200)]
    assert [layer.name for layer in find_wrapping(b"\n".join(lines)).layers] == ["ranks"]


def test_what_follows_from_more_than_the_runs_is_no_form() -> None:
    """The length of a number, here; made-up lines would come out otherwise."""
    tokens = (b"step ", Run(RunKind.DIGITS, 8))

    assert make_form(b"step 12", tokens, lambda line: b"%d:%s" % (len(line.rstrip(b"3")), line)) is None
    assert make_form(b"step 12", tokens, lambda line: line.upper()) == Form(tokens, (b"STEP ", 0))


LARGE = [STAMP + b" stdout F " + OBJECTS[at % 3] for at in range(12_000)]
CRI_JSON = [HEADS["cri"][0], HEADS["json"][0]]


@pytest.mark.slow
def test_large_logs_are_unwrapped_in_blocks() -> None:
    """From some bytes on; what comes out is the same, whatever is read at once."""
    lines = [*LARGE, STAMP + b" stderr F end"]
    opened = OpenUnwrapped(partial(io.BytesIO, b"".join(line + b"\n" for line in lines)))

    with opened() as stream:
        found = b"".join(iter(lambda: stream.read(100_003), b""))

    assert sum(map(len, lines)) > 2 * FAST_BYTES
    assert found == one_by_one(CRI_JSON, lines)


@pytest.mark.slow
def test_without_numba_all_is_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    """Slow, and right."""

    def no_numba(*_: object) -> None:
        raise ImportError("numba")

    monkeypatch.setattr("core.logs.wraps.unwrapped_stream.Blocks", no_numba)

    assert unwrapped(b"".join(line + b"\n" for line in LARGE)) == one_by_one(CRI_JSON, LARGE)
