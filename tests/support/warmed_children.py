"""What forked children would compute first, each for itself, computed once before they are forked.

Rules are read, expressions compiled and questions learnt: all that a process keeps of them depends on the program
alone. A fork takes along no other thread, so neither the library nor the model of embeddings is touched.
"""

import gc

import sklearn.ensemble  # noqa: F401 few jobs grow a forest (f01)

import bot.report.page
import bot.report.phone_report  # noqa: F401 pages and sheets need what it loads
from bot.ask.answer import ask
from bot.ask.subject import Subject
from core.diagnose import diagnose_parsed
from core.parsed import parse_job
from faultlib.public_facts import facts_of
from tests.support.jobs import example

QUESTIONS = ("which node?", "what does errno 28 mean?", "what did gpu018 log last?")


def warm() -> None:
    """Diagnose an example, and ask about it."""
    parsed = parse_job(example("f07"), (example("s01"),), cache=None, workers=1, progress=None)
    found = diagnose_parsed(parsed)
    for event in found.events:
        facts_of(event)
    for question in QUESTIONS:
        ask(question, Subject(parsed, found))
    gc.collect()  # what is left is frozen before the first fork
