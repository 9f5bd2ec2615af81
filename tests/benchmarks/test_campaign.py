"""A small campaign: faults at random points, and an oracle that would see what went wrong."""

from dataclasses import replace
from pathlib import Path
from random import Random

import pytest

from benchmarks.campaign.__main__ import told
from benchmarks.campaign.oracle import has_report, look, missing, wrong
from benchmarks.campaign.people import CampaignJob, People
from benchmarks.campaign.season import Result, season
from benchmarks.support.stage import ROOMS, Stage
from bot.state.answers import SavedAnswer
from bot.state.errors import StateUnavailable
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


def test_a_question_in_a_thread_that_people_began_mentions_the_bot(stage: Stage) -> None:
    """A shortcut answers in the thread of the message: what is said there without a mention is between people."""
    people = People(stage, Random(1))
    case = CampaignJob(stage.job("quick-0001"), ROOMS[0], "shortcut")
    with stage.bot():
        people.ask(case)
        stage.wait_told(case.job)
        people.follow_ups["question"](case)
        (words,) = case.questions
        stage.slack.wait_for_message(case.room, f"{words}: N1")
    assert missing(look(stage), [case]) == []


def test_whoever_looks_while_the_disk_is_full_looks_again(stage: Stage, monkeypatch: pytest.MonkeyPatch) -> None:
    """An act of a person does not end the campaign because the state cannot be read for a moment."""
    people = People(stage, Random(1))
    case = CampaignJob(stage.job("quick-0001"), ROOMS[0], "command")
    with stage.bot():
        people.ask(case)
        stage.wait_told(case.job)
    run, full = Stage.run, [StateUnavailable("It cannot be used: the disk does not answer.", "Wait.")]
    monkeypatch.setattr(Stage, "run", lambda self, job: run(self, job) if not full else _raise(full.pop()))
    people.follow_ups["question"](case)
    assert len(case.questions) == 1


def _raise(error: Exception) -> None:
    raise error


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
