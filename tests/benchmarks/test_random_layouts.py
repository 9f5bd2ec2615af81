"""Jobs laid out at random: each line keeps its writer, and the measure counts who is taken for another."""

from dataclasses import replace
from random import Random

import pytest

from benchmarks.quality.dresses.jobs import LAB, Labelled, read_archives
from benchmarks.quality.dresses.layout_trial import Tried, layout_table, shares, try_job
from benchmarks.quality.dresses.layouts import BY_MACHINE, BY_RANK, ONE_FILE, LaidOut, Layout, draw, lay_out
from benchmarks.quality.dresses.trial import FittingRoom
from benchmarks.quality.dresses.wearer import Wearer

JOB = "f34"  # the smallest of the lab with a file for each rank
LAYOUTS = (
    Layout(ONE_FILE, "gpu-{number:02d}", "train.log", "[{h}] [{r}] "),
    Layout(BY_MACHINE, "10.12.{rack}.{number}", "{h}/out.txt", "[{r}] "),
    Layout(BY_RANK, "rack{rack}-{number}", "{h}-{r}.txt", launcher="launcher.{h}.log"),
)


@pytest.fixture(scope="module")
def jobs() -> Labelled:
    every = read_archives(LAB)
    return Labelled({JOB: every.folders[JOB]}, {JOB: every.truths[JOB]})


@pytest.fixture(scope="module")
def wearer(jobs: Labelled) -> Wearer:
    return FittingRoom(jobs).wearer(JOB)


@pytest.mark.parametrize("layout", LAYOUTS, ids=lambda layout: layout.kind)
def test_a_job_is_read_right_in_each_kind_of_layout(layout: Layout, jobs: Labelled) -> None:
    """Who wrote each line, and what a person acts on."""
    tried = try_job(JOB, layout, jobs)

    assert tried == Tried(JOB, layout, 1.0, 1.0, "", same=True)


def test_a_draw_follows_from_its_seed_and_tells_machine_and_rank() -> None:
    """Of a file of all, of a machine or of a rank; somewhere both of them stand."""
    drawn = [draw(Random(f"1 {place}")) for place in range(200)]

    assert drawn == [draw(Random(f"1 {place}")) for place in range(200)]
    assert {layout.kind for layout in drawn} == {ONE_FILE, BY_MACHINE, BY_RANK}
    told = [layout.file + layout.label + layout.begins for layout in drawn]
    assert all(any(part in form for part in ("{h}", "{c}", "{u}")) for form in told)
    assert all("{r" in form or "{l}" in form or "{c}" in form or "{u}" in form for form in told)


def test_each_line_of_a_rank_stands_behind_its_label_once(wearer: Wearer) -> None:
    """In its machine's file, with its writer; job.json names no machine."""
    laid = _laid(wearer, LAYOUTS[1])

    ranks = [stream for streams in wearer.by_node.values() for stream in streams if stream.rank is not None]
    lines = {line.place: (stream.rank, line.text) for stream in ranks for line in stream.lines}
    assert {laid.outfit.places[place] for place in laid.writers} == set(lines)
    assert len(laid.writers) == len(lines)
    for (file, line), writer in laid.writers.items():
        rank, text = lines[laid.outfit.places[file, line]]
        written = laid.outfit.files[file].split(b"\n")[line - 1]
        assert written == b"[%d] " % writer.rank + laid.outfit.rename(text.decode()).encode()
        assert writer.rank == rank
        assert frozenset(file.split("/")[1:2]) == writer.names
    assert b"node" not in laid.outfit.files["job.json"]


def test_a_line_of_another_machine_or_rank_is_counted(wearer: Wearer) -> None:
    """A share each, and the commonest mistake."""
    laid, table = _laid(wearer, LAYOUTS[1]), wearer.parsed.table
    own = {place: laid.writers[worn] for worn, place in laid.outfit.places.items() if worn in laid.writers}
    writers = {place: replace(writer, names=frozenset({"nobody"}), rank=7) for place, writer in own.items()}

    node, rank, wrong = shares(table, writers)

    assert (node, rank) == (0.0, 0.0)
    assert wrong.startswith("nobody 7 -> ")


def test_the_table_counts_layouts_by_their_kind() -> None:
    """Right ones have nine lines of ten and more with their writers."""
    tried = [
        Tried(JOB, LAYOUTS[0], 1.0, 0.96, "", same=True),
        Tried(JOB, LAYOUTS[0], 1.0, 0.5, "a 1 -> b 1 None", same=True),
        Tried(JOB, LAYOUTS[2], 1.0, 1.0, "", same=False),
    ]

    text = layout_table(tried)

    assert "| one file | 2 | 50% | 100% |" in text
    assert "| a file a rank | 1 | 100% | 0% |" in text
    assert "| all | 3 | 67% | 67% |" in text


def _laid(wearer: Wearer, layout: Layout) -> LaidOut:
    laid = lay_out(layout, wearer)
    assert laid is not None
    return laid
