"""How well code sees what a question wants to know: the labelled questions of bot/ask, held out by five folds.

``python -m benchmarks.quality.questions`` prints the table; ``--write`` puts it into benchmarks/results/questions.md.
"""

import argparse
import sys
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from sklearn.model_selection import StratifiedKFold

from bot.ask.classify import LEAST, SURE, Classifier, IntentGuess
from bot.ask.english import labelled

FOLDS = 5
PAGE = Path("benchmarks/results/questions.md")
BEGIN, END = "<!-- table:begin -->", "<!-- table:end -->"


def held_out(questions: Sequence[tuple[str, str]]) -> list[tuple[IntentGuess, ...]]:
    """The guesses for each question by a classifier that never saw it."""
    guesses: list[tuple[IntentGuess, ...]] = [()] * len(questions)
    intents = [intent for _, intent in questions]
    folds = StratifiedKFold(FOLDS, shuffle=True, random_state=0)
    for learnt, asked in folds.split(np.zeros(len(questions)), intents):
        classifier = Classifier([questions[place] for place in learnt])
        for place in asked:
            guesses[place] = classifier.guesses(questions[place][0])
    return guesses


def table(questions: Sequence[tuple[str, str]], guesses: Sequence[tuple[IntentGuess, ...]]) -> list[str]:
    """Rows of markdown: by intent the questions, how many are seen right, among the first two, taken for another."""
    rows = ["| intent | questions | right | among two | most often taken for |", "|---|---|---|---|---|"]
    intents = [intent for _, intent in questions]
    for intent in dict.fromkeys(intents):
        mine = [found for found, is_of in zip(guesses, intents, strict=True) if is_of == intent]
        wrong = Counter(found[0].intent for found in mine if found[0].intent != intent)
        other = ", ".join(f"{name} {number}" for name, number in wrong.most_common(2)) or "-"
        two = sum(intent in (guess.intent for guess in found[:2]) for found in mine)
        rows.append(f"| {intent} | {len(mine)} | {len(mine) - sum(wrong.values())} | {two} | {other} |")
    right = sum(found[0].intent == intent for found, intent in zip(guesses, intents, strict=True))
    two = sum(intent in (guess.intent for guess in found[:2]) for found, intent in zip(guesses, intents, strict=True))
    rows.append(f"| all | {len(intents)} | {right} ({right / len(intents):.2f}) | {two} ({two / len(intents):.2f}) | |")
    return rows


def margins(questions: Sequence[tuple[str, str]], guesses: Sequence[tuple[IntentGuess, ...]]) -> list[str]:
    """Rows of markdown: how often the first guess is right, by its margin."""
    rows = ["| margin of the first guess | questions | right |", "|---|---|---|"]
    ends = (float("inf"), SURE, LEAST, float("-inf"))
    names = (f"above {SURE:g}", f"{LEAST:g} to {SURE:g}", f"below {LEAST:g}")
    for name, high, low in zip(names, ends, ends[1:], strict=False):
        mine = [
            found[0].intent == intent
            for found, (_, intent) in zip(guesses, questions, strict=True)
            if low <= found[0].margin < high
        ]
        rows.append(f"| {name} | {len(mine)} | {sum(mine)} ({sum(mine) / max(1, len(mine)):.2f}) |")
    return rows


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the tables, or write them into the page."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--write", action="store_true", help=f"put the tables into {PAGE}")
    options = parser.parse_args(arguments)
    questions = labelled()
    guesses = held_out(questions)
    text = "\n".join((*table(questions, guesses), "", *margins(questions, guesses)))
    if not options.write:
        print(text)
        return 0
    before, _, rest = PAGE.read_text(encoding="utf-8").partition(BEGIN)
    PAGE.write_text(f"{before}{BEGIN}\n{text}\n{END}{rest.partition(END)[2]}", encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
