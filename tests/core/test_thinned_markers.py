"""Of more markers than are read each n-th is: both ends and the onset of a slowdown are kept, whoever said how many."""

import numpy as np
import pytest

from core.course.markers import Markers, find_markers
from core.course.pace import course_of
from core.job import Job
from core.parsed import Parsed
from tests.support.jobs import job, lines, parse

STEPS, RANKS, ONSET = 4_000, 4, 1_000
FAST, SLOW = 200, 360  # milliseconds a step
MOST = 1_600  # markers that are read, of sixteen thousand


def at(milliseconds: int) -> str:
    minutes, rest = divmod(milliseconds, 60_000)
    return f"2026-11-21 {3 + minutes // 60:02}:{minutes % 60:02}:{rest // 1000:02},{rest % 1000:03}"


def clock(step: int) -> str:
    return at(step * FAST if step < ONSET else ONSET * FAST + (step - ONSET) * SLOW)


def slowed(steps_of: dict[int, int]) -> Job:
    """Ranks that count so many steps each, slower from ONSET on."""
    return job(
        {
            f"logs/node-{rank}/rank_{rank}.log": lines(
                *(f"{clock(step)} iteration {step}/ 9000 | loss: 2.5" for step in range(1, steps + 1))
            )
            for rank, steps in steps_of.items()
        }
    )


@pytest.fixture(scope="module")
def parsed() -> Parsed:
    return parse(slowed(dict.fromkeys(range(RANKS), STEPS)))


def thinned(parsed: Parsed) -> Markers:
    return find_markers(parsed.table, parsed.files, None, most=MOST)[0]


def test_no_more_are_read_than_asked_for(parsed: Parsed) -> None:
    """And not many fewer; all of them where there is room."""
    assert MOST / 2 < len(thinned(parsed).rows) <= MOST
    assert len(find_markers(parsed.table, parsed.files, None)[0].rows) == RANKS * STEPS


def test_both_ends_are_kept(parsed: Parsed) -> None:
    """How far each rank came must not depend on how much was read."""
    found = thinned(parsed)
    for voice in np.unique(found.voices):
        numbers = found.numbers[found.voices == voice]
        assert (numbers[0], numbers[-1]) == (1, STEPS)


def test_the_onset_of_a_slowdown_is_kept(parsed: Parsed) -> None:
    """Of the last lines of each, as they were read before, none is as early."""
    course = course_of(thinned(parsed))
    steps = course.steps
    slow = np.flatnonzero(steps > (FAST + SLOW) / 2 / 1000)
    assert abs(course.iteration_of_step(int(slow[0])) - ONSET) <= STEPS * RANKS / MOST + 1
    assert np.median(steps[: slow[0]]) == pytest.approx(FAST / 1000, abs=0.01)
    assert np.median(steps[slow[0] :]) == pytest.approx(SLOW / 1000, abs=0.01)


def test_ranks_keep_the_same_iterations_and_the_last_step_is_as_long_as_others() -> None:
    """Also where one of them stopped earlier: whose last one is kept beside."""
    parsed = parse(slowed({0: STEPS, 1: STEPS, 2: STEPS, 3: STEPS // 2 + 3}))
    found = thinned(parsed)
    of_voice = [found.numbers[found.voices == voice] for voice in np.unique(found.voices)]

    assert [numbers[-1] for numbers in of_voice] == [STEPS, STEPS, STEPS, STEPS // 2 + 3]
    assert set(of_voice[3][1:-1].tolist()) < set(of_voice[0].tolist())
    assert len(set(np.diff(of_voice[0])[1:].tolist())) == 1


def test_a_voice_with_two_kinds_of_markers_keeps_both() -> None:
    """In turns: each second line of the voice would be of one kind."""
    text = [
        line
        for step in range(1, STEPS)
        for line in (f"iteration {step}/ 9000 | loss: 2.5", f"iteration {step}/ 9000 | took 3.5 s")
    ]
    parsed = parse(job({"logs/train.log": lines(*text)}))
    kept = find_markers(parsed.table, parsed.files, None, most=STEPS)[0]
    assert len(kept.rows) <= STEPS
    assert set((kept.rows[1:-2] % 2).tolist()) == {0, 1}
