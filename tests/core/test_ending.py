"""Endings: a stop from outside says who pulled the plug; progress until then says whether the job was well."""

from typing import Any

import pytest

from core.diagnose import diagnose
from core.job import Job, Status
from core.judge.ending import Ending, find_ending
from core.model import Confidence, Scope
from tests.support.jobs import at, four_nodes, judged, parse, raised, signs_of, steps, suspected

CANCELLED = "slurmstepd: error: *** JOB 77 ON node-0 CANCELLED AT 2026-11-21T04:00:{second} ***"


def stopped(made: list[str], seconds: float, **known: Any) -> Job:
    """A job that made these iterations and was cancelled so many seconds after its start."""
    order = {"slurm.out": [at(seconds, "slurmstepd: error: *** JOB 77 ON node-0 CANCELLED AT 2026-11-21T04:00:00 ***")]}
    return four_nodes({}, usual=made, others=order, **known)


def ending(one: Job, *baseline: Job) -> Ending:
    return find_ending(parse(one, *baseline), judged(one, *baseline))


def paced(*spans: tuple[int, float]) -> list[str]:
    """Iterations: so many, so many seconds each, one span after the other."""
    lines, clock, number = [], 0.0, 0
    for count, seconds in spans:
        for _ in range(count):
            clock, number = clock + seconds, number + 1
            lines.append(at(clock, f"iteration {number:8d}/     900 | lm loss: 5.0E+00 |"))
    return lines


@pytest.mark.parametrize(("seconds", "hung"), [(31, False), (38, False), (45, True), (300, True)])
def test_a_job_that_made_no_progress_before_it_was_stopped_hung(seconds: float, hung: bool) -> None:
    """At a second an iteration ten seconds without one are no accident; the answer is never that nothing is broken."""
    one = stopped(steps(30, total=900), seconds)

    assert ending(one).hung is hung
    assert diagnose(one, []).headline.startswith("Not a fault") is not hung


def test_a_pause_as_long_as_the_job_made_before_is_no_hang() -> None:
    """Evaluation and saving take their time, each time."""
    made = paced((20, 1.0), (1, 25.0), (20, 1.0))

    assert not ending(stopped(made, 65 + 40)).hung
    assert ending(stopped(made, 65 + 60)).hung


def test_what_goes_on_failing_while_a_job_hangs_is_not_what_broke() -> None:
    """A pusher is refused more often than in good jobs, for the job is older; who did not end when told to is named."""
    push = "[ERROR] metrics push failed: quota exceeded"
    pushes = [at(6 * n, push) for n in range(1, 20)]
    good = four_nodes({}, usual=[*pushes[:4], *steps(30, total=30)], status=Status.COMPLETED, job_id="good")
    ended = [f"srun: error: node-{n}: task {n}: Terminated" for n in (0, 1, 3)]
    order = at(119, "slurmstepd: error: *** JOB 77 ON node-0 CANCELLED AT 2026-11-21T04:01:59 DUE TO TIME LIMIT ***")
    hung = four_nodes({}, usual=sorted([*pushes, *steps(30, total=900)]), others={"slurm.out": [order, *ended]})

    found = diagnose(hung, [good])

    assert "the job hung" in found.headline
    assert (found.scope, [node.node for node in found.nodes]) == (Scope.NODE, ["node-2"])


def test_a_pause_that_a_good_job_made_is_no_hang() -> None:
    """What is normal is also told by the job's successful neighbours."""
    good = four_nodes({}, usual=paced((20, 1.0), (1, 25.0), (20, 1.0)), status=Status.COMPLETED, job_id="good")
    one = stopped(paced((30, 1.0)), 30 + 40)

    assert ending(one).hung
    assert not ending(one, good).hung


def test_a_slowdown_begins_where_the_steps_leave_their_level() -> None:
    """The iteration that is reported is the onset, not the last one."""
    one = stopped(paced((40, 0.5), (12, 4.0)), 40 * 0.5 + 12 * 4.0 + 1)

    slow = ending(one).slow
    diagnosis = diagnose(one, [])

    assert slow is not None
    assert (slow.iteration, slow.before, slow.after) == (41, 0.5, 4.0)
    assert diagnosis.iterations[0].iteration == 41
    assert "slow from iteration 41 on" in diagnosis.headline


def test_one_long_pause_is_no_slowdown() -> None:
    """A checkpoint in the middle leaves the level as it was."""
    assert ending(stopped(paced((20, 0.5), (1, 30.0), (20, 0.5)), 51)).slow is None


def test_a_job_three_times_as_slow_as_good_ones_was_slow_from_the_beginning() -> None:
    """Without a past of its own it is compared with its neighbours."""
    good = four_nodes({}, usual=paced((60, 0.5)), status=Status.COMPLETED, job_id="good")
    one = stopped(paced((60, 1.6)), 97)

    slow = ending(one, good).slow

    assert slow is not None
    assert (slow.iteration, slow.than_good_jobs) == (1, True)


def test_a_steady_job_that_was_cancelled_without_a_word_is_healthy() -> None:
    """No scheduler's line says so; job.json, which tells when it ended, and its own pace do."""
    one = four_nodes(
        {},
        usual=steps(30, total=900),
        status=Status.CANCELLED,
        start="2026-11-21T04:00:00Z",
        end="2026-11-21T04:00:31Z",
    )

    found = diagnose(one, [])

    assert (found.scope, found.confidence) == (Scope.NONE, Confidence.ESTABLISHED)
    assert "made progress at its pace" in found.headline


def test_of_a_job_that_was_cancelled_nobody_tells_when_no_progress_is_claimed() -> None:
    """Its logs end; that it hung for hours before it was ended leaves no line."""
    found = diagnose(four_nodes({}, usual=steps(30, total=900), status=Status.CANCELLED), [])

    assert (found.scope, found.confidence, found.nodes) == (Scope.JOB, Confidence.WEAK, ())
    assert "The logs do not tell when it was stopped, so a hang before that would not show." in found.why


def test_a_steady_job_that_failed_without_a_word_is_not_cleared() -> None:
    """A log that ends is no proof of health when the scheduler says that the job failed."""
    found = diagnose(four_nodes({}, usual=steps(30, total=900), status=Status.FAILED), [])

    assert (found.scope, found.confidence) == (Scope.JOB, Confidence.WEAK)


def test_the_end_in_job_json_counts_in_the_zone_of_the_logs() -> None:
    """Logs tell local time, job.json universal time; zones differ by whole half hours."""
    zone: dict[str, Any] = {"start": "2026-11-21T08:59:55Z", "status": Status.CANCELLED}  # logs begin at 04:00:01

    late = four_nodes({}, usual=steps(30, total=900), end="2026-11-21T09:02:00Z", **zone)
    soon = four_nodes({}, usual=steps(30, total=900), end="2026-11-21T09:00:33Z", **zone)

    assert ending(late).hung
    assert ending(soon).steady


def test_the_clock_of_a_progress_bar_counts_where_lines_have_none() -> None:
    """tqdm tells how long it has run; what came before its first line had a clock."""
    bars = [f"{n}%|#| {n}/100 [00:{n:02d}<01:00, 1.0it/s]" for n in range(1, 31)]
    one = four_nodes({0: [at(0, "training"), *bars]}, others={"slurm.out": [at(90, CANCELLED.format(second="00"))]})

    assert ending(one).quiet == pytest.approx(90 - 29, abs=2)
    assert ending(one).hung


@pytest.mark.parametrize(("stop", "hung", "steady"), [(36, False, True), (48, False, False), (62, True, False)])
def test_when_a_bar_began_nobody_knows(stop: float, hung: bool, steady: bool) -> None:
    """Between the clock above it and its first stroke a program may have loaded for seconds: that is no hang."""
    bars = [f"{n}%|#| {n}/100 [00:{n:02d}<01:00, 1.0it/s]" for n in range(1, 31)]
    one = four_nodes({0: [at(0, "training"), *bars]}, others={"slurm.out": [at(stop, CANCELLED.format(second="00"))]})

    assert (ending(one).hung, ending(one).steady) == (hung, steady)


def test_a_bar_that_became_slow_was_slow() -> None:
    """Its clock counts whole seconds from a moment on that is none."""
    clocks = [n // 2 for n in range(1, 41)] + [20 + 2 * n for n in range(1, 13)]
    bars = [f"{n}%|#| {n}/100 [00:{clock:02d}<01:00, 1.0it/s]" for n, clock in enumerate(clocks, 1)]
    said = {rank: [at(rank / 7, "training"), *bars] for rank in range(4)}

    slow = ending(four_nodes(said, others={"slurm.out": [at(46, CANCELLED.format(second="46"))]})).slow

    assert slow is not None
    assert abs(slow.iteration - 41) <= 2


def test_a_rank_that_alone_lacks_the_last_line_of_the_others_is_stuck_there() -> None:
    """In a checkpoint that never ended, one rank never said that it had saved its part."""
    saved = {n: [at(31, "saved shard of iteration 30")] for n in (0, 1, 3)}
    order = [at(90, CANCELLED.format(second="00"))]

    found = diagnose(four_nodes(saved, usual=steps(30, total=900), others={"slurm.out": order}), [])

    assert [node.node for node in found.nodes] == ["node-2"]
    assert "never came to" in found.nodes[0].because


def test_a_rank_that_alone_lacks_a_warning_of_all_others_is_stuck() -> None:
    """Nobody knows its words; it was the last that anybody said, of a job that nobody ended."""
    pending = [at(90 + 30 * k, f"WARN comm: collective pending for {60 + 30 * k}s") for k in range(2)]
    one = four_nodes(dict.fromkeys((0, 1, 3), pending), usual=steps(30, total=900), status=Status.UNKNOWN)

    assert [sign.node for sign in signs_of(one) if sign.channel == "lacks"] == ["node-2"]


def test_what_a_rank_said_where_the_others_said_something_else_is_quoted() -> None:
    """A watchdog prints where each stands: that of the one who is stuck tells more than that the others waited."""
    waits, reads = (at(60, f"watchdog: no step for 29 s, main thread in {place}") for place in ("all_reduce", "pread"))
    ends = at(61, "watchdog: giving up")
    said = {n: [waits, ends] for n in (0, 1, 3)} | {2: [reads, ends]}
    order = [at(90, CANCELLED.format(second="00"))]

    found = diagnose(four_nodes(said, usual=steps(30, total=900), others={"slurm.out": order}), [])

    assert [node.node for node in found.nodes] == ["node-2"]
    assert "said \u201cwatchdog: no step for 29 s, main thread in pread\u201d; 3 of 4" in found.nodes[0].because


def test_what_a_rank_said_in_place_of_what_it_lacks_is_quoted() -> None:
    """Two messages that begin alike, of which the others' is the longer one."""
    waits, reads = (f"progress monitor: stuck in {place}" for place in ("all_reduce, 7 of 9 arrived", "flock"))
    said = {n: [at(60, waits), at(75, waits)] for n in (0, 1, 3)} | {2: [at(60, reads), at(75, reads)]}

    found = diagnose(
        four_nodes(said, usual=steps(30, total=900), others={"slurm.out": [at(90, CANCELLED.format(second="00"))]}), []
    )

    assert [node.node for node in found.nodes] == ["node-2"]
    assert "It said \u201cprogress monitor: stuck in flock\u201d instead." in found.nodes[0].because


def test_what_a_rank_said_long_before_it_did_not_say_instead() -> None:
    """At its start, in words that begin alike."""
    early = [at(0.5, "progress monitor: stuck in nothing yet, 1 thread")]
    late = {n: [at(60, "progress monitor: stuck in all_reduce, 7 of 9 arrived")] for n in (0, 1, 3)}
    order = [at(90, CANCELLED.format(second="00"))]

    found = diagnose(four_nodes(late | {2: early}, usual=steps(30, total=900), others={"slurm.out": order}), [])

    assert [node.node for node in found.nodes] == ["node-2"]
    assert "instead" not in found.nodes[0].because


def test_what_a_rank_says_in_the_second_of_the_stop_it_may_say_because_of_it() -> None:
    """It stood still in the forward pass, and ends it when it is signalled; clocks count whole seconds."""

    def whole(n: float, text: str) -> str:
        return at(int(n), text).replace(",000", "")

    said = {
        rank: [
            whole(n / 4, f"{text} {n}, took 0.2 s")
            for n in range(1, 121)
            for text in ("forward of step", "step")
            if rank != 2 or n < 120
        ]
        for rank in range(4)
    }
    for rank in (0, 1, 3):
        said[rank].pop()  # all wait for rank 2 in step 120
    said[2].append(whole(90, "forward of step 120, took 60.1 s"))
    order = {"slurm.out": [at(90, CANCELLED.format(second="00").replace("04:00", "04:01"))]}

    assert suspected(four_nodes(said, others=order)) == ["node-2"]


def test_a_finer_clock_above_the_first_step_makes_no_step_short() -> None:
    """Of four steps that a clock of whole seconds tells as one; a library's warning stands above, with microseconds."""
    warning = "[W1121 04:00:01.886284325 socket.cpp:207] [c10d] The hostname of the client socket cannot be retrieved."
    made = [at(1 + n // 4, f"step {n + 1} loss 2.5").replace(",000", "") for n in range(33)]

    assert ending(four_nodes({}, usual=[warning, *made])).slow is None


def test_what_one_rank_measures_of_its_own_work_names_it() -> None:
    """Its data take longer; the others only wait longer, and the whole step takes as long everywhere."""

    def rank(n: int) -> list[str]:
        lines = []
        for i in range(1, 61):
            slow = i > 40
            clock = i * 0.5 if not slow else 20 + (i - 40) * 3
            data, wait = (2.6, 0.3) if slow and n == 2 else (0.1, 2.8 if slow else 0.3)
            lines.append(
                at(clock, f"iteration {i:8d}/     900 | lm loss: 5.0 | data_time: {data} | wait_time: {wait} |")
            )
        return lines

    order = {"slurm.out": [at(81, CANCELLED.format(second="21"))]}
    found = diagnose(four_nodes({n: rank(n) for n in range(4)}, others=order), [])

    assert [node.node for node in found.nodes] == ["node-2"]
    assert "data_time rose" in found.nodes[0].because


def test_an_exception_explains_a_hang_before_a_stop() -> None:
    """What broke is told; that the others waited until somebody ended them is not the headline."""
    failed = {2: [at(31, "x"), *raised("OSError: [Errno 5] Input/output error")]}
    order = {"slurm.out": [at(120, CANCELLED.format(second="00"))]}

    found = diagnose(four_nodes(failed, usual=steps(30, total=900), others=order), [])

    assert [node.node for node in found.nodes] == ["node-2"]
    assert "storage" in found.headline


def parts(
    change: dict[int, tuple[float, float]], name: str = "compute", rest: str = "wait"
) -> list[dict[int, list[str]]]:
    """What each rank prints of its parts of a step: 20 steps before and 12 after; the others wait for the slowest."""
    said: dict[int, list[str]] = {}
    for rank in range(4):
        lines, clock = [], 0.0
        for n in range(1, 33):
            own = {r: (before if n <= 20 else after) for r, (before, after) in change.items()}
            whole = max(own.values()) + 0.02
            clock += whole
            lines.append(
                at(clock, f"iteration {n:8d}/     900 | {name}={own[rank]:.3f}s {rest}={whole - own[rank]:.3f}s |")
            )
        said[rank] = lines
    return [said]


@pytest.mark.parametrize(
    ("change", "suspects"),
    [
        ({0: (0.3, 0.3), 1: (0.3, 0.3), 2: (0.3, 0.9), 3: (0.3, 0.3)}, ["node-2"]),
        ({0: (0.3, 0.3), 1: (0.3, 0.3), 2: (0.3, 0.5), 3: (0.3, 0.3)}, ["node-2"]),
        ({0: (0.3, 0.9), 1: (0.3, 0.9), 2: (0.3, 0.9), 3: (0.3, 0.9)}, []),
        ({0: (0.3, 0.7), 1: (0.3, 0.9), 2: (0.3, 1.1), 3: (0.3, 0.8)}, []),
    ],
    ids=["three times as long", "half as long again", "on all alike", "on all, on some more"],
)
def test_who_rises_apart_from_the_others_made_the_job_slow(
    change: dict[int, tuple[float, float]], suspects: list[str]
) -> None:
    """By seconds: ratios of small parts say little, and what all read slowly is nobody's fault."""
    (said,) = parts(change)
    order = {"slurm.out": [at(60, CANCELLED.format(second="00"))]}

    assert suspected(four_nodes(said, others=order)) == suspects


def test_clocks_of_whole_seconds_do_not_hide_a_slowdown() -> None:
    """Four steps share a second, and then each takes one: by marks, not by seconds."""
    clocks = [(n + 3) // 4 for n in range(1, 41)] + [10 + n for n in range(1, 21)]
    made = [
        f"2026-11-21 04:00:{clock:02d} iteration {n:8d}/     900 | loss: 5.0 |" for n, clock in enumerate(clocks, 1)
    ]
    slow = ending(stopped(made, 31)).slow

    assert slow is not None
    assert abs(slow.iteration - 41) <= 2
    assert (slow.before, slow.after) == (0.25, 1.0)


def test_a_stop_of_which_no_clock_tells_is_not_cleared() -> None:
    """Whether the job still made progress nobody knows; the answer says so, and names nobody."""
    made = [f"iteration {n:8d}/     900 | loss: 5.0 |" for n in range(1, 31)]
    found = diagnose(four_nodes({}, usual=made, others={"slurm.out": [CANCELLED.format(second="00")]}), [])

    assert (found.scope, found.confidence, found.nodes) == (Scope.JOB, Confidence.WEAK, ())
    assert "no clock tells whether it still made progress" in found.headline


def test_who_stopped_a_job_is_shown_in_whatever_words() -> None:
    """What was said for the first time below the last progress; not what was said before."""
    usual = [text for n in range(1, 31) for text in (at(n - 0.5, f"part {n} is here"), *steps(n, first=n, total=900))]
    last = [at(30.5, "part 31 is here"), at(31, "qdel by mueller: enough for the talk")]

    found = diagnose(four_nodes(dict.fromkeys(range(4), last), usual=usual, status=Status.CANCELLED), [])

    assert found.nodes == ()
    assert found.events[0].lines[0].text.endswith("qdel by mueller: enough for the talk")


def test_what_a_launcher_says_when_it_is_told_to_stop_broke_nothing() -> None:
    """It is how the stop began; who stood still before it is where to look."""
    usual = [text for n in range(1, 31) for text in (at(n - 0.5, f"part {n} is here"), *steps(n, first=n, total=900))]
    ahead = {n: [at(30.5, "part 31 is here")] for n in (0, 1, 3)}
    told = [
        at(90, CANCELLED.format(second="00")),
        at(
            90,
            "7416 torch/distributed/elastic/agent/server/api.py:753] Received 15 death signal, shutting down workers",
        ),
    ]

    found = diagnose(four_nodes(ahead, usual=usual, others={"node-0/slurm.out": told}), [])

    assert [node.node for node in found.nodes] == ["node-2"]
    assert "the job hung" in found.headline


def test_who_alone_is_behind_when_a_job_hung_is_where_to_look() -> None:
    """All others completed one iteration more, and then nobody did."""
    ahead = {n: steps(31, first=31, total=900) for n in (0, 1, 3)}
    order = {"slurm.out": [at(90, CANCELLED.format(second="00"))]}

    found = diagnose(four_nodes(ahead, usual=steps(30, total=900), others=order), [])

    assert [node.node for node in found.nodes] == ["node-2"]
    assert "completed iteration 30; the others reached 31" in found.nodes[0].because


def test_whose_last_word_is_another_when_a_job_hung_is_where_to_look() -> None:
    """It began something that the others had not begun, and never ended it."""
    usual = [text for n in range(1, 31) for text in (at(n, f"opening part {n}"), *steps(n, first=n, total=900))]
    order = {"slurm.out": [at(90, CANCELLED.format(second="00"))]}

    found = diagnose(four_nodes({1: [at(30.5, "opening part 31")]}, usual=usual, others=order), [])

    assert [node.node for node in found.nodes] == ["node-1"]
    assert "opening part 31" in found.nodes[0].because


@pytest.mark.parametrize(("rank", "suspects"), [(2, ["node-2"]), (0, [])])
def test_who_alone_said_something_else_last_is_where_to_look_without_clocks(rank: int, suspects: list[str]) -> None:
    """It left the loop, and the others wait for it; but the first rank says much for all."""
    made = [f"iteration {n:8d}/     900 | loss: 5.0 |" for n in range(1, 31)]
    order = {"slurm.out": [CANCELLED.format(second="00")]}

    found = diagnose(four_nodes({rank: ["epoch done, 30 iterations"]}, usual=made, others=order), [])

    assert [node.node for node in found.nodes] == suspects
    assert found.confidence is Confidence.WEAK


def test_who_ended_first_with_a_complaint_broke() -> None:
    """In words that no rule knows; those who ended after it had lost it."""
    said = {n: [at(31.4, f"ERROR ring: gone hop {n}")] for n in (0, 1, 3)} | {
        2: [at(31, "ERROR part-2.csv:302: bad cell")]
    }
    found = diagnose(four_nodes(said, usual=steps(30, total=900)), [])

    assert [node.node for node in found.nodes] == ["node-2"]
    assert found.confidence is not Confidence.ESTABLISHED


def test_what_is_raised_after_a_complaint_of_others_follows_from_it() -> None:
    """Three lost the fourth, which says nothing, and then their program gave up in words of its own."""
    lost = "RuntimeError: [/pytorch/gloo/transport/tcp/pair.cc:553] Connection closed by peer [10.0.0.2]:31143"
    said = {
        n: [at(31, "ERROR step failed"), *raised(lost), *raised("app.TrainingFailed: giving up")] for n in (0, 1, 3)
    }
    assert suspected(four_nodes(said, usual=steps(30, total=900))) == ["node-2"]


def test_a_stop_after_steps_that_took_far_longer_is_not_cleared() -> None:
    """Whoever stopped it may have done it for these."""
    late = [at(30 + second, f"iteration {30 + n:8d}/     900 | lm loss: 5.0E+00 |") for n, second in ((1, 1), (2, 7))]
    order = {"slurm.out": [at(39, CANCELLED.format(second="39"))]}

    found = diagnose(four_nodes({}, usual=[*steps(30, total=900), *late], others=order), [])

    assert (found.scope, found.confidence) == (Scope.JOB, Confidence.WEAK)
    assert "its last steps took far longer" in found.headline


def test_a_job_that_became_slow_is_given_time_by_its_last_pace() -> None:
    """Twelve seconds are a hang at a step a second, and none at one in four."""
    slow = [at(30 + 4.0 * n, f"iteration {30 + n:8d}/     900 | lm loss: 5.0E+00 |") for n in range(1, 13)]
    order = {"slurm.out": [at(90, CANCELLED.format(second="30").replace("04:00", "04:01"))]}

    found = diagnose(four_nodes({}, usual=[*steps(30, total=900), *slow], others=order), [])

    assert "slow from iteration 31 on" in found.headline
    assert "hung" not in found.headline


def test_a_log_that_was_cut_off_within_a_line_stands_nowhere_else() -> None:
    """Its last line begins like those of all others, and ends before they do."""
    said = [
        f"e0{k // 100} b{k:05}  mse 9.{k}e-03  | io 0.02{k % 7}  fwd 1.90{k % 9}  all 2.12{k % 8}"
        for k in range(10, 250, 10)
    ]
    whole, cut = [f"{text}  [s/batch]" for text in said], [*(f"{text}  [s/batch]" for text in said[:12]), said[12][:-1]]
    bars = [f"batch {k}/320  mse 9.{k}e-03  2.2 s/batch  eta 700 s" for k in range(10, 250, 10)]
    ends = ["=>> PBS: job killed: walltime 1229 exceeded limit 1200"]
    stopped = [at(1229, "S    Exit_status=271 resources_used.walltime=1229")]
    one = four_nodes(
        dict.fromkeys((0, 1, 2), whole) | {3: cut}, others={"job.o77": [*bars, *ends], "tracejob_77.txt": stopped}
    )

    assert diagnose(one, []).nodes == ()
