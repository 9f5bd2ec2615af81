"""Looking things up: sentences whose numbers are those of the logs, and the lines that show them."""

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core.answer import job_lookup
from core.answer import search as searching
from core.answer.search import lines_with, matching, search
from core.parsed import Parsed, parse_job
from tests.support.jobs import at, job, lines, steps

SAVINGS = (b"saved", b"wrote", b"written", b"stored", b"dumped", b"save_", b"ckpt at", b"snapshot", b"restart")


@pytest.fixture(scope="module")
def parsed() -> Parsed:
    """Two nodes: node-1 stops after iteration 3 with an error, node-0 goes on to 5; a third never complains."""
    return _parsed(
        {
            "node-0/rank_0.log": lines(*steps(5), at(5.5, "hello from zero")),
            "node-1/rank_1.log": lines(*steps(3), at(3.5, "ERROR link eth0 went down code 7"), at(3.6, "bye")),
            "node-2/rank_2.log": lines(*steps(5)),
        }
    )


def _parsed(files: dict[str, str]) -> Parsed:
    return parse_job(job(files, nodes=("node-0", "node-1", "node-2")), (), cache=None, workers=1, progress=None)


def test_a_node_is_told_by_its_lines_its_end_and_its_complaints(parsed: Parsed) -> None:
    """How much, from when to when, how far, what it complained of, its last words."""
    found = job_lookup.of_node(parsed, "node-1")
    assert found.says == ("node-1 wrote 5 lines, from 04:00:01 to 04:00:03, last complete iteration 3; 1 complaint.")
    assert [line.line for line in found.lines] == [4, 3, 5]
    assert found.who == ("node-1 rank 1",) * 3
    assert found.clock[0] == "04:00:03"


def test_a_rank_is_told_like_a_node(parsed: Parsed) -> None:
    """Ranks that no log names are said to be unknown, not silent."""
    assert job_lookup.of_rank(parsed, 2).says.startswith("Rank 2 wrote 5 lines")
    assert job_lookup.of_rank(parsed, 9).says == "No log names rank 9."
    assert job_lookup.of_node(parsed, "nobody").says == "No log names nobody."


def test_an_iteration_is_told_by_who_completed_it(parsed: Parsed) -> None:
    """Who, when, and what complained after it; one that nobody completed says how far the logs go."""
    found = job_lookup.of_iteration(parsed, 3)
    assert found.says == "Iteration 3 was completed by 3 of 3 ranks, at 04:00:03; 1 complaint after it."
    assert any("link eth0" in line.text for line in found.lines)
    assert job_lookup.of_iteration(parsed, 77).says == (
        "No line says that iteration 77 was completed. The logs count iterations up to 5."
    )


def test_two_nodes_are_compared_by_what_only_one_says(parsed: Parsed) -> None:
    """Numbers of both, and the lines of the difference."""
    found = job_lookup.compare(parsed, "node-1", "node-2")
    assert "node-1 wrote 5 messages" in found.says
    assert "2 events only on node-1, 0 only on node-2." in found.says
    assert {line.line for line in found.lines} == {4, 5}
    assert job_lookup.compare(parsed, "node-1", "node-9").says == "No log names node-9."


def test_the_earliest_end_comes_first(parsed: Parsed) -> None:
    """Ends are told by clock, whatever the order of the files."""
    found = job_lookup.ends(parsed)
    assert found.says == ("node-1 rank 1 wrote its last line first, at 04:00:03; node-0 rank 0 last, at 04:00:05.")
    assert found.who == ("node-1 rank 1", "node-2 rank 2", "node-0 rank 0")


def test_a_search_finds_all_words_in_any_case(parsed: Parsed) -> None:
    """All of the words in one line; of one node or rank where that is asked."""
    found = search(parsed, ("LINK", "code 7"))
    assert (found.says, found.total) == ("1 line holds “LINK” and “code 7”, at 04:00:03.", 1)
    assert (found.lines[0].file, found.lines[0].line) == ("logs/node-1/rank_1.log", 4)
    assert search(parsed, ("link",), node="node-0").says == "No line of node-0 holds “link”."
    assert search(parsed, ("link",), rank=1).total == 1
    assert search(parsed, ("(unclosed",)).says == "No line holds “(unclosed”."
    assert search(parsed, ("",)).says == "There is nothing to search for."


def test_a_search_shows_the_rarest_events_first() -> None:
    """What was said once is not buried under what was said a hundred times."""
    chatter = [at(n, "heartbeat failed again") for n in range(100)]
    found = search(_parsed({"node-0/a.log": lines(*chatter, at(200, "controller failed for good"))}), ("failed",))
    assert found.total == 101
    assert "for good" in found.lines[0].text


def test_a_search_that_stopped_early_says_so() -> None:
    """Nobody takes a part of the logs for all of them."""
    parsed = _parsed({"node-0/a.log": lines(*steps(3)), "node-1/b.log": lines("needle")})
    assert search(parsed, ("needle",), most=10).says == ("No line holds “needle”. Only the first 0 MiB were searched.")


def test_a_search_crosses_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    """A line that two blocks share is found once, with its number."""
    monkeypatch.setattr(searching, "_BLOCK", 7)
    found = search(_parsed({"node-0/a.log": "one\ntwo three four five needle six\nseven"}), ("needle",))
    assert [(line.line, line.text) for line in found.lines] == [(2, "two three four five needle six")]


def test_a_job_without_anything_is_answered_too() -> None:
    """No node, no iteration, no clock: each look says so."""
    parsed = parse_job(job({"a.txt": "hello\n"}), (), cache=None, workers=1, progress=None)
    assert job_lookup.ends(parsed).says == "The logs name no rank and no node."
    assert job_lookup.of_iteration(parsed, 1).says == "No line says that iteration 1 was completed."
    assert search(parsed, ("hello",)).says == "1 line holds “hello”, at no known time."


@pytest.mark.parametrize(
    "text",
    [
        "",
        "Saved a\nnothing\nsaved saved b\n\nWROTE SAVED c",
        "nothing\nnothing\nwrote b",
        "a saved\r\nb wrote\r\n",
        "saved",
    ],
)
def test_words_change_no_answer(text: str) -> None:
    """A line is found by its words first: the same lines as the expression alone finds, once each, in order."""
    parsed = _parsed({"logs/train.log": text + "\nend\n"})
    patterns = [re.compile(rb"\b(?:saved|wrote)\b", re.IGNORECASE)]

    assert matching(parsed, patterns, words=(b"wrote", b"saved")) == matching(parsed, patterns)


@pytest.mark.parametrize(
    "typed",
    [
        "nthreads cannot be larger than environment variable NUM_MAX (64)",
        "error. NTHREADS cannot be",
        "variable 'NUM_MAX'",
        "Error... cannot … NUM_MAX",
    ],
)
def test_a_quote_is_found_however_it_was_typed(typed: str) -> None:
    """Spaces, quotation marks and case are those of whoever typed it; "..." stands for anything."""
    line = 'Error.  nthreads cannot be larger than environment variable "NUM_MAX" (64)'
    parsed = _parsed({"node-0/rank_0.log": lines(*steps(2), at(2.5, line), at(2.6, "Error. nthreads are few"))})
    found = search(parsed, (typed,))
    assert [line in one.text for one in found.lines] == [True]
    assert search(parsed, ("nthreads cannot be smaller",)).says == "No line holds “nthreads cannot be smaller”."


def test_what_others_say_of_a_node_is_found_where_it_says_nothing() -> None:
    """srun lists whose tasks were killed; that the node never wrote the word is no answer."""
    files = {f"node-{n}.log": lines(*steps(3)) for n in range(3)}
    told = _parsed(
        files | {"srun.err": lines("srun: error: node-1: tasks 12,15: Killed", "srun: error: node-2: task 4: Killed")}
    )

    found = search(told, ["Killed"], node="node-1")

    assert found.says.startswith("1 line holds “Killed” and names node-1")
    assert search(told, ["Killed"], node="node-0").says == "No line of node-0 holds “Killed”."


@given(
    pieces=st.lists(st.sampled_from((*SAVINGS, b"\n", b"a", b"sav", b"e_", b" ", b"\xff", b"Saved")), max_size=40),
)
@settings(deadline=None)
def test_many_words_are_found_together_as_each_is_alone(pieces: list[bytes]) -> None:
    """The same lines, whether a table of beginnings is asked or each word is looked for."""
    text = b"".join(pieces)
    lines = [(at, line) for at, line in enumerate(text.split(b"\n")) if any(word in line.lower() for word in SAVINGS)]

    assert list(lines_with(text, SAVINGS)) == lines
    assert list(lines_with(text, SAVINGS[:3])) == [
        (at, line) for at, line in lines if any(word in line.lower() for word in SAVINGS[:3])
    ]
