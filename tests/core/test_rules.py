"""Rules: every pattern has a program that prints it, a source that says so, and a real line that it finds."""

import re
from collections import Counter
from functools import cache

import pytest

from core.facts import fact_of, in_frames, read_fact
from core.failure_kinds import Kind, StopWord
from core.logs.lines import Format, take_apart
from core.logs.refine import refine
from core.nodes.collectives import collectives_of, may_complete
from core.outcomes import Outcome, outcome_of
from core.parsing.identities import own_address, own_rank
from core.phrases import BadRule, read_rules, rule_files, words_of
from core.processes import process_of
from tests.support.jobs import job, lines, parse
from tests.support.phrases import Phrase, phrases_of

FACTS = [
    (phrase, read_fact(rule, file))
    for file in rule_files("facts")
    for rule in read_rules(file)["fact"]
    for phrase in phrases_of(rule)
]
OTHERS = {
    name: [phrase for rules in read_rules(f"{name}.toml").values() for rule in rules for phrase in phrases_of(rule)]
    for name in ("processes", "identities", "collectives", "outcomes", "checkpoints")
}
PROCESSES = OTHERS["processes"]
PHRASES = [phrase for phrase, _ in FACTS] + [phrase for phrases in OTHERS.values() for phrase in phrases]
# A file of a program and its version, a public thread (owner/repository#7), or the standard that fixes the words.
SOURCE = re.compile(
    r"\((?:[\w ]+ )?[\w.]+\)|#\d+|errno \d+|strsignal\(3\)|guide|reference|documentation|error codes|messages"
)
HOME_MADE = re.compile(
    r"\bnoded\b|jobctl|asked to terminate|did not stop within|still alive after|out of service|nothing heard"
    r"|presumed dead|sign of life|dispatcher|reports exit|task .* state|other tasks will be",
    re.IGNORECASE,
)


def masked(text: str) -> str:
    """The masked body of a line."""
    return refine(take_apart(text.encode(), Format()).body.decode())


@cache
def template_of(text: str) -> tuple[str, bool]:
    """The template of a line as a job has it, and whether it is a block: of several lines, that of what they are."""
    if "\n" not in text:
        return masked(text), False
    template = parse(job({"a.log": lines(text.strip("\n"))})).table.templates[-1]
    return template.sample, template.block


def test_a_pattern_is_found_in_its_own_line_which_means_what_its_fact_says() -> None:
    """After masking; and no fact above takes the line away."""
    templates = {phrase: template_of(phrase.line) for phrase, _ in FACTS}

    assert [
        phrase
        for phrase, (template, _) in templates.items()
        if not re.search(phrase.match, template, re.IGNORECASE | re.ASCII)
    ] == []
    assert [
        (phrase, template, found)
        for phrase, fact in FACTS
        for template, block in [templates[phrase]]
        if (found := fact_of(template, block=block)) != fact
    ] == []


def test_a_pattern_names_who_prints_it_and_where_that_is_known_from() -> None:
    """A program, and its source, a public thread, or the standard that fixes the words."""
    bare = [one for one in PHRASES if not (one.program and one.line.strip() and SOURCE.search(one.source))]

    assert bare == []


def test_no_pattern_stands_twice() -> None:
    """The second would never decide."""
    counts = Counter(phrase.match for phrase, _ in FACTS)

    assert [match for match, count in counts.items() if count > 1] == []


def test_no_pattern_and_no_line_comes_from_a_home_made_daemon() -> None:
    """What only our own test bench says proves nothing about a real job."""
    assert [phrase for phrase in PHRASES if HOME_MADE.search(f"{phrase.match}\n{phrase.line}")] == []


def test_one_of_its_words_stands_in_the_line_of_each_pattern() -> None:
    """By words a pattern is looked for: one without them in its line would never be found."""
    lost = [
        phrase.match
        for phrase, _ in FACTS
        if not any(word in template_of(phrase.line)[0].lower() for word in words_of([phrase.match]))
    ]

    assert lost == []


@pytest.mark.parametrize(
    ("change", "complaint"),
    [
        ({"kind": "accelarator"}, "'accelarator' is not a valid Kind"),
        ({"role": "rot"}, "'rot' is not a valid Role"),
        ({"blame": "everybody"}, "'everybody' is not a valid Blame"),
        ({"stage": "lunch"}, "'lunch' is not a valid Stage"),
        ({"ending": "begs"}, "'begs' is not a valid StopWord"),
        ({"strenght": 0.9}, "unknown key 'strenght'"),
    ],
)
def test_a_word_that_no_code_knows_is_refused(change: dict[str, object], complaint: str) -> None:
    """With the file and the word, not with a rule that silently means something else."""
    with pytest.raises(BadRule, match=re.escape(f"facts/x.toml: {complaint}")):
        read_fact({"role": "root", "said": []} | change, "facts/x.toml")


@pytest.mark.parametrize(
    ("line", "ending"),
    [
        ("W1121 api.py:753] Received 15 death signal, shutting down workers", StopWord.TOLD),
        ("W1121 api.py:753] Received Signals.SIGTERM death signal, shutting down workers", StopWord.TOLD),
        ("[rank: 0] Received SIGTERM: 15", StopWord.TOLD),
        ("[2025-02-21 12:05:41,771] [INFO] [launch.py:319:sigkill_handler] Killing subprocess 2113", StopWord.ASKS),
        ("W1121 api.py:1002] Sending process 7534 closing signal SIGTERM", StopWord.ASKS),
        ("Normal   Killing   4m31s  kubelet            Stopping container trainer", StopWord.ASKS),
        ("W1121 api.py:1028] Unable to shutdown process 7533 via 15, forcefully exiting via 9", StopWord.FORCES),
        (
            "Unable to shutdown process 7533 via Signals.SIGTERM, forcefully exiting via Signals.SIGKILL",
            StopWord.FORCES,
        ),
        ("failed (exitcode: -9) local_rank: 0 (pid: 7) of binary: python", None),
        ("srun: error: n042: task 3: Killed", None),
    ],
)
def test_orders_to_stop_are_one_concept(line: str, ending: StopWord | None) -> None:
    """Whatever the launcher: who was told, who asks, who had to use force; a report of an end is none of these."""
    fact = fact_of(template_of(line)[0], block=False)

    assert fact is not None
    assert fact.told_to_stop == (ending is StopWord.TOLD)
    assert fact.asks_to_stop == (ending in (StopWord.ASKS, StopWord.FORCES))
    assert fact.forced == (ending is StopWord.FORCES)


@pytest.mark.parametrize("phrase", PROCESSES, ids=[phrase.match for phrase in PROCESSES])
def test_a_pattern_reads_the_process_of_its_own_line(phrase: Phrase) -> None:
    """No other pattern reads it first, and what it reads is what the line says."""
    found = re.search(phrase.match, phrase.line)
    process = process_of(phrase.line)

    assert found is not None
    assert process is not None
    for name in ("pid", "local_rank", "rank"):
        if name in found.groupdict():
            assert str(getattr(process, name)) == found[name]
    assert process.ended == bool({"code", "signal"} & found.groupdict().keys())


@pytest.mark.parametrize(
    ("line", "code", "signal"),
    [
        ("failed (exitcode: 1) local_rank: 0 (pid: 7) of binary: python", 1, None),
        ("failed (exitcode: -9) local_rank: 0 (pid: 7) of binary: python", None, 9),
        ("srun: error: n1: task 3: Segmentation fault (core dumped)", None, 11),
        ("srun: error: n1: task 3: Out Of Memory", None, 9),
        ("srun: error: n1: task 3: Exited with exit code 137", None, 9),
        ("      Exit Code:    143", None, 15),
        ("process 1 terminated with signal SIGBUS", None, 7),
        (f"failed (exitcode: {'9' * 9_000}) local_rank: 0 (pid: 7) of binary: python", None, None),
    ],
)
def test_how_a_process_ended(line: str, code: int | None, signal: int | None) -> None:
    """By itself with a code, or by a signal, whatever the launcher's way of telling it."""
    process = process_of(line)

    assert process is not None
    assert (process.code, process.signal) == (code, signal)


def test_a_line_about_no_process() -> None:
    """Most lines are about none."""
    assert process_of("iteration 7/100 | lm loss: 5.0E+00 |") is None


SEMAPHORE = (  # multiprocessing.Semaphore() with a full /dev/shm
    '  File "/opt/train.py", line 3, in <module>',
    '  File "/usr/lib/python3.11/multiprocessing/context.py", line 83, in Semaphore',
    '  File "/usr/lib/python3.11/multiprocessing/synchronize.py", line 57, in __init__',
    "    sl = self._semlock = _multiprocessing.SemLock(",
)


@pytest.mark.parametrize(
    ("error", "frames", "kind"),
    [
        ("OSError: [Errno 28] No space left on device", SEMAPHORE, Kind.SYSTEM_LIMIT),
        ("OSError: [Errno 28] No space left on device", SEMAPHORE[:1], Kind.DISK_FULL),
        ("RuntimeError: CUDA error: out of memory", SEMAPHORE, Kind.DEVICE_MEMORY),
    ],
)
def test_the_frames_tell_what_the_words_of_an_error_do_not(error: str, frames: tuple[str, ...], kind: Kind) -> None:
    """A semaphore is a file in /dev/shm: no disk is full."""
    fact = fact_of(error, block=False)

    assert fact is not None
    assert in_frames(fact, frames).kind == kind


@pytest.mark.parametrize("phrase", OTHERS["identities"], ids=[phrase.match for phrase in OTHERS["identities"]])
def test_a_speaker_tells_who_it_is(phrase: Phrase) -> None:
    """Its address or its rank, as its line has it."""
    found = re.search(phrase.match, phrase.line, re.IGNORECASE)

    assert found is not None
    assert (own_address(phrase.line), own_rank(phrase.line)) == (
        found.groupdict().get("address"),
        int(found["rank"]) if "rank" in found.groupdict() else None,
    )


@pytest.mark.parametrize(
    "line", ["Connection closed by peer [10.0.0.7]:4321", f"Process rank: {'9' * 9_000}, device: x"]
)
def test_who_names_another_or_nonsense_tells_nothing_of_itself(line: str) -> None:
    """An address or a number alone is no identity."""
    assert (own_address(line), own_rank(line)) == (None, None)


def test_collectives_of_a_line() -> None:
    """By number; templates tell beforehand which lines are worth reading."""
    (collective,) = OTHERS["collectives"]

    assert collectives_of(collective.line) == ("0", 17, 16)
    assert may_complete(template_of(collective.line)[0])
    assert not may_complete("iteration <NUM>")


def test_an_outcome_is_told_by_the_lines_of_its_rule() -> None:
    """And by no rule above it."""
    told = [
        (Outcome(rule["says"]), outcome_of(masked(phrase.line)))
        for rule in read_rules("outcomes.toml")["outcome"]
        for phrase in phrases_of(rule)
    ]

    assert [pair for pair in told if pair[0] is not pair[1]] == []


@pytest.mark.parametrize(
    ("line", "rank"),
    [
        ("bash: line 1: 30629 Killed                  RANK=1 WORLD_SIZE=3 python train.py", 1),
        ("run.sh: line 9:  4727 Killed                  python train.py --rank 2", 2),
        ("run.sh: line 9:  4727 Killed                  NODE_RANK=3 python train.py --node_rank=3", None),
    ],
)
def test_the_command_of_a_process_that_ended_tells_its_rank(line: str, rank: int | None) -> None:
    """bash prints it; a node's rank is none of a process."""
    process = process_of(line)

    assert process is not None
    assert (process.rank, process.signal) == (rank, 9)
