"""The processes that a node's daemon starts: a rank each, or one torchrun; their arguments and where they write."""

from pathlib import Path
from typing import Any

from lab.model import Site
from lab.settings import MEGALITE
from lab.wording import DAEMON

LOOK_S = "0.5"  # between looks of torchrun at its workers
MASTER_PORT, RENDEZVOUS_PORT = 29500, 29400
INIT_S, COLLECTIVE_S = 25, 12  # time-outs of set-up and of training


def tasks_of(site: Site, node: str, python: Path) -> list[dict[str, Any]]:
    """What the daemon of a node has to start."""
    if site.settings.launcher == "torchrun":
        return [_torchrun(site, node, python)]
    return [_rank(site, node, local, python) for local in range(site.settings.per_node)]


def daemon_log(site: Site, node: str) -> Path:
    """The node's own log."""
    name = DAEMON[site.settings.dialect]
    by_node = site.settings.layout == "folders"
    return _with_folder(site.logs / node / f"{name}.log" if by_node else site.logs / name / f"{node}.log")


def job_output(site: Site) -> str:
    """The file for what all ranks say, where the layout has one."""
    return {"output": f"slurm-{site.plan.job_id}.out", "tagged": "train.log"}.get(site.settings.layout, "")


def _program(site: Site, node: str) -> list[str]:
    """The training program and its arguments."""
    home, iterations = site.home(node), str(site.settings.iterations)
    data, checkpoints = str(home / "data"), str(home / "ckpt")
    if site.settings.program is MEGALITE:
        words = [
            "--config", "config.json", "--train-iters", iterations, "--data-path", data, "--save", checkpoints,
            "--tensor-model-parallel-size", str(site.settings.per_node), "--init-timeout-seconds", str(INIT_S),
            "--distributed-timeout-seconds", str(COLLECTIVE_S),
        ]  # fmt: skip
        words += ["--load", checkpoints] if site.plan.resume else []
    else:
        words = [
            "--config", "config.json", "--max-steps", iterations, "--data-dir", data, "--output-dir", checkpoints,
            "--init-timeout", str(INIT_S), "--timeout", str(COLLECTIVE_S),
        ]  # fmt: skip
        words += ["--resume-from", checkpoints] if site.plan.resume else []
    return [site.settings.program.script, *words, *site.args.get(node, [])]


def _environment(site: Site, node: str) -> dict[str, str]:
    environment = {
        "NODE_NAME": node, "DEVICE_DIR": str(site.home(node) / "dev"), "NOISE": ",".join(site.plan.noise),
        "NOISE_SEED": str(site.plan.seed), "METRICS": f"{site.cluster.scheduler[0]}:9091", "PYTHONUNBUFFERED": "1",
        "PYTHONFAULTHANDLER": "1", "PYTHONDONTWRITEBYTECODE": "1", "OMP_NUM_THREADS": "1",
        "GLOO_SOCKET_IFNAME": "eth0" if site.cluster.netns else "lo",
    }  # fmt: skip
    return environment | ({"TORCH_CPP_LOG_LEVEL": "INFO"} if site.settings.verbose else {})


def _master(site: Site, node: str) -> tuple[str, int]:
    first = site.cluster.nodes[0]
    host = first.name if site.cluster.netns else first.address
    port = MASTER_PORT if site.cluster.netns else site.cluster.scheduler[1] + 1
    return site.launcher.get(node, {}).get("master", host), port


def _rank(site: Site, node: str, local: int, python: Path) -> dict[str, Any]:
    settings = site.settings
    rank = settings.ranks(node)[local]
    host, port = _master(site, node)
    world = site.launcher.get(node, {}).get("world", settings.world)
    program = _program(site, node)
    place = {
        "RANK": str(rank), "LOCAL_RANK": str(local), "WORLD_SIZE": str(world), "MASTER_ADDR": host,
        "MASTER_PORT": str(port),
    }  # fmt: skip
    files = settings.layout == "ranks"
    target = str(_with_folder(site.logs / "ranks" / f"{node}-{rank}.log")) if files else ""
    return {
        "name": str(rank), "argv": [str(python), *program], "shown": ["python", *program],
        "cwd": str(site.home(node) / "code"), "env": _environment(site, node) | place,
        "prefix": f"{rank}: " if settings.layout == "output" else f"[rank{rank}]: ",
        "output": "files" if files else "forward", "stdout": target, "stderr": target,
    }  # fmt: skip


def _torchrun(site: Site, node: str, python: Path) -> dict[str, Any]:
    settings, special = site.settings, site.launcher.get(node, {})
    host, port = _master(site, node)
    words = ["--nnodes", str(special.get("nnodes", len(settings.nodes))), "--nproc-per-node", str(settings.per_node)]
    if site.cluster.netns and not settings.static:
        words += ["--rdzv-id", site.plan.job_id, "--rdzv-backend", "c10d"]
        words += ["--rdzv-endpoint", f"{host}:{RENDEZVOUS_PORT}"]
        words += ["--rdzv-conf", f"join_timeout={INIT_S},last_call_timeout=3,read_timeout=20"]
    else:
        words += ["--node-rank", str(settings.nodes.index(node)), "--master-addr", host, "--master-port", str(port)]
    words += ["--max-restarts", str(special.get("restarts", 0)), "--monitor-interval", LOOK_S]
    by_node = settings.layout == "folders"
    if by_node:
        target = site.logs / node / "torchrun.log"
        words += ["--log-dir", str(site.logs / node / "torchrun"), "--redirects", "3"]
    else:
        target = site.logs / "pods" / f"{site.plan.job_id}-{node}.log"
        words += ["--log-dir", str(site.work / f"torchrun-{node}"), "--tee", "3"]
    words += _program(site, node)
    target = _with_folder(target)
    return {
        "name": "0", "argv": [str(python), "-m", "torch.distributed.run", *words], "shown": ["torchrun", *words],
        "cwd": str(site.home(node) / "code"), "env": _environment(site, node), "prefix": "",
        "output": "files" if by_node else "stamped", "stdout": str(target), "stderr": str(target),
    }  # fmt: skip


def _with_folder(path: Path) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    return path
