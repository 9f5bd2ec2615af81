"""The story of a question about a job from the outside: fetch, read, diagnose where nobody has, then answer.

Apart from ``bot.investigate``, for a diagnosis need not load what reads questions.
"""

from collections.abc import Sequence

from bot.ask.answer import Reply, ask
from bot.ask.model_intent import Turn
from bot.ask.neighbours import Neighbours
from bot.ask.subject import Subject
from bot.chat.model_choice import model_from
from bot.fetch.attempts import Progress
from bot.fetch.jobs import Request, fetch_inputs
from bot.investigate import network_of, parsed_of
from bot.library.session import library_session
from bot.settings import Settings
from bot.text.known_fault import KnownFault
from core.diagnose import diagnose_parsed
from core.model import Diagnosis


def follow_up(
    question: str,
    request: Request,
    settings: Settings,
    *,
    found: tuple[Diagnosis, tuple[KnownFault, ...]] | None = None,
    thread: Sequence[Turn] = (),
    progress: Progress | None = None,
) -> Reply:
    """Answer a question about a job from its evidence and its raw lines, which are read again.

    Args:
        found: diagnosis and known faults of before; without them the job is diagnosed first.
        thread: what was asked and answered before.
    """
    inputs = fetch_inputs(request, settings, progress)
    parsed = parsed_of(inputs, progress)
    if found is None:
        with library_session(settings) as library:
            matches = library.match(parsed)
            diagnosis = diagnose_parsed(parsed, network=network_of(request, inputs.job)[0])
            found = diagnosis, library.recall(diagnosis, matches)
    other_jobs = Neighbours(inputs.neighbours, inputs.cache, links=settings.follow_links)
    subject = Subject(parsed, *found, other_jobs)
    return ask(question, subject, model_from(settings), thread=thread)
