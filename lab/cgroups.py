"""A node's control group, where the machine lets us make one (version 1 or 2): memory, share of a CPU, freezer."""

import contextlib
import time
from pathlib import Path

ROOT = Path("/sys/fs/cgroup")
PERIOD_US = 100_000  # the kernel's default (Documentation/scheduler/sched-bwc.rst)
PATIENCE = 30  # tenths of a second


class ControlGroup:
    """Made by ``open_group``; ``close`` removes it once its processes are gone."""

    def __init__(self, name: str, folders: tuple[Path, ...], freezer: Path, version: int) -> None:
        self.name = name
        self._folders = folders
        self._freezer = freezer
        self._version = version

    def entry(self) -> str:
        """Shell commands with which a process joins."""
        return "; ".join(f"echo $$ > {folder}/cgroup.procs" for folder in self._folders)

    def limit_memory(self, spare: int) -> None:
        """From now on the kernel kills what needs more than this many megabytes on top of what is used now."""
        used, limit = {1: ("memory.usage_in_bytes", "memory.limit_in_bytes"), 2: ("memory.current", "memory.max")}[
            self._version
        ]
        folder = self._folders[0]
        now = int((folder / used).read_text(encoding="utf-8"))
        (folder / limit).write_text(str(now + (spare << 20)), encoding="utf-8")

    def limit_cpu(self, share: float) -> None:
        """From now on all processes together get this share of one CPU."""
        quota = int(share * PERIOD_US)
        if self._version == 1:
            (self._folders[-1] / "cpu.cfs_period_us").write_text(str(PERIOD_US), encoding="utf-8")
            (self._folders[-1] / "cpu.cfs_quota_us").write_text(str(quota), encoding="utf-8")
        else:
            (self._folders[-1] / "cpu.max").write_text(f"{quota} {PERIOD_US}", encoding="utf-8")

    def freeze(self, pid: int) -> None:
        """One process stops as if it waited for the kernel: no signal wakes it, ``SIGCONT`` included."""
        self._freezer.mkdir(exist_ok=True)
        (self._freezer / "cgroup.procs").write_text(str(pid), encoding="utf-8")
        self._set_frozen(frozen=True)

    def thaw(self) -> None:
        """Let it go on; the signals that it missed arrive."""
        if self._freezer.is_dir():
            self._set_frozen(frozen=False)

    def _set_frozen(self, *, frozen: bool) -> None:
        file, words = {1: ("freezer.state", ("THAWED", "FROZEN")), 2: ("cgroup.freeze", ("0", "1"))}[self._version]
        (self._freezer / file).write_text(words[frozen], encoding="utf-8")

    def close(self) -> None:
        """Remove it; a group with a process that cannot die stays."""
        for folder in (self._freezer, *self._folders):
            for _ in range(PATIENCE):
                try:
                    folder.rmdir()
                    break
                except FileNotFoundError:
                    break
                except OSError:  # a process is still on its way out
                    time.sleep(0.1)


def open_group(name: str) -> ControlGroup | None:
    """A new control group, or none where we may not."""
    try:
        if (ROOT / "memory").is_dir():
            folders: tuple[Path, ...] = (ROOT / "memory" / name, ROOT / "cpu" / name)
            freezer, version = ROOT / "freezer" / name, 1
        else:
            folders, freezer, version = (ROOT / name,), ROOT / name / "frozen", 2
            (ROOT / "cgroup.subtree_control").write_text("+memory +cpu", encoding="utf-8")
        for folder in folders:
            folder.mkdir(exist_ok=True)
    except OSError:
        return None
    return ControlGroup(name, folders, freezer, version)


def sweep(alive: frozenset[str]) -> None:
    """Remove control groups of labs whose process, the number behind ``lab``, is not among these."""
    places = [folder for root in (ROOT, *ROOT.glob("*")) for folder in sorted(root.glob("lab[0-9]*"))]
    for folder in places:
        if folder.name.removeprefix("lab").partition("x")[0] not in alive:
            with contextlib.suppress(OSError):
                (folder / "frozen").rmdir()
            with contextlib.suppress(OSError):
                folder.rmdir()
