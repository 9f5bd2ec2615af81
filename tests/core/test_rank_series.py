"""Numbers without a name that anybody knows: which node they tell from all others since some moment."""

from collections.abc import Callable

import pytest

from core.diagnose import diagnose
from core.job import Job, Status
from core.model import Confidence, Scope
from core.nodes.told_numbers import told_numbers
from core.parsed import parse_job
from tests.support.jobs import at, job, lines, suspected

NODES = {f"farm-{letter}": (2 * n, 2 * n + 1) for n, letter in enumerate("abcd")}
STEPS, ONSET = 40, 20
Say = Callable[[int, int, float], str]  # a line of a rank at a step, with its number


def noise(step: int, rank: int) -> float:
    """From -1 to 1, as if by chance."""
    return ((step * 37 + rank * 61) % 41 - 20) / 20


def told(say: Say, factor: float, odd: tuple[int, ...] = (5,), loud: float = 0.02) -> Job:
    """A job that somebody ended, in one file without a clock; since a step the odd ranks' numbers are others."""
    said = ["[launcher] 8 processes"]
    for step in range(1, STEPS + 1):
        for rank in range(8):
            own = factor if rank in odd and step > ONSET else 1.0
            said.append(say(step, rank, 0.4 * own * (1 + loud * noise(step, rank))))
    return job({"console.log": lines(*said)}, nodes=tuple(NODES), node_ranks=NODES, status=Status.CANCELLED)


def home(rank: int) -> str:
    return next(node for node, ranks in NODES.items() if rank in ranks)


FORMS: dict[str, Say] = {
    "a dictionary": lambda step, rank, number: (
        f"{home(rank)}: {{'turn': {step}, 'rank': {rank}, 'knead_s': {number:.3f}}}"
    ),
    "a sentence": lambda step, rank, number: f"turn {step} of rank {rank} kneaded for {number:.3f} s",
}


@pytest.mark.parametrize("say", FORMS.values(), ids=FORMS)
def test_the_rank_whose_number_rose_alone_is_where_to_look(say: Say) -> None:
    """Whoever prints it: the line itself names the rank."""
    found = diagnose(told(say, 2.0), [])

    assert (found.scope, found.confidence) == (Scope.NODE, Confidence.SUPPORTED)
    assert [node.node for node in found.nodes] == ["farm-c"]
    assert found.nodes[0].because.startswith("Rank 5 on farm-c: ")
    assert "to 0.8, and no other\u2019s" in found.nodes[0].because


def table(factor: float, odd: tuple[int, ...]) -> Job:
    """The first process prints a row for each turn, with a column for each of all."""
    rows = []
    for step in range(1, STEPS + 1):
        numbers = [
            7.4 * (factor if rank in odd and step > ONSET else 1.0) * (1 + 0.02 * noise(step, rank))
            for rank in range(8)
        ]
        rows.append(f"  {step:4} | {1 / step:.4E} | " + " | ".join(f"{number:5.1f}" for number in numbers))
    files = {"out.txt": lines("  turn | rest | p0 | p1 | p2 | p3 | p4 | p5 | p6 | p7 (busy seconds)", *rows)}
    return job(files, nodes=tuple(NODES), node_ranks=NODES, status=Status.CANCELLED)


def test_a_table_with_a_column_for_each_rank_is_read() -> None:
    """All ranks of a node may be slow."""
    found = diagnose(table(2.5, (2, 3)), [])

    assert [(node.node, node.ranks) for node in found.nodes] == [("farm-b", (2, 3))]


def monitored(devices: dict[tuple[str, int], float]) -> Job:
    """A monitor's line of each device of each node; since a step the clocks of some have another level."""
    files = {}
    for node in NODES:
        said = []
        for step in range(1, STEPS + 1):
            for card in range(4):
                share = devices.get((node, card), 1.0) if step > ONSET else 1.0
                watts = 340 * share * (1 + 0.02 * noise(step, card))
                said.append(at(step, f"card {card} clock={1800 * share:.0f}MHz draw={watts:.1f}W"))
        files[f"{node}/monitor.log"] = lines(*said)
    return job(files, nodes=tuple(NODES), node_ranks=NODES, status=Status.CANCELLED)


def test_two_numbers_of_a_device_that_agree_tell_its_node() -> None:
    """Its clock fell, and what it draws."""
    assert suspected(monitored({("farm-d", 2): 0.45})) == ["farm-d"]


@pytest.mark.parametrize(
    "one",
    [
        told(FORMS["a sentence"], 1.0),
        told(FORMS["a sentence"], 2.0, odd=tuple(range(8))),
        told(FORMS["a sentence"], 2.0, odd=(1, 5)),
        told(FORMS["a sentence"], 1.4, loud=0.6),
        told(FORMS["a sentence"], 0.4),
        table(2.5, (0, 2, 4, 6)),
        monitored({("farm-a", 0): 0.5, ("farm-c", 3): 0.5}),
    ],
    ids=["steady", "all", "two nodes", "within its noise", "shorter", "each second column", "devices of two nodes"],
)
def test_numbers_that_tell_no_node_from_the_others_accuse_nobody(one: Job) -> None:
    """What rose everywhere or on several nodes, what noise makes, and what one does faster."""
    assert not diagnose(one, []).nodes


def test_a_rounding_is_no_change() -> None:
    """From 0 to 1 millisecond a number goes that was .4 before."""

    def say(step: int, rank: int, number: float) -> str:
        return f"turn {step} of rank {rank} fetched for {round(number)} ms"

    assert not diagnose(told(say, 2.0), []).nodes


def slower_since(onset: int, last: int, odd: tuple[int, ...]) -> Job:
    """Steps that take half as long again since the onset; each rank tells of its own work every tenth step only."""
    clock, said = 0.0, []
    for step in range(1, last + 1):
        clock += 1.5 if step >= onset else 1.0
        said.append(at(clock, f"step {step} loss {3 - step / 100:.3f}"))
        if step % 10 == 0:
            for rank in range(8):
                own = 1.5 if rank in odd and step >= onset else 1.0
                said.append(at(clock, f"rank {rank} kneaded for {0.4 * own * (1 + 0.02 * noise(step, rank)):.3f} s"))
    stop = at(clock + 1, "slurmstepd: error: *** JOB 77 ON farm-a CANCELLED AT 2026-11-21T04:01:40 ***")
    return job({"console.log": lines(*said, stop)}, nodes=tuple(NODES), node_ranks=NODES, status=Status.CANCELLED)


@pytest.mark.parametrize(("odd", "accused"), [((5,), ["farm-c"]), ((), [])])
def test_few_numbers_are_enough_where_the_job_tells_since_when(odd: tuple[int, ...], accused: list[str]) -> None:
    """Three before and two after: nobody chose the place by them."""
    assert suspected(slower_since(31, 50, odd)) == accused


def test_columns_may_be_called_after_nodes() -> None:
    """A row for each step, with a column for each process of each node."""
    names = [f"{node}/{local}" for node in NODES for local in range(2)]
    rows = []
    for step in range(1, STEPS + 1):
        took = [
            0.4 * (2 if name == "farm-c/1" and step > ONSET else 1) * (1 + 0.02 * noise(step, n))
            for n, name in enumerate(names)
        ]
        rows.append(f"turn {step} " + " ".join(f"{name}={value:.3f}" for name, value in zip(names, took, strict=True)))
    assert suspected(job({"steps.txt": lines(*rows)}, nodes=tuple(NODES), status=Status.CANCELLED)) == ["farm-c"]


def test_numbers_of_a_progress_bar_are_no_list_of_ranks() -> None:
    """Of four ranks only the bar of one is seen, and four of its numbers stand in a row."""
    bars = [
        f"  {k // 30}%|          | {k}/3000 [00:{k:02d}<{20 + k % 30}:{k % 60:02d},  {2 + k % 9 / 8:.2f}it/s]"
        for k in range(60)
    ]
    whole = job(
        {"slurm.out": lines(*bars)}, nodes=tuple("abcd"), node_ranks={node: (n,) for n, node in enumerate("abcd")}
    )
    parsed = parse_job(whole, (), cache=None, workers=1, progress=None)

    assert not list(told_numbers(parsed, dict(enumerate("abcd"))))


def capped(share: float) -> Job:
    """Machines that idle until training begins; half-way the cards of one draw less, and steps take longer."""
    steps = [at(100 + 10 * k, f"step {k} loss 2.5") for k in range(1, 21)]
    slow = [at(300 + 14 * k, f"step {20 + k} loss 2.5") for k in range(1, 21)]
    stop = at(581, "slurmstepd: error: *** JOB 77 ON farm-a CANCELLED AT 2026-11-21T04:09:41 ***")
    files = {"train.log": lines(*steps, *slow, stop)}
    for node in NODES:
        said = []
        for clock in range(10, 580, 20):
            own = share if node == "farm-d" and clock > 300 else 1.0
            level = own * (1 + 0.01 * noise(clock, 1)) if clock > 110 else 0.15
            said.append(at(clock, f"stats sm={1965 * level:.0f}MHz draw={610 * level:.1f}W"))
        files[f"{node}/stats.log"] = lines(*said)
    return job(dict(files), nodes=tuple(NODES), node_ranks=NODES, status=Status.CANCELLED)


@pytest.mark.parametrize(("share", "accused"), [(0.65, ["farm-d"]), (1.0, [])])
def test_what_machines_do_before_training_is_no_level(share: float, accused: list[str]) -> None:
    """All rise at once when it begins, by more than what one loses later."""
    assert suspected(capped(share)) == accused


def led(own: float) -> Job:
    """A controller on the first node tells how long each step took, three others how long their part did."""
    files, clock, said = {}, 0.0, dict[str, list[str]]()
    for step in range(1, STEPS + 1):
        took = 8.4 if step <= ONSET else 15.2
        clock += took
        said.setdefault("farm-a/control.log", []).append(at(clock, f"ctl INFO step {step} done in {took:.1f}s"))
        for node in list(NODES)[1:]:
            part = 5.4 * (own if node == "farm-c" and step > ONSET else 1.0) * (1 + 0.02 * noise(step, ord(node[-1])))
            said.setdefault(f"{node}/worker.log", []).append(
                at(
                    clock - 2,
                    f"worker INFO step {step}: 256 completions done in {part:.1f}s, {468406 + 7 * step} tokens",
                )
            )
    files = {name: lines(*of) for name, of in said.items()}
    stop = at(clock + 1, "slurmstepd: error: *** JOB 77 ON farm-a CANCELLED AT 2026-11-21T04:07:53 ***")
    return job(files | {"slurm.out": lines(stop)}, nodes=tuple(NODES), status=Status.CANCELLED)


@pytest.mark.parametrize(("own", "accused"), [(1.0, []), (2.2, ["farm-c"])])
def test_the_time_of_the_whole_step_is_not_that_of_the_node_which_tells_it(own: float, accused: list[str]) -> None:
    """It is twice as long because somebody is; whose part is, is to blame."""
    assert suspected(led(own)) == accused


def kneaded(steps: range, *, slow: float = 2.0, warm: float = 1.0) -> Job:
    """Ranks 4 and 5 knead and fold longer since half of the steps, the others rest until they are done.

    warm: times as long as usual that all take for the first steps.
    """
    said: dict[int, list[str]] = {rank: [] for rank in range(8)}
    half = (steps.start + steps.stop) // 2
    for step in steps:
        late, first = step >= half, warm if step < steps.start + 4 else 1.0
        for rank in range(8):
            odd = rank in (4, 5)
            own = slow if late and odd else 1.0
            rest = 0.1 if not late or odd else 0.1 + 1.6 * (slow - 1)
            knead, fold = (0.8 * own * first * (1 + 0.01 * noise(step + k, rank)) for k in (0, 7))
            said[rank].append(f"dough: knead {knead:.3f} fold {fold:.3f} rest {rest * first:.3f} s")
    files = {f"{home(rank)}/rank_{rank}.log": lines(*texts) for rank, texts in said.items()}
    return job(dict(files), nodes=tuple(NODES), node_ranks=NODES, status=Status.CANCELLED)


@pytest.mark.parametrize(
    "one",
    [kneaded(range(80), slow=1.4, warm=9.0), kneaded(range(6))],
    ids=["first steps that take nine times as long", "six values"],
)
def test_who_takes_longer_is_told_after_a_warm_up_and_by_few_values(one: Job) -> None:
    """What all do at first is no level; of few values two numbers agree."""
    assert [node.node for node in diagnose(one, []).nodes] == ["farm-c"]


def test_a_log_that_was_cut_off_does_not_tell_that_its_rank_stood_when_all_others_changed() -> None:
    """The whole step and its pace changed for all but rank 0, of which nobody knows; one kneads longer."""
    said: dict[int, list[str]] = {rank: [] for rank in range(8)}
    for step in range(80):
        for rank in range(8):
            knead = 0.8 * (2.0 if step >= 40 and rank == 5 else 1.0) * (1 + 0.01 * noise(step, rank))
            whole = (2.4 if step >= 40 else 1.6) * (1 + 0.01 * noise(step + 7, rank))
            if rank > 0 or step < 35:
                said[rank].append(f"dough: knead {knead:.3f} whole {whole:.3f} s pace {9 / whole:.3f} loaves")
    files = {f"{home(rank)}/rank_{rank}.log": lines(*texts) for rank, texts in said.items()}
    one = job(dict(files), nodes=tuple(NODES), node_ranks=NODES, status=Status.CANCELLED)

    assert [node.node for node in diagnose(one, []).nodes] == ["farm-c"]


def test_few_values_of_a_well_job_accuse_nobody() -> None:
    """Six values of each, all of one level."""
    assert diagnose(kneaded(range(6), slow=1.0), []).nodes == ()


def test_addresses_that_differ_by_node_are_no_change_of_few_values() -> None:
    """NCCL prints the process and the thread before each channel: a thread of one node has another number."""
    threads = {node: (383380, 383900) if node == "farm-c" else (268702 + n, 268702 + n) for n, node in enumerate(NODES)}
    files = {
        f"{node}.log": lines(
            *(
                f"{node}:{threads[node][0]}:{threads[node][k > 2]} [0] NCCL INFO Channel 0{k}/0 : {6 + (k > 2)}[0]"
                " -> 7[1] via P2P/CUMEM/read"
                for k in range(6)
            ),
            *(at(2 * k, f"step {k} loss 2.5") for k in range(1, 30)),
        )
        for node in NODES
    }

    assert diagnose(job(dict(files), nodes=tuple(NODES), node_ranks=NODES, status=Status.COMPLETED), []).nodes == ()


@pytest.mark.parametrize(("cut", "first"), [(0, 1.0), (0, 150.0), (3, 1.0)])
def test_the_first_value_and_a_log_that_was_cut_off_hide_no_change(cut: int, first: float) -> None:
    """The first step compiles for minutes; rank 1 is said to be behind, while the work of ranks 4 and 5 is longer."""
    said: dict[int, list[str]] = {rank: [] for rank in range(8)}
    for step in range(1, STEPS + 1):
        for rank in range(8):
            slow = step > ONSET and rank in (4, 5)
            knead = 0.8 * (1.6 if slow else 1.0) * (first if step == 1 else 1.0) * (1 + 0.01 * noise(step, rank))
            rest = 0.6 if step > ONSET and not slow else 0.1
            said[rank].append(f"iteration {step} loss 2.5 knead {knead:.3f} s rest {rest + 0.001 * rank:.3f} s")
    said[1] = said[1][: len(said[1]) - cut]
    files = {f"{home(rank)}/rank_{rank}.log": lines(*texts) for rank, texts in said.items()}
    one = job(dict(files), nodes=tuple(NODES), node_ranks=NODES, status=Status.FAILED)

    assert [node.node for node in diagnose(one, []).nodes] == ["farm-c"]


def told_by_processes(speaks: bool, warm: float) -> Job:
    """A job of which two processes of each node tell their steps in its log; one node works longer from a step on.

    Args:
        speaks: from then on one process of another node speaks for both.
        warm: times as long as the others takes the first step of each.
    """
    files = {}
    for number, node in enumerate(NODES):
        texts = []
        for step in range(1, STEPS + 1):
            late = step > ONSET
            for process in (1, 1) if speaks and late and node == "farm-b" else (0, 1):
                knead = 0.4 * (1.4 if late and node == "farm-c" else 1.0) * (warm if step == 1 else 1.0)
                knead *= 1 + 0.02 * noise(step, 2 * number + process)
                texts.append(
                    f"(Baker pid={3000 + 700 * number + 9000 * process}) turn {step} | knead {knead * 1000:.0f} ms"
                )
        files[f"{node}.log"] = lines(*texts)
    return job(dict(files), nodes=tuple(NODES), node_ranks=NODES, status=Status.CANCELLED)


@pytest.mark.parametrize(("speaks", "warm"), [(True, 1.0), (False, 40.0)])
def test_neither_first_steps_of_several_processes_nor_what_they_are_called_hide_who_is_slow(
    speaks: bool, warm: float
) -> None:
    """A number of a process is a name; a second first step is no level."""
    assert suspected(told_by_processes(speaks, warm)) == ["farm-c"]
