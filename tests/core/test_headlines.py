"""Headlines: what one says agrees with the rest of its answer, whatever the job."""

import pytest

from core.answer.findings import BEFORE_TRAINING
from core.diagnose import diagnose
from core.job import Job
from core.model import Confidence, Diagnosis, Scope
from tests.support.jobs import at, example, four_nodes, job, lines, lost, raised, steps, timed_out
from tests.support.places import EXAMPLES

IMPORT = raised("ModuleNotFoundError: No module named 'apex'")
DISK = raised("OSError: [Errno 28] No space left on device")
ONE_FILE = lines(*steps(9), *DISK)
JOBS = {
    **{path.name: example(path.name) for path in sorted(EXAMPLES.iterdir()) if path.is_dir()},
    "before training": four_nodes(dict.fromkeys(range(4), IMPORT)),
    "while training": four_nodes({1: DISK}, usual=steps(9)),
    "everywhere": four_nodes(dict.fromkeys(range(4), DISK), usual=steps(9)),
    "peers": four_nodes({n: lost(2) for n in (0, 1, 3)}, usual=steps(9)),
    "all waited": four_nodes({n: timed_out() for n in range(4)}, usual=steps(9)),
    "an old error": four_nodes({1: [at(-5, "ERROR ImportError: no apex")]}, usual=steps(70)),
    "one voice": job({"train.log": ONE_FILE}, world_size=8),
    "nothing": four_nodes({}),
}


@pytest.fixture(scope="module", params=JOBS, ids=list(JOBS))
def told(request: pytest.FixtureRequest) -> tuple[Job, Diagnosis]:
    one = JOBS[request.param]
    return one, diagnose(one, [])


def test_no_stage_is_named_that_the_iteration_excludes(told: tuple[Job, Diagnosis]) -> None:
    """Who has completed iterations does not fail while it starts."""
    _, found = told

    if found.stage in BEFORE_TRAINING:
        assert "after iteration" not in found.headline


def test_suspects_belong_to_the_scope_node(told: tuple[Job, Diagnosis]) -> None:
    """A node is named where a part of the job is at fault, and nowhere else; the headline names it too."""
    _, found = told

    assert bool(found.nodes) is (found.scope is Scope.NODE)
    assert all(one.node in found.headline for one in found.nodes)


def test_who_cannot_be_told_apart_is_not_compared(told: tuple[Job, Diagnosis]) -> None:
    """To say that no node is special needs two voices."""
    one, found = told

    voices = max(found.coverage.nodes, found.coverage.ranks)
    if voices < 2 and len(one.manifest.nodes) != 1:
        assert "stands out" not in found.headline
        assert found.confidence is not Confidence.ESTABLISHED


def test_nothing_is_called_healthy_beside_a_root(told: tuple[Job, Diagnosis]) -> None:
    """Not a fault: no event of that answer is a direct trace of one, but for the order to stop."""
    _, found = told

    if found.headline.startswith("Not a fault"):
        assert found.scope is Scope.NONE
        assert len([event for event in found.events if event.role == "root"]) <= 1


def test_first_signs_are_not_later_than_the_end(told: tuple[Job, Diagnosis]) -> None:
    """Times of events lie within those of the nodes."""
    _, found = told

    last = max((bar.last for bar in found.pictures.nodes if bar.last is not None), default=None)
    times = [event.first_time for event in found.events if event.first_time is not None]
    if last is not None and times and all(event.nodes for event in found.events):
        assert min(times) <= last
