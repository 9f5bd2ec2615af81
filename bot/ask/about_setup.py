"""Answers about what the job was: nodes and ranks, model, versions, settings, who runs where."""

from bot.ask.about_lines import find
from bot.ask.about_nodes import no_such
from bot.ask.line_search import LIKELY, LineSearch
from bot.ask.question import Question
from bot.ask.reply_lines import Lines, cited
from bot.ask.subject import Subject
from bot.text import wording

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
        return [*sentences, *_whole(subject)]
    return find(subject, question)


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
