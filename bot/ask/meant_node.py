"""Whom a question means that names nobody: "that box" is the first suspect, "the master" the node that is called so."""

import re
from dataclasses import replace

from bot.ask.question import Question
from bot.ask.subject import Subject
from core.model import Scope

_THAT_ONE = re.compile(
    r"\b(?:that|this|the (?:faulty|bad|dead|broken|failed|failing|silent|guilty|suspect\w{0,3})) "
    r"(?:box|node|machine|host|server|pod|worker|rank|process|one|gpu|card)\b"
    r"|\bthe (?:dead|bad|faulty|silent|broken) one\b"
)
_PROCESS = re.compile(r"\b(?:process|proc|task|peer) ?#?([0-9]{1,6})\b", re.IGNORECASE)
_PART = re.compile(r"[a-z]{4,40}")


def with_meant(question: Question, subject: Subject) -> Question:
    """The question with the node that it means, if it names none; without ranks where nobody knows who is which."""
    if question.ranks and not subject.home and not subject.parsed.table.ranks:
        question = replace(question, ranks=())
    if not question.nodes and (alias := _by_alias(question, subject)):
        return replace(question, nodes=(alias,), unknown=())
    if question.nodes or question.ranks:
        return question
    if (unit := _PROCESS.search(question.text)) and int(unit[1]) in subject.parsed.table.ranks:
        return replace(question, ranks=(int(unit[1]),))
    if question.unknown:
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


def _by_alias(question: Question, subject: Subject) -> str:
    """The node that a question names by another name or address of it, and asks something of; empty where none."""
    if _ASKS_NAME.search(f"{question.text.casefold()}\n{question.plain}"):
        return ""
    for node, names in sorted(subject.parsed.job.manifest.node_addresses.items()):
        for name in names:
            if re.search(rf"(?<![\w.-]){re.escape(name)}(?![\w-])", question.text, re.IGNORECASE):
                return node
    return ""


# Who asks which machine an address is wants its name, not what it did
_ASKS_NAME = re.compile(
    r"\b(?:who|which|what|welche\w{0,2}) (?:\w{1,12} ){0,3}(?:is|has|node|host|machine|box|address|ip)\b"
    r"|\bis (?:it|that)\b(?! (?:node|box|one|machine|host|server|rank|pod))|谁|哪"
)
