"""Processes that die or stop: ranks, launchers, data loader workers."""

import signal

from lab.model import MEMORY, NETNS, Fault, Site, Trace, stop_all
from lab.settings import DIRECT, TORCHRUN, Settings

SPARE_MB = 200  # until the kernel's out-of-memory killer comes
LEAK = """if rank == RANK and iteration >= ITERATION - 4:
    cache = globals().setdefault("activation_cache", [])
    cache.append(torch.ones(24_000_000))"""
WORKER_DIED = r"DataLoader worker \(pid.*\) (is killed by signal: Killed|exited unexpectedly)"


def _torchrun(settings: Settings) -> bool:
    return settings.launcher == TORCHRUN


def _restarts(settings: Settings) -> bool:
    return settings.launcher == TORCHRUN and not settings.static


def _watched(settings: Settings) -> bool:
    """Somebody writes how a rank's process ended."""
    return settings.launcher != DIRECT


def _died(number: int, name: str, words: str) -> tuple[Trace, ...]:
    """What launchers write when a rank is ended by a signal."""
    return (
        Trace("the launcher saw its worker end by a signal", rf"failed \(exitcode: -{number}\) local_rank"),
        Trace("torchrun's report names the signal", rf"Signal {number} \({name}\) received by PID"),
        Trace("srun names the signal", rf"srun: error: NODE: tasks? \d+: {words}"),
        Trace("supervisord saw its program end by a signal", rf"exited: train \(terminated by {name}; not expected\)"),
    )


def _signal_rank(signum: signal.Signals, site: Site) -> None:
    site.signal_rank(site.plan.rank, signum)


def _kill(site: Site) -> None:
    _signal_rank(signal.SIGKILL, site)


def _freeze(site: Site) -> None:
    site.freeze()


def _crash(site: Site) -> None:
    _signal_rank(signal.SIGSEGV, site)


def _kill_launcher(site: Site) -> None:
    stop_all([site.launcher_pid()])


def _kill_worker(site: Site) -> None:
    stop_all(site.workers(site.plan.rank)[:1])


def _limit_memory(site: Site) -> None:
    if site.node.group is not None:
        site.node.group.limit_memory(SPARE_MB)


def _allow_restart(site: Site) -> None:
    for node in site.settings.nodes:
        site.launcher.setdefault(node, {})["restarts"] = 1
        site.args.setdefault(node, []).extend(["--resume-from", str(site.home(node) / "ckpt")])


PROCESSES = (
    Fault(
        "rank_sigkill", "rank {rank} on {node} was killed (SIGKILL)",
        "hardware", "process lost", "node", "training",
        _died(9, "SIGKILL", "Killed"), shows=_watched,
        strike=_kill, guilty_rank=True,
    ),
    Fault(
        "rank_hang", "rank {rank} on {node} froze (SIGSTOP); its peers timed out",
        "hardware", "accelerator hang", "node", "training",
        strike=_freeze, guilty_rank=True,
    ),
    Fault(
        "segfault", "rank {rank} on {node} crashed (SIGSEGV)",
        "framework", "native crash", "node", "training",
        (
            *_died(11, "SIGSEGV", "Segmentation fault"),
            Trace("the crash handler of the rank", r"Fatal Python error: Segmentation fault"),
            Trace("torchrun's report names the signal", r"exitcode +: -11 \(pid: \d+\)"),
        ),
        strike=_crash, guilty_rank=True,
    ),
    Fault(
        "launcher_killed", "torchrun of {node} was killed; its ranks are orphans",
        "platform", "job management", "node", "training",
        strike=_kill_launcher, suits=_torchrun, dated=False,
    ),
    Fault(
        "oom_kill", "rank {rank} leaked memory until the kernel killed it",
        "user", "program bug", "node", "training",
        _died(9, "SIGKILL", "Killed"), shows=_watched,
        code=(("step", LEAK),), strike=_limit_memory, needs=frozenset({MEMORY}), guilty_rank=True,
    ),
    Fault(
        "dataloader_worker_killed", "a data loader worker of rank {rank} was killed",
        "platform", "process killed", "node", "training",
        (Trace("the data loader's worker was killed", WORKER_DIED),),
        strike=_kill_worker, guilty_rank=True,
    ),
    Fault(
        "restarts_failed", "rank {rank} on {node} was killed (SIGKILL); torchrun started all ranks again, in vain",
        "hardware", "process lost", "node", "training",
        _died(9, "SIGKILL", "Killed"),
        prepare=_allow_restart, strike=_kill, suits=_restarts, needs=frozenset({NETNS}), guilty_rank=True,
        sign=lambda home, _: any(home.rglob("attempt_1")),
    ),
)  # fmt: skip
