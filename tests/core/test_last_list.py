"""Who is apart in the last list of all ranks or nodes that somebody prints once a job stands still."""

import pytest

from core.diagnose import diagnose
from core.job import Job, Status
from core.model import Scope
from tests.support.jobs import at, job, lines, signs_of

NODES = {f"farm-{letter}": (2 * n, 2 * n + 1) for n, letter in enumerate("abcd")}
REDUCE = ["reduce"] * 8


def hung(*told: str, before: tuple[str, ...] = ()) -> Job:
    """Eight ranks make 40 steps of a second; then one process says this again and again for half an hour."""
    early = [at(n + 0.5, text) for n in (5, 6, 7) for text in before]
    files = {
        f"{node}.log": lines(*(at(n, f"rank {rank} step {n} loss 2.5") for n in range(1, 41) for rank in ranks))
        for node, ranks in NODES.items()
    }
    late = [at(60 * n, text) for n in range(2, 30) for text in told]
    return job(
        files | {"watch.log": lines(*early, *late)}, nodes=tuple(NODES), node_ranks=NODES, status=Status.CANCELLED
    )


def listed(one: Job) -> list[tuple[str, tuple[int, ...]]]:
    """Whom a list tells apart, and which of its ranks."""
    return [(sign.node, sign.ranks) for sign in signs_of(one) if "last list" in sign.because]


def of_ranks(values: list[str], form: str = "r{}={}") -> str:
    return " ".join(form.format(rank, value) for rank, value in enumerate(values))


@pytest.mark.parametrize(
    "text",
    [
        "phases: " + of_ranks([*REDUCE[:5], "fetch_batch", *REDUCE[6:]]),
        "where: " + of_ranks([*REDUCE[:5], "data.next", *REDUCE[6:]], "[{}] {};"),
        "last step " + of_ranks(["41"] * 5 + ["40"] + ["41"] * 2, "rank{}:{}"),
        "seconds since a beat: " + of_ranks(["0.4"] * 5 + ["77.0"] + ["1.1"] * 2, "worker {} = {},"),
    ],
    ids=["a word", "brackets", "a step behind", "an age"],
)
def test_the_only_rank_that_is_told_otherwise_is_waited_for(text: str) -> None:
    """Trainers of four teams, none of whose words are known."""
    one = hung(text)

    assert listed(one) == [("farm-c", (5,))]
    assert [node.node for node in diagnose(one, []).nodes] == ["farm-c"]


@pytest.mark.parametrize(
    "text",
    [
        "phases: " + of_ranks(REDUCE),
        "phases: " + of_ranks([*REDUCE[:5], "fetch_batch", "save", "log"]),
        "phases: " + of_ranks(["all_reduce"] * 5 + ["broadcast"] + ["all_reduce"] * 2),
        "phases: " + of_ranks(["compute"] * 5 + ["wait"] + ["compute"] * 2),
        "last step " + of_ranks(["41"] * 5 + ["42"] + ["41"] * 2, "rank{}:{}"),
        "free memory " + of_ranks([str(40 + rank) for rank in range(8)], "rank{}:{}"),
    ],
    ids=["all alike", "several", "another collective", "who waits", "one ahead", "all differ"],
)
def test_a_list_that_tells_no_one_from_the_others_accuses_nobody(text: str) -> None:
    """Another collective is another branch of the program, and who waits holds nobody up."""
    assert listed(hung(text)) == []


def test_who_was_told_otherwise_before_is_not_waited_for() -> None:
    """The rank that saves does other work all the time."""
    text = "phases: " + of_ranks([*REDUCE[:5], "saver", *REDUCE[6:]])

    assert listed(hung(text, before=(text,))) == []


def test_a_table_with_a_line_for_each_node_is_read_as_a_list() -> None:
    """A status tool prints it again and again; the words of the others change once they wait."""
    heading = "  node     step    age_s  phase"
    odd = {"farm-b": (40, "tokenize")}
    rows = [
        f"  {node}   {step}   1{n}.4   {word}"
        for n, node in enumerate(NODES)
        for step, word in [odd.get(node, (41, "reduce"))]
    ]
    well = [f"  {node}   5   0.{n}   train" for n, node in enumerate(NODES)]

    assert listed(hung(heading, *rows, before=(heading, *well))) == [("farm-b", ())]


def test_lines_that_each_says_of_itself_are_no_list() -> None:
    """They come in any order, and the last one of each may be of another step."""
    orders = ("abcd", "cadb", "bdac", "dbca")
    said = [f"farm-{letter} batch {9 if letter == 'c' else 8} done" for order in orders for letter in order]
    one = job({"all.log": lines(*said)}, nodes=tuple(NODES), node_ranks=NODES, status=Status.FAILED)

    assert listed(one) == []
    assert diagnose(one, []).scope is not Scope.NODE


@pytest.mark.parametrize("known", [True, False], ids=["ranks known", "machines alone"])
def test_a_machine_that_lists_its_own_workers_tells_who_of_them_is_apart(*, known: bool) -> None:
    """Each sidecar counts the workers of its machine from 0 on; the third of one is not where all others wait."""
    steps = [at(n, f"step {n} loss 2.5") for n in range(1, 41)]
    name = "node-{n}/rank_{rank}.log" if known else "node-{n}/log/workerlog.{k}"
    places = [(n, k) for n in range(3) for k in range(4)]
    files = {name.format(n=n, k=k, rank=4 * n + k): lines(*steps) for n, k in places}
    for n in range(3):
        phases = ["save" if (n, k) == (1, 2) else "barrier" for k in range(4)]
        told = [" ".join(f"{k}:{phase}+{60 * m + k}s" for k, phase in enumerate(phases)) for m in range(2, 30)]
        files[f"node-{n}/sidecar.log"] = lines(*(at(60 * m, f"workers {text}") for m, text in enumerate(told, 2)))
    ranks = {f"node-{n}": tuple(range(4 * n, 4 * n + 4)) for n in range(3)}
    one = job(
        dict(files), nodes=tuple(ranks), node_ranks=ranks if known else {}, world_size=12, status=Status.CANCELLED
    )

    assert [node for node, _ in listed(one)] == ["node-1"]
