"""Whom a question means that names nobody: "that box" is the first suspect, "the master" the node that is called so."""

import re
from dataclasses import replace

from bot.ask.question import Question
from bot.ask.subject import Subject
from core.model import Scope

_THAT_ONE = re.compile(
    r"\b(?:that|this|the (?:faulty|bad|dead|broken|failed|failing|silent|guilty|suspect\w{0,3})) "
    r"(?:box|node|machine|host|server|pod|worker|rank|process)\b"
)
_PART = re.compile(r"[a-z]{4,40}")


def with_meant(question: Question, subject: Subject) -> Question:
    """The question with the node that it means, if it names none; without ranks where nobody knows who is which."""
    if question.ranks and not subject.home and not subject.parsed.table.ranks:
        question = replace(question, ranks=())
    if question.nodes or question.ranks or question.unknown:
        return question
    diagnosis, text = subject.diagnosis, question.text.casefold()
    if diagnosis.scope is Scope.NODE and diagnosis.nodes and _THAT_ONE.search(f"{text} {question.plain}"):
        return (
            replace(question, nodes=(diagnosis.nodes[0].node,))
            if diagnosis.nodes[0].node in subject.parsed.nodes
            else question
        )
    parts = set(_PART.findall(text))
    called: dict[str, list[str]] = {}
    for node in subject.parsed.nodes:
        for part in {*_PART.findall(node.casefold())} & parts:
            called.setdefault(part, []).append(node)
    alone = [nodes[0] for nodes in called.values() if len(nodes) == 1] if len(subject.parsed.nodes) > 1 else []
    return replace(question, nodes=(alone[0],)) if alone else question
