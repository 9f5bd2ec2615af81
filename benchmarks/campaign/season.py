"""A season: rounds of acts and faults on one stage, and after each a pause in which all that was promised must come."""

import os
import shutil
import signal
import sqlite3
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import ExitStack, closing
from dataclasses import dataclass, field
from pathlib import Path
from random import Random

import pytest

from benchmarks.campaign.bots import ROOT, Bots
from benchmarks.campaign.child import CampaignPlan
from benchmarks.campaign.faults import (
    AT_STEP,
    CHILD,
    DAMAGED_STATE,
    FILE,
    MODEL,
    MODELS,
    SECOND_BOT,
    FaultTally,
    Ground,
)
from benchmarks.campaign.oracle import Facts, look, missing, wrong
from benchmarks.campaign.people import CampaignJob, People
from benchmarks.support.damage import blank, cut, flip, garbage, scatter
from benchmarks.support.outages import MODEL_TIMEOUT, endpoint, small_disk
from benchmarks.support.stage import Stage, local_slack, make_stage

ROOM = "96m"  # of the state's disk: a season writes some 20
ROUNDS = 12  # of a season: what Slack holds is read again and again
FAULTS, NEW, FOLLOW_UPS = 26, 9, 7  # of a round
MEETS = 5.0  # seconds in which faults of Slack may still meet a call, after the last act
PATIENCE = 150.0  # seconds without any change, after which what was promised does not come any more
LOOK_EVERY = 0.5
FROZEN = 20.0  # seconds: a look takes one; whatever is longer, the machine stood still
DAMAGES_A_ROUND = 0.3  # so often the state is damaged between two rounds
STARTS = 20.0  # seconds in which a bot on a damaged state must have ended, or be there
_DAMAGES = (flip, scatter, cut, blank, garbage)


@dataclass
class Result:
    """What a campaign has come to."""

    tally: FaultTally = field(default_factory=FaultTally)
    acts: Counter[str] = field(default_factory=Counter)
    lost: list[str] = field(default_factory=list)
    wrong: list[str] = field(default_factory=list)
    odd: list[str] = field(default_factory=list)  # what a log may not hold, and what damage may not lead to
    rounds: int = 0
    settled: list[float] = field(default_factory=list)  # seconds from the last fault to the last promise
    skipped: set[str] = field(default_factory=set)

    @property
    def faults(self) -> int:
        """How many struck."""
        return self.tally.struck.total()


def season(shared: Path, home: Path, seed: str, result: Result, *, rounds: int = ROUNDS, faults: int = FAULTS) -> None:
    """Some rounds; whatever is found goes into ``result``, with the seed of its round."""
    with ExitStack() as stack:
        slack = stack.enter_context(local_slack())
        stage = make_stage(slack, shared, home)
        can_fill = _own_disk(stack, stage.state)
        if not can_fill:
            result.skipped.add("disk full")
        models = {how: stack.enter_context(endpoint(how)) for how in MODELS}
        environment = {
            "TASKS": "benchmarks.campaign.child",
            "FIRSTFAULT_APPROVERS": "U0ALICE,U0BOB",
            "FIRSTFAULT_RUNS": "2",
        }
        environment |= {"FIRSTFAULT_MODEL_TIMEOUT": str(MODEL_TIMEOUT)}
        stage = Stage(slack, stage.home, {**stage.environment, **environment})
        bots = stack.enter_context(Bots(stage).tended())
        cases: list[CampaignJob] = []
        for number in range(rounds):
            name = f"{seed}/{number}"
            round_ = _Round(stage, bots, Random(name), cases, models, can_fill, result)  # noqa: S311 no secret
            lost, found = round_.play(100 * number, faults)
            result.lost += [f"{name}: {what}" for what in lost]
            result.wrong += [f"{name}: {what}" for what in found]
            result.rounds += 1
            if lost or found:
                break  # what follows would be told again and again
        result.odd += [f"{seed}: {line}" for line in _odd_lines(home / "log")]


class _Round:
    """Acts and faults in an order of chance, then peace."""

    def __init__(
        self,
        stage: Stage,
        bots: Bots,
        chance: Random,
        cases: list[CampaignJob],
        models: Mapping[str, str],
        can_fill: bool,  # noqa: FBT001
        result: Result,
    ) -> None:
        self._stage = stage
        self._bots = bots
        self._chance = chance
        self._cases = cases
        self._models = models
        self._result = result
        self._people = People(stage, chance)
        self._ground = Ground(stage, bots, chance, can_fill)

    def play(self, first: int, faults: int) -> tuple[list[str], list[str]]:
        """What was lost, and what is wrong."""
        tally, chance = self._result.tally, self._chance
        kinds = Counter(self._ground.draw(faults))
        before = self._bots.killed_themselves()
        self._bots.deadly.extend(self._ground.steps() for _ in range(kinds[AT_STEP]))
        self._bots.want(2 if kinds[SECOND_BOT] else 1)
        if kinds[AT_STEP]:
            self._bots.end(signal.SIGTERM, chance)
        new = self._new_cases(first, kinds)
        planned = kinds[AT_STEP]
        later = [
            kind
            for kind in kinds.elements()
            if kind not in (AT_STEP, SECOND_BOT, CHILD) and not kind.startswith((FILE, MODEL))
        ]
        chance.shuffle(later)
        with ThreadPoolExecutor(4) as crowd:
            acts = list(self._begin(crowd, new))
            for kind in later:
                time.sleep(chance.uniform(0.0, 0.6))
                self._ground.strike(kind, tally)
            for act in acts:
                act.result()
        end = time.monotonic() + MEETS
        while self._stage.slack.faults.coming() and time.monotonic() < end:
            time.sleep(LOOK_EVERY)
        self._ground.count_slack(tally)
        tally.drawn[AT_STEP] += planned
        for kind in [SECOND_BOT] * kinds[SECOND_BOT]:
            tally.add(kind, struck=True)
        self._cases += new
        lost, found = self._settle(new)
        tally.struck[AT_STEP] += min(planned, self._bots.killed_themselves() - before)
        for case in new:
            if case.plan:
                tally.add(
                    case.plan, struck=case.plan.startswith(MODEL) or (self._stage.home / f"{case.job}.struck").exists()
                )
        if not lost and not found and chance.random() < DAMAGES_A_ROUND:
            self._damage()
        return lost, found

    def _new_cases(self, first: int, kinds: Counter[str]) -> list[CampaignJob]:
        plans = [kind for kind in kinds.elements() if kind == CHILD or kind.startswith((FILE, MODEL))]
        new = []
        for place in range(max(NEW, len(plans) + 2)):
            kind = plans[place] if place < len(plans) else ""
            real = kind.startswith((FILE, MODEL))
            case = self._people.new(first + place, real=real, gate=not kind and self._chance.random() < 0.15)
            case.plan = kind
            self._plan(kind).write(self._stage.home, case.job)
            case.excused = "its files changed" if kind.startswith(FILE) else ""
            new.append(case)
        return new

    def _plan(self, kind: str) -> CampaignPlan:
        if kind == CHILD:
            return CampaignPlan(dies_after=self._chance.randint(1, 2))
        if kind.startswith(FILE):
            return CampaignPlan(files=kind.removeprefix(FILE), at_read=self._chance.randint(1, 60))
        return CampaignPlan(model=self._models[kind.removeprefix(MODEL)]) if kind else CampaignPlan()

    def _begin(self, crowd: ThreadPoolExecutor, new: list[CampaignJob]) -> Iterator["Future[None]"]:
        """Everybody does one thing, one soon after the other."""
        chance, people = self._chance, self._people
        facts = look(self._stage)
        ready = [case for case in self._cases if not case.over and _can_be_decided(facts, case)]
        chosen = chance.sample(ready, min(FOLLOW_UPS, len(ready)))
        acts = [(chance.random(), case, self._follow_up(facts, case)) for case in chosen]
        acts += [(chance.random(), case, "cancel" if case.job.startswith("gate") else "ask") for case in new]

        def act(case: CampaignJob, what: str, pause: float) -> None:
            time.sleep(pause)
            if what == "ask":
                people.ask(case)
            elif what == "cancel":
                people.ask_and_cancel(case)
            else:
                people.follow_ups[what](case)

        for _, case, what in sorted(acts, key=lambda item: item[0]):
            self._result.acts[what if what != "ask" else case.way] += 1
            yield crowd.submit(act, case, what, chance.uniform(0.0, 1.0))

    def _follow_up(self, facts: Facts, case: CampaignJob) -> str:
        run = facts.runs[case.job][-1]
        if run.id in facts.standing:
            return self._chance.choice(("undo", "question"))
        return self._chance.choice(("approve", "approve", "approve twice", "edit", "reject", "question", "again"))

    def _settle(self, new: list[CampaignJob]) -> tuple[list[str], list[str]]:
        """No fault any more: wait until nothing is missing."""
        self._bots.disarm()
        for case in new:
            if case.job.startswith("gate"):
                self._stage.let_go(case.job)
        began = changed = looked = time.monotonic()
        before: list[str] = []
        while True:
            for case in self._cases:
                if case.wishes:
                    self._people.answer_offers(case)
            facts = look(self._stage)
            lost = missing(facts, self._cases)
            if lost != before or time.monotonic() - looked > FROZEN:
                before, changed = lost, time.monotonic()
            if (not lost and not self._stage.slack.is_delivering()) or time.monotonic() - changed > PATIENCE:
                break
            looked = time.monotonic()
            time.sleep(LOOK_EVERY)
        self._result.settled.append(time.monotonic() - began)
        found = wrong(facts, self._cases)
        for case in self._cases if not (lost or found) else ():
            case.settle(len(facts.runs.get(case.job, ())))
        return lost, found

    def _damage(self) -> None:
        """Bytes of the state change while no bot runs: the next one says so and ends, or does not meet them."""
        self._bots.end_all()
        file = self._stage.state / "state.db"
        kept = self._stage.home / "state.kept"
        with closing(sqlite3.connect(file)) as whole, closing(sqlite3.connect(kept)) as copy:
            whole.backup(copy)
            whole.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        self._chance.choice(_DAMAGES)(file, self._chance)
        self._result.tally.add(DAMAGED_STATE, struck=True)
        self._result.odd += self._served_on_damage()
        for rest in self._stage.state.glob("state.db*"):
            rest.unlink()
        shutil.copy(kept, file)
        self._bots.want(1)

    def _served_on_damage(self) -> list[str]:
        environment = {**os.environ, **self._stage.environment, "PYTHONPATH": str(ROOT)}
        process = subprocess.Popen(
            [sys.executable, "-m", "bot", "serve"], env=environment, stderr=subprocess.PIPE, stdout=subprocess.DEVNULL,
            cwd=self._stage.home, text=True,
        )  # fmt: skip
        end = time.monotonic() + STARTS
        while process.poll() is None and not self._stage.slack.snapshot().connections and time.monotonic() < end:
            time.sleep(LOOK_EVERY)
        code = process.poll()
        process.kill()
        text = process.communicate()[1]
        if code is None:
            return []  # the damage is where nobody has looked
        wanted = code == 2 and ("is damaged" in text or "another program" in text)
        return [] if wanted and "Traceback" not in text else [f"on damage: exit code {code}, {text[-400:]!r}"]


def _can_be_decided(facts: Facts, case: CampaignJob) -> bool:
    runs = facts.runs.get(case.job, ())
    return bool(runs) and runs[-1].status == "done" and not case.real


def _own_disk(stack: ExitStack, state: Path) -> bool:
    """Put the state on a disk that can be filled, where that is allowed."""
    try:
        stack.enter_context(small_disk(state, ROOM))
    except pytest.skip.Exception:
        return False
    return True


def _odd_lines(log: Path) -> Iterator[str]:
    """Unknown errors, and what is no line of ours."""
    for line in log.read_text(encoding="utf-8", errors="replace").splitlines():
        if "unknown error" in line or "has ended" in line or not line.startswith("{"):
            yield line[:2000]
