"""What is said around a row that points to no failure."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from core.judge.calm_rows import count_calm
from tests.support.jobs import job, lines, parse

SAID = st.lists(st.tuples(st.sampled_from(["0", "1"]), st.sampled_from(["all is well", "ERROR it broke"])), max_size=12)


@given(st.lists(SAID, min_size=1, max_size=2))
def test_calm_messages_are_counted_by_voice_and_file(files: list[list[tuple[str, str]]]) -> None:
    """As by hand: those of the same voice and those of the same file, in all and before the row."""
    table = parse(
        job(
            {
                f"f{n}.log": lines("start", *(f"[rank{who}]: {text}" for who, text in said))
                for n, said in enumerate(files)
            }
        )
    ).table
    is_calm = np.array(["ERROR" not in template.sample for template in table.templates])
    voice, file, event = table.voice[:], table.file[:], table.event[:]
    rows = np.flatnonzero(~is_calm[event] & table.head[:])
    calm = is_calm[event] & table.head[:]

    found = count_calm(table, rows, is_calm)

    for at, row in enumerate(rows.tolist()):
        mine, beside = calm & (voice == voice[row]), calm & (file == file[row])
        assert found.of_voice[at] == mine.sum()
        assert found.of_file[at] == beside.sum()
        assert found.of_voice_before[at] == mine[:row].sum()
        assert found.of_file_before[at] == beside[:row].sum()
