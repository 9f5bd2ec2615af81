"""``firstfault library``: what a person without Slack does with the library."""

import json
import os
from functools import partial
from pathlib import Path

import pytest

from bot.commandline.library import command as commands
from bot.library.session import open_fault_library
from bot.settings import load_settings
from faultlib.embedding import WordHash
from faultlib.pattern import Aspect, Category, Part, Signature, Trait
from faultlib.pattern_text import read_entry, write_pattern
from faultlib.software_gone import RECENT
from tests.bot.conftest import Run
from tests.support.library_entries import pattern
from tests.support.places import EXAMPLES

ASKED = "How was it confirmed? firstfault library approve mine --how TEXT\n"


@pytest.fixture
def run(firstfault: Run, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Run:
    """Run a command of a library of its own, with three seeds: exit code, standard output, standard error."""
    monkeypatch.setenv("FIRSTFAULT_LIBRARY", str(tmp_path / "library"))
    monkeypatch.setattr("bot.library.session.embedder_for", lambda _name, cache: WordHash())  # noqa: ARG005 no model is needed
    seeds = [pattern("nic", title="Link down", cause="The link went down."), pattern("disk"), pattern("gpu")]
    monkeypatch.setattr("bot.library.session.read_seeds", lambda: seeds)
    monkeypatch.chdir(tmp_path)
    return partial(firstfault, "library")


@pytest.fixture
def mine(tmp_path: Path) -> Path:
    """A pattern that somebody wrote by hand."""
    path = tmp_path / "mine.toml"
    path.write_text(write_pattern(pattern("mine", title="Our own <b>fault</b>", cause="Dust on the cable.")))
    return path


def test_a_pattern_written_by_hand_is_a_draft_until_somebody_approves_it(run: Run, mine: Path) -> None:
    """Import stores it; approve confirms it, with a name; a second approval says who was first."""
    assert run("import", str(mine), "--who", "ada") == (0, "mine: draft\n", "")
    assert run("approve", "mine", "--who", "ada", "--why", "seen it") == (0, f"mine is confirmed.\n{ASKED}", "")
    code, out, _ = run("approve", "mine", "--who", "bob")
    assert (code, out.startswith("mine is confirmed already by ada, ")) == (0, True)
    assert "confirmed by ada" in run("show", "mine")[1]


def test_how_it_was_confirmed_is_kept_in_one_line(run: Run, mine: Path) -> None:
    """Whoever approves is asked, once; the answer is a version of the pattern."""
    run("import", str(mine), "--who", "ada")

    assert run("approve", "mine", "--who", "ada", "--how", "Cable swapped.") == (0, "mine is confirmed.\n", "")
    code, out, _ = run("approve", "mine", "--who", "ada", "--how", "Cable swapped twice.")
    assert (code, out.endswith("; how is kept with it now.\n")) == (0, True)
    assert "Made sure Cable swapped twice." in run("show", "mine")[1]
    assert '+confirmation = "Cable swapped."' in run("show", "mine", "--versions")[1]


def test_what_joined_a_pattern_is_shown_with_it(run: Run, mine: Path, tmp_path: Path) -> None:
    """Its own signature still finds the fault."""
    other = tmp_path / "other.toml"
    other.write_text(write_pattern(pattern("other", title="The same elsewhere", cause="Dust in the socket.")))
    run("import", str(mine), str(other), "--approve", "--who", "ada")
    assert run("merge", "other", "mine", "--who", "ada")[0] == 0

    assert "Also as   other" in run("show", "mine")[1]


def test_import_can_approve(run: Run, mine: Path) -> None:
    """One step for who reviewed it in git."""
    assert run("import", str(mine), "--approve", "--who", "ada") == (
        0,
        "mine: approved, and does not say how it was confirmed (approve mine --how TEXT)\n",
        "",
    )
    assert json.loads(run("list", "--no-seeds", "--json")[1]) == [
        {
            "pattern": "mine",
            "title": "Our own <b>fault</b>",
            "category": "hardware",
            "status": "approved",
            "origin": "team",
            "version": 1,
            "jobs": [],
        }
    ]


def test_export_and_import_give_the_same_library(
    run: Run, mine: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """History, status and words come back in another library; a second import changes nothing."""
    run("import", str(mine), "--approve", "--who", "ada")
    assert run("export", "out")[1] == "1 pattern written to out\n"
    text = (tmp_path / "out" / "mine.toml").read_text()
    monkeypatch.setenv("FIRSTFAULT_LIBRARY", str(tmp_path / "other"))
    assert run("import", "out") == (0, "mine: approved\n", "")
    assert run("import", "out") == (0, "mine: approved, was here already\n", "")
    run("export", "again")
    assert (tmp_path / "again" / "mine.toml").read_text() == text
    assert read_entry(text, "f").history[1].who == "ada"


def test_a_mistake_is_told_by_file_and_line_and_nothing_is_taken(run: Run, mine: Path, tmp_path: Path) -> None:
    """All of them or none; a missing file and one that is no text are mistakes too."""
    broken = tmp_path / "broken.toml"
    broken.write_text(mine.read_text().replace('category = "hardware"', 'category = "weather"'))
    (tmp_path / "bytes.toml").write_bytes(b"\xff\xfe")
    code, out, err = run("import", str(mine), str(broken), "absent.toml", "bytes.toml")
    assert (code, out) == (2, "")
    assert f"error: {broken}:4: category: " in err
    assert "error: absent.toml: no such file or directory" in err
    assert "error: bytes.toml: it is not UTF-8 text" in err
    assert run("list", "--no-seeds")[1] == "No pattern.\n"


def test_before_anybody_approves_it_is_told_which_known_faults_a_pattern_fits(run: Run, tmp_path: Path) -> None:
    """The same public fact as another pattern is told with the jobs of that one; of its own file nothing is told."""
    trait = Trait(aspect=Aspect.FACT, text="disk-full", part=Part.CAUSE)
    for name, cause in (("ours", "A log was never rotated."), ("new", "A cache grew.")):
        words = pattern(name, title=name, cause=cause, signature=Signature(traits=(trait,)))
        (tmp_path / f"{name}.toml").write_text(write_pattern(words))
    run("import", str(tmp_path / "ours.toml"), "--approve", "--who", "ada")

    _, out, _ = run("import", str(tmp_path / "new.toml"), "--dry-run")

    assert out == "1 pattern read, no mistake.\nnew would be told for ours too: the same public fact.\n"
    assert run("import", str(tmp_path / "ours.toml"), "--dry-run")[1] == "1 pattern read, no mistake.\n"


def test_a_dry_run_checks_only(run: Run, mine: Path) -> None:
    """CI of a team's own library can check what it holds."""
    assert run("import", str(mine), "--dry-run") == (0, "1 pattern read, no mistake.\n", "")
    assert run("list", "--no-seeds")[1] == "No pattern.\n"


def test_an_older_text_is_refused(run: Run, mine: Path, tmp_path: Path) -> None:
    """What people did meanwhile is not overwritten by an old file."""
    run("import", str(mine), "--approve", "--who", "ada")
    run("export", "old")
    run("retire", "mine", "--why", "noise", "--who", "bob")
    (tmp_path / "old" / "mine.toml").write_text(
        (tmp_path / "old" / "mine.toml").read_text().replace("Dust on the cable.", "Rust.")
    )
    code, _, err = run("import", "old")
    assert code == 2
    assert "mine" in err
    assert "retired" in run("show", "mine")[1]


def test_an_export_that_was_edited_is_a_new_version(run: Run, mine: Path, tmp_path: Path) -> None:
    """A team reviews its patterns in git: who imports the change is who made the version; the life goes on."""
    run("import", str(mine), "--approve", "--who", "ada")
    run("export", "out")
    file = tmp_path / "out" / "mine.toml"
    file.write_text(file.read_text().replace("Dust on the cable.", "Rust."))

    assert run("import", "out", "--who", "bob") == (0, "mine: approved, now version 2\n", "")
    assert "Rust." in run("show", "mine")[1]
    assert "bob" in run("show", "mine", "--versions")[1]
    assert run("import", "out")[0] == 2  # written before that version


def test_a_retired_pattern_is_kept(run: Run) -> None:
    """Retired, never deleted; the reason stands in its life."""
    assert run("retire", "nic", "--why", "noise here", "--who", "bob") == (0, "nic is retired.\n", "")
    assert "retire by bob: noise here" in run("show", "nic")[1]
    assert [row["pattern"] for row in json.loads(run("list", "--status", "retired", "--json")[1])] == ["nic"]


def test_a_search_answers_or_says_that_nothing_is_known(run: Run) -> None:
    """Exit code 1 tells a script that nothing similar is known."""
    code, out, _ = run("search", "the link went down")
    assert (code, out.splitlines()[0]) == (0, "1.  nic: Link down")
    assert run("search", "zzz") == (1, "Nothing similar is known.\n", "")
    assert json.loads(run("search", "the link went down", "--json", "--limit", "1")[1])[0]["pattern"] == "nic"


def test_what_is_not_there_is_said(run: Run, tmp_path: Path) -> None:
    """Unknown ids, statuses and empty folders: exit code 2, and what to do."""
    assert run("show", "nothing")[0] == 2
    assert "One of: draft, approved, superseded, retired." in run("list", "--status", "lost")[2]
    (tmp_path / "hollow").mkdir()
    assert "There is no .toml file in the folder." in run("import", "hollow")[2]
    assert run("export", str(tmp_path / "library" / "library.db"))[0] == 2


def test_numbers_of_the_library(run: Run) -> None:
    """What it holds, for people and for programs."""
    assert "Patterns  3 approved" in run("stats")[1]
    assert json.loads(run("stats", "--json")[1])["by_origin"] == {"seed": 3}


def test_show_as_text_is_what_import_reads(run: Run) -> None:
    """One pattern can be copied by hand."""
    assert read_entry(run("show", "nic", "--toml")[1], "f").pattern.id == "nic"


@pytest.mark.slow
def test_a_draft_of_a_job_is_written_not_stored(run: Run, tmp_path: Path) -> None:
    """The text can be edited and imported as it is; a job that shows nothing has none."""
    jobs = str(EXAMPLES)
    code, out, _ = run("draft", "f15", "--jobs", jobs)
    assert code == 0
    (tmp_path / "f15.toml").write_text(out)
    assert run("list", "--no-seeds")[1] == "No pattern.\n"
    assert run("import", "f15.toml", "--who", "ada")[0] == 0
    assert "there is nothing to know it by" in run("draft", "s01", "--jobs", jobs)[2]


def test_who_acts_is_the_user_of_the_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    """The audit never says nobody."""
    monkeypatch.setenv("LOGNAME", "carol")
    assert commands._who(None) == "carol"
    assert commands._who("ada") == "ada"


def test_a_merge_is_offered_and_makes_one_of_both(run: Run, mine: Path, tmp_path: Path) -> None:
    """Nearly the same pattern again: the person is told how to merge, and then one of them answers."""
    again = tmp_path / "again.toml"
    again.write_text(mine.read_text().replace('id = "mine"', 'id = "again"'))
    run("import", str(mine), "--approve", "--who", "ada")
    out = run("import", str(again), "--approve", "--who", "bob")[1]
    assert "firstfault library merge again mine" in out
    assert run("merge", "again", "mine", "--who", "bob") == (0, "again is merged into mine.\n", "")
    rows = json.loads(run("list", "--no-seeds", "--json")[1])
    assert {row["pattern"]: row["status"] for row in rows} == {"again": "superseded", "mine": "approved"}


def test_an_answer_is_kept_and_taken_back(run: Run) -> None:
    """Whoever was shown a pattern says whether it was right; without a word it is withdrawn."""
    assert (
        run("answer", "nic", "j1", "--right", "--who", "ada")[1] == "nic: this was it (j1). So far 1 right, 0 wrong.\n"
    )
    assert "as you said before" in run("answer", "nic", "j1", "--right", "--who", "ada")[1]
    assert run("answer", "nic", "j1", "--who", "ada")[1] == "nic: withdrawn (j1). So far 0 right, 0 wrong.\n"


def test_a_teams_ci_checks_its_patterns(run: Run, mine: Path) -> None:
    """What is wrong is told a line each, with exit code 1, and no library is opened."""
    code, out, _ = run("check", str(mine))

    assert (code, bool(out)) in {(0, True), (1, True)}
    assert not (mine.parent / "library").exists()


def test_each_version_tells_what_it_changed(run: Run, mine: Path) -> None:
    """Who made it, and the lines that differ; the first has nothing to differ from."""
    run("import", str(mine), "--approve", "--who", "ada")
    run("export", "out")
    with open_fault_library(load_settings()) as library:
        entry = library.entry("mine")
        words = entry.pattern.model_copy(update={"cause": "Rust on the cable."})
        library.edit("mine", words, who="bob", why="looked again", revision=entry.revision)

    code, out, _ = run("show", "mine", "--versions")

    assert code == 0
    heads = [line for line in out.splitlines() if line.startswith("Version")]
    assert [head.partition(", 20")[0] for head in heads] == ["Version 1, draft by ada", "Version 2, edit by bob"]
    assert '-cause = "Dust on the cable."' in out.splitlines()
    assert '+cause = "Rust on the cable."' in out.splitlines()
    assert "title" not in out.partition("Version 2")[2].partition("@@")[0]


def test_a_report_tells_what_faults_cost(run: Run, mine: Path, tmp_path: Path) -> None:
    """Jobs, node-hours where job.json tells them, and what came back; as JSON too."""
    run("import", str(mine), "--approve", "--who", "ada")
    job = tmp_path / "jobs" / "j1"
    (job / "logs").mkdir(parents=True)
    manifest = {"job_id": "j1", "nodes": ["n1", "n2"], "start": "2026-11-21T00:00:00Z", "end": "2026-11-21T01:30:00Z"}
    (job / "job.json").write_text(json.dumps(manifest))
    assert "mine" in run("report", "--jobs", str(tmp_path / "jobs"))[1].partition("Never seen again")[2]
    with open_fault_library(load_settings()) as library:
        library.sighted("mine", "j1")

    code, out, _ = run("report", "--jobs", str(tmp_path / "jobs"))

    assert code == 0
    assert "  mine (Our own <b>fault</b>): 1 job, 3.0 node-hours" in out.splitlines()
    assert json.loads(run("report", "--jobs", str(tmp_path / "jobs"), "--json")[1])["costs"] == [
        {"pattern": "mine", "jobs": ["j1"], "node_hours": 3.0}
    ]
    assert "Without node-hours" in run("report", "--jobs", str(tmp_path / "nowhere"))[2]


def test_a_report_suggests_what_has_no_software_left(run: Run, mine: Path, tmp_path: Path) -> None:
    """A pattern whose jobs ran versions that none of the latest jobs has; nothing is retired by that."""
    run("import", str(mine), "--approve", "--who", "ada")
    with open_fault_library(load_settings()) as library:
        library.sighted("mine", "j0")
        words = library.entry("mine").pattern.model_copy(update={"category": Category.FRAMEWORK})
        library.edit("mine", words, who="ada", why="", revision=library.entry("mine").revision)
    for number in range(RECENT + 1):
        folder = tmp_path / "jobs" / f"j{number}"
        (folder / "logs").mkdir(parents=True)
        manifest = {
            "job_id": f"j{number}",
            "start": f"2026-11-21T00:{number:02d}:00Z",
            "software": {"torch": "2.6.0" if number else "2.3.1"},
        }
        (folder / "job.json").write_text(json.dumps(manifest))

    out = run("report", "--jobs", str(tmp_path / "jobs"))[1]

    assert "  mine (Our own <b>fault</b>): torch 2.3.1, now 2.6.0" in out.splitlines()
    assert json.loads(run("report", "--jobs", str(tmp_path / "jobs"), "--json")[1])["software_gone"] == [
        {"pattern": "mine", "software": "torch", "had": ["2.3.1"], "now": ["2.6.0"]}
    ]
    assert json.loads(run("list", "--no-seeds", "--json")[1])[0]["status"] == "approved"


def test_a_pipe_that_nobody_writes_to_is_no_pattern(run: Run, tmp_path: Path) -> None:
    """A folder that somebody sent may hold one, or a link to a device without an end: import does not wait."""
    folder = tmp_path / "sent"
    folder.mkdir()
    os.mkfifo(folder / "pipe.toml")
    (folder / "zero.toml").symlink_to("/dev/zero")

    code, _, err = run("import", str(folder))

    assert code == 2
    assert "zero.toml" in err
