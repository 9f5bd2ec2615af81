"""How a node's part of a job is started: the command and the environment of a rank, of torchrun, of supervisord."""

import os
import shutil
from pathlib import Path

from lab.model import Site
from lab.settings import MEGALITE

LOOK_S = "0.5"  # between looks of torchrun at its workers
RENDEZVOUS_PORT = 29400  # torchrun's own default (torch.distributed.run)
INIT_S = 25  # time-out of the set-up
SUPERVISED = """[supervisord]
nodaemon=true
logfile={logs}/supervisord.log
pidfile={home}/supervisord.pid
[program:train]
command={command}
directory={home}/code
autorestart=false
startretries=0
startsecs=2
stopwaitsecs=10
redirect_stderr=true
stdout_logfile={log}
stdout_logfile_maxbytes=0
"""


def program(site: Site, node: str) -> list[str]:
    """The training program and its arguments."""
    home, iterations = site.home(node), str(site.iterations)
    setup = str(max(INIT_S, site.patience))
    data, checkpoints = str(home / "data"), str(home / "ckpt")
    if site.settings.program is MEGALITE:
        words = [
            "--config", "config.json", "--train-iters", iterations, "--data-path", data, "--save", checkpoints,
            "--tensor-model-parallel-size", str(site.settings.per_node), "--init-timeout-seconds", setup,
            "--distributed-timeout-seconds", str(site.patience),
        ]  # fmt: skip
        words += ["--load", checkpoints] if site.plan.resume else []
    else:
        words = [
            "--config", "config.json", "--max-steps", iterations, "--data-dir", data, "--output-dir", checkpoints,
            "--init-timeout", setup, "--timeout", str(site.patience),
        ]  # fmt: skip
        words += ["--resume-from", checkpoints] if site.plan.resume else []
    return [site.settings.program.script, *words, *site.args.get(node, [])]


def environment(site: Site, node: str) -> dict[str, str]:
    """What every program of a node finds in its environment."""
    settings = site.settings
    words = {
        "NODE_NAME": node, "NOISE": ",".join(site.plan.noise), "NOISE_SEED": str(site.plan.seed),
        "METRICS": f"{site.cluster.gateway}:9091", "PYTHONUNBUFFERED": "1", "PYTHONFAULTHANDLER": "1",
        "PYTHONDONTWRITEBYTECODE": "1", "OMP_NUM_THREADS": "1", "LOCAL_WORLD_SIZE": str(settings.per_node),
        "GLOO_SOCKET_IFNAME": "eth0" if site.cluster.netns else "lo", "DS_ACCELERATOR": "cpu",
        "ACCELERATE_USE_CPU": "true", "PATH": f"{site.python.parent}:{os.environ['PATH']}",
    }  # fmt: skip
    words |= {"TORCH_CPP_LOG_LEVEL": "INFO"} if settings.verbose else {}
    words |= {"STACKS": "1"} if settings.stacks else {}
    return words | site.env.get(node, {})


def master(site: Site, node: str) -> dict[str, str]:
    """Where the ranks of a node meet the others."""
    first, special = site.cluster.nodes[0], site.launcher.get(node, {})
    host = first.name if site.cluster.netns else first.address
    return {
        "WORLD_SIZE": str(special.get("world", site.settings.world)),
        "MASTER_ADDR": special.get("master", host), "MASTER_PORT": str(site.port),
    }  # fmt: skip


def rank_environment(site: Site, node: str, local: int) -> dict[str, str]:
    """Environment of a rank that no launcher starts."""
    place = {"RANK": str(site.settings.ranks(node)[local]), "LOCAL_RANK": str(local)}
    return environment(site, node) | master(site, node) | place


def rank_command(site: Site, node: str) -> list[str]:
    """One rank."""
    return [str(site.python), *program(site, node)]


def torchrun(site: Site, node: str) -> list[str]:
    """The launcher of a node."""
    settings, special, place = site.settings, site.launcher.get(node, {}), master(site, node)
    words = ["--nnodes", str(special.get("nnodes", len(settings.nodes))), "--nproc-per-node", str(settings.per_node)]
    if site.cluster.netns and not settings.static:
        words += ["--rdzv-id", site.plan.job_id, "--rdzv-backend", "c10d"]
        words += ["--rdzv-endpoint", f"{place['MASTER_ADDR']}:{RENDEZVOUS_PORT}"]
        words += ["--rdzv-conf", f"join_timeout={INIT_S},last_call_timeout=3,read_timeout=20"]
    else:
        words += ["--node-rank", str(settings.nodes.index(node))]
        words += ["--master-addr", place["MASTER_ADDR"], "--master-port", place["MASTER_PORT"]]
    words += ["--max-restarts", str(special.get("restarts", 0)), "--monitor-interval", LOOK_S]
    if settings.tee:
        words += ["--log-dir", str(site.work / f"torchrun-{node}"), "--role", settings.tee, "--tee", "3"]
    elif settings.layout.frame == "plain":
        words += ["--log-dir", str(site.logs / node / "torchrun"), "--redirects", "3"]
    return [str(site.python), "-m", "torch.distributed.run", *words, *program(site, node)]


def supervisord(site: Site, node: str) -> list[str]:
    """supervisord of a node; its configuration is written."""
    home, log = site.home(node), site.log(node)
    path = home / "supervisord.conf"
    words = " ".join(rank_command(site, node))
    path.write_text(SUPERVISED.format(logs=log.parent, home=home, log=log, command=words), encoding="utf-8")
    return [find("supervisord", site.python), "-c", str(path)]


def find(name: str, python: Path) -> str:
    """A program beside the interpreter, or of the machine; empty where there is none."""
    own = python.parent / name
    return str(own) if own.exists() else shutil.which(name) or ""
