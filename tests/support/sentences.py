"""What no sentence of an answer may have: names in another case, powers of ten, words twice, contradictions."""

import re
from collections.abc import Iterator

from bot.text import wording
from core.model import Diagnosis, Scope

HEADLINE = 240  # characters: seven lines of a phone at the size of a headline
_QUOTED = re.compile("\u201c[^\u201d]*\u201d")
_POWER = re.compile(r"\d[eE][+]\d")
_TWICE = re.compile(r"\b([a-z]{2,20}) \1\b")
_ROW = re.compile("\u201c[^\u201da-zA-Z]*\u201d")  # a row of a table without a word in it


def said(diagnosis: Diagnosis) -> Iterator[str]:
    """All sentences of an answer that code makes."""
    yield diagnosis.headline
    yield from diagnosis.why
    yield from diagnosis.checks
    yield from (reason for suspect in diagnosis.nodes for reason in suspect.reasons)
    yield from (event.because for event in diagnosis.events)
    yield from (iteration.because for iteration in diagnosis.iterations)
    if diagnosis.next is not None:
        yield wording.next_line(diagnosis.next)


def faults_of(diagnosis: Diagnosis) -> list[str]:
    """What is wrong with the sentences of an answer."""
    names = {node for event in diagnosis.events for node in event.nodes} | {node.node for node in diagnosis.nodes}
    names = {name for name in names if " " not in name}
    wrong = []
    for text in said(diagnosis):
        words = _QUOTED.sub("\u201c\u201d", text)
        wrong += [f"power of ten: {text}"] if _POWER.search(words) else []
        wrong += [f"word twice: {text}"] if _TWICE.search(words) else []
        wrong += [f"row of a table: {text}"] if _ROW.search(text) else []
        wrong += [f"no end: {text}"] if text and text.rstrip(")")[-1] not in ".?!:" else []
        for name in names:
            spelled = re.findall(rf"(?<![\w.-]){re.escape(name)}(?![\w-])", words, re.IGNORECASE)
            wrong += [f"name in another case: {text}" for other in spelled if other != name]
    wrong += [f"long headline: {diagnosis.headline}"] if len(diagnosis.headline) > HEADLINE else []
    return wrong + contradictions_of(diagnosis)


def contradictions_of(diagnosis: Diagnosis) -> list[str]:
    """Sentences of one answer that cannot both be true."""
    headline, step = diagnosis.headline, diagnosis.next
    whole = " ".join(said(diagnosis))
    wrong = []
    if diagnosis.scope is Scope.NODE and diagnosis.nodes[0].node not in headline.replace("ranks", "rank"):
        wrong += [f"first suspect is not in: {headline}"] if not diagnosis.nodes[0].node.startswith("rank ") else []
    if diagnosis.nodes and " stands out" in headline:
        wrong.append(f"suspects, and {headline}")
    if "is nearly as likely" in whole and step is not None and "nobody else stands out" in step.because:
        wrong.append("a rival, and nobody else stands out")
    if diagnosis.scope is not Scope.NONE and "Nothing is broken" in whole:
        wrong.append("nothing is broken, and it failed")
    if "Lines that count iterations have no time" in whole and any(
        skip.step == "temporal" for skip in diagnosis.skipped
    ):
        wrong.append("lines count iterations, and none does")
    if len(diagnosis.nodes) == 1 and any(re.search(r"\bthat node\b(?! that)", check) for check in diagnosis.checks[:1]):
        wrong.append(f"which node: {diagnosis.checks[0]}")
    return wrong
