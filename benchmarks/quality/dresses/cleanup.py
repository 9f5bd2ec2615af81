"""What another launcher than the job's own says when it ends what is left of a job, in its real words.

Each line names what is true of this job (``endings``): who failed with which code, and who was still there and was
ended. How a process ended that the fault itself killed is no clean-up, and is not said again. The words are those of
the programs' sources, named beside each.
"""

import signal
from collections.abc import Callable, Iterable, Iterator
from functools import partial

from benchmarks.quality.dresses.endings import Ending, endings
from benchmarks.quality.dresses.outfit import Outfit, Piece, outfit
from benchmarks.quality.dresses.stamps import made_up, moment, pod_of
from benchmarks.quality.dresses.wearer import Wearer

_SECOND = 1_000_000
_RULE = "-" * 74


def torchrun(wearer: Wearer) -> Outfit | None:
    """torch 2.9, distributed/elastic/multiprocessing/api.py and agent/server/api.py: one on each node."""
    return (
        None if _is_run_by(wearer, b"torch/distributed/elastic") else _on_each_node(wearer, "torchrun.log", _torchrun)
    )


def _torchrun(ending: Ending, time: int) -> Iterator[str]:
    agent, head = ending.pid - 40, partial(_glog, time)
    others = [ending.pid + 3 * place for place in range(1, len(ending.ranks))]
    if ending.was_ended:
        yield head("W", agent, "agent/server/api.py:753") + "Received 15 death signal, shutting down workers"
        others = [ending.pid, *others]
    for pid in others:
        yield head("W", agent, "multiprocessing/api.py:1028") + f"Sending process {pid} closing signal SIGTERM"
    if ending.was_ended and ending.process == -signal.SIGKILL:
        text = "Unable to shutdown process {} via Signals.SIGTERM, forcefully exiting via Signals.SIGKILL"
        yield _glog(time + 30 * _SECOND, "W", agent, "multiprocessing/api.py:1047") + text.format(ending.pid)
    if ending.by_itself and not ending.at_fault:
        yield head("E", agent, "multiprocessing/api.py:1002") + (
            f"failed (exitcode: {ending.process}) local_rank: {ending.local_rank} (pid: {ending.pid})"
            " of binary: /opt/venv/bin/python"
        )


def _glog(time: int, level: str, agent: int, where: str) -> str:
    clock = f"{moment(time):%m%d %H:%M:%S}.{time % _SECOND // 1000:03d}000"
    return f"{level}{clock} {agent} torch/distributed/elastic/{where}] "


def deepspeed(wearer: Wearer) -> Outfit | None:
    """DeepSpeed, launcher/launch.py: on each node, and it "kills" also those that are gone."""
    return None if _is_run_by(wearer, b"launch.py:") else _on_each_node(wearer, "deepspeed.log", _deepspeed)


def _deepspeed(ending: Ending, time: int) -> Iterator[str]:
    clock = f"[{moment(time):%Y-%m-%d %H:%M:%S},{time % _SECOND // 1000:03d}]"
    for place in range(len(ending.ranks)):
        yield f"{clock} [INFO] [launch.py:319:sigkill_handler] Killing subprocess {ending.pid + 3 * place}"
    if ending.by_itself and not ending.at_fault:
        command = ["/opt/venv/bin/python", "-u", "train.py", f"--local_rank={len(ending.ranks) - 1}"]
        yield f"{clock} [ERROR] [launch.py:325:sigkill_handler] {command} exits with return code = {ending.process}"
    elif ending.was_ended:
        yield f"{clock} [INFO] [launch.py:328:sigkill_handler] Main process received SIGTERM, exiting"


def srun(wearer: Wearer) -> Outfit | None:
    """Slurm 22.05, plugins/launch/slurm and slurmd/slurmstepd: a task a node, ``--kill-on-bad-exit``."""
    return (
        None if _is_run_by(wearer, b"srun: ") else _once(wearer, "slurm-4711.out", _srun(endings(wearer), wearer.end))
    )


def _srun(ended: tuple[Ending, ...], end: int) -> Iterator[str]:
    for ending in ended:
        if ending.code is not None and ending.code > 0:
            yield f"srun: error: {ending.node}: task {ending.place}: Exited with exit code {ending.code}"
    yield "srun: Terminating StepId=4711.0"
    clock = f"{moment(end + _SECOND):%Y-%m-%dT%H:%M:%S}"
    yield f"slurmstepd: error: *** STEP 4711.0 ON {_first(ended)} CANCELLED AT {clock} ***"
    for ending in ended:
        if ending.code is not None and ending.code < 0:
            yield f"srun: error: {ending.node}: task {ending.place}: {signal.strsignal(-ending.code)}"
    yield "srun: Force Terminated StepId=4711.0"


def _first(ended: Iterable[Ending]) -> str:
    return min(ended, key=lambda ending: ending.place).node


def mpirun(wearer: Wearer) -> Outfit | None:
    """Open MPI 4.1, orte/tools/orterun/help-orterun.txt: it names the first process that failed, and no other.

    Of one that the fault itself ended that is a report of the fault, and no clean-up.
    """
    ended = endings(wearer)
    is_report = any(ending.at_fault for ending in ended)
    return None if is_report or _is_run_by(wearer, b"mpirun ") else _once(wearer, "mpirun.log", _mpirun(ended))


def _mpirun(ended: tuple[Ending, ...]) -> Iterator[str]:
    first = next((ending for ending in ended if ending.process is not None), None)
    if first is None or first.process is None:
        return
    yield from (_RULE, "Primary job  terminated normally, but 1 process returned")
    yield from ("a non-zero exit code. Per user-direction, the job has been aborted.", _RULE, _RULE)
    if first.process < 0:
        who = f"process rank {first.rank} with PID {first.pid} on node {first.node}"
        yield f"mpirun noticed that {who} exited on signal {-first.process} ({signal.strsignal(-first.process)})."
    else:
        yield "mpirun detected that one or more processes exited with non-zero status, thus causing"
        yield "the job to be terminated. The first process to do so was:"
        yield from ("", f"  Process name: [[31337,1],{first.rank}]", f"  Exit code:    {first.process}")
    yield _RULE


def kubelet(wearer: Wearer) -> Outfit:
    """Kubernetes 1.29, pkg/kubelet: the pods of a failed job are deleted, and who is still there gets 30 seconds.

    A pod's log shipper runs until then and does not listen to SIGTERM: its 137 says nothing of the training.
    """
    return _on_each_node(wearer, "kubelet.log", _kubelet)


def _kubelet(ending: Ending, time: int) -> Iterator[str]:
    pod, uid = f"research/{pod_of(ending.node)}", _uid(ending.node)
    main, shipper = made_up(f"{uid} pytorch", 64), made_up(f"{uid} shipper", 64)
    if ending.by_itself:
        finished = f'"Generic (PLEG): container finished" podID="{uid}" containerID="{main}" exitCode={ending.code}'
        yield _klog(ending.time, "generic.go:334", finished)
        yield _klog(
            ending.time, "kubelet.go:2463", f'"SyncLoop (PLEG): event for pod" pod="{pod}" event={_event(uid, main)}'
        )
    yield _klog(time, "kubelet.go:2433", f'"SyncLoop DELETE" source="api" pods=["{pod}"]')
    left = [("pytorch", main)] * ending.was_ended + [("log-shipper", shipper)]
    for name, container in left:
        yield _klog(
            time,
            "kuberuntime_container.go:779",
            f'"Killing container with a grace period" pod="{pod}" podUID="{uid}" containerName="{name}"'
            f' containerID="containerd://{container}" gracePeriod=30',
        )
    later = time + 30 * _SECOND
    for name, container in left:
        code = 128 - (ending.process or 0) if name == "pytorch" else 137
        text = f'"Generic (PLEG): container finished" podID="{uid}" containerID="{container}" exitCode={code}'
        yield _klog(later, "generic.go:334", text)
        yield _klog(
            later, "kubelet.go:2463", f'"SyncLoop (PLEG): event for pod" pod="{pod}" event={_event(uid, container)}'
        )
    yield _klog(later, "kubelet.go:2427", f'"SyncLoop REMOVE" source="api" pods=["{pod}"]')


def _klog(time: int, where: str, text: str) -> str:
    return f"I{moment(time):%m%d %H:%M:%S.%f}    2480 {where}] {text}"


def _event(uid: str, container: str) -> str:
    return f'{{"ID":"{uid}","Type":"ContainerDied","Data":"{container}"}}'


def _uid(node: str) -> str:
    digits = made_up(f"{node} pod", 32)
    return "-".join((digits[:8], digits[8:12], digits[12:16], digits[16:20], digits[20:]))


def _is_run_by(wearer: Wearer, words: bytes) -> bool:
    """Whether the job has such a launcher itself."""
    return any(words in content for name, content in wearer.files.items() if name.startswith("logs/"))


def _on_each_node(wearer: Wearer, name: str, lines_of: Callable[[Ending, int], Iterator[str]]) -> Outfit:
    """In a file beside those of each node, a second after the job's last line."""
    pieces = {
        f"logs/{ending.node}/{name}": _said(lines)
        for ending in endings(wearer)
        if ending.process is not None  # else the machine is gone, or nobody reaches it
        if (lines := list(lines_of(ending, wearer.end + _SECOND)))
    }
    return outfit(wearer.files, pieces)


def _once(wearer: Wearer, name: str, lines: Iterable[str]) -> Outfit:
    """At the end of the file that a launcher wrote for all, else in a file of its own."""
    if not wearer.shared:
        return outfit(wearer.files, {f"logs/{name}": _said(lines)})
    kept, (last, *_) = dict(wearer.files), wearer.shared
    content = kept.pop(last.name)
    return outfit({**kept, last.name: content + b"".join(text + b"\n" for text, _ in _said(lines))}, {})


def _said(lines: Iterable[str]) -> list[Piece]:
    return [(line.encode(), None) for line in lines]
