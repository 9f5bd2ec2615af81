"""The daemon of one node, a process of its own: runs the tasks, tells the scheduler, and keeps the node's log."""

import json
import os
import re
import signal
import socket
import subprocess
import sys
import threading
import time
from contextlib import ExitStack
from pathlib import Path
from typing import IO, Any

from lab.kernel import kernel_lines
from lab.wording import sentence, stamp

BEAT_S = 1.5
GRACE_S = 6.0  # between SIGTERM and SIGKILL
XID = "NVRM: Xid (PCI:0000:{bus:02x}:00): 79, pid='<unknown>', name=<unknown>, GPU has fallen off the bus."


class Daemon:
    """Tasks, log and heartbeat of a node."""

    def __init__(self, config: dict[str, Any]) -> None:
        self.config = config
        self.node: str = config["node"]
        self.dialect: str = config["dialect"]
        self.log = Path(config["log"]).open("a", buffering=1, encoding="utf-8")  # noqa: SIM115 - as long as the process
        self.tasks: dict[str, subprocess.Popen[bytes]] = {}
        self.codes: dict[str, int] = {}
        self.stopping = False
        self.lock = threading.Lock()
        self.wire = threading.Lock()  # of its own: a dead link must not stop the log
        self.forward: socket.socket | None = None

    def write(self, event: str, **facts: object) -> None:
        """A line of the node's log."""
        text = sentence(self.dialect, event, job=self.config["job"], node=self.node, **facts)
        moment = stamp(self.dialect, time.time() + self.config.get("clock_offset", 0))
        with self.lock:
            self.log.write(f"{moment} {self.node} {text}\n")

    def run(self) -> None:
        """Start everything, wait for the tasks, stay a little to be heard."""
        self.write("daemon")
        for loop in (self.beat, self.watch_kernel, self.watch_links, self.watch_devices, self.watch_health):
            threading.Thread(target=loop, daemon=True).start()
        signal.signal(signal.SIGTERM, lambda *_: threading.Thread(target=self.preempt, daemon=True).start())
        time.sleep(self.config.get("delay", 0))
        for task in self.config["tasks"]:
            self.start(task)
        while len(self.codes) < len(self.tasks):
            for name, process in self.tasks.items():
                if name not in self.codes and process.poll() is not None:
                    self.ended(name, process.returncode)
            time.sleep(0.1)
        done = Path(self.config["ctl"]) / f"done.{self.node}"
        done.write_text(json.dumps(self.codes), encoding="utf-8")
        time.sleep(2 * BEAT_S)

    def start(self, task: dict[str, Any]) -> None:
        """Start a task; its output goes to files, or through us."""
        name = task["name"]
        self.write("launch", command=" ".join(task["shown"]))
        own = {key: value for key, value in os.environ.items() if key != "PYTHONPATH"}  # ours, not the program's
        out: int | IO[bytes] = subprocess.PIPE
        err: int | IO[bytes] = subprocess.STDOUT
        with ExitStack() as files:
            if task["output"] == "files":
                out, err = (files.enter_context(Path(task[stream]).open("ab")) for stream in ("stdout", "stderr"))
            process = subprocess.Popen(  # noqa: S603 - the lab's own command
                task["argv"], stdout=out, stderr=err, stdin=subprocess.DEVNULL, cwd=task["cwd"],
                env=own | task["env"], start_new_session=True,
            )  # fmt: skip
        if process.stdout is not None:
            threading.Thread(target=self.pump, args=(process.stdout, task), daemon=True).start()
        self.tasks[name] = process

    def pump(self, stream: IO[bytes], task: dict[str, Any]) -> None:
        """Carry a task's output to its file with time stamps, or to the scheduler with the task's number."""
        if task["output"] == "stamped":
            with Path(task["stdout"]).open("ab", buffering=0) as target:
                target.writelines(stamp("kube", time.time()).encode() + b" " + line for line in stream)
            return
        for line in stream:
            text = task["prefix"] + line.decode("utf-8", "surrogateescape")
            try:
                self._forward([text if text.endswith("\n") else text + "\n"])
            except OSError:  # the way to the scheduler is gone, and so is what this node says
                return

    def _forward(self, lines: list[str]) -> None:
        with self.wire:
            if self.forward is None:
                self.forward = socket.create_connection((self.config["address"], self.config["port"]), timeout=20)
            self.forward.sendall(json.dumps({"out": lines}).encode() + b"\n")

    def ended(self, name: str, code: int) -> None:
        """A task is over."""
        self.codes[name] = code
        if not code:
            self.write("finished", task=name)
        elif code > 0:
            self.write("exited", task=name, rc=code)
        else:
            self.write("signalled", task=name, rc=-code, name=signal.Signals(-code).name)

    def stop(self) -> None:
        """SIGTERM for every task, and SIGKILL for those that stay."""
        for signum in (signal.SIGTERM, signal.SIGKILL):
            for name, process in self.tasks.items():
                if process.poll() is not None:
                    continue
                if signum == signal.SIGKILL:
                    self.write("hard", task=name)
                    os.killpg(process.pid, signum)
                else:
                    process.send_signal(signum)
            time.sleep(GRACE_S)

    def preempt(self) -> None:
        """The node is wanted by somebody else."""
        if not self.stopping:
            self.stopping = True
            self.write("preempted")
            self.stop()

    def beat(self) -> None:
        """Tell the scheduler again and again, and obey it."""
        missed = 0
        address = f"{self.config['address']}:{self.config['port']}"
        while True:
            done = len(self.codes) == len(self.config["tasks"])
            message = {"node": self.node, "codes": dict(self.codes), "done": done}
            try:
                with socket.create_connection((self.config["address"], self.config["port"]), timeout=2) as peer:
                    peer.sendall(json.dumps(message).encode() + b"\n")
                    answer = json.loads(peer.makefile().readline() or "{}")
                if missed:
                    self.write("heard", count=missed)
                missed = 0
                if answer.get("order") == "stop" and not self.stopping:
                    self.stopping = True
                    self.write("stop", reason=answer["reason"])
                    threading.Thread(target=self.stop, daemon=True).start()
            except (OSError, ValueError) as error:
                missed += 1
                self.write("unheard", address=address, count=missed, error=error)
            time.sleep(BEAT_S)

    def watch_kernel(self) -> None:
        """Out-of-memory kills in this node's control group, from the kernel's own log."""
        group: str = self.config.get("cgroup", "")
        block: list[str] = []
        if not group:
            return
        for seconds, text in kernel_lines():
            if "invoked oom-killer" in text or block:
                block.append(f"[{seconds:12.6f}] {text}")
            if block and "Killed process" in text:
                if any(group in line for line in block):
                    for line in block:
                        self.write("kernel", text=line.replace(group, "job"))
                block = []

    def watch_links(self) -> None:
        """The node's network device."""
        if not self.config.get("device"):
            return
        monitor = subprocess.Popen(["ip", "monitor", "link"], stdout=subprocess.PIPE, text=True)  # noqa: S607
        for line in monitor.stdout or ():
            found = re.match(r"\d+: (eth0)[@:]\S* <([^>]*)>.* state (\S+)", line)
            if found:
                self.write("link", text=f"{found[1]} <{found[2]}> state {found[3]}")

    def watch_devices(self) -> None:
        """Accelerators that go away."""
        folder = Path(self.config["devices"])
        known = sorted(path.name for path in folder.iterdir())
        while True:
            for name in [name for name in known if not (folder / name).exists()]:
                known.remove(name)
                uptime = float(Path("/proc/uptime").read_text(encoding="utf-8").split()[0])
                text = XID.format(bus=0x1B + 0x20 * int(name.removeprefix("accel")))
                self.write("kernel", text=f"[{uptime:12.6f}] {text}")
            time.sleep(0.1)

    def watch_health(self) -> None:
        """Load and network counters every few seconds."""
        while True:
            time.sleep(8)
            fields = _network(self.config.get("device") or "lo")
            self.write("health", load=f"{os.getloadavg()[0]:.2f}", **fields)


def _network(device: str) -> dict[str, object]:
    rows = Path("/proc/net/dev").read_text(encoding="utf-8").splitlines()
    numbers = next((row.split(":")[1].split() for row in rows if row.strip().startswith(f"{device}:")), ["0"] * 16)
    tcp = [
        row.split()[1:] for row in Path("/proc/net/snmp").read_text(encoding="utf-8").splitlines() if row[:4] == "Tcp:"
    ]
    retrans = tcp[1][tcp[0].index("RetransSegs")]
    return {"rx": f"{int(numbers[0]) / 1e6:.2f}", "tx": f"{int(numbers[8]) / 1e6:.2f}", "retrans": retrans}


if __name__ == "__main__":
    Daemon(json.loads(Path(sys.argv[1]).read_text(encoding="utf-8"))).run()
