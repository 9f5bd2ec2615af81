"""Files of a container runtime below /var/log/pods: ``2026-11-22T04:49:38.177137210Z stdout F text``.

containerd, CRI-O and podman (k8s-file) write them; the kubelet's reader (pkg/kubelet/kuberuntime/logs) splits tags at
a colon. ``P`` marks a part of a line (16 KiB of it), ``F`` the end of one.
"""

import re

from core.logs.wraps.line_forms import Cut
from core.logs.wraps.peeled import Peeled, Wrap, any_text, usual
from core.logs.wraps.stamps import RFC3339, stamp_of, tokens_of

_LINE = re.compile(RFC3339 + rb" (?P<stream>stdout|stderr) (?P<tag>[FP])(?::[^ ]*)?(?: |$)")


def peel(line: bytes) -> Peeled | None:
    """What the container wrote."""
    match = _LINE.match(line)
    if match is None:
        return None
    return Peeled(line[match.end() :], stamp_of(match), stream=match["stream"], ends=match["tag"] == b"F")


def _cut(line: bytes) -> Cut | None:
    match = _LINE.match(line)
    if match is None or match["tag"] != b"F":
        return None
    blank = line.index(b" ")
    return Cut((*tokens_of(line[:blank]), line[blank : match.end()]), line[match.end() :])


fit = usual(Wrap("CRI", peel, is_torn=any_text, cut=_cut))
