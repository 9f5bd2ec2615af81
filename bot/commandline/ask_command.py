"""What ``firstfault ask`` does once its words are understood."""

import sys

from bot.ask.answer import Reply
from bot.commandline.job_commands import DIAGNOSED, INCONCLUSIVE
from bot.commandline.output import as_json, patient_reader, progress_bar
from bot.fetch.jobs import Request
from bot.follow_up import follow_up
from bot.settings import load_settings
from bot.text.harmless import harmless, storable


def ask(request: Request, question: str, *, json: bool) -> int:
    """Answer a question about a job; 1 when the logs do not tell."""
    settings = load_settings()
    with progress_bar() as progress:
        reply = follow_up(question, request, settings, progress=progress)
    with patient_reader() as reader:
        sys.stdout.write(_reply_json(reply) if json else "".join(f"{line}\n" for line in reply.lines))
    if reply.unavailable:
        sys.stderr.write(f"The model did not answer: {harmless(reply.unavailable, 300)}\n")
    return reader.exit_code or (DIAGNOSED if reply.answered else INCONCLUSIVE)


def _reply_json(reply: Reply) -> str:
    about = {name: getattr(reply, name) for name in ("author", "model", "looks", "refused")}
    return as_json({"lines": [storable(line) for line in reply.lines], **about})
