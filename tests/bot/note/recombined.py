"""Lies made from true evidence by a machine: words of claims and lines, put together so that they mean another thing.

Every sentence is a lie by the way it is made, unless the evidence that it cites says just that: those are left out. The
same seed gives the same lies.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from itertools import chain
from pathlib import Path
from random import Random

from bot.investigate import Request, fetch, fetch_baseline
from bot.known import KnownFault
from bot.note.check import Court
from bot.note.draft import MAX_TEXT, Sentence
from bot.note.evidence import EvidenceList, Kind, collect
from bot.settings import Settings
from core.diagnose import diagnose_parsed
from core.model import Diagnosis
from core.parsing.parsed import parse_job
from tests.bot import diagnoses
from tests.bot.note.faults import frozen, killed, seed_fault
from tests.bot.note.recombining import KINDS, Maker, pieces_of

EXAMPLES = Path(__file__).parents[3] / "examples"
JOBS = ("f02", "f07", "f15", "f42")
PER_KIND = 40
_NODE = re.compile(r"\b[a-z]+-\d\d(?:-\d\d)?\b")
_FLAT = re.compile(r"\b(?:the|a|an|that|has|had|is|was|are|were)\b|[^\w\s-]")


@dataclass(frozen=True)
class Recombined:
    """A lie: how it was made, about which job, where it would stand, and what it cites."""

    kind: str
    base: str
    field: str
    text: str
    cites: tuple[str, ...]


def recombined(seed: int, per_kind: int = PER_KIND) -> tuple[Recombined, ...]:
    """Some lies of every kind."""
    dice = Random(seed)
    made = {kind: list(dict.fromkeys(_made(kind, maker, dice))) for kind, maker in KINDS.items()}
    return tuple(chain.from_iterable(dice.sample(lies, min(per_kind, len(lies))) for lies in made.values()))


def refused(lie: Recombined) -> bool:
    """Whether the check of a note refuses it."""
    sentence = Sentence(text=lie.text[:MAX_TEXT], cites=list(lie.cites))
    return any(True for _ in _court(lie.base).reasons(lie.field, sentence))


@cache
def bases() -> dict[str, tuple[Diagnosis, tuple[KnownFault, ...]]]:
    """What is lied about: diagnoses that were written for tests, and example jobs as they are diagnosed now."""
    written = {
        "link": (diagnoses.node_fault(), ()),
        "NaN": (diagnoses.job_wide(), ()),
        "Xid": (diagnoses.huge(), (seed_fault(),)),
        "frozen": (frozen(), ()),
        "killed": (killed(), ()),
        "completed": (diagnoses.succeeded(), ()),
        "inconclusive": (diagnoses.inconclusive(), ()),
    }
    return {**written, **{job: (_diagnosed(job), ()) for job in JOBS}}


def _diagnosed(job_id: str) -> Diagnosis:
    settings, request = Settings(), Request(job_id, jobs=str(EXAMPLES), use_cache=False)
    job, neighbours = fetch(request, settings)
    baseline, _ = fetch_baseline(request, job, neighbours, None)
    return diagnose_parsed(parse_job(job, baseline, cache=None, workers=1, progress=None))


@cache
def _evidence(base: str) -> EvidenceList:
    return collect(*bases()[base])


@cache
def _court(base: str) -> Court:
    return Court(_evidence(base), bases()[base][0])


def _made(kind: str, maker: Maker, dice: Random) -> Iterator[Recombined]:
    for base in bases():
        evidence = _evidence(base)
        pieces, names = tuple(pieces_of(evidence)), tuple(sorted(evidence.names))
        for piece in pieces:
            field = "check_first" if piece.item.kind is Kind.CHECK else "happened"
            for text, cites in maker(dice, piece, pieces, names):
                spoken = f"{text[:1].upper() if not text.startswith(names) else text[:1]}{text[1:]}".strip(" .;,") + "."
                if not _says(evidence, cites, spoken, piece.text):
                    yield Recombined(kind, base, field, spoken, cites)


def _says(evidence: EvidenceList, cites: tuple[str, ...], text: str, own: str) -> bool:
    """Whether the evidence says just that, whoever it calls "the node"; articles and punctuation do not count."""
    flat = _flat(text)
    items = [item for name in cites if (item := evidence.find(name))]
    whole = [_flat(part) for item in items for part in (*item.claims, *item.lines)]
    return flat == _flat(own) or any(f" {flat} " in f" {one} " for one in whole)


def _flat(text: str) -> str:
    plain = _FLAT.sub(" ", _NODE.sub("node", text.casefold()))
    return re.sub(r"\b(\w+)(?: \1\b)+", r"\1", " ".join(plain.split()))
