"""The seed patterns: public facts about faults, which must recognise what programs print and nothing else."""

import re
from functools import cache

import pytest

from core.occurrences import Occurrence, find_occurrences, messages_of
from core.parsed import parse_job
from core.parsing.templates import WILDCARD
from faultlib.pattern import Entry, Origin, Pattern, Signature, Status
from faultlib.pattern_text import read_pattern
from faultlib.signature import find_matches, matches_lines
from sources.folder import job_at
from tests.support.places import ROOT

FILES = sorted((ROOT / "faultlib" / "seeds").glob("*.toml"))
NAMES = [path.stem for path in FILES]
MIN_SEEDS = 70
MIN_LITERAL = 10  # characters of an event that are no wildcard: "ErrImagePull" is a kind of line, "error" is every line
MAX_SENTENCES = 3  # of a cause or a fix: an SRE reads it on a phone

# A match example that a seed of another category matches as well: {(seed, other): why both are right}.
BOTH: dict[tuple[str, str], str] = {}

# Seeds whose lines are printed by healthy ranks: they stand only where nothing more direct was said.
VICTIMS = (
    "gloo-peer-closed",
    "gloo-peer-timeout",
    "hccl-notify-wait-timeout",
    "hccl-socket-timeout",
    "nccl-connection-refused",
    "nccl-remote-exited",
    "nccl-watchdog-timeout",
    "store-clients-missing",
)
DIRECT = (
    "Nov 21 04:11:07 gpu-017 kernel: NVRM: Xid (PCI:0000:3b:00): 79, pid=2113, GPU has fallen off the bus.",
    "Nov 21 04:07:24 cn-112 kernel: Out of memory: Killed process 7712 (python) total-vm:912312kB",
    "[E] torch/distributed/elastic/multiprocessing/api.py:1002] failed (exitcode: -9) local_rank: 1 (pid: 7712)",
    "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB.",
)

# What the failed examples are given at once.
RECOGNISED = {
    "f02": {"gloo-peer-timeout"},  # nobody says who froze: the symptom is all that the lines prove
    "f07": {"slurm-node-fail"},
    "f15": {"nan-local"},
    "f42": {"rank-sigkill"},
}


@cache
def seed(name: str) -> Pattern:
    path = ROOT / "faultlib" / "seeds" / f"{name}.toml"
    return read_pattern(path.read_text(encoding="utf-8"), path.name)


@cache
def said_in(job_id: str) -> tuple[tuple[Occurrence, ...], tuple[str, ...]]:
    parsed = parse_job(job_at(str(ROOT / "examples" / job_id)), (), cache=None, workers=1, progress=None)
    return find_occurrences(parsed), parsed.nodes


@cache
def said_by(example: str) -> tuple[Occurrence, ...]:
    return tuple(Occurrence(str(number), (text,), (), 1) for number, text in enumerate(messages_of(example)))


@cache
def planted(name: str) -> Entry:
    return approved(seed(name))


def approved(pattern: Pattern) -> Entry:
    return Entry(pattern=pattern, version=1, revision=1, status=Status.APPROVED, origin=Origin.SEED)


def events_of(pattern: Pattern) -> list[str]:
    return [event for clause in pattern.signature.must for event in clause.events]


def sentences(text: str) -> int:
    return len(re.findall(r"[.!?](?=\s+[A-Z`]|$)", text))


def test_there_are_enough_seeds() -> None:
    """A new team starts with a library that knows the usual faults."""
    assert len(FILES) >= MIN_SEEDS


def test_a_seed_is_a_pattern_named_after_its_file() -> None:
    """Whoever sees an id in Slack finds its file."""
    assert [name for name in NAMES if seed(name).id != name] == []


def test_a_seed_matches_the_lines_that_programs_print() -> None:
    """Each example of a fault is recognised by the seed's own signature."""
    examples = {name: seed(name).examples.match for name in NAMES}

    assert all(examples.values())
    assert [
        (name, text)
        for name, texts in examples.items()
        for text in texts
        if not matches_lines(seed(name).signature, text)
    ] == []


def test_a_seed_does_not_match_its_near_misses() -> None:
    """Another code, a harmless counterpart or a line of advice is not taken for the fault."""
    examples = {name: seed(name).examples.differ for name in NAMES}

    assert all(examples.values())
    assert [
        (name, text) for name, texts in examples.items() for text in texts if matches_lines(seed(name).signature, text)
    ] == []


def test_a_seed_names_public_sources() -> None:
    """Nobody has to believe us."""
    assert all(seed(name).sources for name in NAMES)
    assert [
        (name, source) for name in NAMES for source in seed(name).sources if not source.startswith("https://")
    ] == []


def test_a_seed_says_why_what_to_do_and_how_to_make_sure() -> None:
    """Cause and fix are two things, short enough for a phone, and there is a way to confirm the fault."""
    told = {name: (seed(name).cause, seed(name).fix) for name in NAMES}
    short = range(1, MAX_SENTENCES + 1)

    assert [name for name, (cause, fix) in told.items() if cause == fix] == []
    assert [name for name, texts in told.items() if not all(sentences(text) in short for text in texts)] == []
    assert [name for name in NAMES if sentences(seed(name).confirmation) != 1] == []


def test_a_seed_asks_for_specific_events() -> None:
    """No event of a seed is a word that any line may hold."""
    events = {name: events_of(seed(name)) for name in NAMES}

    assert all(events.values())
    assert [
        (name, event)
        for name, asked in events.items()
        for event in asked
        if len(event.replace(WILDCARD, "").strip()) < MIN_LITERAL
    ] == []


def test_titles_tell_seeds_apart() -> None:
    """No two seeds are called the same."""
    titles = [seed(name).title.lower() for name in NAMES]

    assert len(set(titles)) == len(titles)


def test_a_fault_has_one_category() -> None:
    """What one seed gives as its example is not claimed by a seed of another category, but for reasons written down."""
    claimed = {
        (name, match.entry.id)
        for name in NAMES
        for others in [[planted(other) for other in NAMES if seed(other).category is not seed(name).category]]
        for text in seed(name).examples.match
        for match in find_matches(others, said_by(text), ())
    }

    assert claimed == BOTH.keys()


@pytest.mark.parametrize("name", VICTIMS)
@pytest.mark.parametrize("direct", DIRECT)
def test_a_symptom_gives_way_to_a_direct_trace(name: str, direct: str) -> None:
    """What a healthy rank prints is no answer where another line says what broke."""
    symptom = seed(name).examples.match[0]

    found = {match.entry.id for match in find_matches(map(planted, NAMES), said_by(f"{symptom}\n{direct}"), ())}

    assert found
    assert not found & set(VICTIMS)


@pytest.mark.parametrize("job_id", ["s01", "s02", "s03", "s15", "s22"])
def test_no_seed_is_seen_in_a_job_that_succeeded(job_id: str) -> None:
    """No line of the successful examples is an event of a seed, even without what its ``must_not`` rules out."""
    occurrences, nodes = said_in(job_id)
    bare = [
        approved(pattern.model_copy(update={"signature": Signature(must=(clause,))}))
        for pattern in map(seed, NAMES)
        for clause in pattern.signature.must
    ]

    found = [match.entry.id for match in find_matches(bare, occurrences, nodes)]

    assert occurrences
    assert found == []


@pytest.mark.parametrize("job_id", RECOGNISED)
def test_a_new_team_gets_an_answer_for_a_failed_job(job_id: str) -> None:
    """The failed examples are recognised, and as what they are only."""
    occurrences, nodes = said_in(job_id)

    found = {match.entry.id for match in find_matches(map(planted, NAMES), occurrences, nodes)}

    assert found == RECOGNISED[job_id]
