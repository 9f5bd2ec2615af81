"""The decision: the first row of a table that applies. What each row does, and why, is docs/explain/next-step.md.

After ByteRobust (SOSP 2025, sections 4.1 to 4.3). Differs: a group of nodes is taken out only where that is cheaper
than to find the faulty one, nobody while more than a tenth is accused, and nothing is done: this is advice.
"""

from dataclasses import replace

from core.model import Action, Confidence, Cost, NextStep, Scope
from core.naming import sentence, together
from core.next.price import NOTHING, checks, over_eviction, replay, restart
from core.next.situation import FaultClass, Situation

FEW, SHARE = 2, 0.1  # more nodes to take out than either point to one shared cause, or to a check that is wrong
HOPELESS = 3  # attempts in a row without a new checkpoint
FLAPS = 2  # of a link within five minutes are not tolerated (ByteRobust, section 4.1)
FINDING = 5.0  # minutes: two of diagnostics, the rest for pairs

UNTIL_PUT_RIGHT = "it fails again until that is put right"
NOT_TOLD = "the logs do not tell whether machines or the program cause it"
_AGAIN = "when it fails again in the same way"


def next_step(now: Situation) -> NextStep:
    """The first row that applies."""
    if now.past.again is False:  # row 11: in another way, so what was tried against the last failure says nothing
        checked = None if now.past.reattempts else now.past.checked
        now = replace(now, past=replace(now.past, checked=checked, reattempts=0, rolled_back=False))
    rows = (
        _nothing_failed,
        _broken_machine,
        _link,
        _stuck,
        _changed_code,
        _to_fix,
        _completed,
        _suspects,
        _slower,
        _hopeless,
        _ended_by_somebody,
        _goes_on,
        _check_first,
        _start_again,
        _back,
        _replay,
    )
    step = next((step for row in rows if (step := row(now)) is not None), None) or _unclear(now)
    return replace(step, cause=now.says, kind=now.broken.value)


# --- it did not fail, or somebody is named -------------------------------------------------------------------------


def _nothing_failed(now: Situation) -> NextStep | None:
    if now.scope is not Scope.NONE:
        return None
    return NextStep(Action.NONE, f"Nothing failed: {now.says}.", Cost(0.0, "Costs nothing."))


def _broken_machine(now: Situation) -> NextStep | None:
    sure = now.confidence is Confidence.ESTABLISHED
    if not (now.named and sure and now.broken is FaultClass.MACHINE and len(now.accused) == 1):
        return None
    return _evict(now, f"{now.says}; a broken machine needs no tests first", "check the others")


def _link(now: Situation) -> NextStep | None:
    if now.broken is not FaultClass.LINK or not (now.named or now.flapped):
        return None
    who = together(now.accused)
    if (now.completed or (now.running and not now.stuck)) and now.flaps < FLAPS:
        went_on = "the job completed" if now.completed else "the job goes on"
        return NextStep(
            Action.WAIT,
            f"{sentence(now.says)} once, and {went_on}; note it in the node's history.",
            NOTHING,
            "" if now.completed else "the job stops making progress.",
            f"When it comes again within five minutes: evict {who}.",
            now.accused,
        )
    often = f"told {now.flaps} times within five minutes" if now.flaps >= FLAPS else "and the job ended with it"
    if now.running and now.stuck:
        often = "and the job is stuck"
    return _evict(now, f"{now.says}, {often}", "check the pair and its switch")


def _stuck(now: Situation) -> NextStep | None:
    if not (now.running and now.stuck):
        return None
    return NextStep(
        Action.AGGREGATE,
        "The job still runs and stands still or is slow: stacks and flight recorder dumps of all ranks tell who does "
        "not wait; when it is ended they are gone.",
        Cost(0.0, "Seconds, on nodes that wait anyway."),
        "it makes progress again.",
        "Diagnose it again with the dumps beside the logs.",
    )


# --- code, and what the job was given ------------------------------------------------------------------------------


def _changed_code(now: Situation) -> NextStep | None:
    everywhere = now.scope is not Scope.NODE
    if now.broken is not FaultClass.CODE or not everywhere or now.past.rolled_back or not _changed(now):
        return None
    return _rollback(now, f"{sentence(now.says)}; {_came_with(now)}", "fix it")


def _to_fix(now: Situation) -> NextStep | None:
    if now.broken not in (FaultClass.CODE, FaultClass.MEANS):
        return None
    where = f" ({now.frame})" if now.frame else ""
    barren = now.past.barren
    loop = f" The last {barren} attempts made no new checkpoint: stop retrying." if barren >= HOPELESS else ""
    change = ""
    if now.broken is FaultClass.CODE and now.past.changes is None:
        change = "code or arguments differ from the last good attempt, of which job.json tells nothing: then roll back."
    return NextStep(
        Action.FIX,
        f"{sentence(now.says)}{where}: {UNTIL_PUT_RIGHT}.{loop}",
        restart(now.total, now.startup, now.redo),
        change,
        "When it is put right and something else fails, diagnose that.",
        now.accused if now.named else (),
    )


# --- suspects -------------------------------------------------------------------------------------------------------


def _completed(now: Situation) -> NextStep | None:
    # Nobody waits for this job any more: what its own device does not report may be looked at in peace.
    if not (now.completed and now.named):
        return None
    return NextStep(
        Action.CHECK,
        f"{sentence(now.says)}, and yet the job completed: nothing has to be started again{_bitwise(now)}.",
        checks(len(now.accused)),
        "a job runs there already: then let it end first.",
        f"Take out {together(now.accused)} when the checks fail, or when it comes again.",
        now.accused,
    )


def _suspects(now: Situation) -> NextStep | None:
    if not now.named or now.broken in (FaultClass.PROCESS, FaultClass.NUMBERS):
        return None
    if len(now.accused) == 1:
        return _evict(
            now,
            now.says if now.rivals or "other" in now.says else f"{now.says}, and nobody else stands out",
            "check the others",
        )
    if too_many(now):
        return _shared_cause(now)
    who = together(now.accused)
    price = over_eviction(now.total, len(now.accused), FINDING) if now.total else None
    if price is not None and price.cheaper and now.unit == "node":
        numbers = f"{price.evicting:,.0f} node-hours of tests against {price.finding:,.0f} of waiting"
        return _evict(now, f"{now.says}; to find the faulty one among them costs more ({numbers})", "check the others")
    return _check(now, f"Suspects are {who}: find which of them it is before any is taken out.")


def too_many(now: Situation) -> bool:
    """Whether more is accused than fails at a time: two nodes or a tenth of the job."""
    return now.unit == "node" and len(now.accused) > max(FEW, SHARE * (now.total or 0))


def _shared_cause(now: Situation) -> NextStep:
    of = f" of {now.total:,}" if now.total else ""
    return _check(now, f"{len(now.accused):,}{of} nodes are accused: a shared cause or a wrong check is likelier.")


def _slower(now: Situation) -> NextStep | None:
    if not (now.running and now.slower):
        return None
    return NextStep(
        Action.AGGREGATE,
        "It still runs and has become slower, and nobody is named: stacks of all ranks several times, or a profile of "
        "some steps on each, tell who works while the others wait.",
        Cost(0.0, "Seconds of each rank; the job goes on."),
        "the program itself changed what it does from then on, such as longer sequences.",
        "Diagnose it again with the dumps beside the logs.",
    )


# --- nobody is named ------------------------------------------------------------------------------------------------


def _hopeless(now: Situation) -> NextStep | None:
    if now.past.barren < HOPELESS:
        return None
    return NextStep(
        Action.NONE,
        f"The last {now.past.barren} attempts made no new checkpoint, and nobody is found: stop retrying; more "
        f"restarts change nothing.{_again(now)}",
        Cost(0.0, "Costs nothing; each further restart would."),
        "something was changed since.",
        "A person decides.",
    )


def _ended_by_somebody(now: Situation) -> NextStep | None:
    if not now.stop or now.says or now.broken is not FaultClass.UNKNOWN:
        return None
    return NextStep(
        Action.NONE,
        f"{sentence(now.stop)}, and nothing else is known to have failed; no clock tells whether it made progress "
        "until then.",
        Cost(0.0, "Costs nothing."),
        "it hung: then check the nodes, and collect stacks of all ranks when it hangs again.",
    )


def _goes_on(now: Situation) -> NextStep | None:
    if not now.running or now.named or now.says or now.broken is not FaultClass.UNKNOWN:
        return None
    return NextStep(
        Action.WAIT,
        "It still runs, and nothing that is known points to a failure.",
        NOTHING,
        "it makes no progress: then collect stacks and flight recorder dumps of all ranks before it is ended.",
        "Diagnose it again when it has ended, or when it stands still.",
    )


def _check_first(now: Situation) -> NextStep | None:
    checked = now.past.checked is not None or now.past.reattempts or now.past.rolled_back
    if checked or (now.broken is FaultClass.UNKNOWN and not now.says):
        return None
    return _check(now, f"{sentence(now.says)}; {_whose_fault(now)}.")


def _whose_fault(now: Situation) -> str:
    """What nobody knows before the checks ran."""
    if now.broken is FaultClass.LINK:
        return "no single node stands out: a shared cause is likelier, such as a switch or the fabric"
    if now.broken is FaultClass.PROCESS:
        return "programs cause this as well as machines, and the logs do not tell which"
    return NOT_TOLD


def _start_again(now: Situation) -> NextStep | None:
    if not now.past.checked or now.past.reattempts or now.past.rolled_back:
        return None
    return NextStep(
        Action.REATTEMPT,
        "The checks passed, and it was not tried again since: most faults that nobody finds do not come back.",
        restart(now.total, now.startup, now.redo),
        "code or arguments are to be changed anyway.",
        f"Roll back what changed, else replay, {_AGAIN}.",
    )


def _back(now: Situation) -> NextStep | None:
    if now.past.rolled_back or not _changed(now):
        return None
    return _rollback(now, f"It failed again in the same way; {_came_with(now)}", "replay")


def _replay(now: Situation) -> NextStep | None:
    if not (now.past.reattempts or now.past.rolled_back):
        return None
    tried = (
        "after going back to the last good attempt" if now.past.rolled_back else "and nothing is known to have changed"
    )
    gained = f" It gained {now.past.gained:,} iterations in between." if now.past.gained else ""
    return NextStep(
        Action.REPLAY,
        f"It failed again in the same way {tried}.{gained}",
        replay(now.total, now.startup),
        "it gains iterations from one failure to the next: then start it again meanwhile." if gained else "",
        "A person decides.",
    )


def _unclear(now: Situation) -> NextStep:
    return _check(
        now,
        "Too little is known for more: get the kernel logs of all nodes and the scheduler's log, and stacks and flight "
        "recorder dumps before the next attempt is ended.",
    )


# --- actions --------------------------------------------------------------------------------------------------------


def _evict(now: Situation, because: str, then: str) -> NextStep:
    if too_many(now):
        return _shared_cause(now)
    fewer = "wait for repair" if now.alone else "take it out and shrink the data parallel part, or wait for repair"
    spares = {
        None: f"no node is ready to take over (job.json tells of no spares): then {fewer}.",
        True: "",
        False: f"no spare: {fewer}.",
    }[None if now.spares is None else now.spares >= len(now.accused)]
    return NextStep(
        Action.EVICT,
        f"{sentence(because)}.",
        restart(now.total, now.startup, now.redo),
        spares,
        f"{sentence(then)} {_AGAIN}.",
        now.accused,
    )


def _check(now: Situation, because: str) -> NextStep:
    afterwards = "nothing has to be started again" if now.completed else _after_checks(now)
    return NextStep(
        Action.CHECK,
        f"{because.rstrip('.')}{_bitwise(now)}.{_again(now)}",
        checks(now.total),
        f"the checks were run already and passed: then {afterwards}.",
        f"Take out what fails; if all pass, {afterwards}.",
        now.accused if now.named else (),
    )


def _bitwise(now: Situation) -> str:
    return ". Compare the gradients of a step bit by bit, too" if now.broken is FaultClass.NUMBERS else ""


def _after_checks(now: Situation) -> str:
    """What follows when the checks pass: a first reattempt may be all that it takes, a second one is not tried."""
    if not now.past.again:
        return "start it again, once"
    return f"go back to what {now.past.good} ran with" if _changed(now) else "replay it in groups of nodes"


def _again(now: Situation) -> str:
    """That the attempt before failed so too, and what was gained since; empty where it did not."""
    if not now.past.again:
        return ""
    gained = f"and {now.past.gained:,} iterations were gained since" if now.past.gained else "and nothing was gained"
    return f" The attempt before failed in the same way, {gained}."


def _rollback(now: Situation, because: str, then: str) -> NextStep:
    return NextStep(
        Action.ROLLBACK,
        f"{because}.",
        restart(now.total, now.startup, now.redo),
        "the change is wanted and cannot be the reason.",
        f"{sentence(then)} {_AGAIN}.",
    )


def _changed(now: Situation) -> bool:
    return bool(now.past.changes) and now.past.good is not None


def _came_with(now: Situation) -> str:
    changes = list(now.past.changes or ())
    rest = f" and {len(changes) - FEW} more" if len(changes) > FEW else ""
    good = now.past.good
    return f"it came with what changed since {good} ({', '.join(changes[:FEW])}{rest}): go back to what {good} ran with"
