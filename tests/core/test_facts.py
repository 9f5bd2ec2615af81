"""Facts: what lines of schedulers, kernels and frameworks mean by themselves, and which ordinary ones mean nothing."""

import re

import pytest

from core.diagnose import diagnose
from core.facts import Fact, fact_of, telling_words, word_of
from core.judge.candidates import find_candidates
from core.model import Role, Scope
from core.phrases import patterns_of, read_rules, rule_files
from tests.support.jobs import at, four_nodes, job, lines, parse, steps
from tests.support.real_lines import HARMLESS, REAL_LINES

NODE_FAILURE = (
    "slurmstepd: error: *** JOB 77 ON n1 CANCELLED AT 2026-11-21T04:00:12 DUE TO NODE FAILURE, "
    "SEE SLURMCTLD LOG FOR DETAILS ***"
)
NOT_READY = "Warning NodeNotReady node/w-3 Kubelet stopped posting node status"
STARTED = "systemd[1]: Started kubelet: The Kubernetes Node Agent."
NO_CONTROLLER = "Error updating node status, will retry: timed out"
BANNER = "kernel: [    0.000000] Linux version 6.1.0-18-amd64 (gcc-12 12.2.0) #1 SMP PREEMPT_DYNAMIC Debian 6.1.76-1"


def meaning(line: str) -> Fact | None:
    """What a line means, by its template as a job has it."""
    (template,) = parse(job({"a.log": lines(line)})).table.templates
    return fact_of(template.sample, block=template.block)


def role(fact: Fact) -> str:
    """The role as rules/facts has it."""
    return "stop" if fact.stop else fact.role.value


def restarts(*said: str) -> list[int]:
    """How many rows of each restart count, where the daemon of node-2 says these lines."""
    parsed = parse(four_nodes({}, usual=["hello"], others={"node-2/kubelet.log": list(said)}))
    return [len(one.rows) for one in find_candidates(parsed) if one.fact.kind == "node restarted"]


@pytest.mark.parametrize(
    ("line", "expected", "kind"),
    [
        # the scheduler lost a node
        (NODE_FAILURE, "root", "node lost"),
        (NODE_FAILURE.replace("JOB 77", "STEP 77.0").replace(" AT 2026-11-21T04:00:12", ""), "root", "node lost"),
        (NOT_READY, "root", "node lost"),
        ("slurmctld: error: Nodes n[1-2] not responding, setting DOWN", "root", "node lost"),
        # a node lost the scheduler
        (NO_CONTROLLER, "root", "network link"),
        ("slurmd: error: Unable to contact slurm controller (connect failure)", "root", "network link"),
        ("br0: port 2(eth1) entered disabled state", "root", "network link"),
        # ends from outside
        ("slurmctld: Time limit exhausted for JobId=77", "stop", "time limit"),
        ("*** JOB 77 ON n1 CANCELLED AT 2026-11-21T04:00:12 DUE TO PREEMPTION ***", "stop", "preemption"),
        ("Normal  Preempted  pod/trainer-0  Preempted by pod 8d6c on node gpu-node-7", "stop", "preemption"),
        # the end that a failure brings
        ("*** STEP 77.0 ON n1 CANCELLED AT 2026-11-21T04:00:12 DUE TO TASK FAILURE ***", "teardown", "end of the job"),
        ("Normal  Killing  4m31s  kubelet  Stopping container trainer", "teardown", "end of the job"),
        # what peers say
        ("DistBackendError: remote process exited or there was a network error, NCCL 2.18", "propagated", "peer lost"),
        # who never met, and who waited
        ("DistStoreError: Timed out after 901 seconds waiting for clients. 6/8 clients joined.", "root", "rendezvous"),
        ("DistStoreError: wait timeout after 300000ms, keys: /worker/3", "propagated", "peer silent"),
        # parts of the machine
        (
            "[ERROR] HCCL(1,python):2023-01-31-02:48:24.126.000 [heartbeat.cc:812]cqe error status[12]",
            "root",
            "RDMA transport",
        ),
        ("mce: [Hardware Error]: CPU 3: Machine Check: 0 Bank 5: be00", "root", "machine"),
        ("nvme nvme0: I/O 12 QID 3 timeout, aborting", "root", "storage"),
        ("nfs: server fs1 not responding, still trying", "root", "storage"),
        ("systemd[1]: Started kubelet - Kubernetes node agent.", "root", "node restarted"),
        ("kernel: Linux version 5.15.0-91-generic (buildd@x) #101-Ubuntu SMP", "root", "node restarted"),
        (BANNER, "root", "node restarted"),
    ],
)
def test_a_known_line_has_its_meaning(line: str, expected: str, kind: str) -> None:
    """Role and kind of what schedulers, kernels, launchers and libraries really print."""
    fact = meaning(line)

    assert fact is not None
    assert (role(fact), fact.kind, fact.known) == (expected, kind, True)


@pytest.mark.parametrize(
    "line",
    [
        # kernels tell how they were built and what they found
        "CPU: 0 UID: 0 PID: 21878 Comm: python Not tainted 6.18.44 #1 PREEMPT(none)",
        "kernel: rcu: Preemptible hierarchical RCU implementation.",
        "Dynamic Preempt: voluntary",
        "mce: CPU0 supports 32 MCE banks",
        "MCE: In-kernel MCE decoding enabled.",
        "nvme nvme0: Shutdown timeout set to 8 seconds",
        "docker0: port 1(veth12ab) entered disabled state",
        "systemd[1]: Starting kubelet: The Kubernetes Node Agent...",
        # settings
        "exit_on_preempt: false",
        "preemption_signal ........ SIGUSR1",
        "INFO preemption checkpointing is enabled",
        "Preemption requires torch distributed to be initialized, disabling preemption",
        "time limit: 12:00:00",
        # programs that work
        "training started",
        "INFO shutting down the data loader",
        "WARNING Sequence group 0 is preempted by PreemptionMode.RECOMPUTE mode: not enough KV cache",
        "operation exceeded the timeout of 600 s",
        "reached the time for evaluation",
        "the job will be stopped by early stopping",
        "found Information about 4 GPUs",
        "found infiniband device mlx5_0",
        "INFO checksum of the data set: 9f8a",
        "verifying checksum of shard 3",
        "marking countdown",
        "scheduler LR never replaced",
        "job 77 ended: COMPLETED",
        "exit code 0",
        # NCCL looks for plugins that nobody needs
        "NCCL INFO NET/Plugin : Plugin load (libnccl-net.so) returned 2 : libnccl-net.so: cannot open shared object",
        "NCCL INFO NET/Plugin: Failed to find ncclCollNetPlugin_v7 symbol.",
        "NCCL INFO NET/IB : No device found.",
    ],
)
def test_an_ordinary_line_is_no_known_fault(line: str) -> None:
    """Every healthy job says such things: no fault, no stop, nothing that peers tell."""
    fact = meaning(line)

    assert fact is None or not fact.known or fact.role in (Role.BENIGN, Role.TEARDOWN)


def test_a_job_that_is_cancelled_for_a_lost_node_was_not_stopped_from_outside() -> None:
    """Slurm cancels it, but the node is why."""
    diagnosis = diagnose(four_nodes({}, usual=steps(9), others={"slurm.out": [at(12, NODE_FAILURE)]}), [])

    assert diagnosis.scope is not Scope.NONE
    assert "lost a node" in diagnosis.headline


@pytest.mark.parametrize(
    ("line", "node"),
    [
        (NOT_READY, "w-3"),
        ("slurmctld: error: Nodes tr-01 not responding, setting DOWN", "tr-01"),
        ("srun: error: Node failure on w-2", "w-2"),
    ],
)
def test_who_reports_a_lost_node_names_it(line: str, node: str) -> None:
    """The node that was not heard is accused, not the one that waited for it."""
    names = ("tr-00", "tr-01", "w-2", "w-3")
    ranks = {name: (n,) for n, name in enumerate(names)}
    files = {f"{name}/rank_{n}.log": lines(*steps(9)) for n, name in enumerate(names)}

    diagnosis = diagnose(job(files | {"slurmctld.log": lines(at(20, line))}, nodes=names, node_ranks=ranks), [])

    assert (diagnosis.scope, [one.node for one in diagnosis.nodes]) == (Scope.NODE, [node])


def test_no_fact_takes_a_word_for_a_name() -> None:
    """Whom a fact names in its own example lines is no word of the sentence."""
    words = {"failure", "status", "is", "with", "has", "was", "id", "not", "the", "of", "died", "error"}
    named = [
        value
        for file in rule_files("facts")
        for rule in read_rules(file)["fact"]
        if "named" in rule
        for said in rule["said"]
        for _, line in said["lines"]
        if (found := re.search(rule["named"], line, re.IGNORECASE))
        for value in found.groupdict().values()
        if value is not None
    ]

    assert len(named) > 20
    assert not words & {value.lower().rstrip(".") for value in named}


def test_tensorflow_tells_who_is_gone() -> None:
    """Its drivers look for an accelerator that no machine has; its tasks name the one that closed the connection."""
    driver = "E0000 00:00:1795414286.161954 1563 cuda_platform.cc:52] failed call to cuInit: INTERNAL: CUDA error: Failed call to cuInit: UNKNOWN ERROR (303)"  # noqa: E501
    gone = "Additional GRPC error information from remote target /job:worker/replica:0/task:1 while calling /tensorflow.WorkerService/RecvBuf:"  # noqa: E501
    says = {
        n: [driver, *(at(k, f"step {k} loss 2.5") for k in range(1, 20)), *([gone] if n in (0, 2, 3) else [])]
        for n in range(4)
    }

    found = diagnose(four_nodes(says), [])

    assert [one.node for one in found.nodes] == ["node-1"]
    assert "accelerator" not in found.headline


def test_who_cannot_reach_the_controller_has_a_broken_link() -> None:
    """A node tells it of itself."""
    diagnosis = diagnose(four_nodes({}, usual=steps(9), others={"node-2/kubelet.log": [at(12, NO_CONTROLLER)]}), [])

    assert (diagnosis.scope, [one.node for one in diagnosis.nodes]) == (Scope.NODE, ["node-2"])


@pytest.mark.parametrize("said", ["slurmd version 24.05.2 started", STARTED, BANNER])
def test_a_daemon_starts_once_and_restarts_the_second_time(said: str) -> None:
    """Every node says it when it comes up; who says it again came up again."""
    assert restarts(at(0, said)) == []
    assert restarts(at(0, said), at(30, said)) == [1]
    assert restarts(at(0, said), at(30, said), at(60, said)) == [2]


def test_a_machine_that_starts_once_the_job_worked_started_anew() -> None:
    """Its log may begin with the job, so that nobody saw it start before."""
    steps = [at(k, f"INFO iteration {k} loss 2.5") for k in range(1, 9)]

    def found(when: float) -> list[str]:
        parsed = parse(four_nodes({}, usual=steps, others={"node-2/messages": [at(when, BANNER)]}))
        return [one.fact.kind for one in find_candidates(parsed)]

    assert found(7.5) == ["node restarted"]
    assert found(0.5) == []


def test_each_node_may_start_once() -> None:
    """Four first times are not four restarts."""
    daemons = {f"node-{n}/kubelet.log": [at(n, STARTED)] for n in range(4)}

    assert [one.fact.kind for one in find_candidates(parse(four_nodes({}, usual=["hello"], others=daemons)))] == []


def test_the_node_that_started_anew_is_accused() -> None:
    """It says again what all others said once."""
    daemons = {f"node-{n}/kubelet.log": [at(0, STARTED)] for n in range(4)}
    daemons["node-2/kubelet.log"] += [at(12, STARTED)]

    diagnosis = diagnose(four_nodes({}, usual=steps(9), others=daemons), [])

    assert (diagnosis.scope, [one.node for one in diagnosis.nodes]) == (Scope.NODE, ["node-2"])
    assert "again; the other 3 nodes never did" in diagnosis.nodes[0].because


PATTERNS = tuple(
    pattern for file in rule_files("facts") for rule in read_rules(file)["fact"] for pattern in patterns_of(rule, file)
)


@pytest.mark.parametrize(
    ("pattern", "word"),
    [
        ("\\[Errno 28\\]", "[errno 28]"),
        ("NFS: .*(lost|gone)", "nfs: "),
        ("colou?r of \\w+ things", " things"),
        ("ab{2}cde+f", "cde"),
        ("(?<!remote )child [^:]{0,40}returned", "returned"),
        ("one|two", ""),
    ],
)
def test_a_pattern_has_a_word_that_stands_wherever_it_is_found(pattern: str, word: str) -> None:
    """What a group, a class or a repeat may leave out is no part of it."""
    assert word_of(pattern) == word


def test_every_pattern_is_found_by_a_word_of_its_own() -> None:
    """A fact whose pattern had none would be searched in every message of a job."""
    assert [pattern for pattern in PATTERNS if len(word_of(pattern).strip()) < 2] == []


def test_words_lose_no_message_that_a_pattern_finds() -> None:
    """The slow twin: over the messages of these tests, a pattern is never found without its word."""
    messages = [
        NODE_FAILURE,
        NOT_READY,
        NO_CONTROLLER,
        BANNER,
        *(line.text for line in REAL_LINES if line.role != HARMLESS),
    ]
    lost = [
        (pattern, message)
        for pattern in PATTERNS
        for message in messages
        if re.search(pattern, message, re.IGNORECASE | re.ASCII) and word_of(pattern) not in message.lower()
    ]

    assert lost == []


@pytest.mark.parametrize(
    "line", ["connect_timeout: 30 s", "KillOnBadExit = 0", "fail_on_error ........ False", "ECC errors: 0"]
)
def test_a_name_and_a_number_or_a_switch_is_a_setting_or_a_counter(line: str) -> None:
    """Argument tables and reports hold every word of failure there is."""
    assert meaning(line) is None


@pytest.mark.parametrize("line", ["KeyError: 7", "Reason: OOMKilled", "exit code: 137", "OOMKilled: true"])
def test_an_error_with_a_number_is_no_setting(line: str) -> None:
    """Exceptions, reasons and exit codes look like settings and are none."""
    fact = meaning(line)

    assert fact is not None
    assert fact.role is Role.ROOT


@pytest.mark.parametrize(
    ("line", "node"),
    [
        ("slurmctld: requeue job JobId=7 due to failure of node w-3", "w-3"),
        ("salloc: Prolog failure on node tr-01", "tr-01"),
        ("mpirun noticed that process rank 1 with PID 29 on node w-2 exited on signal 11 (Segmentation fault).", "w-2"),
    ],
)
def test_schedulers_and_launchers_name_the_node_that_failed(line: str, node: str) -> None:
    """Their own machine is not the one at fault."""
    fact = meaning(line)

    assert fact is not None
    assert fact.named is not None
    found = fact.named.search(line)
    assert found is not None
    assert node in found.groupdict().values()


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("OSError: [Errno 28] No space left on device: '/scratch/a.pt'", "no space left"),
        ("write /mnt/b.gob: no space left on device", "no space left"),
        ("DataLoader worker (pid <NUM>) is killed by signal: Killed.", "dataloader worker pid is killed by signal"),
        ("RuntimeError: caught\nOSError: [Errno 28] No space left on device: 'c'", "no space left"),
        ("ValueError: nobody wrote this down", ""),
        ("step <NUM> loss <NUM>", ""),
    ],
)  # fmt: skip
def test_the_words_that_tell_are_the_same_for_every_program(line: str, words: str) -> None:
    """Paths and numbers of a job are in none of them."""
    assert telling_words(line) == words


def test_a_read_only_file_system_is_not_full() -> None:
    """The writer of PyTorch says both in one frame."""
    frame = "RuntimeError: [enforce fail at inline_container.cc:747] . open file failed with strerror: {}"
    full, only = (meaning(frame.format(text)) for text in ("No space left on device", "Read-only file system"))

    assert full is not None
    assert only is not None
    assert (full.kind, only.kind) == ("disk full", "storage")
