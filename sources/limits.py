"""How much one file of a job may ask of us."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Limits:
    """Bounds on what is read; the defaults are far from anything an honest job does.

    unpacked_bytes: a packed file may always unpack to this much, whatever its ratio. Newlines are the worst of it: each
        is a line, and so many take 7 s and 2 GB.
    ratio: beyond that, unpacked bytes for each packed byte. Training logs pack 5 to 60 times; one 73-byte line repeated
        for ever reaches 294 with gzip, whose limit is 1,032 (zeros). zstd and xz pack such a line 7,000 to 11,000
        times: of that log the first ``unpacked_bytes`` are kept, which are two hundred thousand copies of the line.
    manifest_bytes: a larger job.json is not parsed.
    """

    unpacked_bytes: int = 1 << 24
    ratio: int = 500
    manifest_bytes: int = 16 << 20


DEFAULT_LIMITS = Limits()
