"""How many lies of a model get past the check of a note, by kind, and how many true drafts do: tables in Markdown.

The second table is of lies that a machine recombines from true evidence: python -m benchmarks.quality.liar [SEED]
"""

import json
import secrets
import sys
from collections import Counter

from bot.chat.model import ScriptedModel
from bot.note.check import Court, check
from bot.note.draft import Sentence
from bot.note.evidence import collect
from bot.note.note import Author, plain
from bot.note.write import write_note
from tests.bot.note.liar import Lie, all_lies
from tests.bot.note.recombined import recombined, refused
from tests.bot.note.truths import HARD, TRUE


def main() -> int:
    """Print the tables; 1 when a lie got through."""
    seed = int(sys.argv[1]) if len(sys.argv) > 1 else secrets.randbelow(1_000_000)
    tried, through = Counter[str](), Counter[str]()
    for lie in all_lies():
        tried[lie.kind] += 1
        through[lie.kind] += got_through(lie)
    _print("kind of lie", tried, through)
    told = recombined(seed)
    passed = [one for one in told if not refused(one)]
    _print(f"recombined, seed {seed}", Counter(one.kind for one in told), Counter(one.kind for one in passed))
    for one in passed:
        print(f"Passed: {one.kind}, {one.base}, {one.field}: {one.text} {list(one.cites)}")
    print(f"True drafts shown as the model wrote them: {true_drafts()} of {len(TRUE)}.")
    print(f"True sentences in loose words accepted: {true_sentences()} of {len(HARD)}.")
    return 1 if through.total() or passed else 0


def _print(title: str, tried: Counter[str], through: Counter[str]) -> None:
    print(f"| {title} | told | got through |")
    print("| --- | --: | --: |")
    for kind, number in tried.items():
        print(f"| {kind} | {number} | {through[kind]} |")
    print(f"| **all** | **{tried.total()}** | **{through.total()}** |")
    print()


def got_through(lie: Lie) -> bool:
    """Whether the note holds the words of the lie, or anything that its own check refuses."""
    note = write_note(lie.diagnosis, lie.known, lie.model())
    shown = "\n".join(plain(note))
    if any(words in shown for words in lie.forbidden):
        return True
    return bool(check(note.draft(), collect(lie.diagnosis, lie.known), lie.diagnosis))


def true_drafts() -> int:
    """How many true drafts are shown as they were written."""
    notes = [
        write_note(diagnosis, known, ScriptedModel(json.dumps(draft))) for diagnosis, known, draft in TRUE.values()
    ]
    return sum(note.author is Author.MODEL for note in notes)


def true_sentences() -> int:
    """How many true sentences that say it in their own words are accepted."""
    accepted = 0
    for base, field, sentence in HARD:
        diagnosis, known, _ = TRUE[base]
        court = Court(collect(diagnosis, known), diagnosis)
        accepted += not any(True for _ in court.reasons(field, Sentence.model_validate(sentence)))
    return accepted


if __name__ == "__main__":
    sys.exit(main())
