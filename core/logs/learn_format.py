"""How a file is written, learned from its first bytes before it is scanned: whose labels stand before its lines."""

import re
from collections import Counter
from collections.abc import Iterable, Mapping

from core.logs.lines import HOST_LABEL, LABEL, STAMP, TASK, Format, without_ansi

MIN_OF_HOST = 5  # lines behind a name: of fewer it may be a word of a few messages
_HOSTLIKE = re.compile(rb"localhost|(?=[^.]*[A-Za-z])(?=[^:]*[0-9])[A-Za-z0-9_.-]{2,64}|[0-9]{1,3}(?:\.[0-9]{1,3}){3}")
_DIGITS = re.compile(rb"[0-9]+")
# microsoft/DeepSpeed deepspeed/launcher/runner.py (0.15) prints how it calls pdsh: "cmd = pdsh -S -f 1024 -w a,b"
_LISTED = re.compile(rb"\bpdsh [^\n]{0,80}?-w ([A-Za-z0-9.-]{1,253}(?:,[A-Za-z0-9.-]{1,253}){1,4095})")


def learn(sample: bytes, known_hosts: Iterable[bytes], year: int) -> Format:
    """The format of a file from its first bytes; a label counts when a good part of the lines carries it.

    A third of the lines: job scripts print some lines of their own before and after what srun labels. A twentieth for
    host names, which share a file, and only names that look like one (a digit, or ``localhost``) or are known. Half of
    them for labels of ``core.logs.wraps``, which writes one before every line: no log forges them with some of its own.
    """
    whole = [without_ansi(line) for line in sample.split(b"\n") if line.strip()]
    labelled = sum(LABEL.match(line) is not None for line in whole) * 2 > len(whole)
    lines = [(LABEL if labelled else STAMP).sub(b"", line, count=1) for line in whole]
    tasks = sum(TASK.match(line) is not None for line in lines)
    names = Counter(match[1] for line in lines if (match := HOST_LABEL.match(line)))
    alike: Counter[bytes] = Counter()
    for name, count in names.items():
        alike[_DIGITS.sub(b"9", name)] += count
    known = set(known_hosts) | {name for match in _LISTED.finditer(sample) for name in match[1].split(b",")}
    hosts = sorted(
        name
        for name, count in names.items()
        if name in known or (_HOSTLIKE.fullmatch(name) and _are_hosts(name, count, alike, len(lines)))
    )
    return Format(task_labels=tasks * 3 >= len(lines) > 0, hosts=tuple(hosts), year=year, labelled=labelled)


def _are_hosts(name: bytes, count: int, alike: Mapping[bytes, int], lines: int) -> bool:
    """Whether a name stands before enough lines, or all do that differ from it in numbers only: gn01 to gn06."""
    many = count * 20 >= lines and count >= MIN_OF_HOST
    together = alike[_DIGITS.sub(b"9", name)]
    return many or (together > count and together * 3 >= lines and together >= MIN_OF_HOST)
