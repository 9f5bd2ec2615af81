"""A pattern is suggested when no job has its software any more, and only where software can be the fault."""

from faultlib.pattern import Category, Entry, Sighting
from faultlib.software_gone import RECENT, Software, software_gone
from tests.support.library_entries import entry


def shown(name: str, category: Category, *jobs: str) -> Entry:
    sightings = tuple(Sighting(job=job, at="2026-01-02T00:00:00Z") for job in jobs)
    made = entry(name, sightings=sightings)
    return made.model_copy(update={"pattern": made.pattern.model_copy(update={"category": category})})


def ran(number: int, **versions: str) -> Software:
    return Software(f"j{number}", f"2026-02-01T00:00:{number:02d}+00:00", versions)


OLD = [ran(0, torch="2.3.0", python="3.12"), ran(1, torch="2.3.1", python="3.12")]
NEW = [ran(2 + number, torch="2.6.0", python="3.12") for number in range(RECENT)]
BUG = shown("bug", Category.FRAMEWORK, "j0", "j1")


def test_what_no_recent_job_runs_is_gone() -> None:
    """With the versions that its jobs had and those of now; what stayed the same is not told."""
    [gone] = software_gone([BUG], [*NEW, *OLD])

    assert (gone.entry.id, gone.name, gone.had, gone.now) == ("bug", "torch", ("2.3.0", "2.3.1"), ("2.6.0",))


def test_one_recent_job_that_runs_it_keeps_it() -> None:
    """Or too few jobs since, or none of the pattern's jobs left, or a manifest without a time."""
    back = Software("again", "2026-02-01T00:01:00+00:00", {"torch": "2.3.1"})

    assert list(software_gone([BUG], [*OLD, *NEW, back])) == []
    assert list(software_gone([BUG], [*OLD, *NEW[1:]])) == []
    assert list(software_gone([BUG], NEW)) == []
    assert list(software_gone([BUG], [*OLD, *(Software(job.job, "", job.versions) for job in NEW)])) == []


def test_hardware_breaks_with_any_version() -> None:
    """A cable is not suggested, whatever its jobs ran; what nobody classed may be of software."""
    link, unknown = shown("link", Category.HARDWARE, "j0"), shown("unknown", Category.UNKNOWN, "j0")

    assert [gone.entry.id for gone in software_gone([link, unknown], [*OLD, *NEW])] == ["unknown"]
