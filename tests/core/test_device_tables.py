"""Tables of devices: one card that changed for good while no other did."""

from dataclasses import replace

import pytest

from core.diagnose import diagnose
from core.job import Job, Status
from tests.support.jobs import at, four_nodes

ORDER = "slurmstepd: error: *** JOB 77 ON node-0 CANCELLED AT 2026-11-21T04:03:20 ***"
FORMS = {
    # dcgmi dmon -e 100,155,203 (DCGM 3.3): a row a card, without a clock
    "dcgmi": "GPU {device}     {clock}      638.602   94",
    # nvidia-smi --query-gpu=timestamp,index,clocks.sm,power.draw,utilization.gpu --format=csv,noheader -l 5 (550)
    "nvidia-smi": "2026/11/21 04:00:00.812, {device}, {clock} MHz, 386.33 W, 100 %",
    "with a clock and names": "GPU {device} sm_clock={clock} power=638.6",
}


def stopped(tables: dict[str, list[str]], said: list[str], clock: float) -> Job:
    """Four nodes that say these lines, with tables beside them, until the job is cancelled."""
    return four_nodes({}, usual=said, others=tables | {"slurm.out": [at(clock + 1, ORDER)]}, status=Status.CANCELLED)


def stepped(slow: float) -> tuple[list[str], float]:
    """Forty steps of a second, and forty that take so many; and when the last one ended, in seconds."""
    ends = [step * 1.0 for step in range(1, 41)] + [40.0 + step * slow for step in range(1, 41)]
    return [at(end, f"step {step} loss 2.5") for step, end in enumerate(ends, start=1)], ends[-1]


def printed(form: str, clock_of: dict[tuple[int, int], int], slow: float = 2.6, since: int = 40) -> Job:
    """A job that becomes slow, with a table of four cards a node every five seconds; clocks by node and card, later."""
    said, clock = stepped(slow)
    tables = {}
    for node in range(4):
        rows = []
        for second in range(0, int(clock), 5):
            for device in range(4):
                value = clock_of.get((node, device), 1845) if second > since else 1845 + 15 * (second % 2)
                row = FORMS[form].format(device=device, clock=value)
                rows.append(at(second, row) if form == "with a clock and names" else row)
        tables[f"node-{node}/cards.log"] = rows
    return stopped(tables, said, clock)


@pytest.mark.parametrize("form", FORMS)
def test_the_card_that_fell_to_a_fifth_of_its_clock_is_told(form: str) -> None:
    """All ranks wait for it alike, and nothing complains."""
    found = diagnose(printed(form, {(2, 3): 345}), [])

    assert [node.node for node in found.nodes] == ["node-2"]
    assert "of GPU 3 went from 1,8" in found.nodes[0].because
    assert "to 345, and stayed so" in found.nodes[0].because


@pytest.mark.parametrize(
    "one",
    [
        printed("dcgmi", {(2, 3): 1600}),
        printed("dcgmi", {(node, device): 345 for node in range(4) for device in range(4)}),
        printed("dcgmi", {(1, 3): 345, (2, 3): 345}),
        printed("dcgmi", {(2, 3): 345}, slow=1.0),
        printed("with a clock and names", {(2, 3): 345}, since=185, slow=5.0),
    ],
    ids=["a little", "all of them", "on two nodes", "of a job that is well", "long after"],
)
def test_other_changes_accuse_nobody(one: Job) -> None:
    """Clocks move with the load, and with that of all others."""
    assert diagnose(one, []).nodes == ()


def test_a_card_that_idles_while_all_others_spin_is_told() -> None:
    """gpustat (1.1) each minute, of a job that hung: who waits in a collective is busy, who never came to it is not."""
    tables = {}
    for node in range(4):
        rows = []
        for minute in range(12):
            rows.append(f"node-{node}  Sat Nov 21 04:{minute:02d}:00 2026  535.183.01")
            busy = {card: 0 if (node, card) == (2, 1) and minute > 5 else 94 + card for card in range(4)}
            rows += [f"[{card}] NVIDIA A100-PCIE-40GB | 5{card}'C,  {busy[card]} % | 35102 / 40960 MB" for card in busy]
        tables[f"node-{node}/gpustat.txt"] = rows
    usual = [at(10 * step, f"step {step} loss 2.5") for step in range(1, 33)]
    found = diagnose(four_nodes({}, usual=usual, others=tables | {"console.log": [at(720, "still there")]}), [])

    assert [node.node for node in found.nodes] == ["node-2"]
    assert "of GPU 1 went from 95 to 0" in found.nodes[0].because


def test_a_list_of_all_machines_in_one_log_has_devices_of_each() -> None:
    """A script of one's own asks all hosts; the head above tells what its columns are."""
    usual = [at(10 * step if step <= 40 else 400 + 26 * (step - 40), f"step {step} loss 2.5") for step in range(1, 81)]
    rows = ["host     g  util  smclk  temp   watt  ecc"]
    for moment in range(0, 1400, 60):
        for node in range(4):
            clock = [300 if (node, card) == (2, 1) and moment > 400 else 1395 + 5 * card for card in range(4)]
            rows += [f"node-{node}   {card}  100%   {clock[card]}    5{card}    383    0" for card in range(4)]
    found = diagnose(four_nodes({}, usual=usual, others={"gwatch.txt": rows}, status=Status.CANCELLED), [])

    assert [node.node for node in found.nodes] == ["node-2"]
    assert "mclk of GPU 1 went from 1,400 to 300" in found.nodes[0].because


def sampled(values: dict[tuple[int, int], list[int]], form: str, usual: int = 1980, slow: float = 2.6) -> Job:
    """A job that becomes slow after 40 steps, and the clock of each of four cards a node every twenty seconds."""
    said, clock = stepped(slow)
    tables = {}
    for node in range(4):
        samples = [
            form.format(device=device, clock=of[n] if (of := values.get((node, device))) else usual)
            for n in range(int(clock) // 20)
            for device in range(4)
        ]
        tables[f"node-{node}/cards.log"] = samples
    return stopped(tables, said, clock)


CSV = "2026/11/21 04:00:00.812, {device}, {clock} MHz, 386.33 W, 100 %"
# dcgm-exporter 3.3, etc/default-counters.csv
GAUGE = 'DCGM_FI_DEV_SM_CLOCK{{gpu="{device}",UUID="GPU-5f99",device="nvidia0",Hostname="node-1"}} {clock}'


@pytest.mark.parametrize("form", [CSV, GAUGE], ids=["nvidia-smi", "dcgm-exporter"])
def test_few_samples_are_enough_beside_the_cards_of_all_other_machines(form: str) -> None:
    """A clock that fell by a third is below those of all others."""
    fell = [1980, 1980, 1980, 1335, 1335, 1350, 1350]
    found = diagnose(sampled({(2, 3): fell}, form), [])

    assert [node.node for node in found.nodes] == ["node-2"]
    assert "of GPU 3 went from 1,980 to 1,3" in found.nodes[0].because
    assert not diagnose(sampled({(2, 3): [1980, 1335, 1980, 1980, 1335, 1980, 1980]}, form), []).nodes


def test_a_card_that_is_otherwise_all_along_is_told_in_a_job_that_was_slow_from_its_start() -> None:
    """Its link has fewer lanes; of a job as fast as good ones nothing follows."""
    lanes = "2026/11/21 04:00:00.812, {device}, 99 %, 386.33 W, 66, {clock}"
    good = sampled({}, lanes, usual=16, slow=1.0)
    slow = [at(n * 2.0, f"step {n} loss 2.5") for n in range(1, 81)]
    tables = {
        f"node-{node}/cards.log": [
            lanes.format(device=d, clock=2 if (node, d) == (1, 2) else 16) for _ in range(8) for d in range(4)
        ]
        for node in range(4)
    }
    one = stopped(tables, slow, 160.0)

    done = replace(good, manifest=replace(good.manifest, job_id="g", status=Status.COMPLETED))

    assert [node.node for node in diagnose(one, [done]).nodes] == ["node-1"]
    assert "is 2 where that of all others is 16" in diagnose(one, [done]).nodes[0].because
    assert not diagnose(one, []).nodes


@pytest.mark.parametrize(("cards", "told"), [((2,), True), ((0, 1, 2, 3), True), ((2,), False)])
def test_cards_of_one_node_that_are_apart_in_two_numbers_are_told(cards: tuple[int, ...], told: bool) -> None:
    """A lower clock, and the power that it draws; one number alone may be that of another part of the work."""
    row = "2026/11/21 04:00:00.812, {device}, {clock} MHz, 99 %, {power} W, 66"

    def sampled_of(apart: tuple[int, ...]) -> dict[str, list[str]]:
        tables = {}
        for node in range(4):
            own = [
                row.format(device=d, clock=1275, power=336.1 if told else 511.5)
                if node == 1 and d in apart
                else row.format(device=d, clock=1965, power=510 + d)
                for d in range(4)
            ]
            tables[f"node-{node}/cards.log"] = own * 8
        return tables

    good = stopped(sampled_of(()), [at(n * 1.0, f"step {n} loss 2.5") for n in range(1, 81)], 80.0)
    done = replace(good, manifest=replace(good.manifest, job_id="g", status=Status.COMPLETED))
    slow = [at(n * 1.6, f"step {n} loss 2.5") for n in range(1, 81)]

    found = diagnose(stopped(sampled_of(cards), slow, 128.0), [done])

    assert [node.node for node in found.nodes] == (["node-1"] if told else [])


def test_a_machine_whose_cards_slow_down_together_is_told_whatever_they_did_before_training() -> None:
    """They idle while the job loads, which is a larger change; all others draw less power since they wait."""
    said, clock = stepped(2.6)
    said = [at(60.0, "loading"), *(at(120 + step, f"step {step} loss 2.5") for step in range(1, 41))]
    said += [at(160 + 2.6 * step, f"step {40 + step} loss 2.5") for step in range(1, 41)]
    tables = {}
    for node in range(4):
        rows = []
        for second in range(0, int(clock) + 120, 5):
            speed, power = (345, 76) if second < 120 else (1980, 660)
            if second > 160:
                speed, power = (990, 330) if node == 2 else (1980, 480)
            clocked = f"2026/11/21 04:{second // 60:02d}:{second % 60:02d}.311"
            rows += [f"{clocked}, {card}, 98 %, {speed} MHz, {power + second % 4}.18 W" for card in range(4)]
        tables[f"node-{node}/smi.csv"] = rows

    found = diagnose(stopped(tables, said, clock + 120), [])

    assert [node.node for node in found.nodes] == ["node-2"]
    assert "and 3 more went from" in found.nodes[0].because
