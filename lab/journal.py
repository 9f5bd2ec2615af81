"""A node's journal: systemd-journald itself, on a node of its own, and systemd-cat in front of what it shall hear.

journald needs no systemd around it: a runtime folder, a machine id and its own configuration are enough. It reads no
kernel messages here, because all nodes share one kernel. The log of a job is what journalctl prints of it.
"""

import shutil
import subprocess
import time
from hashlib import sha256
from pathlib import Path

from lab.cluster import Node
from lab.errors import LabError
from lab.model import Site

JOURNALD = Path("/lib/systemd/systemd-journald")
CONFIGURATION = "[Journal]\nStorage=volatile\nReadKMsg=no\nAudit=no\nRateLimitBurst=0\nForwardToSyslog=no\n"
TAG = "torchrun"
UP_S = 10.0  # chosen, with room for a busy machine


def available() -> bool:
    """Whether the machine has journald and its tools."""
    return JOURNALD.exists() and all(shutil.which(name) for name in ("systemd-cat", "journalctl"))


def mounts(site: Site, node: str) -> list[str]:
    """What the node needs: /run of its own, with the journal in a folder that outlives the node."""
    kept, configuration, identity = (
        site.work / f"{node}-{name}" for name in ("journal", "journald.conf", "machine-id")
    )
    kept.mkdir(parents=True)
    configuration.write_text(CONFIGURATION, encoding="utf-8")
    identity.write_text(sha256(f"{site.plan.job_id}/{node}".encode()).hexdigest()[:32] + "\n", encoding="utf-8")
    return [
        "mount -t tmpfs tmpfs /run", "mkdir -p /run/systemd/journal /run/log/journal",
        f"mount --bind {kept} /run/log/journal", f"mount --bind {configuration} /etc/systemd/journald.conf",
        f"mount --bind {identity} /etc/machine-id",
    ]  # fmt: skip


def start(site: Site, node: Node) -> None:
    """Start the node's journald, and wait until it listens."""
    with (site.work / "harness.log").open("ab") as log:
        site.cluster.spawn(node, [str(JOURNALD)], {}, out=log)
    until = time.monotonic() + UP_S
    root = Path(f"/proc/{node.holder}/root")
    while not (root / "run/systemd/journal/stdout").exists():
        if time.monotonic() > until:
            raise LabError(f"journald of {node.name} did not come up")
        time.sleep(0.1)


def wrapped(argv: list[str]) -> list[str]:
    """A command whose output goes to the journal."""
    return ["systemd-cat", f"--identifier={TAG}", "--level-prefix=no", *argv]


def collect(site: Site, node: Node) -> None:
    """Print the node's journal into its log."""
    words = ["journalctl", "--directory", str(site.work / f"{node.name}-journal"), "--identifier", TAG, "--all"]
    text = subprocess.run(  # noqa: S603 - our own command
        [*words, "--output=short-precise", "--no-pager", "--quiet"], check=True, capture_output=True,
    ).stdout  # fmt: skip
    site.log(node.name).write_bytes(text)
