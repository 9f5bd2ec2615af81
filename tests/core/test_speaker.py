"""Words without a name, where one process alone ended by itself: they are its own."""

from core.diagnose import diagnose
from core.model import Scope
from tests.support.jobs import job, lines, raised, suspected

NODES = ("ryz01", "ryz02", "ryz03", "ryz04")
SAID = "/opt/bin/trainer: error while loading shared libraries: libcudart.so.12: cannot open shared object file: No such file or directory"  # noqa: E501
REPORT = (
    "mpirun detected that one or more processes exited with non-zero status, thus causing",
    "the job to be terminated. The first process to do so was:",
    "",
    "  Process name: [[51764,1],2]",
    "  Exit code:    127",
)


def test_the_process_that_mpirun_names_said_what_stands_above() -> None:
    """The rank stands in one line of the report, the exit code in the next."""
    told = job({"mpi.log": lines(SAID, *REPORT)}, nodes=NODES, node_ranks={node: (n,) for n, node in enumerate(NODES)})
    found = diagnose(told, [])

    assert (found.scope, [one.node for one in found.nodes]) == (Scope.NODE, ["ryz03"])
    assert "a module or library is missing" in found.headline


def test_what_stands_below_is_not_said_by_it() -> None:
    """The process had ended before."""
    told = job({"mpi.log": lines(*REPORT, SAID)}, nodes=NODES, node_ranks={node: (n,) for n, node in enumerate(NODES)})
    found = diagnose(told, [])

    assert not any(one.nodes == ("ryz03",) and "libcudart" in one.template for one in found.events)


def test_who_aborts_said_what_stands_above() -> None:
    """mpi4py aborts with its rank when it raises; the traceback names nobody."""
    abort = ("MPI_ABORT was invoked on rank 1 in communicator MPI_COMM_WORLD", "with errorcode 1.")
    told = job(
        {"mpi.log": lines(*raised("zipfile.BadZipFile: File is not a zip file"), *abort)},
        nodes=NODES,
        node_ranks={node: (n,) for n, node in enumerate(NODES)},
    )

    assert suspected(told) == ["ryz02"]


def test_a_launcher_names_a_machine_whatever_it_is_called() -> None:
    """Where nobody else names any."""
    report = "mpirun noticed that process rank 3 with PID 13848 on node siteW exited on signal 9 (Killed)."
    told = job({"run.out": lines(*(f"Round {n} is over, loss 2.{n}" for n in range(9)), report)})

    assert suspected(told) == ["siteW"]


def test_of_two_processes_that_failed_neither_is_taken() -> None:
    """Either may have said it."""
    other = [line.replace("],2]", "],1]") for line in REPORT]
    told = job(
        {"mpi.log": lines(SAID, *REPORT, *other)}, nodes=NODES, node_ranks={node: (n,) for n, node in enumerate(NODES)}
    )

    assert not any(one.nodes for one in diagnose(told, []).events if "libcudart" in one.template)


def test_what_rays_driver_raises_again_is_said_on_the_node_of_the_actor() -> None:
    """By the address that the text holds; who has that address says so when it starts, or job.json does."""
    error = (
        "ray.exceptions.RayTaskError(AssertionError): ray::Learner.gradient() (pid=27307, ip=10.150.1.13, actor_id=37)"
    )
    driver = ["driver: step 1 loss 2.5", *raised(error)]
    told = job(
        {"head.log": lines(*driver)},
        nodes=("head", "wk-1", "wk-2"),
        node_addresses={"head": ("10.150.1.11",), "wk-1": ("10.150.1.12",), "wk-2": ("10.150.1.13",)},
    )
    found = diagnose(told, [])

    assert (found.scope, [one.node for one in found.nodes]) == (Scope.NODE, ["wk-2"])


def test_of_numbers_that_are_wrong_everywhere_any_actor_may_tell() -> None:
    """ray.get raises what it gets first."""
    error = (
        "ray.exceptions.RayTaskError(FloatingPointError): ray::Learner.apply() (pid=27307, ip=10.150.1.13, actor_id=37)"
    )
    told = job(
        {"head.log": lines("driver: step 1 loss 2.5", *raised(error))},
        nodes=("head", "wk-1", "wk-2"),
        node_addresses={"wk-2": ("10.150.1.13",)},
    )

    assert not diagnose(told, []).nodes
