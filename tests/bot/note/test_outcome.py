"""Claims about the end of a job: what a note may say of checkpoints, exit codes and the end."""

from dataclasses import replace

from bot.note.about_outcome import Outcome
from bot.note.claims import claims_of
from tests.support.diagnoses import node_fault

OUTCOME = Outcome(
    last=60,
    planned=120,
    moved=1_000_000,
    saved=50,
    looked=True,
    ended=9_000_000,
    stopped="03:55:46",
    codes=(("-9 (SIGKILL)", ("tr-02",)), ("1", ("tr-01", "tr-03"))),
)


def said(outcome: Outcome | None) -> dict[str, str]:
    return {claim.id: claim.says for claim in claims_of(node_fault(), (), outcome).every}


def test_the_end_is_claimed() -> None:
    """How far it came, what was saved and lost, from where to go on, who ended with what, and when."""
    claims = said(OUTCOME)

    assert claims["J1.reached"] == "The last complete iteration is 60 of 120 planned, complete at 00:00:01."
    assert "iteration 50; 10 iterations after it must be computed again." in claims["J1.saved"]
    assert claims["J1.resume"] == "Resume from the checkpoint of iteration 50."
    assert claims["J1.codes"] == "Exit codes by job.json: -9 (SIGKILL): tr-02; 1: tr-01, tr-03."
    assert claims["J1.over"] == "The last line of all came at 00:00:09. By job.json the job ended at 03:55:46 UTC."


def test_a_checkpoint_that_some_did_not_write_is_doubtful() -> None:
    """Nobody is told to resume from it unchecked."""
    claims = said(replace(OUTCOME, doubtful=(3,)))

    assert "doubtful: rank 3 did not report" in claims["J1.saved"]
    assert claims["J1.resume"].startswith("Check the checkpoint of iteration 50 before")


def test_nothing_saved_is_claimed_only_after_a_search() -> None:
    """Of logs that were not searched nothing is said."""
    assert "no checkpoint that was saved" in said(replace(OUTCOME, saved=None))["J1.saved"]
    assert "J1.saved" not in said(replace(OUTCOME, saved=None, looked=False))


def test_without_an_outcome_nothing_of_the_end_is_claimed() -> None:
    """A stored answer has none."""
    assert not [
        name for name in said(None) if name.startswith("J1.") and name.split(".")[1] in ("saved", "codes", "over")
    ]
