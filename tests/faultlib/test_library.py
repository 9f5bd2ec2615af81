"""The library as people and the bot use it."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

from faultlib import records
from faultlib.embedding import EmbeddingUnavailable, Vectors, WordHash
from faultlib.errors import PatternNotFound, StaleRevision
from faultlib.library import Library, open_library
from faultlib.pattern import Origin, Status
from tests.support.libraries import opened, program, said, tell, ticking
from tests.support.library_entries import pattern


class Model(WordHash):
    """A model that can be missing, counts what it was asked, and can be another one."""

    def __init__(self, digest: str = "1", *, there: bool = True) -> None:
        self.digest, self.there, self.asked = digest, there, 0

    def embed(self, texts: Sequence[str]) -> Vectors:
        if not self.there:
            raise EmbeddingUnavailable("The model is not installed.")
        self.asked += len(texts)
        return super().embed(texts) if self.digest == "1" else -super().embed(texts)


def with_model(folder: Path, model: WordHash) -> Library:
    return open_library(folder, model, clock=ticking())


def test_a_draft_becomes_a_pattern_by_a_person(tmp_path: Path) -> None:
    """Draft, approval and edit stand in the history with name, time and reason; every version is kept."""
    with opened(tmp_path) as library:
        library.draft(pattern("nic"), who="bot", why="seen in j1", job="j1")
        library.approve("nic", who="ada", why="cable seen", revision=1)
        library.edit("nic", pattern("nic", cause="Dust."), who="bob", revision=2)
    with opened(tmp_path) as library:
        entry = library.entry("nic")
        assert [(step.action, step.who, step.why, step.version) for step in entry.history] == [
            ("draft", "bot", "seen in j1", 1),
            ("approve", "ada", "cable seen", 1),
            ("edit", "bob", "", 2),
        ]
        assert [step.at for step in entry.history] == [f"2026-11-21T09:00:0{second}Z" for second in range(3)]
        assert [words.cause for words in library.versions("nic")] == ["A cable was loose.", "Dust."]
        assert (entry.status, entry.origin, entry.sightings[0].job) == (Status.APPROVED, Origin.TEAM, "j1")


def test_a_job_drafts_once(tmp_path: Path) -> None:
    """A redelivered event makes no second draft, even after people edited or rejected the first."""
    with opened(tmp_path) as library:
        first = library.draft(pattern("nic"), who="bot", job="j1")
        assert library.draft(pattern("nic"), who="bot", job="j1") == first
        edited = library.edit("nic", pattern("nic", cause="Dust."), who="ada", revision=1)
        assert library.draft(pattern("nic"), who="bot", job="j1") == edited
        rejected = library.retire("nic", who="ada", why="no", revision=2)
        assert library.draft(pattern("nic"), who="bot", job="j1") == rejected


def test_a_taken_id_gets_a_hash(tmp_path: Path) -> None:
    """Two faults that were given the same name stay two, and each repeats itself."""
    with opened(tmp_path) as library:
        first = library.draft(pattern("nic"), who="bot", job="j1")
        other = library.draft(pattern("nic", cause="Dust."), who="bot", job="j1")
        again = library.draft(pattern("nic"), who="bot", job="j2")
        assert len({first.id, other.id, again.id}) == 3
        assert other.pattern.cause == "Dust."
        assert all(entry.id.startswith("nic-") for entry in (other, again))
        assert library.draft(pattern("nic"), who="bot", job="j2") == again


@pytest.mark.slow
def test_two_programs_approve_at_once(tmp_path: Path) -> None:
    """Of two clicks one approves; there is one step in the history, and both are told who it was."""
    drafts = 40
    with opened(tmp_path) as library:
        for number in range(drafts):
            library.draft(pattern(f"d-{number}"), who="bot", job="j1")
    with program("approver", tmp_path, "ada", drafts) as one, program("approver", tmp_path, "bob", drafts) as two:
        for process in (one, two):
            assert said(process) == "ready"
        for process in (one, two):
            tell(process, "go")
        told = [[said(process).split() for _ in range(drafts)] for process in (one, two)]
    with opened(tmp_path) as library:
        for (name, changed, first), (_, other_changed, other_first) in zip(*told, strict=True):
            entry = library.entry(name)
            assert [step.action for step in entry.history] == ["draft", "approve"]
            assert {changed, other_changed} == {"0", "1"}
            assert first == other_first == entry.history[-1].who == ("ada" if changed == "1" else "bob")


def test_a_refused_step_leaves_no_trace(tmp_path: Path) -> None:
    """An old revision changes neither the pattern nor its history."""
    with opened(tmp_path) as library:
        library.draft(pattern("nic"), who="bot", job="j1")
        before = library.edit("nic", pattern("nic", cause="Dust."), who="ada", revision=1)
        with pytest.raises(StaleRevision, match="edit by ada"):
            library.approve("nic", who="bob", revision=1)
        assert library.entry("nic") == before


def test_an_unknown_id_is_told(tmp_path: Path) -> None:
    """Every way of asking for a pattern says that there is none."""
    with opened(tmp_path) as library:
        for ask in (
            lambda: library.entry("nic"),
            lambda: library.versions("nic"),
            lambda: library.sighted("nic", "j1"),
            lambda: library.approve("nic", who="ada", revision=1),
        ):
            with pytest.raises(PatternNotFound, match="no fault pattern 'nic'"):
                ask()


def test_a_job_is_sighted_once_and_disturbs_nobody(tmp_path: Path) -> None:
    """A fault seen again is noted without making anybody's revision old."""
    with opened(tmp_path) as library:
        library.draft(pattern("nic"), who="bot", job="j1")
        assert [library.sighted("nic", job) for job in ("j2", "j2", "j1")] == [True, False, False]
        assert [sighting.job for sighting in library.entry("nic").sightings] == ["j1", "j2"]
        assert library.approve("nic", who="ada", revision=1)[1]


def test_a_merge_that_was_taken_back_can_be_done_again(tmp_path: Path) -> None:
    """The draft stands beside the approved pattern as before; the jobs that were seen stay seen."""
    with opened(tmp_path) as library:
        library.draft(pattern("old"), who="ada", job="j1")
        library.approve("old", who="ada", revision=1)
        library.draft(pattern("nic"), who="ada", job="j2")
        merged = library.merge("nic", "old", who="ada", revision=1)
        library.separate("nic", who="bob", why="another cable", revision=2)
        apart = library.entry("nic"), library.entry("old")
        library.merge("nic", "old", who="ada", revision=3)
        again = library.entry("old")

    assert (apart[0].status, apart[0].superseded_by) == (Status.DRAFT, "")
    assert apart[1].status is Status.APPROVED
    assert [step.action for step in again.history[-3:]] == ["merge", "separate", "merge"]
    assert again.sightings == merged.sightings


def test_a_merged_draft_gives_its_jobs(tmp_path: Path) -> None:
    """The same fault drafted twice becomes one pattern that was seen in both jobs."""
    with opened(tmp_path) as library:
        library.draft(pattern("old"), who="bot", job="j1")
        library.approve("old", who="ada", revision=1)
        library.draft(pattern("nic"), who="bot", job="j2")
        kept = library.merge("nic", "old", who="ada", why="same cable", revision=1)
        assert kept == library.entry("old")
        assert [sighting.job for sighting in kept.sightings] == ["j1", "j2"]
        assert library.entry("nic").superseded_by == "old"
        assert [entry.id for entry in library.entries(Status.APPROVED)] == ["old"]


def test_a_superseded_pattern_is_kept_and_no_longer_found(tmp_path: Path) -> None:
    """A better pattern takes its place; only confirmed ones are ever shown as confirmed."""
    with opened(tmp_path) as library:
        for name in ("old", "new"):
            library.draft(pattern(name), who="bot", job="j1")
            library.approve(name, who="ada", revision=1)
        assert {name for name, _ in library.nearest("cable", 5)} == {"old", "new"}
        library.supersede("old", "new", who="ada", revision=2)
        assert [name for name, _ in library.nearest("cable", 5)] == ["new"]
        assert [name for name, _ in library.nearest("cable", 5, statuses=(Status.SUPERSEDED,))] == ["old"]


def test_seeds_are_planted_once(tmp_path: Path) -> None:
    """Every start plants them; only what changed in the package changes here."""
    seeds = [pattern(f"seed-{number}") for number in range(5)]
    with opened(tmp_path) as library:
        assert library.put_seeds(seeds) == 5
        assert library.put_seeds(seeds[::-1]) == 0
        assert library.put_seeds([*seeds[1:], pattern("seed-9")]) == 2
        assert library.entry("seed-0").status is Status.RETIRED
        assert library.entry("seed-0").history[-1].who == "firstfault"
        library.edit("seed-1", pattern("seed-1", cause="Ours."), who="ada", revision=1)
        assert library.put_seeds([pattern("seed-1", cause="Theirs."), pattern("seed-2", cause="Theirs.")]) == 4
        assert library.entry("seed-1").pattern.cause == "Ours."
        assert [words.cause for words in library.versions("seed-2")] == ["A cable was loose.", "Theirs."]


def test_words_that_cannot_change_are_read_once(tmp_path: Path) -> None:
    """However often the library is asked, and by whom; new words are other words."""
    with opened(tmp_path) as library:
        entry = library.draft(pattern("cable"), who="U1", job="j1")
        records._validated.cache_clear()
        assert [library.entry(entry.id) for _ in range(3)] == [entry] * 3
        assert records._validated.cache_info().misses == 1
        library.edit(entry.id, pattern("cable", title="Other words"), who="U1", revision=entry.revision)
        assert library.entry(entry.id).pattern.title == "Other words"


def test_an_export_comes_back_whole(tmp_path: Path) -> None:
    """History, versions, revision and sightings are the same in the other library, and a second import is nothing."""
    with opened(tmp_path / "one") as one, opened(tmp_path / "two") as two:
        one.put_seeds([pattern("seed")])
        for name in ("a", "b", "c"):
            one.draft(pattern(name), who="bot", job=f"j-{name}")
            one.approve(name, who="ada", revision=1)
        one.edit("a", pattern("a", cause="Dust."), who="bob", revision=2)
        one.supersede("b", "a", who="bob", revision=2)
        one.retire("c", who="bob", why="wrong", revision=2)
        one.sighted("a", "j7")
        assert [two.put(entry) for entry in one.entries()] == [True] * 4
        assert two.entries() == one.entries()
        assert [two.put(entry) for entry in one.entries()] == [False] * 4
        assert two.nearest("dust", 9) == one.nearest("dust", 9)
        one.edit("a", pattern("a", cause="Rust."), who="bob", revision=3)
        assert two.put(one.entry("a"))
        with pytest.raises(StaleRevision):
            one.put(two.entry("a").model_copy(update={"version": 1, "history": two.entry("a").history[:2]}))


def test_the_audit_tells_everything_in_order(tmp_path: Path) -> None:
    """Who did what to which pattern, over all patterns."""
    with opened(tmp_path) as library:
        library.draft(pattern("nic"), who="bot", job="j1")
        library.draft(pattern("gpu"), who="bot", job="j2")
        library.approve("nic", who="ada", revision=1)
        library.undo("nic", who="bob", why="too early", revision=2)
        assert [(name, step.action, step.who) for name, step in library.audit()] == [
            ("nic", "draft", "bot"),
            ("gpu", "draft", "bot"),
            ("nic", "approve", "ada"),
            ("nic", "undo", "bob"),
        ]


def test_stats_count_what_is_there(tmp_path: Path) -> None:
    """`firstfault check` tells how much the library knows and how it searches."""
    with opened(tmp_path) as library:
        library.put_seeds([pattern("seed")])
        library.draft(pattern("nic"), who="bot", job="j1")
        library.embed_missing()
        stats = library.stats()
    assert stats.by_status == {Status.APPROVED: 1, Status.DRAFT: 1}
    assert stats.by_origin == {Origin.SEED: 1, Origin.TEAM: 1}
    assert (stats.sightings, stats.steps, stats.vectors_by_model) == (1, 2, {"word-hash": 2})
    assert (stats.index, stats.index_state, stats.writable) == ("exact", "exact search", True)
    assert stats.bytes == (tmp_path / "library.db").stat().st_size


def test_a_missing_model_costs_similarity_and_nothing_else(tmp_path: Path) -> None:
    """Patterns are stored without a vector; the first search with a model makes it."""
    with with_model(tmp_path, Model(there=False)) as library:
        library.draft(pattern("nic"), who="bot", job="j1")
        assert library.approve("nic", who="ada", revision=1)[1]
        with pytest.raises(EmbeddingUnavailable):
            library.nearest("cable", 1)
        with pytest.raises(EmbeddingUnavailable):
            library.embed_missing()
        assert library.similarities(np.ones(64, np.float32)) == {}
    model = Model()
    with with_model(tmp_path, model) as library:
        assert [name for name, _ in library.nearest("cable", 1)] == ["nic"]
        assert (model.asked, library.embed_missing()) == (2, 0)


def test_each_text_is_embedded_once(tmp_path: Path) -> None:
    """At approval and after an edit, not at each search; another library process makes none."""
    model = Model()
    with with_model(tmp_path, model) as library:
        library.draft(pattern("nic"), who="bot", job="j1")
        library.approve("nic", who="ada", revision=1)
        assert model.asked == 1
        library.edit("nic", pattern("nic", cause="Dust."), who="ada", revision=2)
        library.sighted("nic", "j2")
        library.nearest("dust", 1)
        assert model.asked == 3
    fresh = Model()
    with with_model(tmp_path, fresh) as library:
        library.similarities("dust")
        assert fresh.asked == 1


def test_another_model_makes_its_own_vectors(tmp_path: Path) -> None:
    """Vectors of two models are never compared."""
    for digest in ("1", "2", "1"):
        with with_model(tmp_path, Model(digest)) as library:
            if digest == "1" and not library.entries():
                library.put_seeds([pattern("nic", cause="loose cable"), pattern("gpu", cause="hot board")])
            text = pattern("nic", cause="loose cable").words()
            assert library.nearest(text, 1) == (("nic", 1.0),)
    with with_model(tmp_path, Model("2", there=False)) as library:
        assert library.similarities(WordHash().embed([text])[0]) == {}


def test_what_another_program_changes_is_found(tmp_path: Path) -> None:
    """The bot's workers see what was approved a moment ago, and no longer what was withdrawn."""
    with opened(tmp_path) as one, opened(tmp_path) as two:
        one.draft(pattern("nic"), who="bot", job="j1")
        assert two.nearest("cable", 1) == ()
        one.approve("nic", who="ada", revision=1)
        assert [name for name, _ in two.nearest("cable", 1)] == ["nic"]
        two.undo("nic", who="bob", revision=2)
        assert one.nearest("cable", 1) == ()
        assert [name for name, _ in one.nearest("cable", 1, statuses=(Status.DRAFT,))] == ["nic"]


def test_similarities_and_nearest_agree(tmp_path: Path) -> None:
    """The same scores, all of them or the best; a text and its vector are the same question."""
    with opened(tmp_path) as library:
        library.put_seeds([pattern(f"s-{number}", cause=f"cause {number} " * number or "x") for number in range(9)])
        scores = library.similarities("cause 3 of a loose cable")
        best = sorted(scores.items(), key=lambda item: (-item[1], item[0]))
        assert library.nearest("cause 3 of a loose cable", 4) == tuple(best[:4])
        vector = WordHash().embed(["cause 3 of a loose cable"])[0]
        assert library.similarities(vector * 7) == pytest.approx(scores, abs=2e-6)


def test_bytes_that_are_no_text_stop_nothing(tmp_path: Path) -> None:
    """A command line may hold any bytes: as an id they are not found, as a reason they are kept as question marks."""
    broken = b"caf\xe9".decode(errors="surrogateescape")
    with opened(tmp_path) as library:
        library.draft(pattern("nic"), who=broken, why=broken, job=broken)
        assert library.sighted("nic", broken) is False
        step = library.entry("nic").history[0]
        assert (step.who, step.why) == ("caf?", "caf?")
        with pytest.raises(PatternNotFound):
            library.entry(broken)


def test_an_approval_does_not_wait_for_the_vectors_of_others(tmp_path: Path) -> None:
    """A click makes one vector, not those of all seeds that nobody searched for yet."""
    model = Model()
    with with_model(tmp_path, model) as library:
        library.put_seeds([pattern(f"seed-{number}") for number in range(9)])
        library.draft(pattern("nic"), who="bot", job="j1")
        library.approve("nic", who="ada", revision=1)
        assert model.asked == 1


def test_a_closed_library_may_be_closed_again(tmp_path: Path) -> None:
    """Whoever cleans up does not have to know whether somebody did."""
    library = opened(tmp_path)
    library.close()
    library.close()


def test_only_the_patterns_that_matter_are_embedded(tmp_path: Path) -> None:
    """A diagnosis asks for the few that share its words; for none of them no model is loaded."""
    model = Model()
    with with_model(tmp_path, model) as library:
        library.put_seeds([pattern("nic", cause="link down"), pattern("disk", cause="disk full"), pattern("gpu")])
        assert library.likeness("link down", ()) == {}
        assert model.asked == 0
        found = library.likeness("link down", {"nic", "disk"})
        assert (set(found), found["nic"] > found["disk"], model.asked) == ({"nic", "disk"}, True, 3)
        assert library.likeness("link down", {"nic"}) == {"nic": found["nic"]}
        assert library.similarities("link down")["nic"] == pytest.approx(found["nic"])
