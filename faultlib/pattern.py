"""What a fault pattern is: an approved note with the events that give it away, and the life that it has had.

A ``Pattern`` is what a person writes and edits. An ``Entry`` is a pattern in a library: its status, who did what to it
and when, and the jobs that it was seen in. Only a person's approval makes a pattern; nothing learns from a model.
"""

from enum import StrEnum
from hashlib import sha256
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field, StringConstraints

from core.model import Scope, Stage

MAX_EVENTS = 16  # of a signature: more than the lab's noisiest fault leaves kinds of direct traces
MAX_TRAITS = 32  # of a signature: the labelled job with the most has 17

Words = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=4_000)]
Line = Annotated[str, StringConstraints(min_length=1, max_length=16_000)]
PatternId = Annotated[str, StringConstraints(pattern=r"^[a-z0-9](?:[a-z0-9-]{0,62}[a-z0-9])?$")]


class Category(StrEnum):
    """Whose fault it is (L4's taxonomy, table 1)."""

    HARDWARE = "hardware"
    USER = "user"
    FRAMEWORK = "framework"
    PLATFORM = "platform"
    UNKNOWN = "unknown"


class Where(StrEnum):
    """On which nodes a signature wants an event."""

    ANYWHERE = "anywhere"
    ONE_NODE = "one node"
    ALL_NODES = "all nodes"
    ALL_BUT_ONE = "all nodes but one"  # what the missing one does not say gives it away


class Status(StrEnum):
    """Where a pattern is in its life; nothing is ever deleted."""

    DRAFT = "draft"
    APPROVED = "approved"
    SUPERSEDED = "superseded"
    RETIRED = "retired"


class Origin(StrEnum):
    """Who vouches for a pattern."""

    SEED = "seed"  # public facts, shipped with Firstfault; nobody of the team has confirmed it
    TEAM = "team"


class _Part(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class Clause(_Part):
    """An event of a signature: any one of ``events``, on the nodes that ``where`` says.

    An event is a log line as it stands in a log, or a template. Times, addresses and numbers are masked as in every
    job; ``<*>`` stands for any text, and the rest must be there word by word, from the beginning to the end.
    """

    events: tuple[Line, ...] = Field(min_length=1, max_length=MAX_EVENTS)
    where: Where = Where.ANYWHERE


class Part(StrEnum):
    """What a trait is to the fault."""

    CAUSE = "cause"
    SYMPTOM = "symptom"  # what leads the diagnosis, and many causes look like
    SUPPORT = "supporting"
    AFTER = "consequence"  # it only follows: others say the same whatever the cause


class Aspect(StrEnum):
    """What a trait is about."""

    FINDING = "finding"  # what leads: a trace that says what broke, or how the job went (``faultlib.findings``)
    MEANS = "means"  # what a message means, whatever its program's words
    ABOUT = "about"  # what an error is about that nobody wrote down (``faultlib.meanings``)
    FACT = "fact"  # the public fact that it is, whoever tells it: the id of a seed
    WORDS = "words"  # those that tell what it means: its program's, without values
    RAISED = "raised"  # the class of an exception
    CODE = "code"  # the number or name of an error, where it is the fault: a signal, an Xid, an errno
    RESOURCE = "resource"  # of a machine or cluster, which a trace names (``faultlib.resources``)
    SLOWER = "slower"  # which part of a step took longer
    COURSE = "course"  # what became of the process that the others waited for (``faultlib.course``)
    ACTIVITY = "activity"  # what one that stood in its own work was doing
    SIGN = "sign"  # how the first suspect stands out
    ENDING = "ending"  # it hung, it was slow: in patterns of before findings were kept
    STAGE = "stage"
    SCOPE = "scope"


class Trait(_Part):
    """A fact about a fault that is no line of a log (``faultlib.traits`` tells how it is worded)."""

    aspect: Aspect
    text: Annotated[str, StringConstraints(min_length=1, max_length=1_000)]
    part: Part


class Signature(_Part):
    """What gives a fault away: events, all of ``must`` and none of ``must_not``, and ``traits`` without an order.

    Events match word by word; without ``must`` none does. Traits find the fault on other programs and nodes.
    """

    must: tuple[Clause, ...] = Field(default=(), max_length=MAX_EVENTS)
    must_not: tuple[Clause, ...] = Field(default=(), max_length=MAX_EVENTS)
    traits: tuple[Trait, ...] = Field(default=(), max_length=MAX_TRAITS)


class Examples(_Part):
    """Log lines that the signature must match, and lines that it must not; several lines of a job in one text."""

    match: tuple[Line, ...] = ()
    differ: tuple[Line, ...] = ()


class Pattern(_Part):
    """A fault: what gives it away, why it happens, what helps. Empty ``stages``, ``framework``: any of them.

    evidence: what the diagnosis said of the job that it was confirmed on; people and recall read it.
    confirmation: how somebody made sure. sources: addresses of public facts.
    """

    id: PatternId
    title: Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=200)]
    category: Category
    subtype: Annotated[str, StringConstraints(strip_whitespace=True, max_length=120)] = ""
    scope: Scope = Scope.UNKNOWN
    stages: tuple[Stage, ...] = ()
    framework: Annotated[str, StringConstraints(strip_whitespace=True, max_length=120)] = ""
    cause: Words
    fix: Words
    confirmation: Annotated[str, StringConstraints(strip_whitespace=True, max_length=4_000)] = ""
    sources: tuple[Words, ...] = ()
    evidence: Annotated[str, StringConstraints(strip_whitespace=True, max_length=8_000)] = ""
    signature: Signature = Signature()
    examples: Examples = Examples()

    @property
    def digest(self) -> str:
        """Sixteen hexadecimal digits over everything that the pattern says; equal patterns have equal ones."""
        return sha256(self.model_dump_json().encode()).hexdigest()[:16]

    def words(self) -> str:
        """What recall compares: title, cause, evidence and events, the most telling first."""
        events = [event for clause in self.signature.must for event in clause.events]
        return "\n".join(part for part in (self.title, self.cause, *events, self.evidence) if part)


class Step(_Part):
    """One thing that was done to a pattern. at: ISO 8601 in UTC. version: the version that it led to."""

    version: int
    action: str
    who: str
    at: str
    why: str = ""


class Sighting(_Part):
    """A job that a pattern was seen in. at: ISO 8601 in UTC, of the first diagnosis that saw it."""

    job: str
    at: str


class Entry(_Part):
    """A pattern as it stands in a library.

    revision: rises with everything that is done to it; whoever acts says which revision was seen.
    version: rises when the pattern's words change. superseded_by: id of the pattern that replaces it.
    """

    pattern: Pattern
    version: int = Field(ge=1)
    revision: int = Field(ge=1)
    status: Status
    origin: Origin
    superseded_by: str = ""
    history: tuple[Step, ...] = ()
    sightings: tuple[Sighting, ...] = ()

    @property
    def id(self) -> str:
        """The pattern's id."""
        return self.pattern.id

    @property
    def confirmed(self) -> Step | None:
        """Who approved it last, and when; None for a seed and for what nobody approved."""
        if self.origin is Origin.SEED or self.status is not Status.APPROVED:
            return None
        return next((step for step in reversed(self.history) if step.action == "approve"), None)
