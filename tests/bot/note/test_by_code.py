"""The note that code writes: it holds for every diagnosis, and is worth reading."""

# ruff: noqa: ISC004 lines of a note are longer than ours

from pathlib import Path

import pytest

from bot.investigate import Request, investigate
from bot.known import KnownFault
from bot.note.by_code import draft_by_code
from bot.note.check import check
from bot.note.draft import Category, Draft
from bot.note.evidence import EvidenceList, collect
from bot.note.note import Author, plain
from bot.note.write import write_note
from bot.settings import Settings
from core.model import Diagnosis
from tests.bot import diagnoses
from tests.bot.note.faults import frozen, killed, seed_fault, team_fault

EXAMPLES = Path(__file__).parents[3] / "examples"
MADE = {**diagnoses.ALL, "frozen": frozen, "killed": killed}
KNOWN: dict[str, tuple[KnownFault, ...]] = {
    "none": (),
    "seed": (seed_fault(),),
    "team": (team_fault(),),
    "alike": (seed_fault(exact=False),),
}


def by_code(diagnosis: Diagnosis, *known: KnownFault, budget: int = 3_000) -> tuple[Draft, EvidenceList]:
    evidence = collect(diagnosis, known, budget=budget)
    return draft_by_code(evidence, diagnosis), evidence


@pytest.mark.parametrize("known", KNOWN)
@pytest.mark.parametrize("name", MADE)
def test_it_passes_its_own_check(name: str, known: str) -> None:
    """For every kind of answer, hostile ones too, with and without known faults."""
    diagnosis = MADE[name]()

    draft, evidence = by_code(diagnosis, *KNOWN[known])

    assert check(draft, evidence, diagnosis) == ()
    assert all(sentence.cites for _, sentence in draft.places())


@pytest.mark.parametrize("job", sorted(path.name for path in EXAMPLES.iterdir() if path.is_dir()))
def test_it_passes_for_every_example(job: str, tmp_path: Path) -> None:
    """And for the diagnoses of real jobs, with a headline, a cause and, when it failed, what happened."""
    request = Request(job, jobs=str(EXAMPLES), use_cache=False, workers=1)
    diagnosis = investigate(request, Settings(cache=tmp_path)).diagnosis

    draft, evidence = by_code(diagnosis)

    assert check(draft, evidence, diagnosis) == ()
    assert draft.headline.text == diagnosis.headline
    assert draft.happened or not diagnosis.events


@pytest.mark.parametrize("budget", [0, 100, 300, 1_000])
@pytest.mark.parametrize("name", MADE)
def test_it_passes_with_little_evidence(name: str, budget: int) -> None:
    """It cites only what is shown, however small the budget."""
    diagnosis = MADE[name]()

    draft, evidence = by_code(diagnosis, seed_fault(), budget=budget)

    assert check(draft, evidence, diagnosis) == ()


def test_it_reads_well_at_three_in_the_morning() -> None:
    """Where to look, why, what happened in order, what to check: each with its evidence."""
    note = write_note(frozen())

    assert note.author is Author.CODE
    assert plain(note) == (
        "Look at node-01: it went silent while the others waited for it during training, after iteration 45. [D1]",
        "Cause: Rank 3 on node-01 never complained; 7 of 8 ranks did, and its last word came 9.3 s before theirs. "
        "node-01 did not end when told to: \u201cnode-01 noded[8425]: WARNING task did not stop within 12 s after "
        "SIGTERM, sending SIGKILL\u201d. [N1]",
        "What happened:",
        "- Iteration 45 is the last that any rank completed, of 120 planned. [I1]",
        "- 4 of 4 nodes logged \u201cTimed out waiting 25000ms for recv operation to complete\u201d 7 times, after "
        "iteration 45; never in 2 successful jobs. Waited for a peer in vain. [E1]",
        "- Rank 3 on node-01 never complained; 7 of 8 ranks did, and its last word came 9.3 s before theirs. node-01 "
        "did not end when told to: \u201cnode-01 noded[8425]: WARNING task did not stop within 12 s after SIGTERM, "
        "sending SIGKILL\u201d. [N1]",
        "Check first:",
        "- Look at node-01 itself: process state, kernel log, power, network; take it out and restart. [C1]",
        "Category: unknown",
    )


def test_a_seed_pattern_is_called_one() -> None:
    """Nobody reads public facts as the team's own experience."""
    draft, _ = by_code(diagnoses.huge(), seed_fault())

    assert draft.cause.text.startswith("The GPU no longer answers on PCIe")
    assert "nobody of the team has confirmed" in draft.cause.text
    assert draft.fix[0].cites == ["P1"]
    assert draft.category is Category.HARDWARE


def test_a_pattern_of_the_team_names_who_confirmed_it() -> None:
    """And when."""
    draft, _ = by_code(diagnoses.huge(), team_fault())

    assert draft.cause.text.endswith("Confirmed by ana on 2026-10-02.")
    assert draft.fix[0].text.endswith("Confirmed by ana on 2026-10-02.")


def test_a_pattern_that_only_looks_alike_is_no_cause() -> None:
    """Its fix comes with what it is."""
    draft, _ = by_code(diagnoses.huge(), seed_fault(exact=False))

    assert "P1" not in draft.cause.cites
    assert draft.fix[0].text.startswith("P1 looks alike, score 0.71; it need not be the same. Drain the node")


@pytest.mark.parametrize("name", ["inconclusive", "no_logs"])
def test_an_unknown_cause_is_called_unknown(name: str) -> None:
    """Nothing is made up to fill a field."""
    draft, _ = by_code(MADE[name](), seed_fault())

    assert draft.cause.text == "The cause is unknown: the logs do not tell what is at fault."
    assert draft.category is Category.UNKNOWN


def test_nothing_hostile_is_quoted() -> None:
    """Markup, links and control bytes of a job cost its sentences, not the reader."""
    text = "\n".join(plain(write_note(diagnoses.hostile())))

    assert not any(piece in text for piece in ("<", "\x1b", "http", "{{", "[bold]"))
    assert text.startswith("A part of the job is at fault.")
