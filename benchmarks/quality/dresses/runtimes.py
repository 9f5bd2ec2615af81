"""Container runtimes and what shows their logs: docker json-file, CRI, kubectl, stern."""

import json
import re
from collections.abc import Iterator

from benchmarks.quality.dresses.outfit import Outfit
from benchmarks.quality.dresses.put_on import WrappedLine, in_place, together
from benchmarks.quality.dresses.stamps import nanos, pod_of
from benchmarks.quality.dresses.wearer import Wearer

_PART = 1 << 14  # bytes: docker and containerd cut longer lines
_ESCAPED = re.compile(r"[<>&\u2028\u2029\t\b\f]")


def docker(wearer: Wearer) -> Outfit:
    """The json-file driver (moby, daemon/logger/jsonfilelog)."""
    return in_place(wearer, _docker)


def _docker(line: WrappedLine) -> Iterator[bytes]:
    for part, is_last in _parts(line.text):
        text = part.decode("utf-8", "replace") + "\n" * is_last
        log = _ESCAPED.sub(lambda match: f"\\u{ord(match[0]):04x}", json.dumps(text, ensure_ascii=False))
        log = log.replace(r"\t", r"\u0009").replace(r"\b", r"\u0008").replace(r"\f", r"\u000c")
        yield f'{{"log":{log},"stream":"{_name(line)}","time":"{nanos(line.time)}"}}'.encode()


def cri(wearer: Wearer) -> Outfit:
    """Files below /var/log/pods (containerd, internal/cri/io/logger.go)."""
    return in_place(wearer, _cri)


def _cri(line: WrappedLine) -> Iterator[bytes]:
    for part, is_last in _parts(line.text):
        yield f"{nanos(line.time)} {_name(line)} {'F' if is_last else 'P'} ".encode() + part


def kubectl_timestamps(wearer: Wearer) -> Outfit:
    """``kubectl logs --timestamps``, a file each."""
    return in_place(wearer, _stamped)


def _stamped(line: WrappedLine) -> Iterator[bytes]:
    yield nanos(line.time).encode() + b" " + line.text


def kubectl_prefix(wearer: Wearer) -> Outfit:
    """``kubectl logs --selector ... --prefix``: pod after pod in one file."""
    return together(wearer, "logs/pods.log", _prefixed, by_time=False)


def _prefixed(line: WrappedLine) -> Iterator[bytes]:
    yield f"[pod/{pod_of(line.node)}/pytorch] ".encode() + line.text


def kubectl_both(wearer: Wearer) -> Outfit:
    """``kubectl logs --follow --prefix --timestamps``: all pods as they speak."""
    return together(wearer, "logs/pods.log", _prefixed_and_stamped)


def _prefixed_and_stamped(line: WrappedLine) -> Iterator[bytes]:
    yield f"[pod/{pod_of(line.node)}/pytorch] {nanos(line.time)} ".encode() + line.text


def stern(wearer: Wearer) -> Outfit:
    """Stern's default template, without colours: pod, container, line."""
    return together(wearer, "logs/stern.log", _stern)


def _stern(line: WrappedLine) -> Iterator[bytes]:
    yield f"{pod_of(line.node)} pytorch ".encode() + line.text


def _name(line: WrappedLine) -> str:
    return "stdout" if line.stream.stdout else "stderr"


def _parts(text: bytes) -> Iterator[tuple[bytes, bool]]:
    for at in range(0, max(1, len(text)), _PART):
        yield text[at : at + _PART], at + _PART >= len(text)
