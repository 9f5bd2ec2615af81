"""Cases of robust operations whose truth is booked, counted or summed by another way than ours."""

import math
from collections import Counter
from itertools import product
from random import Random
from typing import Any

import pytest

from benchmarks.robust import ANSWERS

KEPT = ("productive", "recomputed", "startup", "stalled", "down")


def run_of(seed: int) -> tuple[dict[str, Any], dict[str, float], int]:
    """A run, where its time went as it was spent, and the attempt whose end cost most."""
    chance = Random(seed)
    step, every = chance.choice([2, 5, 11]), chance.choice([10, 25, 40])
    now, saved, count = 0.0, 0, chance.randint(3, 6)  # seconds, iteration, attempts
    spent, cost, last = dict.fromkeys(KEPT, 0.0), Counter[int](), dict[int, int]()
    attempts = []
    for number in range(count):
        start, times = now, list[tuple[int, float]]()
        starting = chance.randint(30, 200)
        now, spent["startup"], cost[number - 1] = (
            now + starting,
            spent["startup"] + starting,
            cost[number - 1] + starting,
        )
        barren = number < count - 1 and chance.random() < 0.2
        for iteration in range(saved + 1, saved + 1 + (0 if barren else chance.randint(5, 90))):
            now += step
            times.append((iteration, now))
            if iteration in last:
                spent["productive"] -= step
                spent["recomputed"] += step
                cost[last[iteration]] += step
            spent["productive"] += step
            last[iteration] = number
        saved = max([saved, *(iteration for iteration, _ in times if iteration % every == 0)])
        stall = chance.randint(0, 300)
        now += stall
        spent["stalled" if times else "startup"] += stall
        cost[number if times else number - 1] += stall
        attempts.append({"attempt": number, "start": start, "end": now, "times": times})
        down = chance.randint(5, 900) if number < count - 1 else 0
        now, spent["down"], cost[number] = now + down, spent["down"] + down, cost[number] + down
    worst = max(range(count - 1), key=lambda number: cost[number])
    return {"attempts": attempts}, spent | {"wall": now, "ettr": spent["productive"] / now}, worst


@pytest.mark.parametrize("seed", range(40))
def test_time_is_where_it_was_spent(seed: int) -> None:
    """All parts, and whose end cost most."""
    given, spent, worst = run_of(seed)

    found = ANSWERS["ettr"](given)

    assert {name: found[name] for name in spent} == pytest.approx(spent, abs=0.002)
    assert ANSWERS["ettr-cause"](given) == worst


@pytest.mark.parametrize("seed", range(40))
def test_suspects_of_a_replay_hold_all_that_is_faulty(seed: int) -> None:
    """And where all are called faulty, no smaller set of nodes explains the groups that failed."""
    chance = Random(seed)
    size = chance.choice([2, 3, 4, 6])
    count = chance.randint(size, 12)
    faulty = set(chance.sample(range(size * count), chance.choice([0, 1, 1, 2, 2, 3])))
    first, second = ({x // size for x in faulty}, {x % count for x in faulty})

    found = ANSWERS["replay"](
        {"m": size, "n": count, "failed_horizontal": sorted(first), "failed_vertical": sorted(second)}
    )

    suspects = found["suspects"]
    assert faulty <= set(suspects)
    assert (found["verdict"] == "not-reproduced") == (not faulty)
    if found["verdict"] == "machines":
        sets = [
            {x for x, chosen in zip(suspects, bits, strict=True) if chosen}
            for bits in product([0, 1], repeat=len(suspects))
        ]
        explain = [s for s in sets if ({x // size for x in s}, {x % count for x in s}) == (first, second)]
        assert explain == [faulty]


@pytest.mark.parametrize(
    ("nodes", "rate", "hours"), [(64, 0.004, 12), (200, 0.0065, 24), (48, 0.02, 6), (7, 0.001, 24)]
)
def test_standbys_are_what_summing_the_binomial_finds(nodes: int, rate: float, hours: float) -> None:
    """Term by term."""
    chance, sum_of = 1 - math.exp(-rate * hours / 24), 0.0
    for number in range(nodes + 1):
        sum_of += math.comb(nodes, number) * chance**number * (1 - chance) ** (nodes - number)
        if sum_of >= 0.99:
            break
    assert ANSWERS["standby"]({"machines": nodes, "rate_per_day": rate, "replenish_h": hours}) == number


@pytest.mark.parametrize("seed", range(20))
def test_nodes_that_repeat_are_what_summing_the_poisson_finds(seed: int) -> None:
    """With as many bad nodes as chance wants, from none to three."""
    chance = Random(seed)
    nodes, days = chance.choice([60, 128, 300]), chance.choice([14, 28])
    names = [f"node-{chance.randrange(nodes)}" for _ in range(chance.randint(3, 14))]
    names += [name for _ in range(chance.randint(0, 3)) for name in [f"node-{chance.randrange(nodes)}"] * 5]
    incidents = [[chance.uniform(0, days), name, "gpu"] for name in names]
    chances = []
    for name, count in Counter(names).items():
        usual = max(len(names) - count, 0.5) / (nodes - 1)
        below = sum(math.exp(-usual) * usual**k / math.factorial(k) for k in range(count))
        chances.append((1 - below, name, count))
    chances.sort()
    kept = [place for place, (value, _, _) in enumerate(chances, 1) if value <= 0.05 * place / nodes]
    repeat = {name for _, name, count in chances[: max(kept, default=0)] if count >= 2}

    assert set(ANSWERS["lemon"]({"nodes": nodes, "days": days, "incidents": incidents})) == repeat


@pytest.mark.parametrize("seed", range(30))
def test_groups_are_what_the_coordinates_of_ranks_say(seed: int) -> None:
    """Ranks that differ in one coordinate alone are in its group; the smallest that holds all of them."""
    chance = Random(seed)
    tensor, pipeline, data = chance.choice([(8, 4, 4), (4, 8, 2), (8, 2, 8), (2, 4, 8), (4, 4, 4)])
    sizes = {"TP": tensor, "DP": data, "PP": pipeline}
    place = {x: (x % tensor, x // tensor % data, x // (tensor * data)) for x in range(tensor * data * pipeline)}
    axis, rank = chance.randrange(3), chance.choice(list(place))
    own = [x for x, at in place.items() if all(at[k] == place[rank][k] for k in range(3) if k != axis)]
    apart = chance.sample(own, 2) if seed % 5 else chance.sample(list(place), 3)
    differ = [name for k, name in enumerate(sizes) if len({place[x][k] for x in apart}) > 1]
    ranks = (
        [
            x
            for x in place
            if all(place[x][k] == place[apart[0]][k] for k, name in enumerate(sizes) if name != differ[0])
        ]
        if len(differ) == 1
        else apart
    )

    found = ANSWERS["group"]({"tp": tensor, "pp": pipeline, "dp": data, "apart": sorted(apart)})

    assert found == {"group": differ[0] if len(differ) == 1 else None, "nodes": sorted({x // 8 for x in ranks})}
