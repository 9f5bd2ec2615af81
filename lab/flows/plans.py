"""Plans of sets drawn at random: layouts, sizes and faults that nobody chose.

``python -m lab.flows.plans --seed 7 --sets 8 --name r > plan.json``; with ``--unusual`` three levels of switches, three
tenants, tenants on the same servers, larger and mixed groups, coarser records, and links that are slow to send on; with
``--uneven`` stages that differ.
``lab.flows.sets`` makes the sets of a plan. The
same seed gives the same plan. How strong a fault is follows from the bytes and the work of its job: it makes a step
longer by ``STRONGER`` of its length, however the job is laid out.
"""

import argparse
import json
import math
import random
import sys
from collections.abc import Sequence
from typing import Any

RANKS, MORE, MOST = (
    10,
    12,
    14,
)  # of a set, of an unusual one and of a further one: more leave two cores too little room for their own work
EVEN_MOST = 16  # of one of uneven stages, which waits more
FEWEST = 3  # ranks of a job
STEPS = 60  # chosen: enough for what is usual, for the fault and for what comes after it
STRONGER = 0.3, 1.2  # of a step's length, that a fault adds
# (pp, dp, tp), each with what a job of it may be beside plain DDP or 1F1B
RINGS: Sequence[dict[str, Any]] = (
    {}, {"overlap": True, "buckets": 3}, {"mode": "zero1"}, {"mode": "fsdp"}, {"mode": "fsdp2"}, {"experts": True},
)  # fmt: skip
CHAINS: Sequence[dict[str, Any]] = ({}, {"chunks": 2}, {"embedding": True})
LAYOUTS: Sequence[tuple[tuple[int, int, int], Sequence[dict[str, Any]]]] = (
    *(((1, dp, 1), RINGS) for dp in (3, 4, 5, 6, 7, 9)),
    ((1, 8, 1), ({}, {"overlap": True, "buckets": 4}, {"mode": "fsdp"})),
    ((2, 3, 1), ({"experts": True},)), ((2, 4, 1), ({"experts": True},)), ((1, 2, 2), ({},)),
    ((1, 4, 2), ({}, {"mode": "fsdp2"})), ((2, 2, 1), ({"chunks": 3},)), ((3, 2, 1), ({"chunks": 3},)),
    *(((pp, 2, 1), CHAINS) for pp in (2, 3, 4, 5)),
    *(((2, dp, 1), ({}, {"mode": "zero1"}, {"embedding": True}, {"chunks": 2})) for dp in (3, 4, 5)),
    *(((3, 3, 1), ({}, {"chunks": 2})), ((1, 3, 2), ({}, {"overlap": True})), ((1, 5, 2), ({},)), ((2, 2, 2), ({},))),
)  # fmt: skip
# What no set had before the unusual ones
_BIG = {"checkpoint_bytes": 300_000_000}  # what makes a step longer on links that nobody limits
UNUSUAL: Sequence[tuple[tuple[int, int, int], Sequence[dict[str, Any]]]] = (
    *(((1, dp, 1), ({}, {"mode": "zero1", "experts": True}, {"overlap": True, "buckets": 6})) for dp in (10, 11, 12)),
    *(
        ((1, dp, 1), ({"mode": "fsdp", "experts": True}, {"mode": "fsdp2", "checkpoint_every": 9, **_BIG}))
        for dp in (3, 4, 5)
    ),
    *(((1, dp, 1), ({"checkpoint_every": 11, **_BIG}, {"mode": "zero1", "experts": True})) for dp in (3, 4)),
    ((6, 2, 1), ({}, {"embedding": True})), ((4, 3, 1), ({}, {"mode": "zero1"})), ((3, 4, 1), ({}, {"chunks": 2})),
    ((2, 6, 1), ({}, {"embedding": True, "mode": "zero1"}, {"overlap": True, "buckets": 3})),
    ((2, 2, 1), ({"overlap": True, "buckets": 3}, {"embedding": True, "chunks": 2}, {"experts": True})),
    ((1, 3, 3), ({}, {"mode": "fsdp2"})), ((1, 2, 4), ({},)), ((3, 2, 2), ({}, {"embedding": True})),
    ((2, 2, 3), ({}, {"chunks": 2})), ((2, 3, 2), ({}, {"mode": "zero1"})), ((1, 6, 2), ({}, {"mode": "fsdp"})),
)  # fmt: skip
# What neither of the two above has
_ZERO, _PARTS = {"mode": "zero1"}, {"chunks": 3}
FURTHER: Sequence[tuple[tuple[int, int, int], Sequence[dict[str, Any]]]] = (
    *(((1, dp, 1), ({}, _ZERO, {"overlap": True, "buckets": 5})) for dp in (3, 13, 14)),
    *(((1, dp, 1), ({"experts": True, **_ZERO}, {"mode": "fsdp"}, {"mode": "fsdp2"})) for dp in (7, 8)),
    *(
        ((1, dp, 1), ({"mode": "fsdp2", "experts": True}, {"mode": "fsdp", "checkpoint_every": 13, **_BIG}))
        for dp in (5, 6)
    ),
    ((1, 3, 4), ({}, _ZERO)), ((1, 4, 3), ({}, {"mode": "fsdp"})), ((1, 2, 5), ({}, {"overlap": True})),
    ((7, 2, 1), ({},)), ((5, 2, 1), ({"chunks": 2, "embedding": True}, _ZERO)), ((2, 7, 1), ({}, _ZERO)),
    ((4, 2, 1), (_PARTS, {"experts": True}, _ZERO)), ((4, 3, 1), ({"chunks": 2}, {"embedding": True})),
    ((3, 4, 1), (_ZERO, {"overlap": True, "buckets": 3})), ((2, 5, 1), ({"experts": True}, _PARTS)),
    ((3, 3, 1), (_ZERO, {"embedding": True})), ((3, 2, 1), ({"experts": True}, _ZERO)),
    ((2, 3, 1), ({"experts": True, **_ZERO}, _PARTS)), ((2, 2, 1), (_ZERO, {"chunks": 4})),
    ((3, 2, 2), ({"chunks": 2},)), ((2, 2, 3), ({"embedding": True}, _ZERO)), ((2, 3, 2), ({"chunks": 2},)),
)  # fmt: skip
# Of powers of two, whose stages are not alike
UNEVEN: Sequence[tuple[tuple[int, int, int], Sequence[dict[str, Any]]]] = (
    *(((pp, 2, 1), ({}, {"chunks": 2}, _ZERO)) for pp in (2, 4, 8)),
    *(((pp, 4, 1), ({}, {"overlap": True, "buckets": 2}, _ZERO)) for pp in (2, 4)),
    ((2, 8, 1), ({}, _ZERO)), ((2, 2, 2), ({}, {"chunks": 2})), ((2, 4, 2), ({},)), ((4, 2, 2), ({}, _ZERO)),
    ((2, 2, 4), ({},)), *(((1, dp, 1), ({}, _ZERO, {"mode": "fsdp"})) for dp in (4, 8, 16)),
)  # fmt: skip
GRAINS: Sequence[dict[str, Any]] = (
    {},
    {"silence_us": 5_000},
    {"silence_us": 8_000},
    {"slot_us": 10_000},
)  # of records; messages of 2 ms first
FAULTS = {
    "slow_compute": 3,
    "slow_nic": 3,
    "slow_switch": 2,
    "drift": 2,
    "stall": 3,
    "hang": 2,
    "": 3,
}  # how often each


class Deck:
    """Kinds of faults as cards: none comes again before all others have."""

    def __init__(self, chance: random.Random) -> None:
        self.chance = chance
        self.cards: list[str] = []

    def draw(self, without: str | None = None) -> str:
        """The next card; of another kind than one, where that is given."""
        while not any(card != without for card in self.cards):
            fresh = [kind for kind, often in FAULTS.items() for _ in range(often)]
            self.cards += self.chance.sample(fresh, len(fresh))
        return self.cards.pop(next(place for place, card in enumerate(self.cards) if card != without))


class Draw:
    """A set as it is drawn."""

    ways: Sequence[Sequence[str]] = (("in",),)  # that a slow link is slow

    def __init__(self, chance: random.Random, deck: Deck, name: str, *, busy: bool) -> None:
        self.chance, self.name, self.busy = chance, name, busy
        self.leaves = chance.choice((2, 3, 4))
        self.more: dict[str, Any] = {}
        self.kinds = [deck.draw()]
        alone = self.kinds == ["slow_switch"]  # a leaf that two jobs share would slow both
        self.jobs = [self._job("a", 0, RANKS if alone else chance.choice((RANKS // 2, RANKS * 3 // 5, RANKS)))]
        taken = self.jobs[0]["pp"] * self.jobs[0]["dp"]
        room = RANKS - taken * self.jobs[0]["tp"]
        if not alone and room >= FEWEST:
            self.jobs.append(self._job("b", taken, room))
            self.kinds.append(deck.draw(without="slow_switch"))
        self.servers = sum(job["pp"] * job["dp"] for job in self.jobs)

    def _job(self, name: str, first_server: int, room: int) -> dict[str, Any]:
        chance = self.chance
        (pp, dp, tp), kinds = chance.choice(self._layouts(room))
        kind = chance.choice(kinds)
        work = chance.uniform(0.012, 0.022) if pp > 1 else chance.uniform(0.022, 0.035)
        if kind.get("mode", "").startswith("fsdp"):
            work *= 3  # it has one micro-batch
        return {
            "name": name, "first_server": first_server, "pp": pp, "dp": dp, "tp": tp, "steps": STEPS,
            "realtime": not self.busy,
            "micro": chance.choice((3, 4, 5, 6)) if pp > 1 else chance.choice((2, 3, 4)),
            "work": round(work, 4),
            "gradients": chance.randrange(3, 10) * 1_000_000, "activation": chance.randrange(2, 6) * 100_000,
            "seed": chance.randrange(1_000_000), "faults": [], **kind,
            "batch": chance.choice((0, 0, 60_000, 250_000)), "batch_anew": chance.random() < 0.5,
        }  # fmt: skip

    def _layouts(self, room: int) -> Sequence[tuple[tuple[int, int, int], Sequence[dict[str, Any]]]]:
        return [of for of in LAYOUTS if math.prod(of[0]) <= room]

    def plan(self) -> dict[str, Any]:
        """The set with its faults, as ``lab.flows.sets`` reads it."""
        says = []
        for job, kind in zip(self.jobs, self.kinds, strict=True):
            if kind:
                job["faults"] = [self._fault(job, kind)]
            how = [key for key in ("overlap", "chunks", "experts", "embedding") if job.get(key)]
            says.append(
                " ".join([f"PP{job['pp']} DP{job['dp']} TP{job['tp']}", job.get("mode", ""), *how, kind or "healthy"])
            )
        return {
            "id": self.name, "what": "; ".join(says), "servers": self.servers, "leaves": self.leaves, "seconds": 120,
            "rails": max(job.get("rail", 0) + job["tp"] for job in self.jobs), "jobs": self.jobs, **self.more,
        }  # fmt: skip

    def _fault(self, job: dict[str, Any], kind: str) -> dict[str, Any]:
        chance = self.chance
        more = chance.uniform(*STRONGER)
        ranks = job["pp"] * job["dp"] * job["tp"]
        rank = chance.randrange(ranks)
        first = chance.randrange(12, 30)
        last = min(STEPS - 1, first + chance.randrange(10, 40))
        fault: dict[str, Any] = {"kind": kind, "ranks": [rank], "first_step": first, "last_step": last}
        whole = list(
            range(rank - rank % job["tp"], rank - rank % job["tp"] + job["tp"])
        )  # ranks of one server share its work
        if kind == "slow_compute":
            return fault | {"ranks": whole, "factor": round(1 + more, 2)}
        if kind == "drift":
            alike = chance.random() < 0.4
            per_step = round(more / (STEPS - first), 4) * 2
            return fault | {
                "ranks": list(range(ranks)) if alike else whole,
                "per_step": per_step,
                "last_step": STEPS - 1,
            }
        if kind == "stall":
            steps = sorted(chance.sample(range(10, STEPS - 4), 3))
            return fault | {
                "steps": steps,
                "first_step": steps[0],
                "last_step": steps[-1],
                "seconds": round(_length(job) * more, 3),
            }
        if kind == "hang":
            return fault | {"first_step": first + 20, "last_step": first + 20}
        if kind == "slow_nic":
            server, rail = job["first_server"] + rank // job["tp"], job.get("rail", 0) + rank % job["tp"]
            received = sum(size for (_, far), size in _traffic(job).items() if far == rank)
            ports = {"in": f"p{server}n{rail}", "out": f"{server}/eth{rail}"}
            ways = (
                chance.choice(self.ways) if len(self.ways) > 1 else self.ways[0]
            )  # a seed of before gives the plan of before
            return fault | {"ports": [ports[way] for way in ways], "rate": _rate(received, _length(job) * more)}
        return self._slow_leaf(job, fault, _length(job) * more)

    def _slow_leaf(self, job: dict[str, Any], fault: dict[str, Any], longer: float) -> dict[str, Any]:
        """The trunk of a leaf, of those that some traffic of the job leaves."""
        leaf_of = [
            (job["first_server"] + rank // job["tp"]) * self.leaves // self.servers
            for rank in range(job["pp"] * job["dp"] * job["tp"])
        ]
        out = dict.fromkeys(sorted(set(leaf_of)), 0)
        for (near, far), size in _traffic(job).items():
            if leaf_of[near] != leaf_of[far]:
                out[leaf_of[near]] += size
        leaf = self.chance.choice([leaf for leaf, size in out.items() if size])
        kept = {key: value for key, value in fault.items() if key != "ranks"}
        return kept | {
            "switch": f"leaf-{leaf}",
            "ports": [f"up{leaf}", f"down{leaf}"],
            "rate": _rate(out[leaf], longer),
            "ranks": [],
        }


class Unusual(Draw):
    """A set of what no set had before: its tenants may share servers, or be three."""

    ways = (("in",), ("out",), ("in", "out"))

    def __init__(self, chance: random.Random, deck: Deck, name: str, *, busy: bool) -> None:
        self.chance, self.name, self.busy = chance, name, busy
        self.pods = chance.choice((0, 2, 2))
        self.leaves = chance.choice((4, 5, 6)) if self.pods else chance.choice((2, 3, 5))
        self.more = {"pods": self.pods, **chance.choice(GRAINS)}
        self.kinds = [deck.draw()]
        alone = self.kinds == ["slow_switch"]
        self.jobs = [self._job("a", 0, self.ranks if alone else chance.choice((4, 6, 9, self.ranks)))]
        room = self.ranks - self._ranks(self.jobs[0])
        while not alone and room >= FEWEST and len(self.jobs) < FEWEST:
            job = self._job("abc"[len(self.jobs)], sum(map(self._servers, self.jobs)), room)
            before = self.jobs[-1]
            if chance.random() < 0.5 and self._servers(job) <= self._servers(before) and "rail" not in before:
                # on its servers, other NICs; what goes to storage takes the first NIC of a server, which is the other's
                job |= {"first_server": before["first_server"], "rail": before["tp"], "checkpoint_every": 0}
            self.jobs.append(job)
            self.kinds.append(deck.draw(without="slow_switch"))
            room -= self._ranks(job)
        self.servers = max(job["first_server"] + self._servers(job) for job in self.jobs)

    def _layouts(self, room: int) -> Sequence[tuple[tuple[int, int, int], Sequence[dict[str, Any]]]]:
        """Those that fill the room by more than half: else small ones come most often."""
        return [of for of in self.layouts if room / 2 < math.prod(of[0]) <= room]

    ranks = MORE  # of all its jobs together
    layouts = UNUSUAL

    @staticmethod
    def _ranks(job: dict[str, Any]) -> int:
        return int(job["pp"] * job["dp"] * job["tp"])

    @staticmethod
    def _servers(job: dict[str, Any]) -> int:
        return int(job["pp"] * job["dp"])


class Further(Unusual):
    """A set of what neither ordinary nor unusual ones have, with up to 14 ranks."""

    ranks = MOST
    layouts = FURTHER


class Free(Further):
    """A set of any layout that fits: no list says which, nor which of its ways go together; some of its jobs jitter."""

    def _layouts(self, room: int) -> Sequence[tuple[tuple[int, int, int], Sequence[dict[str, Any]]]]:
        of = [(pp, dp, tp) for pp in range(1, room) for dp in range(2, room + 1) for tp in range(1, room)]
        fits = [layout for layout in of if max(FEWEST, room // 2 + 1) <= math.prod(layout) <= room]
        stages = self.chance.choice(sorted({min(layout[0], 4) for layout in fits}))  # else one stage comes most often
        layout = self.chance.choice([layout for layout in fits if min(layout[0], 4) == stages])
        return [(layout, [self._ways(layout[0])])]

    def _ways(self, pp: int) -> dict[str, Any]:
        """Of what a program of the lab can do, what it can do together."""
        chance = self.chance
        kind: dict[str, Any] = {"jitter": chance.choice((0.02, 0.03, 0.05, 0.08))}
        kind |= chance.choice(({}, {}, _ZERO, {"overlap": True, "buckets": chance.randrange(2, 8)}))
        if pp == 1 and "overlap" not in kind and chance.random() < 0.4:
            kind["mode"] = chance.choice(("fsdp", "fsdp2"))
        if pp > 1:
            kind |= chance.choice(({}, {"embedding": True}, {"chunks": chance.choice((2, 3, 4))}))
        if chance.random() < 0.25:
            kind["experts"] = True
        if chance.random() < 0.2:
            kind |= {"checkpoint_every": chance.choice((9, 11, 13, 17)), **_BIG}
        return kind


class Uneven(Further):
    """A set of 16 ranks at most whose stages differ, as embedding and head make them, with steps of any length.

    The first stage has more gradients than the others, the last one more work.
    """

    ranks = EVEN_MOST
    layouts = UNEVEN

    def _job(self, name: str, first_server: int, room: int) -> dict[str, Any]:
        job = super()._job(name, first_server, room)
        longer = self.chance.choice((1.0, 1.0, 2.0, 3.0))  # steps of .3 to 1.7 s
        return job | {"work": round(job["work"] * longer, 4), "uneven": self.chance.choice((0.2, 0.4, 0.6))}


def _rate(size: int, seconds: float) -> str:
    """Of a rate limiter that takes so much longer for so many bytes."""
    return f"{max(4, round(size * 8 / seconds / 1e6))}mbit"


def _length(job: dict[str, Any]) -> float:
    """Seconds of work of a step."""
    if job["pp"] > 1:
        return float(3 * job["work"] * (job["micro"] + job["pp"] - 1))
    return float(3 * job["work"] * (1 if job.get("mode", "").startswith("fsdp") else job["micro"]))


def _traffic(job: dict[str, Any]) -> dict[tuple[int, int], int]:
    """Bytes of a step from rank to rank."""
    tp, pp, dp = job["tp"], job["pp"], job["dp"]
    rounds = 3 if job.get("mode", "").startswith("fsdp") else 2
    sent: dict[tuple[int, int], int] = {}
    for rank in range(tp * pp * dp):
        rail, replica, stage = rank % tp, rank // tp % dp, rank // tp // dp
        if dp > 1:
            to = rail + tp * ((replica + 1) % dp + dp * stage)
            sent[rank, to] = sent.get((rank, to), 0) + rounds * (dp - 1) * job["gradients"] // dp
        for other in {stage - 1, stage + 1} & set(range(pp)):
            sent[rank, rail + tp * (replica + dp * other)] = job["micro"] * job["activation"] * job.get("chunks", 1)
        if job.get("experts"):
            for other in set(range(dp)) - {replica}:
                to = rail + tp * (other + dp * stage)
                sent[rank, to] = sent.get((rank, to), 0) + 2 * job["micro"] * job["activation"] // dp
    return sent


def main() -> None:
    """Print a plan."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seed", type=int, required=True)
    parser.add_argument("--sets", type=int, required=True)
    parser.add_argument("--name", required=True, help="the ids of the sets begin with it")
    parser.add_argument(
        "--unusual", action="store_true", help="layouts, tenants and records that the others do not have"
    )
    parser.add_argument("--further", action="store_true", help="the same, on layouts that the unusual ones do not have")
    parser.add_argument("--free", action="store_true", help="the same, on any layout, with any ways that go together")
    parser.add_argument("--uneven", action="store_true", help="the same, up to 16 ranks with stages that differ")
    parser.add_argument("--busy", action="store_true", help="ranks take turns with all else on the machine")
    options = parser.parse_args()
    chance = random.Random(options.seed)  # noqa: S311 no secret
    deck = Deck(chance)
    kinds = {Uneven: options.uneven, Free: options.free, Further: options.further, Unusual: options.unusual}
    draw = next((kind for kind, wanted in kinds.items() if wanted), Draw)
    plans = [
        draw(chance, deck, f"{options.name}{number:02}", busy=options.busy).plan() for number in range(options.sets)
    ]
    json.dump(plans, sys.stdout, indent=1)


if __name__ == "__main__":
    main()
