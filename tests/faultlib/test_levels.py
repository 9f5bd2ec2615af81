"""How far a job and a pattern agree: the core decides, be it words of a trace or the way in which the job went."""

from dataclasses import replace

import pytest

from core.model import Action, Cost, Diagnosis, NextStep, Role, Scope, Stage
from faultlib.course import Activity, Course, SlowPart, activity_of, course_of, slow_part_of
from faultlib.draft import pattern_of
from faultlib.findings import Finding, finding_of
from faultlib.levels import Agreement, Backing, Level, Score, agreement, backing, shipped_score
from faultlib.lexical import Lexicon
from faultlib.likely_patterns import Fit, likely, shares
from faultlib.pattern import Aspect, Part, Pattern, Status, Trait
from faultlib.traits import traits_of
from tests.support.library_diagnoses import diagnosis, event
from tests.support.library_entries import entry

FULL = "OSError: [Errno 28] No space left on device: '/data/a.pt'"
SHORT_WRITE = "OSError: 20000 requested and 8160 written"
CANCELLED = "slurmstepd: error: *** JOB 7 ON n CANCELLED AT 9 ***"
CLOSED = "RuntimeError: [gloo/transport/tcp/pair.cc:<NUM>] Connection closed by peer [<IP>]:<NUM>"
WAITED = "RuntimeError: [gloo/transport/tcp/unbound_buffer.cc:<NUM>] Timed out waiting <NUM>ms for recv operation"
KILLED = "failed (exitcode: -9) local_rank: 1 (pid: <NUM>) of binary: python"


def job(headline: str, *lines: str, says: str = "", stage: Stage = Stage.TRAINING, **more: object) -> Diagnosis:
    """A diagnosis with these direct traces, of which the first leads."""
    traces = [
        replace(event(f"E{place}", line, "It was logged once."), says=says) for place, line in enumerate(lines, start=1)
    ]
    seen = diagnosis(*traces, headline=headline, stage=stage, **more)  # type: ignore[arg-type]
    return replace(seen, next=NextStep(Action.FIX, "It says so.", Cost(None, "Nothing."), cause=says))


def level(one: Diagnosis, other: Diagnosis, *, literal: bool = False) -> Level | None:
    """How far a job agrees with the pattern that another one taught."""
    how = agreement(pattern_of(one), pattern_of(other), Lexicon(()), literal=literal)
    return how.level if how else None


SAVING = job("Look at a: a file system was full.", FULL, says="a file system was full", stage=Stage.CHECKPOINT_SAVING)
BROKEN = "the accelerator reported a hardware error"
SLOW_DATA = "it was slow: all ranks took longer to read their data"
SLOW_WAIT = "it was slow: all ranks waited longer for each other"


def test_the_core_is_what_broke_in_whatever_words() -> None:
    """The same words are nearer than other words for the same, and those of one node nearer than those of all."""
    other_path = job(
        "x", FULL.replace("data/a.pt", "ckpt/b.pt"), says="a file system was full", stage=Stage.CHECKPOINT_SAVING
    )
    copied = job("x", "write: no space left on device", says="a file system was full", stage=Stage.CHECKPOINT_SAVING)
    other = job("x", SHORT_WRITE, says="a file system was full", stage=Stage.CHECKPOINT_SAVING)
    missing = job("x", "FileNotFoundError: [Errno 2] No such file or directory: 'b'", says="a file is missing")

    assert level(other_path, SAVING) is Level.MESSAGE
    assert level(copied, SAVING) is Level.WORDS
    assert level(other, SAVING) is Level.KIND  # a full file system is known in 8 wordings
    assert level(replace(copied, stage=Stage.INITIALIZATION), SAVING) is Level.WORDS
    assert level(replace(copied, scope=Scope.JOB), SAVING) is Level.WORDS_ELSEWHERE
    assert level(replace(other, scope=Scope.JOB), SAVING) is Level.BROAD
    assert level(missing, SAVING) is None


def test_what_only_follows_is_no_core() -> None:
    """Two jobs whose peers lost a connection share nothing when one of them says what broke."""
    peer = replace(event("E2", "Connection reset by peer", "Others said so."), role=Role.PROPAGATED, says="lost a peer")
    silent = diagnosis(peer, headline="Look at n: it went silent.", suspects=(("n", "n ended with signal 9."),))

    assert level(silent, replace(SAVING, events=(*SAVING.events, peer))) is None


@pytest.mark.parametrize(
    ("seen", "finding"),
    [
        (SAVING, Finding.SAID),
        (job("Look at a: boom.", "ValueError: could not convert string to float: 'N/A'"), Finding.RAISED),
        (job("Look at a: a process was killed (SIGKILL).", KILLED), Finding.DIED),
        (job("The job hung during training; no node stands out."), Finding.HUNG),
        (job("The job was slow from iteration 9 on.", says=SLOW_DATA), Finding.SLOW),
        (job("Not a fault: it was cancelled.", CANCELLED), Finding.STOPPED),
        (job("Nothing conclusive."), Finding.UNCLEAR),
    ],
)
def test_a_diagnosis_leads_with_one_finding(seen: Diagnosis, finding: Finding) -> None:
    """What a trace says comes before how the job went, and that before who ended it."""
    assert finding_of(seen) is finding
    assert traits_of(seen)[0].text == finding.value


def test_slow_jobs_are_told_apart_by_the_part_that_grew() -> None:
    """Storage and network make a job slow in other parts of a step; where none is known they are only both slow."""
    data, wait = (job("The job was slow from iteration 9 on.", says=says) for says in (SLOW_DATA, SLOW_WAIT))
    unknown = job("The job was slow from iteration 9 on.", says="it was slow")

    assert level(data, data) is Level.PART
    assert level(data, wait) is None
    assert level(unknown, unknown) is None


def test_a_time_limit_is_the_same_stop_whatever_went_before() -> None:
    """A named limit has one cause; that somebody told a job to end is no core of any fault."""
    line = "slurmstepd: error: *** JOB 7 ON n CANCELLED AT 9 DUE TO TIME LIMIT ***"
    says = "the scheduler stopped the job at its time limit"
    limit = job("Not a fault: it ran into its time limit.", line, says=says, scope=Scope.NONE)
    cancelled = job(
        "Not a fault: it was cancelled.", CANCELLED, says="the job was cancelled from outside", scope=Scope.NONE
    )

    assert level(limit, limit) is Level.STOP
    assert level(replace(limit, scope=Scope.JOB), limit) is Level.STOP
    assert level(cancelled, limit) is None
    assert level(cancelled, cancelled) is None


def test_a_part_without_a_name_is_no_part() -> None:
    """Of two jobs of which some part of a step grew nobody knows whether it was the same."""
    unnamed = job(
        "The job was slow from iteration 9 on.", says="it was slow: a part of the work of all ranks took longer"
    )

    assert level(unnamed, unnamed) is None


def test_files_that_are_loaded_are_not_those_of_training() -> None:
    """A damaged checkpoint is no damaged shard of data; a broken machine fails at any stage."""
    line, says = (
        "your checkpoint file is corrupted. It may have been transferred incorrectly",
        "a file could not be read back",
    )
    loading = job("Look at a: a file.", line, says=says, stage=Stage.CHECKPOINT_LOADING)
    broken = job("Look at a: x.", "NVRM: Xid (PCI:0000:65:00): 79, GPU has fallen off the bus.", says=BROKEN)

    assert level(loading, loading) is Level.MESSAGE
    assert level(replace(loading, stage=Stage.TRAINING), loading) is None
    assert level(replace(broken, stage=Stage.MODEL_LOADING), broken) is not None


def test_an_event_word_by_word_needs_no_trait() -> None:
    """A pattern of before traits were kept is found by its events."""
    bare = pattern_of(SAVING)
    bare = bare.model_copy(update={"signature": bare.signature.model_copy(update={"traits": ()})})

    how = agreement(pattern_of(SAVING), bare, Lexicon(()), literal=True)
    assert how is not None
    assert how.level is Level.ERROR


def test_patterns_that_agree_equally_far_share_what_is_left() -> None:
    """The first has what such answers were worth, the others together no more than the rest of one."""
    names, score = ("a", "b", "c"), shipped_score()
    agreed = [(Agreement(Level.WORDS, 0.5 - place / 10), entry(name)) for place, name in enumerate(names)]

    told = [(pattern.id, share) for pattern, _, share in shares(agreed, score)]
    assert [name for name, _ in told] == list(names)
    assert told[0][1] == score.likelihood(Level.WORDS, Backing.BESIDE)
    assert sum(share for _, share in told) <= 1
    [(_, _, alone)] = shares(agreed[:1], score)
    assert alone == score.likelihood(Level.WORDS, Backing.ONCE) > told[0][1]


def test_what_was_confirmed_most_often_comes_first() -> None:
    """Of two patterns that agree equally far the one with more such jobs, whichever reads more alike."""
    rare, usual = entry("rare"), entry("usual")
    agreed = [
        (Agreement(Level.FROZEN, likeness), pattern) for likeness, pattern in ((0.9, rare), (0.4, usual), (0.3, usual))
    ]

    assert [(pattern.id, how.likeness) for pattern, how, _ in shares(agreed, Score())] == [
        ("usual", 0.4),
        ("rare", 0.9),
    ]
    assert backing(2, 1) is Backing.MOST
    assert backing(1, 1) is Backing.BESIDE
    assert (backing(1, 0), backing(2, 0)) == (Backing.ONCE, Backing.OFTEN)


def test_a_job_that_joined_a_pattern_teaches_how_else_it_shows() -> None:
    """One fault shows in two ways; a third job is told the pattern for the way of the job that joined it."""
    taught = entry("frozen")
    taught = taught.model_copy(update={"pattern": pattern_of(SAVING).model_copy(update={"id": "frozen"})})
    seen = job("The job was slow from iteration 9 on; no node stands out.", says=SLOW_DATA)
    joined = taught.model_copy(
        update={
            "pattern": pattern_of(seen).model_copy(update={"id": "second"}),
            "status": Status.SUPERSEDED,
            "superseded_by": "frozen",
        }
    )

    assert likely(seen, [taught], (), {}) == ()
    assert [(one.entry.id, one.level) for one in likely(seen, [taught, joined], (), {})] == [("frozen", Level.PART)]
    assert likely(seen, [joined], (), {}) == ()


@pytest.mark.parametrize(
    ("cause", "reason", "after", "course"),
    [
        (
            "it went silent while the others waited for it",
            "n ended with signal 9; 3 others with an error.",
            "",
            Course.FROZEN,
        ),
        (
            "it went silent while the others waited for it",
            "3 other nodes lost the connection to n, which names none itself. n ended with signal 9; 3 others with 6.",
            "",
            Course.KILLED,
        ),
        (
            "a process there is stuck",
            "Rank 1 on n never came to “WARN comm: collective pending for 240s (op=allreduce)”; the others did.",
            "",
            Course.SILENT,
        ),
        ("a process there is stuck", "Rank 1 on n never came to “gradients ready”; the others did.", "", Course.STUCK),
        (
            "it went silent while the others waited for it",
            "n never complained; 3 of 4 nodes did.",
            CLOSED,
            Course.KILLED,
        ),
        (
            "it went silent while the others waited for it",
            "n ended with signal 9; 3 others with an error.",
            WAITED,
            Course.FROZEN,
        ),
        (
            "a process there is stuck",
            "Rank 1 on n did not answer the order to stop; 3 of 4 ranks did.",
            "",
            Course.FROZEN,
        ),
        ("a process there is stuck", "Rank 1 on n never came to “Stack (most recent call first):”.", "", Course.FROZEN),
        ("x", "Rank 1 on n stands alone in load_part (train.py:14); 3 of 4 processes wait.", "", Course.STUCK),
        (
            "a process there never came to the collective that the others waited in",
            "Rank 1 on n began no collective after 848; 31 others waited in the next.",
            "",
            Course.STUCK,
        ),
        ("it never got past “133 load”", "Rank 1 on n said “133 load”; 3 of 4 ranks went on.", "", Course.STUCK),
        ("x", "Rank 1 on n goes to 10.1.1.9:29, 2 of 3 ranks to 10.1.1.1:29.", "", Course.ASTRAY),
        ("x", "n ended with exit code 0; 2 others with an error.", CLOSED, Course.LEFT),
        ("the others waited for it again and again", "It took rank 3 on n 31 s each time.", "", Course.AGAIN),
        ("its launcher hung, or could not reach the others", "The launcher of n never reported.", "", Course.CUT_OFF),
    ],
)
def test_what_became_of_the_one_that_the_others_waited_for(cause: str, reason: str, after: str, course: Course) -> None:
    """A process that is gone closes its connections; one that is frozen lets its peers run into their timeouts."""
    peer = [replace(event("E1", after, "Others said so."), role=Role.PROPAGATED)] if after else []
    seen = diagnosis(*peer, headline="Look at n.", suspects=(("n", reason),))
    seen = replace(seen, nodes=(replace(seen.nodes[0], reasons=(reason,)),))
    seen = replace(seen, next=NextStep(Action.FIX, "It says so.", Cost(None, "Nothing."), cause=cause))

    assert course_of(seen, Finding.HUNG) is course
    assert course_of(seen, Finding.SAID) is None


@pytest.mark.parametrize(
    ("reason", "activity"),
    [
        ("Rank 2 on n stands alone in __getitem__ (/srv/train.py:16); 1 of 2 processes wait.", Activity.READ),
        ("Rank 2 on n stands alone in rewind (/srv/data.py:16); 1 of 2 processes wait.", None),
        ("Rank 3 on n never came to “[Rank 2] Saved /srv/ckpt/global_step36”, or the like.", Activity.SAVE),
        ("The last word of n was “opening block 3”; 3 of 4 ranks went on to say something else.", Activity.READ),
        ("The last word of n was “waiting for index.lock”; 3 of 4 ranks went on.", Activity.LOCK),
        ("n never complained; 3 of 4 nodes did.", None),
    ],
)
def test_what_the_one_that_stands_was_doing(reason: str, activity: Activity | None) -> None:
    """By its function, not by the name of its file; by its last word; by what only the others came to."""
    assert activity_of([reason]) is activity


def test_one_whose_work_took_longer_while_the_others_waited_slowed_them_down() -> None:
    """Whatever the headline says of the job: how much longer they wait is how much longer it works."""
    reason, cause = (
        "n: its gpu_ms is 1,207, that of all others 851.",
        "its own work took longer, and the others waited for it",
    )
    seen = diagnosis(headline=f"Look at n: {cause}.", suspects=(("n", reason),))
    seen = replace(seen, nodes=(replace(seen.nodes[0], reasons=(reason,)),))
    seen = replace(seen, next=NextStep(Action.FIX, "It says so.", Cost(None, "Nothing."), cause=cause))

    assert course_of(seen, Finding.HUNG) is Course.SLOWED
    assert slow_part_of(seen) is SlowPart.OWN


@pytest.mark.parametrize(
    ("reason", "cause", "part"),
    [
        ("Ranks 4-7 on n: its sample_us is longer (659; on the others 31).", "its own work took longer", SlowPart.DATA),
        ("n: its bwd went from 936 to 1,937, and no other.", "its bwd went from 936 to 1,937", SlowPart.OWN),
        ("On n power.draw [W] of GPU 0 is 219 where that of all others is 341.", "it is 219", SlowPart.OWN),
        ("Rank 2 on n: its rtt went from 0.06 to 93.5, and no other.", "its rtt went up", SlowPart.NETWORK),
        ("On n mlx5_2_out_of_seq rose by 14,236, and hardly on any other.", "it rose by 14,236", SlowPart.NETWORK),
        ("n: its ckpt_s rose (1 before iteration 9, 8 after).", "its own work took longer", SlowPart.SAVE),
        ("n: its samples/s went from 90 to 40, and no other.", "it slowed the others down", None),
        ("n: its recv-fwd did not rise as much as that of the others.", "it slowed the others down", None),
        ("n: its rose_window is 4, that of the others 2.", "its own work took longer", SlowPart.OWN),
    ],
)
def test_what_took_it_longer_is_what_the_number_measures(reason: str, cause: str, part: SlowPart | None) -> None:
    """The sentence calls own work whatever it does not know; a rate and what the others waited in tell no part."""
    seen = diagnosis(headline="Look at n.", suspects=(("n", reason),))
    seen = replace(seen, nodes=(replace(seen.nodes[0], reasons=(reason,)),))
    seen = replace(seen, next=NextStep(Action.FIX, "It says so.", Cost(None, "Nothing."), cause=cause))

    assert slow_part_of(seen) is part


def test_where_no_sign_tells_what_it_was_doing_the_stage_does() -> None:
    """A process that never came to the next collective while a checkpoint was saved saves it; training tells none."""
    silent = ["Rank 13 began no collective after 848; 31 others waited in the next."]
    assert activity_of(silent, Stage.CHECKPOINT_SAVING) is Activity.SAVE
    assert activity_of(silent, Stage.TRAINING) is None


def test_another_number_is_no_longer_the_same_whatever_fact_knows_both() -> None:
    """A data loader's worker that the kernel killed is not one that got a bus error."""
    killed, bus = (
        job(
            "x",
            f"RuntimeError: DataLoader worker (pid <NUM>) is killed by signal: {name}. ",
            says="a data loader worker was killed",
        )
        for name in ("Killed", "Bus error")
    )

    assert level(killed, killed) is Level.MESSAGE
    assert level(killed, bus) is Level.WORDS_ELSEWHERE


def test_one_public_fact_is_the_same_fault_in_one_node_and_in_all() -> None:
    """A seed knows both: who may not read a path is the same fault on one node and where no node is special."""
    denied = "PermissionError: [Errno 13] Permission denied: '/srv/data/state.json'"
    one = job("x", denied, says="a path may not be written or read", scope=Scope.NODE)
    every = job(
        "x",
        denied.replace("srv", "opt"),
        says="a path may not be written or read",
        scope=Scope.JOB,
        stage=Stage.CHECKPOINT_SAVING,
    )

    facts = [trait.text for trait in traits_of(one) if trait.aspect is Aspect.FACT]
    assert facts == ["permission-denied"]
    assert level(one, every) is level(every, one) is Level.WORDS_ELSEWHERE
    assert level(every, every) is Level.MESSAGE


def test_a_shared_fact_does_not_hide_what_tells_more() -> None:
    """Two jobs that one seed knows agree as far as their cores do; the fact alone counts where these tell less."""
    known, other = pattern_of(SAVING), pattern_of(job("x", SHORT_WRITE, says="a file system was full"))
    fact = Trait(aspect=Aspect.FACT, text="disk-full", part=Part.CAUSE)

    def agreed(one: Pattern, *, kept: tuple[Aspect, ...] = tuple(Aspect)) -> Level | None:
        both = []
        for pattern in (one, known):
            traits = tuple(trait for trait in pattern.signature.traits if trait.aspect in kept)
            signature = pattern.signature.model_copy(update={"traits": (*traits, fact)})
            both.append(pattern.model_copy(update={"signature": signature}))
        how = agreement(both[0], both[1], Lexicon(()), literal=False)
        return how.level if how else None

    assert agreed(known) is Level.MESSAGE
    assert agreed(other) is Level.KIND
    assert agreed(other, kept=()) is Level.FACT


def test_an_error_that_says_only_where_does_not_hide_what_it_passes_on() -> None:
    """Each rank's part of a checkpoint fails for a reason of its own, which leads in another program."""
    passed_on = job(
        "x",
        "torch.distributed.checkpoint.api.CheckpointException: CheckpointException ranks:dict_keys([3])",
        FULL,
        says="its part of the checkpoint could not be written or read",
        stage=Stage.CHECKPOINT_SAVING,
    )
    where, full = passed_on.events
    passed_on = replace(passed_on, events=(where, replace(full, says="a file system was full")))
    alone = replace(passed_on, events=(where,))

    assert level(passed_on, SAVING) is level(SAVING, passed_on) is Level.MESSAGE
    assert level(alone, SAVING) is None
    assert level(alone, alone) is not None


def test_a_slow_job_on_which_nobody_stands_out_is_found_again() -> None:
    """It has neither an event nor a suspect: what grew is all that there is."""
    seen = job("The job was slow from iteration 9 on; no node stands out.", says=SLOW_DATA)
    taught = entry("rebuild")
    taught = taught.model_copy(update={"pattern": pattern_of(seen).model_copy(update={"id": "rebuild"})})

    assert [(one.entry.id, one.fit, one.level) for one in likely(seen, [taught], (), {})] == [
        ("rebuild", Fit.SEEN, Level.PART)
    ]
    assert likely(job("Nothing conclusive."), [taught], (), {}) == ()


def slow(cause: str, *lines: str, reason: str = "It is later than all others.") -> Diagnosis:
    """A job that one node slowed down, with what it logged."""
    seen = job(f"Look at n: {cause}; the job was slow from iteration 9 on.", *lines, says=cause)
    suspect = diagnosis(suspects=(("n", reason),)).nodes[0]
    return replace(seen, nodes=(replace(suspect, reasons=(reason,)),))


OWN = slow("it slowed the others down: its own work took longer")
READS = slow("it slowed the others down: it took longer to read its data")
NAMED = slow("reports name it as the slowest ever since")
ALONE = slow("its graph_exec_s went from 1.9 to 5.17, and no other\u2019s")
UNKNOWN = slow("it slowed the others down")
HOT = "kernel: mce: CPU3: Core temperature above threshold, cpu clock throttled (total events = 7)"
TIMED_OUT = "nfs: server stock not responding, still trying"
SENDS = slow("it took longer to send or to receive and slowed the others down")
NARROW = "pci 0000:17: 63.0 Gb/s available PCIe bandwidth, limited by 8.0 GT/s PCIe x8 link"


@pytest.mark.parametrize(
    ("one", "other", "expected"),
    [
        (OWN, OWN, Level.OWN_WORK),
        (OWN, NAMED, Level.SLOWED),
        (OWN, ALONE, Level.SLOWED),
        (UNKNOWN, OWN, Level.SLOWED),
        (UNKNOWN, READS, None),
        (UNKNOWN, UNKNOWN, Level.SLOWED),
        (READS, READS, Level.SLOWED),
        (READS, OWN, None),
        (SENDS, SENDS, Level.SLOWED),
        (SENDS, UNKNOWN, None),
        (SENDS, OWN, None),
        (slow("it slowed the others down", HOT, reason="n complained."), OWN, Level.OWN_WORK),
        (slow("it slowed the others down", TIMED_OUT, reason="n complained."), OWN, None),
        (slow(OWN.next.cause if OWN.next else "", reason="rx_crc_errors_phy on n rose to 190,233."), OWN, None),
        (OWN, job("The job was slow from iteration 9 on.", says=SLOW_DATA), None),
    ],
)
def test_one_slow_process_is_the_same_fault_whoever_measured_it(
    one: Diagnosis, other: Diagnosis, expected: Level | None
) -> None:
    """What took it longer counts, and whether its network tells it apart; not whose clock or report said so."""
    assert level(one, other) is level(other, one) is expected


def test_a_slow_process_is_found_beside_any_trace_of_the_reason() -> None:
    """A hot processor and a card on a slow link are two reasons for one slow node; who ended the job is none."""
    cause = "it slowed the others down: its own work took longer"
    hot, narrow = (
        replace(seen, events=tuple(replace(trace, says=says) for trace in seen.events))
        for seen, says in (
            (slow(cause, HOT), "a processor was too hot and ran slower"),
            (slow(cause, NARROW), "a card runs on a slower link of the bus than it could"),
        )
    )
    ended = replace(OWN, events=(event("E1", CANCELLED, "It was logged once."),))

    assert level(hot, narrow) is Level.OWN_WORK
    assert level(ended, OWN) is Level.OWN_WORK


def stood(*reasons: str) -> Diagnosis:
    """A hung job whose suspect is told by these signs."""
    suspect = diagnosis(suspects=(("n", reasons[0]),)).nodes[0]
    return replace(job("Look at n; the job hung."), nodes=(replace(suspect, reasons=reasons),))


def test_a_silent_process_may_be_a_frozen_one() -> None:
    """Nobody told the silent one to end, so it did not show; and it may freeze in whatever it does."""
    frozen = stood("Rank 1 on n had to be killed; 3 of 4 ranks stopped when told to.")
    silent = stood("Rank 1 on n had no end reported; 3 of 4 ranks did.")
    reading = stood(
        "Rank 1 on n had to be killed; 3 of 4 ranks stopped when told to.", "The last word of n was “opening shard 3”."
    )

    assert level(frozen, frozen) is Level.FROZEN
    assert level(frozen, silent) is level(silent, frozen) is Level.SILENT
    assert level(reading, frozen) is Level.FROZEN
    assert level(frozen, replace(frozen, stage=Stage.INITIALIZATION)) is None


def test_a_process_that_died_is_not_one_that_stood_still() -> None:
    """A launcher that could not end it says of both that it had to be killed."""
    frozen = stood("Rank 1 on n had to be killed; 3 of 4 ranks stopped when told to.")
    died = replace(frozen, headline="Look at n.", events=(event("E1", KILLED, "It was logged once."),))

    assert level(died, died) is Level.FROZEN
    assert level(died, frozen) is None


def test_a_process_that_stands_in_its_own_work_stands_in_that_work() -> None:
    """A save that never ends is another fault than a read that never ends."""
    saves, reads = (
        stood(f"Rank 1 on n stands alone in {name} (train.py:14); 3 of 4 processes wait.")
        for name in ("save_state", "read_part")
    )

    assert level(saves, saves) is Level.ACTIVITY
    assert level(saves, reads) is None
    assert level(reads, replace(reads, stage=Stage.MODEL_LOADING)) is None


def test_lack_of_host_memory_is_one_fault_whoever_ran_out_of_it() -> None:
    """A process at its own limit and a machine without memory are told by other meanings."""
    limit = job(
        "x",
        "kernel: Memory cgroup out of memory: Killed process 9 (python) total-vm:88kB",
        says="the kernel killed a process at the memory limit of its cgroup",
    )
    machine = job(
        "x",
        "kernel: Out of memory: Killed process 9 (python) total-vm:88kB",
        says="the kernel killed a process for lack of host memory",
    )

    assert level(limit, machine) is Level.BROKEN
