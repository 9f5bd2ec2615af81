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


@pytest.mark.parametrize("name", NAMES)
def test_a_seed_is_a_pattern_named_after_its_file(name: str) -> None:
    """Whoever sees an id in Slack finds its file."""
    assert seed(name).id == name


@pytest.mark.parametrize("name", NAMES)
def test_a_seed_matches_the_lines_that_programs_print(name: str) -> None:
    """Each example of a fault is recognised by the seed's own signature."""
    examples = seed(name).examples.match

    assert examples
    assert [text for text in examples if not matches_lines(seed(name).signature, text)] == []


@pytest.mark.parametrize("name", NAMES)
def test_a_seed_does_not_match_its_near_misses(name: str) -> None:
    """Another code, a harmless counterpart or a line of advice is not taken for the fault."""
    examples = seed(name).examples.differ

    assert examples
    assert [text for text in examples if matches_lines(seed(name).signature, text)] == []


@pytest.mark.parametrize("name", NAMES)
def test_a_seed_names_public_sources(name: str) -> None:
    """Nobody has to believe us."""
    sources = seed(name).sources

    assert sources
    assert [source for source in sources if not source.startswith("https://")] == []


@pytest.mark.parametrize("name", NAMES)
def test_a_seed_says_why_what_to_do_and_how_to_make_sure(name: str) -> None:
    """Cause and fix are two things, short enough for a phone, and there is a way to confirm the fault."""
    pattern = seed(name)

    assert pattern.cause != pattern.fix
    assert 1 <= sentences(pattern.cause) <= MAX_SENTENCES
    assert 1 <= sentences(pattern.fix) <= MAX_SENTENCES
    assert sentences(pattern.confirmation) == 1


@pytest.mark.parametrize("name", NAMES)
def test_a_seed_asks_for_specific_events(name: str) -> None:
    """No event of a seed is a word that any line may hold."""
    literal = {event: len(event.replace(WILDCARD, "").strip()) for event in events_of(seed(name))}

    assert literal
    assert [event for event, length in literal.items() if length < MIN_LITERAL] == []


def test_titles_tell_seeds_apart() -> None:
    """No two seeds are called the same."""
    titles = [seed(name).title.lower() for name in NAMES]

    assert len(set(titles)) == len(titles)


@pytest.mark.parametrize("name", NAMES)
def test_a_fault_has_one_category(name: str) -> None:
    """What one seed gives as its example is not claimed by a seed of another category, but for reasons written down."""
    mine = seed(name)
    others = [planted(other) for other in NAMES if seed(other).category is not mine.category]

    claimed = {
        (name, match.entry.id) for text in mine.examples.match for match in find_matches(others, said_by(text), ())
    }

    assert claimed == {pair for pair in BOTH if pair[0] == name}


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
