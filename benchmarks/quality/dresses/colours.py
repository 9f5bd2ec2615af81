"""What terminals are sent: colours of rich, loguru and torchtitan, links and titles."""

import io
import re

from rich.console import Console

from benchmarks.quality.dresses.outfit import Outfit
from benchmarks.quality.dresses.put_on import WrappedLine, in_place
from benchmarks.quality.dresses.wearer import Wearer

_CONTROL = re.compile(rb"[\x00-\x08\x0b-\x1f\x7f]")  # a bar, or colours: written past whoever colours lines


def rich(wearer: Wearer) -> Outfit:
    """``rich.print`` of each line: the library itself highlights numbers, paths, strings and addresses."""
    console = Console(
        file=io.StringIO(),
        force_terminal=True,
        color_system="truecolor",
        width=200,
        soft_wrap=True,
        markup=False,
        emoji=False,
    )
    return in_place(wearer, lambda line: [line.spoken.envelope + _highlighted(line, console)])


def _highlighted(line: WrappedLine, console: Console) -> bytes:
    if _CONTROL.search(line.text) or not line.text:
        return line.text
    with console.capture() as printed:
        console.print(line.text.decode("utf-8", "replace"), end="")
    return printed.get().encode()


# loguru 0.7, _defaults.py: format and colours of levels; _better_exceptions.py: an exception's first line and name.
_LOGURU = re.compile(
    rb"(?P<time>\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d{3}) \| (?P<level>[A-Z]+ *) \| "
    rb"(?P<name>[^:]+):(?P<function>[^:]+):(?P<line>\d+) - (?P<text>.*)",
    re.DOTALL,
)
_LOGGED = re.compile(rb"(?P<time>\d{4}-\d\d-\d\d \d\d:\d\d:\d\d,\d{3}) (?P<level>\[[A-Z]+\]) (?P<text>.*)", re.DOTALL)
_RAISED = re.compile(
    rb"(?P<label>\[rank\d+\]: )?(?P<kind>[A-Za-z_.]+(?:Error|Exception|Interrupt|Exit)): (?P<text>.*)", re.DOTALL
)
_BOLD, _RESET = b"\x1b[1m", b"\x1b[0m"
_LEVELS = {
    b"DEBUG": b"\x1b[34m\x1b[1m", b"INFO": _BOLD, b"SUCCESS": b"\x1b[32m\x1b[1m", b"WARNING": b"\x1b[33m\x1b[1m",
    b"ERROR": b"\x1b[31m\x1b[1m", b"CRITICAL": b"\x1b[41m\x1b[1m",
}  # fmt: skip


def loguru(wearer: Wearer) -> Outfit:
    """``colorize=True``; lines of other loggers with a level are coloured alike."""
    return in_place(wearer, lambda line: [line.spoken.envelope + _of_loguru(line.text)])


def _of_loguru(text: bytes) -> bytes:
    if match := _LOGURU.fullmatch(text):
        level = _LEVELS.get(match["level"].strip(), _BOLD)
        where = b":".join(_in(b"\x1b[36m", match[part]) for part in ("name", "function", "line"))
        head = b" | ".join((_in(b"\x1b[32m", match["time"]), _in(level, match["level"]), where))
        return head + b" - " + _in(level, match["text"])
    if match := _LOGGED.fullmatch(text):
        level = _LEVELS.get(match["level"].strip(b"[]"), _BOLD)
        return b" ".join((_in(b"\x1b[32m", match["time"]), _in(level, match["level"]), _in(level, match["text"])))
    if text.endswith(b"Traceback (most recent call last):"):
        return _in(b"\x1b[33m\x1b[1m", text)
    if match := _RAISED.fullmatch(text):
        return (
            (match["label"] or b"") + _in(b"\x1b[31m\x1b[1m", match["kind"]) + b":" + _in(_BOLD, b" " + match["text"])
        )
    return text


def _in(colour: bytes, text: bytes) -> bytes:
    return colour + text + _RESET


# torchtitan, tools/utils.py (class Color) and components/metrics.py: a colour before each metric, one reset behind all.
_TITAN = (
    b"\x1b[31m", b"\x1b[32m", b"\x1b[38;2;180;60;0m", b"\x1b[38;2;54;234;195m", b"\x1b[34m", b"\x1b[36m", b"\x1b[35m",
)  # fmt: skip
_TITAN_RESET = b"\x1b[39m"
_STEP = re.compile(rb"(?i)\b(?:step|iteration|steps)s?[ :=]")
_METRIC = re.compile(rb"(?<![\w/.:-])(?=[a-z][\w/ ]*?(?: \((?:ms|s)\))?[:=] *-?\d|(?:iteration|step) +\d)")


def torchtitan(wearer: Wearer) -> Outfit:
    """Metrics in colours, each in its own."""
    return in_place(wearer, lambda line: [line.spoken.envelope + _of_titan(line.text)])


def _of_titan(text: bytes) -> bytes:
    if _CONTROL.search(text) or not _STEP.search(text):
        return text
    starts, out, at = [match.start() for match in _METRIC.finditer(text)], b"", 0
    for place, start in enumerate(starts):
        out += text[at:start] + _TITAN[place % len(_TITAN)]
        at = start
    return out + text[at:] + _TITAN_RESET if starts else text


_PATH = re.compile(rb"(?<=[\s\"'(])/[\w./-]+")


def links(wearer: Wearer) -> Outfit:
    """OSC 8 around each path, as rich and pytest write it, and now and then the window's title (OSC 0)."""
    return in_place(wearer, lambda line: [line.spoken.envelope + _linked(line)])


def _linked(line: WrappedLine) -> bytes:
    number = line.spoken.place[1]
    text = _PATH.sub(lambda match: _link(match[0], number), line.text)
    return b"\x1b]0;train\x07" + text if number % 25 == 1 else text


def _link(path: bytes, number: int) -> bytes:
    return b"\x1b]8;id=%d;file://%s\x1b\\%s\x1b]8;;\x1b\\" % (number, path, path)
