"""What a question may want to know: each intent with what it is about, and who answers it."""

from collections.abc import Callable, Mapping

from bot.ask import (
    about_checkpoints,
    about_code,
    about_course,
    about_events,
    about_fate,
    about_jobs,
    about_lines,
    about_nodes,
    about_relation,
    about_steps,
    about_verdict,
)
from bot.ask.about_numbers import numbers
from bot.ask.about_setup import setup
from bot.ask.about_topics import count, presence
from bot.ask.question import Question
from bot.ask.reply_lines import Lines
from bot.ask.subject import Subject

Answer = Callable[[Subject, Question], Lines | None]

ANSWERS: Mapping[str, tuple[str, Answer]] = {
    "verdict": ("what happened, why it failed, the root cause", about_verdict.verdict),
    "sure": ("how sure the diagnosis is and on what grounds", about_verdict.sure),
    "suspect": ("which node is at fault, why this node and not that one", about_nodes.suspect),
    "blame": ("whether it is the code, the hardware, the network, the storage", about_verdict.blame),
    "next": ("what to do next, what to check, how to fix it", about_steps.next_step),
    "restart": ("whether it is safe to restart or resubmit", about_steps.restart),
    "drain": ("which nodes to drain, cordon or keep", about_nodes.drain),
    "others": ("who else was affected, which nodes or ranks logged errors", about_nodes.others),
    "began": ("when it started, the first error, the order of events", about_course.began),
    "hung": ("whether and how long it hung", about_course.hung),
    "ran": ("how long it ran, from when to when", about_course.ran),
    "lost": ("the last checkpoint, what was lost since", about_checkpoints.lost),
    "last": ("what a node, a rank, the scheduler or the launcher logged last", about_lines.last),
    "around": ("lines around a piece of evidence, the traceback", about_lines.around),
    "stacks": ("where dumped processes stand", about_lines.stacks),
    "numbers": ("loss, gradient norm, pace, memory, at an iteration or in all", numbers),
    "compare": ("this job beside another job", about_jobs.compare),
    "before": ("whether this happened before, known faults", about_jobs.before),
    "changed": ("what changed since the last good job", about_jobs.changed),
    "missing": ("what is missing to be sure, gaps", about_verdict.missing),
    "explain": ("what a piece of evidence, an error or a term means", about_events.explain),
    "approved": ("who approved or confirmed it", about_verdict.approved),
    "read": ("which logs were read, what it was compared with", about_verdict.read),
    "reached": (
        "which iteration or stage it, a node or a rank reached; what happened at an iteration",
        about_course.reached,
    ),
    "order": ("who fell silent, died or complained first", about_course.order),
    "setup": ("nodes, ranks, model, versions, settings, where a rank runs", setup),
    "ended": ("how it ended: exit codes, signals, who was killed, cancelled, time limit", about_events.ended),
    "presence": ("whether something is in the logs: an OOM, an Xid, a time-out, some words", presence),
    "count": ("how often something was logged", count),
    "harmless": ("whether an event or a line is the cause, a consequence or noise", about_relation.harmless_),
    "fate": ("what became of a node or a rank, whether the machine or a process died", about_fate.fate),
    "find": ("lines that hold some words", about_lines.find),
}
# What is known by the way of asking alone (words.toml, [ways]), which no labelled question teaches
BY_WAY: Mapping[str, Answer] = {
    "own_code": about_code.own_code,
    "stopped_where": about_lines.stopped_where,
    "several": about_lines.several,
    "by_person": about_events.by_person,
}
HELP, CHATTER, ELSEWHERE = "help", "chatter", "elsewhere"  # what questions.toml knows besides
