"""What is said when a question cannot be answered: one sentence, and three questions that can be answered here."""

from collections.abc import Iterator
from itertools import islice

from bot.ask.reply_lines import Lines, cited
from bot.ask.subject import Subject
from core.model import Action, Scope

OFFERED = 3  # questions that can be answered; with the sentence above them four of five lines
NOT_KNOWN = "I do not know"
NOT_OF_THE_JOB = "That is not about this job, and I only know its logs. Here I can answer:"
NOT_A_QUESTION = "Ask me about this job. Here I can answer:"
OF_THE_BOT = (
    "I am Firstfault, a bot: I read the logs of this job, and answer from them and from the diagnosis. I can answer:"
)
NOTHING_HOLDS = f"{NOT_KNOWN} that. The diagnosis says: {{}}. I can tell:"


def with_offers(sentence: str, subject: Subject) -> Lines:
    """The sentence and the questions."""
    return [cited(sentence), *(f"“{offer}”" for offer in islice(_offers(subject), OFFERED))]


def _offers(subject: Subject) -> Iterator[str]:
    """Questions whose answers are known to be there, the most useful first."""
    diagnosis, lead = subject.diagnosis, subject.leading
    if diagnosis.nodes and diagnosis.scope is Scope.NODE:
        yield f"why {diagnosis.nodes[0].node}?"
    if diagnosis.next and diagnosis.next.action is not Action.NONE:
        yield "is it safe to restart?"
    if diagnosis.stacks:
        yield "where do the stacks stand?"
    if lead:
        yield f"what does {lead.id} mean?"
    yield "how sure are you?"
    if subject.parsed.iterations.last is not None:
        yield "what was lost since the last checkpoint?"
    yield "how long did it run?"
    yield "which logs were read?"
