"""What the parser makes of sample lines and file names."""

from collections.abc import Sequence

import numpy as np

from bot.text.wording import iso
from core.job import Manifest
from core.logs.learn_format import learn
from core.logs.lines import Segment, segments, take_apart
from core.logs.messages import group, plain
from core.logs.origins import Origin, Voice, find_origins
from tests.docs import samples
from tests.docs.markdown import code, codes, table


def layouts() -> str:
    """Who each file speaks for, in a job with a job.json."""
    return _layouts(samples.FILES, samples.JOB)


def layouts_alone() -> str:
    """Who each file speaks for, where only the names tell."""
    return _layouts(samples.FILES_ALONE, Manifest("sample"))


def _layouts(files: Sequence[str], job: Manifest) -> str:
    origins = find_origins([Voice(file, b"") for file in files], job)
    rows = ((code(file), it.program.value, *_who(it)) for file, it in zip(files, origins, strict=True))
    return table("file", "program", "node", "rank", "local rank", rows=rows)


def prefixes() -> str:
    """Who each prefix speaks for, in a job without job.json."""
    rows = []
    for line in samples.PREFIXES:
        prefix = _read(line).prefix
        (origin,) = find_origins([Voice("logs/all.log", prefix)], Manifest("sample"))
        rows.append((code(line), code(prefix.decode().strip()), *_who(origin)))
    return table("line", "prefix", "node", "rank", "local rank", rows=rows)


def clocks() -> str:
    """What time each line says, in UTC where it names no zone."""
    rows = [(code(line), iso(time) if (time := _read(line).time) >= 0 else None) for line in samples.CLOCKS]
    return table("line", "time", rows=((line, time or "none") for line, time in rows))


def masks() -> str:
    """What tells a line from another once its variables are masked."""
    return table("line", "masked", rows=((code(line), code(_read(line).body.decode())) for line in samples.MASKS))


def bar() -> str:
    """The segments of a progress bar, and where each begins."""
    rows = ((str(offset), code(text.decode())) for offset, text in segments(samples.BAR.encode()))
    return table("offset", "segment", rows=rows)


def blocks() -> str:
    """Blocks of lines, and the message that each becomes."""
    return "\n".join(f"```text\n{block}\n```\n\nbecomes {_messages(block)}.\n" for block in samples.BLOCKS)


def _messages(block: str) -> str:
    parts = [_read(line) for line in block.splitlines()]
    bodies = list(dict.fromkeys(part.body for part in parts))
    prefixes = list(dict.fromkeys(part.prefix for part in parts))
    body = np.array([bodies.index(part.body) for part in parts], np.uint32)
    prefix = np.array([prefixes.index(part.prefix) for part in parts], np.uint32)
    said = group(body, prefix, bodies)
    return codes(plain(said.texts[place]) for place in said.message[said.head].tolist())


def _read(line: str) -> Segment:
    return take_apart(line.encode(), learn("\n".join([line] * 5).encode(), (), samples.YEAR))


def _who(origin: Origin) -> tuple[str, ...]:
    return tuple("-" if it is None else str(it) for it in (origin.node, origin.rank, origin.local_rank))
