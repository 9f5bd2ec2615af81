"""stern: ``llama-0 pytorch text``, or with its namespace before it; pods that come and go are told of with signs.

stern/cmd: the default template has the pod and the container, with --all-namespaces the namespace too; messages may
have a stamp of --timestamps, which is a layer of its own.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from core.logs.wraps.peeled import Peeled, Wrap, evenly

_NAME = rb"[a-z0-9][a-z0-9.-]{0,252}+(?<![.-])"  # possessive: behind it stands a blank or the end
# Pods of controllers end in a number or in five letters that Kubernetes draws; a word of prose has no hyphen.
_LIKE_A_POD = rb"(?=[^ ]{0,253}-)(?=[^ ]{0,253}[0-9]|[^ ]{0,253}-[bcdfghjklmnpqrstvwxz2456789]{5} )" + _NAME
_PAIR = re.compile(rb"(?P<pod>" + _LIKE_A_POD + rb") (?P<container>" + _NAME + rb")(?: |$)")
_TRIPLE = re.compile(_NAME + rb" (?P<pod>" + _LIKE_A_POD + rb") (?P<container>" + _NAME + rb")(?: |$)")
_SIGN = re.compile(rb"[+-] .* \xe2\x80\xba ")  # "+ llama-0 > pytorch", with a better arrow
_MOST = 0.9  # of the lines; stern writes no others


@dataclass(frozen=True, slots=True)
class _Columns:
    """How many names stand before the text; a class, because functions that are made cannot be sent elsewhere."""

    pattern: re.Pattern[bytes]

    def peel(self, line: bytes) -> Peeled | None:
        """What a container wrote, or that it came or went."""
        match = self.pattern.match(line)
        if match is not None:
            return Peeled(line[match.end() :], nodes=(match["pod"],), unit=match["container"])
        return Peeled(line) if _SIGN.match(line) else None


def fit(lines: Sequence[bytes]) -> Wrap | None:
    """Nearly all lines begin so, and each pair of names comes again."""
    for pattern in (_TRIPLE, _PAIR):
        tried = [line for line in evenly(lines) if not _SIGN.match(line)]
        found = [match.group("pod", "container") for line in tried if (match := pattern.match(line))]
        if found and len(found) >= _MOST * len(tried) and 2 * len(set(found)) <= len(found):
            return Wrap("stern", _Columns(pattern).peel)
    return None
