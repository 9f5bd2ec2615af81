"""Answers about what the job was: nodes and ranks, model, versions, settings, who runs where."""

import re

from bot.ask.about_lines import find
from bot.ask.about_nodes import no_such
from bot.ask.line_search import LIKELY, LineSearch
from bot.ask.question import Question
from bot.ask.reply_lines import Lines, cited, quoted
from bot.ask.subject import Subject
from bot.text import wording
from core.answer.search import seek

_OF_JOB = ("node", "rank", "gpu", "model", "framework", "setting", "machine", "world", "host", "setup")


def setup(subject: Subject, question: Question) -> Lines | None:
    """Where a rank runs, which ranks a node has, a field of job.json, or the job in a few lines."""
    if question.unknown and not question.nodes and not question.ranks:
        return no_such(subject, question.unknown[0])
    sentences = [_of_rank(subject, rank) for rank in question.ranks[:3]]
    sentences += [_of_node(subject, node) for node in question.nodes[:3]]
    if sentences and not question.says("ip", "address"):
        shown = LineSearch(subject, question).shown(3, LIKELY)
        return [*shown[:1], *sentences, *shown[1:]]
    if question.says(*_OF_JOB) or sentences:
        return [
            *sentences,
            *(_models(subject) if question.says("gpu", "card", "accelerator") else ()),
            *_whole(subject),
        ]
    return find(subject, question)


def _models(subject: Subject) -> Lines:
    """The models of the accelerators that lines name; empty without any."""
    found = seek(subject.parsed, [_MODEL], "a model of an accelerator")
    names = dict.fromkeys(match[0].decode() for line in found.lines if (match := _MODEL.search(line.text.encode())))
    return (
        [cited(f"Accelerators, as the logs name them: {', '.join(names)}."), *quoted(found, 1, _MODEL)] if names else []
    )


# Names of products as nvidia-smi, rocm-smi and npu-smi print them
_MODEL = re.compile(
    rb"\b(?:NVIDIA |Tesla |AMD )?"
    rb"(?:[ABHLV][1-9][0-9]{1,2}S?|GH?200|GB200|A10G|RTX A?[0-9]{4}|P100|(?:Instinct )?MI[0-9]{2,3}\w?"
    rb"|Ascend ?910\w{0,2}|Gaudi[ -]?[23]|TPU v[2-9]\w?)(?:-[A-Z0-9]{2,6}){0,3}(?: [0-9]{2,3} ?GB)?\b"
)


def _whole(subject: Subject) -> list[str]:
    manifest, facts, nodes = subject.parsed.job.manifest, subject.diagnosis.facts, subject.parsed.nodes
    ranks = manifest.world_size or len(subject.home) or len(subject.parsed.table.ranks)
    units = [wording.counted(len(nodes), "node")] if subject.parsed.unit == "node" and nodes else []
    units += [wording.counted(ranks, "rank")] if ranks else []
    named = f": {wording.names(nodes, 8, 60)}" if nodes else ""
    sentences = [cited(f"{', '.join(units) or 'Neither nodes nor ranks are sentences'}{named}.")]
    if facts:
        sentences.append(cited("; ".join(f"{name} {value}" for name, value in facts.items()) + "."))
    if manifest.total_iterations:
        sentences.append(cited(f"{manifest.total_iterations:,} iterations were planned."))
    return sentences


def _of_rank(subject: Subject, rank: int) -> str:
    node = subject.home.get(rank)
    if node is None:
        known = wording.ranks(sorted(set(subject.home) | set(subject.parsed.table.ranks)))
        return cited(f"No log and no job.json tells the node of rank {rank}; known are {known or 'no ranks'}.")
    own = subject.ranks_on(node)
    return cited(f"Rank {rank} runs on {node}, as local rank {own.index(rank)} of {wording.ranks(own)}.")


def _of_node(subject: Subject, node: str) -> str:
    own = subject.ranks_on(node)
    addresses = subject.parsed.job.manifest.node_addresses.get(node, ())
    sentences = f"{node} has {wording.ranks(own)}" if own else f"Which ranks {node} has is not told"
    return cited(f"{sentences}{f', address {wording.names(addresses, 3, 60)}' if addresses else ''}.")
