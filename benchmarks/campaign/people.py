"""What people do during the campaign, and what they were told: the oracle holds the rest of the world against it."""

import threading
import time
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager, suppress
from dataclasses import dataclass, field
from random import Random

from benchmarks.support.stage import EXAMPLES, ROOMS, Stage
from bot.state.errors import StateUnavailable
from bot.state.runs import Run
from slacksim import Message, Outcome, User
from slacksim.errors import LocalSlackError

EXAMPLE = "f42"
OFFER = "Your team may know this fault"
APPROVERS = ("alice", "bob")
DISK_IS_BACK, LOOK_EVERY = 30.0, 0.2  # seconds: a disk is full, or the state locked, for four at most
SOON = 4.0  # seconds that somebody waits for a window or a message before giving up
WAYS = ("command", "mention", "message", "shortcut")


@dataclass
class CampaignJob:
    """One job, and what was wished about it.

    asked: how often somebody wanted a diagnosis. heard: how often Slack was told at once that this has arrived; of a
    message, Slack's journal says it. wishes: what people wanted decided, and whether that was acknowledged. since: the
    newest message when the last wish was made; what somebody is told privately comes after it. excused: why it may
    have ended without an answer.
    """

    job: str
    room: str
    way: str
    asked: int = 1
    heard: int = 0
    cancelled: bool = False
    wishes: list[tuple[str, bool]] = field(default_factory=list)
    questions: list[str] = field(default_factory=list)
    since: str = ""
    excused: str = ""
    plan: str = ""  # the fault that waits for it
    real: bool = False
    settled: bool = False  # it was looked at before, and had so many runs
    runs: int = 0
    over: bool = False  # nothing is done about it any more

    def settle(self, runs: int) -> None:
        """All that was wished until now is done, or the person was told why not: it is not held against later looks."""
        self.settled, self.runs, self.heard = True, runs, 0
        self.wishes.clear()


class People:
    """Acts for the round; any thread may do one, and those in windows wait for each other."""

    def __init__(self, stage: Stage, chance: Random) -> None:
        self._stage = stage
        self._chance = chance
        self._window = threading.Lock()
        self.follow_ups: Mapping[str, Callable[[CampaignJob], None]] = {
            "approve": self._approve,
            "approve twice": self._approve_twice,
            "edit": self._edit,
            "reject": self._reject,
            "undo": self._undo,
            "question": self._question,
            "again": self._again,
        }

    def new(self, number: int, *, real: bool = False, gate: bool = False) -> CampaignJob:
        """A job that was not asked for yet."""
        kind = "real" if real else "gate" if gate else "quick"
        job = f"{kind}-{number:04}"
        if real:
            self._stage.real_job(job, EXAMPLES / EXAMPLE)
        else:
            self._stage.job(job)
        way = "command" if gate else self._chance.choice(WAYS)
        room = self._stage.alice.direct_channel if way == "message" else ROOMS[number % len(ROOMS)]
        return CampaignJob(job, room, way, real=real)

    def ask(self, case: CampaignJob) -> None:
        """In the way of the case; a message is sent again by Slack until it is acknowledged."""
        alice = self._stage.alice
        self._mark(case)
        if case.way == "command":
            case.heard += _taken(alice.command(f"/diagnose {case.job}", case.room))
        elif case.way == "shortcut":
            message = alice.say(f"look at job {case.job}", case.room)
            case.heard += _taken(alice.shortcut("diagnose_message", message))
        else:
            mention = "@firstfault " if case.way == "mention" else ""
            alice.say(f"{mention}diagnose {case.job}", case.room)

    def ask_and_cancel(self, case: CampaignJob) -> None:
        """A job that does not end by itself."""
        self.ask(case)
        with _nothing_to_click():
            message = self._stage.slack.wait_for(lambda now: now.find(case.room, case.job), SOON)
            self._mark(case)
            case.cancelled = _taken(self._stage.alice.click(message, "ff_cancel"))

    def answer_offers(self, case: CampaignJob) -> bool:
        """Somebody who approved is asked whether it is a fault that the team knows; True when there was a question."""
        asked = False
        for name in APPROVERS:
            offers = [
                m
                for m in self._stage.slack.snapshot().ephemerals(name)
                if m.channel == case.room and OFFER in m.all_text and m.ts > case.since
            ]
            for offer in offers[-1:]:
                asked = True
                with _nothing_to_click():
                    self._stage.slack.user(name).click(offer, self._chance.choice(("ff_join", "ff_approve_new")))
        return asked

    # --- about what was answered ---

    def _approve(self, case: CampaignJob) -> None:
        self._decide(case, "approve", lambda: self._click("alice", case, "ff_approve"))

    def _approve_twice(self, case: CampaignJob) -> None:
        """Two people in one moment."""
        other = threading.Thread(target=lambda: self._decide_quietly(case))
        other.start()
        self._approve(case)
        other.join()

    def _decide_quietly(self, case: CampaignJob) -> None:
        with _nothing_to_click():
            self._click("bob", case, "ff_approve")

    def _reject(self, case: CampaignJob) -> None:
        values = {"Why is it wrong?": f"not so in {case.job}"}
        self._decide(case, "reject", lambda: self._in_window("bob", case, "ff_reject", values))

    def _edit(self, case: CampaignJob) -> None:
        values = {"Title": f"What was wrong in {case.job}"}
        self._decide(case, "edit", lambda: self._in_window("alice", case, "ff_edit", values))

    def _undo(self, case: CampaignJob) -> None:
        self._decide(case, "undo", lambda: self._click("alice", case, "ff_undo"))

    def _question(self, case: CampaignJob) -> None:
        """In a thread that people began, as a shortcut answers in, only a mention asks the bot."""
        words = f"which node of {case.job}, number {len(case.questions)}?"
        parent = self._parent(case)
        if parent.thread_ts:
            root = self._stage.slack.snapshot().message(parent.channel, parent.thread_ts)
            self._stage.alice.reply(root, f"@firstfault {words}")
        else:
            self._stage.alice.reply(parent, words)
        case.questions.append(words)

    def _again(self, case: CampaignJob) -> None:
        self._mark(case)
        case.over = True
        with _nothing_to_click():
            case.asked += 1
            case.heard += _taken(self._click("alice", case, "ff_again"))

    def _decide(self, case: CampaignJob, what: str, do: Callable[[], Outcome]) -> None:
        self._mark(case)
        with _nothing_to_click():
            case.wishes.append((what, _taken(do())))

    def _click(self, name: str, case: CampaignJob, action: str) -> Outcome:
        return self._stage.slack.user(name).click(self._parent(case), action)

    def _in_window(self, name: str, case: CampaignJob, action: str, values: dict[str, str]) -> Outcome:
        who: User = self._stage.slack.user(name)
        with self._window:
            while who.modal() is not None:  # of somebody who was not heard before
                who.cancel()
            who.click(self._parent(case), action)
            view = who.wait_for_modal(next(iter(values)), SOON)
            run = self._run(case)
            if run is None or run.id not in str(view.content.get("private_metadata")):
                raise LocalSlackError("It is a window of before, which came late.")
            return who.submit(dict(values))

    def _run(self, case: CampaignJob) -> Run | None:
        """The newest run; whoever looks while the disk of the state is full looks again."""
        end = time.monotonic() + DISK_IS_BACK
        while True:
            try:
                return self._stage.run(case.job)
            except StateUnavailable:
                if time.monotonic() > end:
                    raise
                time.sleep(LOOK_EVERY)

    def _parent(self, case: CampaignJob) -> Message:
        run = self._run(case)
        if run is None:
            raise LookupError(f"{case.job} was decided about before it was asked for")
        return self._stage.slack.snapshot().message(run.channel, run.message_ts)

    def _mark(self, case: CampaignJob) -> None:
        case.since = max((m.ts for m in self._stage.slack.snapshot().everything), default="")


def _nothing_to_click() -> AbstractContextManager[None]:
    """Somebody wants to click what is not there (yet, or any more), and leaves it."""
    return suppress(LocalSlackError)


def _taken(outcome: Outcome) -> bool:
    """Acknowledged, and not with a word of trouble."""
    return outcome.acknowledged and not outcome.answer
