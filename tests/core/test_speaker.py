"""Words without a name, where one process alone ended by itself: they are its own."""

from core.diagnose import diagnose
from core.model import Scope
from tests.support.jobs import at, job, lines, raised, suspected

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


# ray-project/ray python/ray/exceptions.py, src/ray/core_worker/task_manager.cc (2.40)
DIED = (
    "ray.exceptions.ActorDiedError: The actor died unexpectedly before finishing this task.",
    "\tclass_name: WorkerDict",
    "\tactor_id: dc17cc2cc6a5834de0a57b1320ce1125",
    "\tpid: 4476",
    "\tnamespace: 1bd4",
    "\tip: 10.112.8.22",
)


def test_an_actor_that_died_is_named_by_the_lines_below() -> None:
    """The driver raises it; where the actor ran stands five lines further down."""
    labels = [f"(WorkerDict pid={4470 + n}, ip=10.112.8.2{n}) model loaded" for n in range(4)]
    steps = [f"(TaskRunner pid=2271) step:{n} - actor/loss:2.5" for n in range(1, 20)]
    told = job({"driver.log": lines(*labels, *steps, *raised(DIED[0]), *DIED[1:])})

    assert suspected(told) == ["10.112.8.22"]


def test_what_the_leading_actor_reads_for_all_is_of_no_machine() -> None:
    """No other process tried to."""
    error = (
        "ray.exceptions.RayTaskError(OSError): ray::TaskRunner.run() (pid=2095, ip=10.112.8.21, actor_id=ec)",
        "OSError: Can't load tokenizer for '/mnt/models/seven'.",
    )
    labels = [f"(WorkerDict pid={4470 + n}, ip=10.112.8.2{n}) model loaded" for n in range(4)]
    leads = "(TaskRunner pid=2095) TaskRunner hostname: ray-head-0, PID: 2095"
    daemons = {
        f"raylet/10.112.8.2{n}/raylet.out": lines(at(n, "(raylet) node_manager.cc:250: Initializing NodeManager"))
        for n in range(4)
    }
    found = diagnose(job({"driver.log": lines(leads, *labels, *raised(error[0]), error[1]), **daemons}), [])

    assert (found.scope, found.nodes) == (Scope.JOB, ())


# openucx/ucx src/ucs/debug/log.c, src/uct/ib/mlx5/ib_mlx5_log.c, src/uct/ib/base/ib_device.c (1.15)
RETRIED = (
    "[17916853{second}.449416] [node-{n}:73760:0]    ib_mlx5_log.c:171  UCX  ERROR Transport retry count exceeded on "
    "mlx5_1:1/IB (synd 0x15 vend 0x81 hw_synd 0/0)"
)
PORT = (
    "[1791685391.972562] [node-2:85758:0]       ib_device.c:478  UCX  DIAG  IB Async event on mlx5_0: "
    "port error on port 1"
)


def test_who_lost_its_own_port_is_named_and_not_who_sent_to_it() -> None:
    """All write to one file; UCX puts its own machine before each line."""
    steps = {f"node-{n}/rank_{n}.log": lines(*(f"step {k} loss 2.5" for k in range(1, 60))) for n in range(6)}
    retried = [RETRIED.format(second=92, n=n) for n in (0, 3, 5)]
    told = job(
        {**steps, "mpi.err": lines(*retried, PORT)},
        nodes=tuple(f"node-{n}" for n in range(6)),
        node_ranks={f"node-{n}": (n,) for n in range(6)},
    )

    assert suspected(told) == ["node-2"]
