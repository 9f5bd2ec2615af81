"""What a draft of a fault pattern says, and what it must not say."""

import pytest

from core.model import Diagnosis, Role, Scope
from faultlib.draft import UNKNOWN, category_of, pattern_of
from faultlib.pattern import Category, Where
from faultlib.pattern_text import read_pattern, write_pattern
from faultlib.signature import matches_lines
from tests.support.library_diagnoses import diagnosis, event, link_down, time_limit
from tests.support.link_down import node_fault


def test_a_draft_says_what_broke_and_what_gave_it_away() -> None:
    """Title from the headline, the direct traces as signature, what was said of them as evidence."""
    draft = pattern_of(link_down())

    assert draft.title == "A network link went down during training"
    assert draft.id == "a-network-link-went-down-during-training"
    assert draft.scope is Scope.NODE
    assert [(clause.events, clause.where) for clause in draft.signature.must] == [
        (("<TS> <*> systemd-networkd[<NUM>]: eth<NUM>: Lost carrier",), Where.ONE_NODE)
    ]
    assert draft.evidence.split("\n")[1:] == ["A network link went down.", "Waited for a peer in vain."]


@pytest.mark.parametrize("job", [link_down(), node_fault()], ids=["made up", "real"])
def test_nothing_of_a_draft_is_true_of_its_job_only(job: Diagnosis) -> None:
    """No node, job id, rank, address or iteration is in what is compared or matched."""
    draft = pattern_of(job)

    said = f"{draft.id}\n{draft.words()}\n{draft.fix}"

    for name in (job.job, *(bar.node for bar in job.pictures.nodes), "10.77.0", "ank 3", "iteration 60", "node-<NUM>"):
        assert name not in said


def test_a_draft_is_the_same_on_other_nodes() -> None:
    """The same fault on a cluster with other names, in a job with another id, makes the same pattern."""
    here = pattern_of(link_down())
    there = pattern_of(link_down("1437825", ("gpu-a.dc2.example", "gpu-b.dc2.example", "gpu-c.dc2.example")))

    assert there.words() == here.words()
    assert there.id == here.id


def test_a_signature_fits_the_lines_of_other_nodes() -> None:
    """A draft matches the log of a node that it never saw, and no node that says something else."""
    signature = pattern_of(link_down()).signature

    there = "2027-01-01T00:00:00+0000 gpu-b.dc2.example systemd-networkd[9]: eth3: "

    assert matches_lines(signature, there + "Lost carrier")
    assert not matches_lines(signature, there + "Gained carrier")


def test_what_victims_say_gives_nothing_away() -> None:
    """Without a direct trace the signature stays empty: every fault makes peers time out."""
    victims = [one for one in link_down().events if one.role is Role.PROPAGATED]

    draft = pattern_of(diagnosis(*victims, headline="Look at n1: it went silent.", suspects=[("n1", "n1 was silent.")]))

    assert draft.signature.must == ()
    assert draft.examples.match == ()
    assert draft.title == "It went silent"
    assert "Waited for a peer in vain." in draft.evidence


@pytest.mark.parametrize(
    ("nodes", "names", "where"),
    [
        (["a1"], ["a1", "a2", "a3"], Where.ONE_NODE),
        (["a1", "a2", "a3"], ["a1", "a2", "a3"], Where.ALL_NODES),
        (["a1", "a2"], ["a1", "a2", "a3"], Where.ANYWHERE),
        ([], ["a1", "a2", "a3"], Where.ANYWHERE),
        (["a1"], ["a1"], Where.ANYWHERE),
        (["a1"], [], Where.ANYWHERE),
    ],
    ids=["one", "all", "some", "none of them", "the only one", "unknown"],
)
def test_where_an_event_was_said_becomes_a_condition(nodes: list[str], names: list[str], where: Where) -> None:
    """One of several nodes, or all of them; where there is but one node, it says nothing."""
    draft = pattern_of(diagnosis(event("E1", "disk on fire", "It burns.", nodes=nodes), names=names))

    assert [clause.where for clause in draft.signature.must] == [where]


@pytest.mark.parametrize(
    ("template", "wanted"),
    [
        ("slurmstepd: error: *** STEP <NUM>.<NUM> ON <*> CANCELLED AT <TS> ***", False),
        ("KeyboardInterrupt in fit (train.py)", False),
        ("failed (exitcode: -6) local_rank: <NUM> (pid: <NUM>) of binary: python", False),
        ("ERROR tokenizer shard differs from its index", True),
        ("NVRM: Xid (PCI:<HEX>): 79, GPU has fallen off the bus.", True),
    ],
)
def test_what_many_causes_leave_is_no_event_of_a_signature(template: str, wanted: bool) -> None:
    """A person's Ctrl-C, a limit or a signal stands in jobs of any fault; a house's own error does not."""
    assert bool(pattern_of(diagnosis(event("E1", template, "x."))).signature.must) is wanted


def test_a_signature_holds_six_traces_at_most_and_each_once() -> None:
    """The most telling first; equal templates of two events are one condition."""
    said = [event(f"E{n}", f"fault {'abcdefgh'[n]} happened", "x.") for n in (0, 0, 1, 2, 3, 4, 5, 6)]

    must = pattern_of(diagnosis(*said)).signature.must

    assert [clause.events[0] for clause in must] == [f"fault {letter} happened" for letter in "abcdef"]


@pytest.mark.parametrize("template", ["<NUM>", "<*> <TS>: <NUM>", "node-01", "  "])
def test_a_template_without_a_word_gives_nothing_away(template: str) -> None:
    """What only masks and names are left of would match everything."""
    assert pattern_of(diagnosis(event("E1", template, "x."), names=["node-01"])).signature.must == ()


def test_an_example_is_kept_when_the_signature_matches_it() -> None:
    """One cited line of each trace; a library refuses examples that its signature does not match."""
    matching = pattern_of(link_down())
    block = pattern_of(diagnosis(event("E1", "ValueError: no in load (a.py)", "x.", line="ValueError: no")))

    assert matching.examples.match == (link_down().events[0].lines[0].text,)
    assert block.examples.match == ()


@pytest.mark.parametrize("job", [link_down(), time_limit(), node_fault(), diagnosis()])
def test_a_draft_can_be_written_and_read_back(job: Diagnosis) -> None:
    """Every draft is a pattern that export and import take."""
    draft = pattern_of(job)

    assert read_pattern(write_pattern(draft), "draft.toml") == draft


def test_what_nobody_has_said_yet_is_filled_in() -> None:
    """Cause and fix are asked for by every pattern: the title, the checks, or that it is not known."""
    assert pattern_of(link_down()).cause == "A network link went down during training"
    assert pattern_of(link_down()).fix == "Look at the NIC of a node (ibstat)."
    assert pattern_of(diagnosis()).fix == UNKNOWN


def test_what_somebody_said_is_kept() -> None:
    """The words of the note and of the person stand as they are."""
    draft = pattern_of(
        link_down(), category=Category.PLATFORM, subtype="switch", cause="Port swp2 broke.", fix="Replace the switch."
    )

    assert (draft.category, draft.subtype) == (Category.PLATFORM, "switch")
    assert (draft.cause, draft.fix) == ("Port swp2 broke.", "Replace the switch.")


def test_an_unknown_fault_is_titled_by_its_event() -> None:
    """Where no fact knows what broke, the title is the trace in the words of the log, without its numbers."""
    said = event("E1", "AssertionError: rank <NUM> on node-<NUM> in __init__ (scheduler.py)", "x.", nodes=["node-01"])

    draft = pattern_of(diagnosis(said, headline="Look at node-01: “AssertionError: rank 3 on” during training."))

    assert draft.title == "AssertionError: rank <*> on <*> in __init__ (scheduler.py) during training"
    assert draft.id == "assertionerror-rank-on-in-init-scheduler-py-during-training"


@pytest.mark.parametrize(
    ("headline", "title"),
    [
        (
            "Not a fault: the job was cancelled from outside on node-01 during training, after iteration 9.",
            "The job was cancelled from outside during training",
        ),
        (
            "Not a fault: an operator ended the run on node-01, node-02 during training.",
            "An operator ended the run during training",
        ),
        ("No rank is special: a file is missing during data loading.", "A file is missing during data loading"),
        ("Look at node-01, node-02: a process was killed (SIGKILL).", "A process was killed (SIGKILL)"),
        ("Look at 10.0.0.1:8080: it went silent.", "It went silent"),
        ("Nothing conclusive during training, after iteration 45000.", "Nothing conclusive during training"),
        ("", "Nothing conclusive"),
    ],
)
def test_a_title_is_the_headline_without_this_job(headline: str, title: str) -> None:
    """Whom to look at and after which iteration is of this job; what broke is of the fault."""
    assert pattern_of(diagnosis(headline=headline, names=["node-01", "node-02"])).title == title


@pytest.mark.parametrize("headline", ["x" * 5_000, "🏖️", "ß " * 200, "\x1b[31m\x00", "“" * 300, "<@U1> " * 100])
def test_any_headline_makes_a_pattern(headline: str) -> None:
    """Long, without a letter, with control bytes: title and id stay within what a pattern allows."""
    draft = pattern_of(diagnosis(event("E1", headline, headline, line=headline), headline=headline, job=headline))

    assert read_pattern(write_pattern(draft), "draft.toml") == draft


@pytest.mark.parametrize(("node", "job"), [("12", "12"), ("3", "3"), ("rank 3", "j-4711")])
def test_a_count_is_no_name(node: str, job: str) -> None:
    """A node or job that is called like a small number, or like a rank, does not eat the counts of a sentence."""
    said = event("E1", "It broke", "x logged this 12 times. It broke 12 of 12 pipes, rank 3 of 3.", nodes=[node])

    assert pattern_of(diagnosis(said, job=job)).evidence == "It broke 12 of 12 pipes, a rank of 3."


@pytest.mark.parametrize(
    ("headline", "category"),
    [
        ("Look at n: the accelerator reported a hardware error.", Category.HARDWARE),
        ("Look at n: a network link went down.", Category.HARDWARE),
        ("Not a fault: the node was taken away (preemption).", Category.PLATFORM),
        ("No node is special: a setting or argument is wrong.", Category.USER),
        ("Look at n: a process was killed (SIGKILL).", Category.UNKNOWN),
        ("Look at n: “the accelerator reported nothing”.", Category.UNKNOWN),
    ],
)
def test_the_category_is_told_only_where_little_doubt_is_left(headline: str, category: Category) -> None:
    """From the words that the core's own facts use, never from a quoted line; else a person picks it."""
    assert category_of(diagnosis(headline=headline)) is category


def test_without_a_scope_nobody_is_at_fault() -> None:
    """A diagnosis that does not know what is at fault does not know whose fault it is."""
    assert category_of(diagnosis(headline="A network link went down.", scope=Scope.UNKNOWN)) is Category.UNKNOWN
