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
    log_files: of a job, and as many dumps: each costs some 2 ms, however little it says. Llama 3 trained on 16,384
        ranks (arXiv:2407.21783); with two streams each.
    log_files_at_least, log_file_bytes: so many log files are read whatever they say, and all where there is no more
        than one further one for so many bytes of all. Of 569 files of real jobs that hold a traceback, nine in ten have
        2,000 bytes or more.
    archive_members: files in an archive; the largest training job known has 100,000 ranks, with two streams each.
    archive_bytes: unpacked bytes that are taken out of a packed archive.
    archive_memory: bytes of them that a packed tar takes in memory; more goes to a file where temporary files lie.
    """

    unpacked_bytes: int = 1 << 24
    ratio: int = 500
    manifest_bytes: int = 16 << 20
    log_files: int = 1 << 15
    log_files_at_least: int = 1 << 12
    log_file_bytes: int = 1 << 11
    archive_members: int = 1 << 18
    archive_bytes: int = 1 << 36
    archive_memory: int = 1 << 26


DEFAULT_LIMITS = Limits()
