"""What scheduler and node daemon write: an event of the lab in the words of three sites.

``slurm`` and ``kube`` follow the texts of Slurm and Kubernetes, ``site`` is a scheduler of our own. The labels are
made from the same table: ``pattern`` turns an event's words into a regular expression.
"""

import re
from datetime import UTC, datetime

WORDS: dict[str, dict[str, str]] = {
    "slurm": {
        "submitted": "sched: Allocate JobId={job} NodeList={nodes} #CPUs={tasks} Partition=train",
        "joined": "Node {node} now responding",
        "failed": "_job_complete: JobId={job} StepId=0 node {node} WEXITSTATUS {rc}",
        "killing": "error: JobId={job}: task on {node} failed (exit code {rc}), terminating step",
        "lost": "error: Nodes {node} not responding, setting DOWN (no ping for {seconds} s)",
        "back": "Node {node} has responded again",
        "limit": "Time limit exhausted for JobId={job}",
        "cancelled": "_slurm_rpc_kill_job: REQUEST_KILL_JOB JobId={job} uid 1004",
        "ended": "job_complete: JobId={job} state {state}",
        "switch": "topology: {text}",
        "daemon": "slurmd version 24.05.3 started on {node}",
        "launch": "launch task StepId={job}.0 request: {command}",
        "exited": "error: StepId={job}.0 task {task} exited with code {rc}",
        "signalled": "error: StepId={job}.0 task {task} killed by signal {rc} ({name})",
        "finished": "StepId={job}.0 task {task} done",
        "unheard": "error: Unable to register with slurmctld {address} (try {count}): {error}",
        "heard": "Registered with slurmctld again after {count} tries",
        "stop": "error: *** STEP {job}.0 ON {node} CANCELLED DUE TO {reason} ***",
        "hard": "error: task {task} of StepId={job}.0 ignored SIGTERM, sending SIGKILL",
        "preempted": "error: *** JOB {job} ON {node} CANCELLED DUE TO PREEMPTION ***",
        "link": "networkd: {text}",
        "kernel": "kernel: {text}",
        "health": "health_check: load {load} eth0 rx_mb {rx} tx_mb {tx} tcp_retrans {retrans}",
    },
    "kube": {
        "submitted": "Normal SuccessfulCreate job/{job} Created pods for {nodes}",
        "joined": "Normal Started pod/{job}-{node} Started container trainer",
        "failed": "Warning Failed pod/{job}-{node} Container trainer terminated with exit code {rc}",
        "killing": "Warning BackoffLimitExceeded job/{job} {node} failed with exit code {rc}, stopping the others",
        "lost": "Warning NodeNotReady node/{node} Kubelet stopped posting node status {seconds} s ago",
        "back": "Normal NodeReady node/{node} Node status is now: NodeReady",
        "limit": "Warning DeadlineExceeded job/{job} Job was active longer than specified deadline",
        "cancelled": "Normal Killing job/{job} Job deleted by user mlops",
        "ended": "Normal JobStatus job/{job} is now {state}",
        "switch": "Normal SwitchPort node/tor-1 {text}",
        "daemon": "I kubelet: Started kubelet v1.31.4 on {node}",
        "launch": "I kubelet: Starting container trainer of {job}: {command}",
        "exited": "E kubelet: Container trainer/{task} of {job} exited with code {rc}",
        "signalled": "E kubelet: Container trainer/{task} of {job} terminated by signal {rc} ({name})",
        "finished": "I kubelet: Container trainer/{task} of {job} completed",
        "unheard": "E kubelet: Error updating node status at {address}, will retry ({count}): {error}",
        "heard": "I kubelet: Node status posted again after {count} failures",
        "stop": "I kubelet: Killing container trainer of {job} on {node}: {reason}",
        "hard": "W kubelet: Container trainer/{task} of {job} did not stop within its grace period, sending SIGKILL",
        "preempted": "W kubelet: Preempted pod of {job} on {node} by a pod with higher priority",
        "link": "W netwatch: {text}",
        "kernel": "K kernel: {text}",
        "health": "I netwatch: load {load} rx_mb {rx} tx_mb {tx} retransmits {retrans}",
    },
    "site": {
        "submitted": "INFO dispatcher: job {job} placed on {nodes} ({tasks} tasks)",
        "joined": "INFO dispatcher: {node} checked in",
        "failed": "ERROR dispatcher: {node} reports exit code {rc}",
        "killing": "ERROR dispatcher: ending the job because {node} failed with exit code {rc}",
        "lost": "ERROR dispatcher: nothing heard from {node} for {seconds} s, taking it out of service",
        "back": "INFO dispatcher: {node} is back",
        "limit": "ERROR dispatcher: job {job} used up its wall time, stopping it",
        "cancelled": "WARNING dispatcher: job {job} cancelled by its owner",
        "ended": "INFO dispatcher: job {job} ended: {state}",
        "switch": "INFO fabric: {text}",
        "daemon": "INFO warden: up on {node}",
        "launch": "INFO warden: job {job}: running {command}",
        "exited": "ERROR warden: process {task} of {job} returned {rc}",
        "signalled": "ERROR warden: process {task} of {job} got signal {rc} {name}",
        "finished": "INFO warden: process {task} of {job} is done",
        "unheard": "WARNING warden: dispatcher {address} does not answer, {count} in a row: {error}",
        "heard": "INFO warden: dispatcher answers again after {count} failures",
        "stop": "WARNING warden: told to stop {job} on {node}: {reason}",
        "hard": "WARNING warden: process {task} of {job} still alive after SIGTERM, sending SIGKILL",
        "preempted": "WARNING warden: reclaim notice for {node}, stopping {job}",
        "link": "WARNING warden: link {text}",
        "kernel": "INFO kernel: {text}",
        "health": "INFO warden: load={load} rx={rx}MB tx={tx}MB retrans={retrans}",
    },
}
SCHEDULER_LOG = {"slurm": "slurmctld.log", "kube": "events.log", "site": "dispatcher.log"}
DAEMON = {"slurm": "slurmd", "kube": "kubelet", "site": "warden"}  # name of the node daemon, and of its log
EVENTS = tuple(WORDS["site"])
HOLE = re.compile(r"\{\w+\}")


def sentence(dialect: str, event: str, **facts: object) -> str:
    """The event in the words of a site."""
    return WORDS[dialect][event].format_map({key: str(value) for key, value in facts.items()})


def stamp(dialect: str, seconds: float) -> str:
    """A moment as the site writes it."""
    moment = datetime.fromtimestamp(seconds, UTC)
    text = moment.strftime("%Y-%m-%dT%H:%M:%S.%f")[:-3]
    return f"[{text}]" if dialect == "slurm" else f"{text}Z"


def pattern(dialect: str, event: str, **facts: str) -> str:
    """A regular expression that finds the event's lines; facts narrow it (``node="node-01"``)."""
    words = WORDS[dialect][event]
    parts = [re.escape(constant) for constant in HOLE.split(words)]
    holes = [hole[1:-1] for hole in HOLE.findall(words)]
    filled = [re.escape(facts[hole]) if hole in facts else ".*?" for hole in holes]
    return "".join(
        part + hole for part, hole in zip(parts, [*filled, "$" if holes and not parts[-1] else ""], strict=True)
    )
