"""Any sequence of steps, on a real library and on a model of a few lines: they agree, and nothing is ever lost."""

import shutil
import tempfile
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import Bundle, RuleBasedStateMachine, initialize, invariant, rule

from faultlib.errors import StaleRevision, WrongStep
from faultlib.pattern import Status
from tests.support.libraries import opened
from tests.support.library_entries import pattern


@dataclass
class Known:
    """What the model knows of a pattern."""

    words: list[str]
    status: Status = Status.DRAFT
    revision: int = 1
    by: list[str] = field(default_factory=lambda: ["ada"])
    jobs: set[str] = field(default_factory=set)


WHO, CAUSE = st.sampled_from(["ada", "bob"]), st.sampled_from(["Dust.", "Rust.", "Heat."])
BEHIND = st.sampled_from([0, 0, 0, 1])  # how old the revision is that somebody saw
D, A, R, S = Status.DRAFT, Status.APPROVED, Status.RETIRED, Status.SUPERSEDED


class Lives(RuleBasedStateMachine):
    """Steps in any order by people who may have seen an old revision; the library is opened anew now and then."""

    names = Bundle("names")

    @initialize()
    def begin(self) -> None:
        self.folder = Path(tempfile.mkdtemp(prefix="lives-"))
        self.library = opened(self.folder)
        self.model: dict[str, Known] = {}

    @rule(target=names, cause=CAUSE, job=st.sampled_from(["j1", "j2"]))
    def draft(self, cause: str, job: str) -> str:
        entry = self.library.draft(pattern("nic", title="NIC", cause=cause), who="ada", job=job)
        known = self.model.setdefault(entry.id, Known([cause], jobs={job}))
        assert (known.words[0], job in known.jobs) == (cause, True)
        return entry.id

    def step(self, name: str, behind: int, allowed: tuple[Status, ...], who: str, action: str, **also: str) -> bool:
        """Take a step for real; whether it was taken, as the model says that it should be."""
        known = self.model[name]
        refused = StaleRevision if behind else None if known.status in allowed else WrongStep
        take = getattr(self.library, action)
        if refused is not None:
            with pytest.raises(refused):
                take(name, who=who, revision=known.revision - behind, **also)
            return False
        take(name, who=who, revision=known.revision, **also)
        known.revision += 1
        known.by.append(who)
        return True

    @rule(name=names, who=WHO, behind=BEHIND)
    def approve(self, name: str, who: str, behind: int) -> None:
        known = self.model[name]
        if known.status is A:
            entry, changed = self.library.approve(name, who=who, revision=known.revision - behind)
            assert (changed, entry.revision) == (False, known.revision)
        elif self.step(name, behind, (D, R), who, "approve"):
            known.status = A

    @rule(name=names, who=WHO, behind=BEHIND)
    def undo(self, name: str, who: str, behind: int) -> None:
        if self.step(name, behind, (A,), who, "undo"):
            self.model[name].status = D

    @rule(name=names, who=WHO, behind=BEHIND)
    def retire(self, name: str, who: str, behind: int) -> None:
        if self.step(name, behind, (D, A), who, "retire", why="no"):
            self.model[name].status = R

    @rule(name=names, who=WHO, cause=CAUSE)
    def edit(self, name: str, who: str, cause: str) -> None:
        known = self.model[name]
        if known.status in (D, A) and known.words[-1] == cause:
            entry = self.library.edit(name, pattern(name, title="NIC", cause=cause), who=who, revision=known.revision)
            assert entry.revision == known.revision
        elif known.status in (D, A):
            self.library.edit(name, pattern(name, title="NIC", cause=cause), who=who, revision=known.revision)
            known.words.append(cause)
            known.revision += 1
            known.by.append(who)

    @rule(name=names, by=names, who=WHO)
    def supersede(self, name: str, by: str, who: str) -> None:
        possible = name != by and self.model[by].status is A
        if self.step(name, 0, (A,) if possible else (), who, "supersede", by=by):
            self.model[name].status = S

    @rule(name=names, into=names, who=WHO)
    def merge(self, name: str, into: str, who: str) -> None:
        possible = name != into and self.model[into].status is A
        if self.step(name, 0, (D, R) if possible else (), who, "merge", into=into):
            self.model[name].status = S
            self.model[into].revision += 1
            self.model[into].by.append(who)
            self.model[into].jobs |= self.model[name].jobs

    @rule(name=names, job=st.sampled_from(["j1", "j2", "j3"]))
    def sighted(self, name: str, job: str) -> None:
        assert self.library.sighted(name, job) == (job not in self.model[name].jobs)
        self.model[name].jobs.add(job)

    @rule()
    def open_again(self) -> None:
        self.library.close()
        self.library = opened(self.folder)

    @invariant()
    def they_agree(self) -> None:
        if not hasattr(self, "library"):
            return
        entries = {entry.id: entry for entry in self.library.entries()}
        assert set(entries) == set(self.model)
        for name, known in self.model.items():
            entry = entries[name]
            assert (entry.status, entry.revision, entry.version) == (known.status, known.revision, len(known.words))
            assert [step.who for step in entry.history] == known.by
            assert {sighting.job for sighting in entry.sightings} == known.jobs
            assert [words.cause for words in self.library.versions(name)] == known.words
        approved = {name for name, known in self.model.items() if known.status is A}
        assert {name for name, _ in self.library.nearest("dust", 99)} == approved

    def teardown(self) -> None:
        if hasattr(self, "library"):
            self.library.close()
            shutil.rmtree(self.folder)


@pytest.mark.slow
def test_any_life_is_kept() -> None:
    """Library and model agree after every step on status, revision, versions, who, jobs and what search finds."""
    Lives.TestCase.settings = settings(
        max_examples=50,
        stateful_step_count=25,
        deadline=None,
        database=None,
        derandomize=True,
        suppress_health_check=list(HealthCheck),
    )
    Lives.TestCase().runTest()
