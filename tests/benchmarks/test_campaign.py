"""A small campaign: faults at random points, and an oracle that would see what went wrong."""

from dataclasses import replace
from pathlib import Path

import pytest

from benchmarks.campaign.__main__ import told
from benchmarks.campaign.oracle import has_report, look, missing, wrong
from benchmarks.campaign.people import CampaignJob
from benchmarks.campaign.season import Result, season
from benchmarks.support.stage import ROOMS, Stage
from bot.state.answers import SavedAnswer
from bot.state.inbox import Envelope
from bot.state.state import open_state
from tests.e2e_faults.conftest import shared, slack, stage
from tests.support import diagnoses

__all__ = ["shared", "slack", "stage"]


@pytest.mark.slow
def test_a_few_rounds_lose_nothing(shared: Path, tmp_path: Path) -> None:
    """Two rounds of twelve faults each: nothing is lost, nothing stands twice, no archive is wrong."""
    result = Result()
    season(shared, tmp_path, "small", result, rounds=2, faults=12)
    assert (result.lost, result.wrong, result.odd) == ([], [], [])
    assert result.rounds == 2
    assert result.faults >= 12  # some of Slack's wait for a call that does not come
    assert "| rounds | 2 |" in told(result, 60, "small")


def test_the_oracle_sees_what_went_wrong(stage: Stage) -> None:
    """An answer that is there once is right; told twice, unwritten, unheard of or archived by nobody it is not."""
    case = CampaignJob(stage.job("quick-0001"), ROOMS[0], "command", heard=1)
    lost = CampaignJob("quick-0002", ROOMS[1], "command", heard=1)
    with stage.bot():
        stage.alice.command(f"/diagnose {case.job}", case.room)
        stage.wait_told(case.job)
    facts = look(stage)
    assert missing(facts, [case]) == []
    assert wrong(facts, [case]) == []

    (parent,) = stage.parents(case.job)
    again = replace(parent, ts=f"{parent.ts}1")
    twice = replace(facts, slack=replace(facts.slack, everything=(*facts.slack.everything, again)))
    (found,) = wrong(twice, [case])
    assert "stands 2 times" in found
    silent = replace(facts, slack=replace(facts.slack, everything=(parent,)))
    assert len([one for one in missing(silent, [case]) if "does not stand in Slack" in one]) == 3
    assert missing(facts, [lost]) == ["quick-0002: acknowledged 1 times, and there are 0 runs"]
    run = facts.runs[case.job][0].id
    by_nobody = {run: {"pattern": "p", "revision": 1, "joins": ""}}
    assert wrong(replace(facts, standing=by_nobody), [case]) == [
        "quick-0001 is approved as p, and the library does not have it so"
    ]
    assert wrong(replace(facts, deeds={run: "aa"}), [case]) == [f"{run}: the audit tells aa"]


def test_the_oracle_waits_for_the_inbox(stage: Stage) -> None:
    """What was stored and not dealt with is missing."""
    stage.state.mkdir()
    state = open_state(stage.state / "state.db")
    state.inbox.put([Envelope("k1", "command", {"text": "f07"})])
    state.close()
    assert missing(look(stage), []) == ["1 envelopes in the inbox"]


def test_a_report_of_nothing_is_not_missed() -> None:
    """Where an emptied log leaves neither event nor node, the bot posts no report."""
    found = diagnoses.node_fault()
    nothing = replace(found, events=(), nodes=())

    assert has_report(SavedAnswer("f07", found, report="r.html"))
    assert not has_report(SavedAnswer("f07", nothing, report="r.html"))
    assert not has_report(SavedAnswer("f07", found))
