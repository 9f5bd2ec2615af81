"""The job's scheduler, a process of its own: hears from the nodes, writes log and output, and ends the job."""

import json
import socketserver
import sys
import threading
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from lab.kernel import kernel_lines
from lab.wording import SCHEDULER_LOG, sentence, stamp

SILENCE_S = 7.0  # a node that is silent for so long is lost
START_S = 3.0  # ports that come up now are no news


@dataclass
class NodeState:
    """What the scheduler knows of a node."""

    heard: float = 0.0
    lost: bool = False
    codes: dict[str, int] = field(default_factory=dict)
    done: bool = False


class Scheduler:
    """Books of one job; every method holds the lock."""

    def __init__(self, config: dict[str, Any]) -> None:
        self.config = config
        self.dialect: str = config["dialect"]
        self.job: str = config["job"]
        self.nodes = {name: NodeState() for name in config["nodes"]}
        self.lock = threading.Lock()
        logs = Path(config["logs"])
        self.log = (logs / SCHEDULER_LOG[self.dialect]).open("a", buffering=1, encoding="utf-8")
        self.output = (logs / config["output"]).open("ab", buffering=0) if config.get("output") else None
        self.ending = ""
        self.end_at = 0.0
        self.started = time.time()

    def write(self, event: str, **facts: object) -> None:
        """A line of the scheduler's log."""
        text = sentence(self.dialect, event, job=self.job, **facts)
        self.log.write(f"{stamp(self.dialect, time.time())} {text}\n")

    def say(self, text: str) -> None:
        """A line of the launcher in the job's output, in the words of srun."""
        if self.output is not None and self.dialect == "slurm":
            self.output.write(text.encode() + b"\n")

    def heartbeat(self, message: dict[str, Any]) -> dict[str, str]:
        """A node is alive and says what became of its tasks; the answer may be an order to stop."""
        with self.lock:
            name, node = message["node"], self.nodes[message["node"]]
            if not node.heard:
                self.write("joined", node=name)
            elif node.lost:
                self.write("back", node=name)
                node.lost = False
            node.heard = time.time()
            for task, code in message["codes"].items():
                if task not in node.codes:
                    node.codes[task] = code
                    self._ended(name, task, code)
            node.done = message["done"]
            over = self.ending and time.time() >= self.end_at
            return {"order": "stop", "reason": self.ending} if over else {"order": "go"}

    def _ended(self, node: str, task: str, code: int) -> None:
        if not code:
            return
        self.write("failed", node=node, rc=code)
        names = {-9: "Killed", -11: "Segmentation fault (core dumped)", -15: "Terminated", -6: "Aborted (core dumped)"}
        self.say(f"srun: error: {node}: task {task}: {names.get(code, f'Exited with exit code {code}')}")
        if not self.ending:
            self.end("FAILURE", self.config["kill_wait"])
            self.write("killing", node=node, rc=code)
            self.say(f"srun: Terminating StepId={self.job}.0")

    def end(self, reason: str, wait: float) -> None:
        """Stop every node after a while."""
        self.ending, self.end_at = reason, time.time() + wait

    def watch(self) -> bool:
        """Look for silence, limits and a cancellation; whether the job is over."""
        with self.lock:
            now = time.time()
            for name, node in self.nodes.items():
                if node.heard and not node.lost and not node.done and now - node.heard > SILENCE_S:
                    node.lost = True
                    self.write("lost", node=name, seconds=round(now - node.heard))
                    if not self.ending:
                        self.end("NODE FAILURE", self.config["lost_wait"])
                        self.say(f"srun: error: Node failure on {name}")
            if not self.ending and (Path(self.config["ctl"]) / "limit").exists():
                self.end("TIME LIMIT", 0)
                self.write("limit")
                self._cancelled(" DUE TO TIME LIMIT")
            if not self.ending and (Path(self.config["ctl"]) / "cancel").exists():
                self.end("CANCEL", 0)
                self.write("cancelled")
                self._cancelled("")
            return all(node.done or (node.lost and now - node.heard > 2 * SILENCE_S) for node in self.nodes.values())

    def _cancelled(self, why: str) -> None:
        first = next(iter(self.nodes))
        moment = stamp("slurm", time.time())[1:20]
        self.say(f"slurmstepd: error: *** STEP {self.job}.0 ON {first} CANCELLED AT {moment}{why} ***")
        self.say("srun: Job step aborted: Waiting up to 8 seconds for job step to finish.")

    def state(self) -> str:
        """How the job ended."""
        if self.ending == "CANCEL":
            return "CANCELLED"
        good = all(node.done and not any(node.codes.values()) for node in self.nodes.values())
        return "COMPLETED" if good and not self.ending else "FAILED"


def _handler(scheduler: Scheduler) -> type[socketserver.StreamRequestHandler]:
    class Handler(socketserver.StreamRequestHandler):
        def handle(self) -> None:
            for line in self.rfile:
                message = json.loads(line)
                if "out" in message and scheduler.output is not None:
                    scheduler.output.write("".join(message["out"]).encode("utf-8", "surrogateescape"))
                elif "node" in message:
                    answer = json.dumps(scheduler.heartbeat(message))
                    self.wfile.write(answer.encode() + b"\n")

    return Handler


class _Server(socketserver.ThreadingTCPServer):
    allow_reuse_address = True
    daemon_threads = True

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A node that goes away in the middle of a word is what the lab is for."""


def main() -> None:
    """Run until the job is over."""
    config = json.loads(Path(sys.argv[1]).read_text(encoding="utf-8"))
    scheduler = Scheduler(config)
    server = _Server((config["address"], config["port"]), _handler(scheduler))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    threading.Thread(target=_switch, args=(scheduler,), daemon=True).start()
    scheduler.write("submitted", nodes=",".join(config["nodes"]), tasks=config["tasks"])
    while not scheduler.watch():
        time.sleep(0.25)
    scheduler.write("ended", state=scheduler.state())
    (Path(config["ctl"]) / "ended").write_text(scheduler.state(), encoding="utf-8")
    time.sleep(2)  # daemons that still talk are heard


def _switch(scheduler: Scheduler) -> None:
    """The switch's ports, from the kernel's own log; only those of this job's bridge."""
    bridge = scheduler.config.get("bridge")
    if bridge:
        for _, text in kernel_lines():
            if text.startswith(f"{bridge}:") and time.time() - scheduler.started > START_S:
                scheduler.write("switch", text=text.replace(bridge, "br0"))


if __name__ == "__main__":
    main()
