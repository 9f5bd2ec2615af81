"""What claims are made of: a diagnosis and known faults, made harmless and redacted, with names for their parts."""

import re
from collections.abc import Sequence
from functools import cached_property

from bot.note.claim import Claim, ClaimUse
from bot.note.quotes import presentable, quote_of
from bot.outgoing.redact import Redactor
from bot.text import wording
from bot.text.harmless import harmless, shorten
from bot.text.known_fault import KnownFault
from bot.text.wording import counted, moment, names, ranks
from core.live.findings import duration
from core.model import Diagnosis, EventEvidence, Role

MAX_TEXT = 600  # characters of what the core or a person says
MAX_NAMED = 3  # nodes or ranks that a sentence names; of more it tells how many
MAX_LINE = 240  # characters of a log line; its head and its tail
NAME = 80  # characters of a node's or a job's name
_LOOKED_AT = 20_000  # characters of a text, from both ends: a secret may be cut in two only far from what is shown
_DIGIT = re.compile("[0-9]")
_VAGUE = ("a program logged ",)  # what the core says of a line that no rule knows: the quote says more


class ClaimSource:
    """One job as claims see it; every text that leaves here is harmless, redacted and cut."""

    def __init__(self, diagnosis: Diagnosis, known: Sequence[KnownFault], *, redact_addresses: bool = False) -> None:
        self.diagnosis = diagnosis
        self.known = known
        self._redactor = Redactor(addresses=redact_addresses)
        self._cleaned: dict[tuple[str, int], str] = {}  # the name of each of 1,024 nodes is asked for many times
        self.total = wording.node_total(diagnosis.coverage)
        self.roots = [event for event in diagnosis.events if event.role is Role.ROOT]
        self.peers = [event for event in diagnosis.events if event.role is Role.PROPAGATED]
        self.benign = [event for event in diagnosis.events if event.role is Role.BENIGN]
        self.exact = [fault for fault in known if fault.exact]
        self.suspects = diagnosis.nodes
        self.suspect = self.clean(diagnosis.nodes[0].node, NAME) if diagnosis.nodes else ""

    def clean(self, text: str, limit: int = MAX_TEXT) -> str:
        """A foreign text, safe to show; the same text is the same every time."""
        if (text, limit) not in self._cleaned:
            self._cleaned[text, limit] = self._clean(text, limit)
        return self._cleaned[text, limit]

    def _clean(self, text: str, limit: int) -> str:
        if len(text) > _LOOKED_AT:
            text = text[: _LOOKED_AT // 2] + " \u2026 " + text[-_LOOKED_AT // 2 :]
        return shorten(" ".join(self._redactor.redact(harmless(text)).split()), limit)

    def quote(self, event: EventEvidence) -> str:
        """What can be quoted of an event's first line; empty when nothing can."""
        return quote_of(self.clean(wording.cited_text(event), MAX_LINE)) if event.lines else ""

    def who(self, event: EventEvidence) -> str:
        """Who logged an event: "rank 2 on tr-03", "4 of 8 nodes", a file."""
        nodes = [self.clean(node, NAME) for node in event.nodes]
        place = ", ".join(nodes)
        if len(nodes) > MAX_NAMED:  # names of ranks, where no line names a node
            place = f"{len(nodes):,} of {counted(self.total, 'node')}" if self.total else ""
        if event.ranks and len(event.ranks) <= MAX_NAMED and not place.startswith("rank"):
            return f"{ranks(event.ranks)} on {place}" if place else ranks(event.ranks)
        if event.ranks and not place:
            every = max(self.diagnosis.coverage.ranks, self.diagnosis.coverage.ranks_expected or 0)
            return f"{len(event.ranks):,} of {counted(every, 'rank')}"
        file = event.lines[0].file.rpartition("/")[2] if event.lines else ""
        return place or self.clean(file, NAME) or "somebody"

    def says(self, event: EventEvidence) -> str:
        """What an event means, a clause; empty when the lines say more than anybody wrote down."""
        return "" if event.says.startswith(_VAGUE) else self.clean(event.says)

    def because(self, event: EventEvidence) -> str:
        """The evidence's own sentence, with the words of the log where it says "this"."""
        quote = self.quote(event)
        sentence = self.clean(event.because)
        return sentence.replace(" logged this ", f" logged \u201c{quote}\u201d ", 1) if quote else sentence

    def capital(self, text: str) -> str:
        """The text with a capital, unless it begins with the name of a node."""
        told = wording.sentence(text)
        return text if told == text or text.split(" ", 1)[0].rstrip(",") in self._plain_nodes else told

    def when(self, event: EventEvidence) -> str:
        """After which iteration it came, as ", after iteration 30" or nothing."""
        return f", after iteration {event.iterations[0]:,}" if event.iterations else ""

    @cached_property
    def _plain_nodes(self) -> frozenset[str]:
        """The nodes that a sentence could be taken to begin with: a name with a digit is no word, cut or redacted."""
        plain = [node for node in self._nodes if len(node) > NAME or not _DIGIT.search(node)]
        return frozenset(self.clean(node, NAME) for node in plain)

    def node_names(self) -> frozenset[str]:
        """Every node that the diagnosis knows."""
        return frozenset(self.clean(node, NAME) for node in self._nodes)

    @cached_property
    def _nodes(self) -> list[str]:
        diagnosis = self.diagnosis
        named = {suspect.node for suspect in diagnosis.nodes} | {bar.node for bar in diagnosis.pictures.nodes}
        named |= {node for event in diagnosis.events for node in event.nodes} | set(diagnosis.coverage.nodes_missing)
        return sorted(filter(None, named))


def claim(
    name: str,
    uses: str,
    says: str,
    cites: Sequence[str],
    *,
    clause: str = "",
    short: str = "",
    at: int | None = None,
    ground: bool = False,
) -> list[Claim]:
    """The claim, if it can be shown; none otherwise, so that lists of claims are simply joined.

    Args:
        uses: names of places in a note, with spaces between.
    """
    if not presentable(says) or not all(map(presentable, filter(None, (clause, short)))):
        return []
    return [Claim(name, _places(uses), says, tuple(cites), clause, short, at, ground)]


def advice(name: str, uses: str, says: str, cites: Sequence[str], *, short: str = "") -> list[Claim]:
    """The same for words of our rules or of a person of the team, which may hold commands and addresses."""
    if not presentable(says, ours=True) or (short and not presentable(short, ours=True)):
        return []
    return [Claim(name, _places(uses), says, tuple(cites), short=short)]


def _places(uses: str) -> frozenset[ClaimUse]:
    return frozenset(ClaimUse(use) for use in uses.split())


def clock(micros: int) -> str:
    """A time of day of the job's clock."""
    return f"{moment(micros):%H:%M:%S}"


def distance(micros: int) -> str:
    """A length of time in a sentence: "12 s"."""
    return duration(micros / 1e6)


def listed(values: Sequence[str]) -> str:
    """The first few values and the number of the others."""
    return names(values, MAX_NAMED, NAME)
