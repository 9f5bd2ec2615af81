"""True drafts, each worded differently, as a good model would write them; they have to get through."""

from bot.known import KnownFault
from core.model import Diagnosis
from tests.bot import diagnoses
from tests.bot.note.faults import frozen, killed, seed_fault, team_fault

Raw = dict[str, object]


def said(text: str, *cites: str) -> Raw:
    return {"text": text, "cites": list(cites)}


def draft(
    headline: Raw,
    cause: Raw,
    happened: list[Raw],
    check_first: list[Raw] | None = None,
    fix: list[Raw] | None = None,
    category: str = "unknown",
    open_questions: list[Raw] | None = None,
) -> Raw:
    return {
        "headline": headline,
        "cause": cause,
        "happened": happened,
        "check_first": check_first or [],
        "fix": fix or [],
        "category": category,
        "open_questions": open_questions or [],
    }


TRUE: dict[str, tuple[Diagnosis, tuple[KnownFault, ...], Raw]] = {
    "link, in the words of the claims": (
        diagnoses.node_fault(),
        (),
        draft(
            said("Look at node-01 first: its network link went down at iteration 60.", "D1", "N1"),
            said("node-01 logged that its link eth0 is down, once.", "E1"),
            [
                said("node-01 logged that its link eth0 is down.", "E1"),
                said("32 heartbeats of node-01 failed in a row.", "E2"),
                said("The controller lost node-01 and no other node.", "E3"),
                said("7 of 8 ranks waited 25 s for a peer.", "E4"),
            ],
            [said("The link of node-01: cable, transceiver and switch port swp1.", "C1")],
            [said("Restart from the checkpoint of iteration 50 without node-01.", "C3")],
            "hardware",
        ),
    ),
    "link, in other words": (
        diagnoses.node_fault(),
        (),
        draft(
            said("The network link of node-01 went down during training.", "D1"),
            said("The link eth0 of node-01 went down, and the controller lost the node.", "E1", "E3"),
            [
                said("At 03:59:44 the link eth0 on node-01 went down.", "E1"),
                said("After that, 32 heartbeats of node-01 failed in a row.", "E2"),
                said("The controller lost node-01 and no other node.", "E3"),
                said("Seven of eight ranks waited 25 seconds for a peer.", "E4"),
            ],
            [said("Check the cable, the transceiver and switch port swp1 of node-01.", "C1")],
            [],
            "hardware",
            [said("Did other jobs lose node-01 around 03:59?", "C2")],
        ),
    ),
    "link, with ids in the text": (
        diagnoses.node_fault(),
        (),
        draft(
            said("The network link of node-01 went down at iteration 60. [D1, E1]", "D1", "E1"),
            said("A direct trace of the fault is on node-01 and nowhere else. [D1]"),
            [
                said("The log of node-01 shows \u201cstate DOWN\u201d [E1]."),
                said("Iteration 60 is the last complete one [I1]."),
            ],
            [said("Look at the link of node-01: \u201cethtool eth0\u201d [C1].")],
        ),
    ),
    "NaN on all ranks": (
        diagnoses.job_wide(),
        (),
        draft(
            said("Look at the job's own settings and code: NaN in the gradients of all 8 ranks at iteration 2.", "D1"),
            said("All 8 ranks found NaN in their gradients in the same iteration.", "E1"),
            [
                said("The gradient norm went from 3.6 to NaN.", "I1"),
                said("Rank 0 logged an AssertionError: Rank 0: found NaN in local grad norm.", "E1"),
                said("No node differs from the others.", "D1"),
            ],
            [
                said("Check what changed in the launch command since the last success: --lr 2e4.", "C1"),
                said("Look at the data of iteration 2.", "C2"),
            ],
            [],
            "user",
        ),
    ),
    "nothing conclusive": (
        diagnoses.inconclusive(),
        (),
        draft(
            said("The logs end during training without any error.", "D1"),
            said("The evidence does not show the cause.", "D1"),
            [said("The logs end after iteration 1,230.", "D1"), said("All 16 ranks end at the same iteration.", "D1")],
            [said("Look at the scheduler's record of this job: time limit, pre-emption, a person.", "C1")],
            [],
            "unknown",
            [said("Is there anything in the kernel and power logs of the node?", "C2")],
        ),
    ),
    "Xid with a seed pattern": (
        diagnoses.huge(),
        (seed_fault(),),
        draft(
            said("Look at gpu-17-09 first: a GPU fell off the bus (Xid 79).", "D1", "E1"),
            said("The GPU on gpu-17-09 has fallen off the bus.", "E1"),
            [
                said("gpu-17-09 logged Xid 79 once, and the other 1,023 nodes never did.", "E1"),
                said("Rank 4,429 is 1 collective behind all 8,191 others.", "N1"),
            ],
            [said("Reset or replace the GPU of gpu-17-09.", "C1")],
            [
                said("Drain the node and read the BMC log for power and temperature.", "P1"),
                said("Run dcgmi diag -r 3.", "P1"),
            ],
            "hardware",
        ),
    ),
    "Xid with a pattern of the team": (
        diagnoses.huge(),
        (team_fault(),),
        draft(
            said("A GPU of gpu-17-09 fell off the bus during training.", "D1"),
            said("A GPU of gpu-17-09 fell off the bus. Confirmed by ana on 2026-10-02.", "E1", "P1", "D1"),
            [said("gpu-17-09 logged \u201cGPU has fallen off the bus\u201d after iteration 48,211.", "E1")],
            [said("Check the BMC log of gpu-17-09.", "C1")],
            [said("Drain the node, power-cycle it, replace the GPU when it comes back.", "P1")],
        ),
    ),
    "frozen rank": (
        frozen(),
        (),
        draft(
            said("node-01 went silent while the others waited for it.", "D1"),
            said("Rank 3 on node-01 never complained, and node-01 did not end when told to.", "N1"),
            [
                said("Iteration 45 is the last that any rank completed.", "I1"),
                said("Its last word came 9.3 s before theirs.", "N1"),
                said("4 of 4 nodes logged \u201cTimed out waiting 25000ms for recv operation\u201d 7 times.", "E1"),
            ],
            [said("Look at node-01 itself: process state, kernel log, power and network.", "C1")],
            [said("Take node-01 out and restart.", "C1")],
        ),
    ),
    "killed process": (
        killed(),
        (),
        draft(
            said("A process on node-03 was killed (SIGKILL) after iteration 50.", "D1", "E1"),
            said("A process on node-03 was killed (SIGKILL).", "E1"),
            [
                said("Iteration 50 is the last that any rank completed.", "I1"),
                said("node-03 logged exitcode -9.", "E1"),
                said("Two other nodes lost the connection to node-03.", "N1"),
            ],
            [said("Look at the node's kernel log and its memory.", "C1")],
            [],
            "unknown",
            [said("Somebody or something killed it: who was logged in?", "C1")],
        ),
    ),
    "completed": (
        diagnoses.succeeded(),
        (),
        draft(
            said("The job completed.", "D1"),
            said("There is nothing to find.", "D1"),
            [
                said("Every rank wrote its last checkpoint.", "D1"),
                said("The metrics pusher is refused every 7 s.", "E1"),
            ],
        ),
    ),
}


# True as well, but said in other words than the evidence: the check refuses nearly all, as it cannot tell them from lies.
# ruff: noqa: E501 a sentence is as long as it is
HARD: tuple[tuple[str, str, Raw], ...] = (
    ("frozen rank", "happened", said("7 of 8 ranks complained, and rank 3 on node-01 did not.", "N1")),
    ("frozen rank", "happened", said("The last word of rank 3 came 9.3 s before theirs.", "N1")),
    ("frozen rank", "happened", said("Seven ranks timed out; rank 3 stayed silent.", "E1", "N1")),
    ("frozen rank", "happened", said("Rank 7 timed out after 25 s.", "E1")),
    ("frozen rank", "cause", said("The process of rank 3 probably hung.", "N1")),
    ("link, in other words", "happened", said("node-01 became unreachable.", "E3")),
    ("link, in other words", "happened", said("The switch saw port 2 go down at 03:59:45.", "E3")),
    ("link, in other words", "happened", said("The other ranks timed out after 25 s.", "E4")),
    ("link, in other words", "happened", said("About 25 s later the other nodes gave up.", "E4")),
    ("link, in other words", "cause", said("A NIC, cable or switch port of node-01 is likely broken.", "E1", "C1")),
    ("link, in other words", "happened", said("torchrun then ended the workers of 3 nodes.", "E5")),
    ("link, in other words", "happened", said("node-01's link dropped at 03:59:44.976.", "E1")),
    ("NaN on all ranks", "cause", said("Every rank hit NaN in iteration 2.", "E1", "D1")),
    ("NaN on all ranks", "cause", said("The learning rate of 2e4 is probably too high.", "C1", "E1")),
    ("NaN on all ranks", "happened", said("torchrun ended the workers of all 4 nodes.", "E2")),
    ("Xid with a seed pattern", "cause", said("Xid 79 on gpu-17-09: the GPU is gone from the bus.", "E1")),
    ("Xid with a seed pattern", "happened", said("The ranks that waited logged watchdog time-outs.", "E2")),
    ("killed process", "cause", said("Something killed a process on node-03 with SIGKILL.", "E1")),
    ("killed process", "happened", said("node-00 and node-02 lost their connection.", "E2")),
    (
        "link, in other words",
        "cause",
        said("The link eth0 of node-01 went down, so the controller lost the node.", "E1", "E3"),
    ),
    ("link, in other words", "happened", said("At 03:59:44 the link eth0 on node-01 went into state DOWN.", "E1")),
    (
        "link, in other words",
        "happened",
        said("After that, 32 heartbeats from node-01 to the controller failed.", "E2"),
    ),
    (
        "link, in other words",
        "happened",
        said("The controller then saw no heartbeat for 9 s and marked node-01 as down.", "E3"),
    ),
    (
        "link, in other words",
        "happened",
        said("Seven of eight ranks timed out waiting for a peer; they are victims.", "E4"),
    ),
    ("link, in other words", "headline", said("node-01 lost its link at iteration 60.", "D1", "E1")),
    ("link, in other words", "happened", said("The log of node-01 shows \u201cstate DOWN\u201d for eth0.", "E1")),
    ("link, in other words", "check_first", said("Look at the link of node-01 with \u201cethtool eth0\u201d.", "C1")),
    ("NaN on all ranks", "headline", said("All 8 ranks found NaN in their gradients at iteration 2.", "D1", "E1")),
    ("NaN on all ranks", "happened", said("All 8 ranks logged an AssertionError about NaN in the grad norm.", "E1")),
    ("NaN on all ranks", "check_first", said("Check what changed in the launch command: --lr 2e4.", "C1")),
    ("Xid with a seed pattern", "headline", said("Look at gpu-17-09: a GPU fell off the bus (Xid 79).", "D1", "E1")),
    ("Xid with a pattern of the team", "headline", said("gpu-17-09 lost a GPU: Xid 79 during training.", "D1", "E1")),
    ("Xid with a pattern of the team", "cause", said("ana confirmed this fault as P1.", "P1", "E1")),
    (
        "Xid with a pattern of the team",
        "fix",
        said("Power-cycle the node, and replace the GPU when it comes back.", "P1"),
    ),
    ("frozen rank", "happened", said("4 of 4 nodes timed out waiting for a peer.", "E1")),
    ("killed process", "cause", said("A process on node-03 was killed by SIGKILL.", "E1")),
    ("killed process", "happened", said("A process on node-03 ended with exit code -9.", "E1")),
    ("killed process", "happened", said("The peers saw \u201cConnection reset by peer\u201d.", "E2")),
)
