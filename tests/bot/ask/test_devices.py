"""Tables of devices: the clock or the power of one, which one is apart; nothing where no column is known."""

import pytest

from bot.ask.about_devices import devices
from bot.ask.about_pace import pace
from bot.ask.answer import ask
from bot.ask.english import normal
from bot.ask.subject import Subject
from tests.support.asked_jobs import asked, steps, subject_of

_HEAD = "#Date       Time        gpu    pwr  gtemp  mtemp     sm    mem    enc    dec   mclk   pclk\n"
_NODES = ("kif", "amy")


def _dmon(node: str, *, head: str = _HEAD) -> str:
    """As ``nvidia-smi dmon -o DT`` prints it: four devices once a minute; of kif device 2 loses its clock at 10:06."""
    rows = []
    for minute in range(10):
        for device in range(4):
            slow = node == "kif" and device == 2 and minute >= 6
            power, clock = (245, 705) if slow else (560 + device, 1750 + minute)
            row = f"{device}    {power}     60      -     97     47      0      0   2619   {clock}"
            rows.append(f" 20261120   10:{minute:02}:00      {row}\n")
    return head + "".join(rows)


@pytest.fixture(scope="module")
def tables() -> Subject:
    files = {f"{node}/dmon.txt": _dmon(node) for node in _NODES}
    return subject_of(files | {"train.log": steps(20)}, nodes=_NODES)


def test_the_device_that_is_apart_is_named(tables: Subject) -> None:
    """With its own number and that of the others; whatever the slip in the question."""
    lines = ask("wich gpu is the slow one?", tables).lines
    assert lines[0].startswith("GPU 2 on kif: clock 705 MHz at the end, the others 175")


@pytest.mark.parametrize(
    ("question", "starts"),
    [
        (
            "sm clock of gpu 2 on kif now vs before",
            "Clock of GPU 2 on kif: 705 MHz at the last",
        ),
        ("power draw of gpu 1 on amy?", "Power of GPU 1 on amy: 561 W at the last"),
    ],
)
def test_a_quantity_of_a_device_is_told_with_its_clock(tables: Subject, question: str, starts: str) -> None:
    """Of the device and the node that the question names."""
    assert ask(question, tables).lines[0].startswith(starts)


def test_without_a_table_of_devices_nothing_is_told() -> None:
    """Other answers have their turn."""
    subject = subject_of({"train.log": steps(20)})
    assert devices(subject, asked("which gpu is slow, what clock?", subject)) is None


def test_one_long_pause_begins_no_slowness() -> None:
    """An evaluation between two iterations is not where iterations took longer, and the factor stands first."""
    times = (
        [at * 2 for at in range(1, 21)]
        + [42 + 300 + at * 2 for at in range(10)]
        + [362 + at * 6 for at in range(1, 26)]
    )
    log = "".join(
        f"2026-11-20T10:{at // 60:02}:{at % 60:02}Z step {step} loss 1.0\n" for step, at in enumerate(times, start=1)
    )
    subject = subject_of({"rank_0.log": log})
    lines = pace(subject, asked("how much slower per step?", subject)) or []
    assert lines[0].startswith("From iteration 31 ")
    assert "3.0 times as long: 6, 2 in the beginning" in lines[0]


def test_a_job_without_clocks_denies_no_slowness() -> None:
    """Who asks which node is slow is not told that clocks are missing: another line may tell."""
    subject = subject_of({"train.log": "step 1 loss 2.0\nstep 2 loss 1.9\n"})
    assert pace(subject, asked("which node is slow?", subject)) is None


def test_german_without_umlauts_is_german() -> None:
    """Phones and keyboards of other countries have none."""
    assert normal("warum haengen alle") == normal("warum hängen alle") == "why hang all"
