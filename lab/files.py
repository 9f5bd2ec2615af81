"""The files of a job: code and data on every node before it starts, and logs that name no machine of ours after it."""

import json
import os
import random
import shutil
import socket
from pathlib import Path

from lab import journal, slurm
from lab.errors import LabError
from lab.model import Site
from lab.settings import SLURM

PROGRAMS = Path(__file__).parent / "programs"
SHARDS, DOCUMENTS = 16, 60  # chosen: small enough to be made anew for each lab
VOCABULARY = {letter: index + 1 for index, letter in enumerate("abcdefghijklmnopqrstuvwxyz .,;'-éüñ")}
WORDS = "the model of a rank node step loss token data layer and in to with café über señor train".split()  # noqa: SIM905


def lay_out(site: Site, scratch: Path) -> None:
    """Make the work folder; the data are the same in all jobs of a lab."""
    site.logs.mkdir(parents=True)
    site.checkpoints.mkdir(parents=True)
    for node in site.settings.nodes:
        home = site.home(node)
        shutil.copytree(PROGRAMS, home / "code", ignore=shutil.ignore_patterns("__pycache__"))
        config = json.dumps(site.settings.program.config, indent=1)
        (home / "code" / "config.json").write_text(config, encoding="utf-8")
        shutil.copytree(scratch / "corpus", home / "data")
        (home / "ckpt").symlink_to(site.checkpoints)
    if site.cluster.netns:
        _prepare_machines(site)
    if site.plan.resume:
        kept = scratch / "checkpoints" / site.settings.name
        if not kept.exists():
            raise LabError(f"{site.plan.job_id} resumes, and no job of {site.settings.name} has left a checkpoint")
        shutil.copytree(kept, site.checkpoints, dirs_exist_ok=True)


def _prepare_machines(site: Site) -> None:
    """Every machine knows the others' names; its shared memory, scheduler and journal are its own."""
    known = [f"{other.address} {other.name}\n" for other in site.cluster.machines]
    for node in site.cluster.machines:
        hosts = site.home(node.name) / "hosts"
        hosts.parent.mkdir(exist_ok=True)
        hosts.write_text("".join(["127.0.0.1 localhost\n", *known]), encoding="utf-8")
        node.mounts += [f"mount --bind {hosts} /etc/hosts", "mount -t tmpfs -o size=512m tmpfs /dev/shm"]
        if site.settings.layout.frame == "journal":
            node.mounts += journal.mounts(site, node.name)
    if site.settings.launcher == SLURM:
        slurm.write_files(site)


def write_corpus(folder: Path) -> None:
    """Shards of text, a manifest, and the tokenizer's vocabulary."""
    folder.mkdir(parents=True)
    chance = random.Random(11)  # noqa: S311 - text, no secret
    manifest: dict[str, list[str]] = {"train": [], "valid": []}
    for split, count in (("train", SHARDS), ("valid", SHARDS // 2)):
        for index in range(count):
            name = f"{split}-{index:05d}.jsonl"
            lines = [
                json.dumps({"text": " ".join(chance.choices(WORDS, k=chance.randint(10, 40)))}, ensure_ascii=False)
                for _ in range(DOCUMENTS)
            ]
            (folder / name).write_text("\n".join(lines) + "\n", encoding="utf-8")
            manifest[split].append(name)
    (folder / "manifest.json").write_text(json.dumps(manifest, indent=1), encoding="utf-8")
    (folder / "tokenizer.json").write_text(json.dumps(VOCABULARY, ensure_ascii=False, indent=1), encoding="utf-8")


def scrub(site: Site) -> None:
    """Paths and names of this machine leave the logs: /job, /shared, /opt/venv and localhost stand for them."""
    swaps = [(str(site.home(node)), "/job") for node in site.settings.nodes]
    swaps += [(str(site.work / "shared"), "/shared"), (str(site.logs), "/job/logs"), (str(site.work), "/job")]
    swaps += [(str(site.python.resolve().parent.parent), "/usr/local"), (str(site.python.parent.parent), "/opt/venv")]
    swaps += [(f"{site.cluster.token}-", "job-"), (site.cluster.bridge or socket.gethostname(), "localhost")]
    swaps += [(os.path.realpath(old), new) for old, new in swaps if old.startswith("/")]
    for path in [path for path in site.logs.rglob("*") if path.is_file()]:
        text = path.read_bytes()
        for old, new in sorted(swaps, key=lambda swap: -len(swap[0])):
            text = text.replace(old.encode(), new.encode())
        path.write_bytes(text)
        path.chmod(0o644)
