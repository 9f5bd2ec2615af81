"""What a file that a person names by its path holds: its content decides, its name only where the content does not.

Files in a job folder are told by their names alone (sources/layout.py): to look into each would cost a request each.
"""

import re
from dataclasses import dataclass

from core.errors import UnreadableLog
from sources.layout import StoredFile, binary_suffix
from sources.limits import Limits
from sources.unpack import open_log

HEAD_BYTES = 1 << 13  # git looks for NULs in as much
# What no program prints into its log. Progress bars and colours print backspace, ESC and shifts. What was appended over
# a network, cut off at its beginning, or lost with the power has NULs in a row, so a row of them counts as one byte.
_ODD = re.compile(rb"\0+|[\x01-\x06\x10-\x1a\x1c-\x1f\x7f]")
# Of 85,000 files of a Linux installation the texts had none of these bytes, and of 30,000 others all but 11 had more.
_MOST_ODD = 0.01
_FEW_ODD = 8  # prove nothing in a short file


@dataclass(frozen=True, slots=True)
class NoLog:
    """What a file is that holds no log lines, as in "model.pt ...", and what to do instead."""

    says: str
    hint: str

    def error(self, name: str) -> UnreadableLog:
        """The error for a file of that name."""
        return UnreadableLog(f"{name} {self.says}.", self.hint)


NAME_LOGS = "Logs are text, packed or not: name a log file, a job folder, or a job folder packed as tar or zip."
_BYTES = NoLog("holds bytes that are no text", NAME_LOGS)
_UTF_16 = NoLog(
    "is UTF-16 text, packed or without a mark at its start", "Convert it, as with: iconv -f UTF-16 -t UTF-8."
)
_PACKED = "Unpack it first, or pack it again: gzip, zstd, xz, tar and zip are read as they are."
_KINDS = tuple(
    (re.compile(start, re.DOTALL), NoLog(says, hint))
    for start, says, hint in (
        (
            rb"\x7fELF.{12}(?:\x04\0|\0\x04)",
            "is a core dump, not a log",
            "Stacks of it as text are read (py-spy dump --core prints them): put them into dumps/ of a job folder.",
        ),
        (rb"\x7fELF|\xcf\xfa\xed\xfe|\xca\xfe\xba\xbe", "is a program, not a log", NAME_LOGS),
        (rb"\x80\x02\x8a\x0al\xfc\x9cF\xf9 j\xa8P\x19", "is a PyTorch checkpoint, not a log", NAME_LOGS),
        (
            rb"\x80[\x02-\x05]",
            "is a Python pickle, not a log",
            f"{NAME_LOGS} The dumps of PyTorch's flight recorder belong into dumps/ of a job folder.",
        ),
        (rb".{5}\0\0\0\{\"", "holds the weights of a model (safetensors), no log", NAME_LOGS),
        (rb"\x93NUMPY|\x89HDF\r\n|PAR1", "holds an array or a table, no log", NAME_LOGS),
        (rb"SQLite format 3\0", "is an SQLite database, not a log", NAME_LOGS),
        (rb"\x89PNG\r\n|\xff\xd8\xff|GIF8[79]a", "is a picture, not a log", NAME_LOGS),
        (rb"%PDF-", "is a PDF document, not a log", NAME_LOGS),
        (
            rb"LPKSHHRH",
            "is a journal of systemd in its own format",
            "Make text of it: journalctl --file FILE -o short-iso-precise.",
        ),
        (rb"BZh[1-9]1AY&SY", "is packed with bzip2, which is not read", _PACKED),
        (rb"7z\xbc\xaf\x27\x1c|Rar!\x1a\x07|\x04\x22M\x18|\x1f\x9d", "is packed in a way that is not read", _PACKED),
    )
)


def head_of(file: StoredFile, limits: Limits) -> tuple[bytes, UnreadableLog | None]:
    """The first unpacked bytes of a file; fewer than HEAD_BYTES when that is all, or for the reason beside them."""
    head = b""
    try:
        with open_log(file.open, file.name, limits) as stream:
            while len(head) < HEAD_BYTES and (part := stream.read(HEAD_BYTES - len(head))):
                head += part
    except UnreadableLog as failure:
        return head, failure
    return head, None


def no_log(head: bytes, name: str) -> NoLog | None:
    """Tell what a file is by its first unpacked bytes; None when it is to be read as a log."""
    for start, found in _KINDS:
        if start.match(head):
            return found
    odd = _ODD.findall(head)
    bytes_seen = len(head) - sum(len(row) - 1 for row in odd)
    if len(odd) > max(_FEW_ODD, _MOST_ODD * bytes_seen):
        return _UTF_16 if _has_nuls_in_turn(head) else _BYTES
    return _BYTES if odd and binary_suffix(name) else None


def _has_nuls_in_turn(head: bytes) -> bool:
    """Whether one byte of each two is NUL in most of the pairs, as in Latin text of UTF-16."""
    nuls = sorted((head[::2].count(0), head[1::2].count(0)))
    return nuls[0] * 4 < nuls[1] and nuls[1] * 4 > len(head)
