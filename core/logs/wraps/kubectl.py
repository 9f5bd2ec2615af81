"""``kubectl logs --prefix`` and ``--timestamps``: ``[pod/llama-0/pytorch] 2026-11-22T04:49:38.177137210Z text``.

The stamp is the container runtime's, of which trailing zeros may be gone; ``docker logs --timestamps`` writes the same.
"""

import re
from collections.abc import Sequence

from core.logs.wraps.line_forms import Cut, Run, RunKind
from core.logs.wraps.peeled import Peeled, Wrap, any_text, evenly, share, usual
from core.logs.wraps.stamps import RFC3339, stamp_of, tokens_of

_POD = re.compile(rb"\[pod/(?P<pod>[a-z0-9.-]+)/(?P<container>[a-z0-9.-]+)\] ?")
_STAMP = re.compile(RFC3339 + rb"(?: |$)")
# Go writes nanoseconds, without their trailing zeros: one stamp in a hundred thousand has less than five digits. No
# program that trains writes more than six.
_NANOSECONDS = re.compile(rb"[^ ]{19}\.[0-9]{7,9}(?:Z|[+-])")
_BEFORE_JSON = re.compile(RFC3339 + rb' \{"')


def peel_prefix(line: bytes) -> Peeled | None:
    """What the container wrote, and which pod it is in."""
    match = _POD.match(line)
    return Peeled(line[match.end() :], nodes=(match["pod"],), unit=match["container"]) if match else None


def peel_stamp(line: bytes) -> Peeled | None:
    """What stands behind a stamp."""
    match = _STAMP.match(line)
    return Peeled(line[match.end() :], stamp_of(match)) if match else None


def _cut_prefix(line: bytes) -> Cut | None:
    match = _POD.match(line)
    pod, container = Run(RunKind.HOST, 250), Run(RunKind.HOST, 100)
    return (
        Cut((b"[pod/", pod, b"/", container, line[match.end("container") : match.end()]), line[match.end() :])
        if match
        else None
    )


def _cut_stamp(line: bytes) -> Cut | None:
    match = _STAMP.match(line)
    return (
        Cut((*tokens_of(match[0].rstrip()), b" "), line[match.end() :]) if match and match[0].endswith(b" ") else None
    )


fit_prefix = usual(Wrap("kubectl --prefix", peel_prefix, is_torn=any_text, cut=_cut_prefix))
_STAMPED = Wrap("kubectl --timestamps", peel_stamp, is_torn=any_text, cut=_cut_stamp)


def fit_stamp(lines: Sequence[bytes]) -> Wrap | None:
    """Stamps before most lines, and most of them with nanoseconds, or before JSON objects: no program's own clock."""
    tried = evenly(lines)
    fine = sum(_NANOSECONDS.match(line) is not None or _BEFORE_JSON.match(line) is not None for line in tried)
    return _STAMPED if fine * 2 > len(tried) and share(lines, _STAMPED) >= 0.5 else None
