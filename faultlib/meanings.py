"""What broke where no fact of ``core/rules`` tells it: by how the job went, or by what an unknown error is about.

Each meaning is the sentence of a fact, so that a loss that became NaN is the same fault whether a known message said
so, an error that nobody wrote down, or only the numbers of the job; and so on any program.
"""

import re

from core.model import Diagnosis

NUMBERS = "a value became NaN or infinite"  # core/rules/facts/60-numerics.toml
PARTED = "the ranks did not run the same collective"  # core/rules/facts/72-collectives.toml
SETTINGS = "a setting or argument is wrong"  # core/rules/facts/80-programs.toml
TURNED = "the loss rose again and stayed high"
GREW = "its memory grew without end"

# Sentences of core/next/from_diagnosis.py and core/nodes/leaks.py about the cause, and one of core/answer/whole_job.py
_CAUSES = (
    (NUMBERS, re.compile(r" is nan$")),
    (PARTED, re.compile(r"^its ranks wait in different collectives$")),
    (GREW, re.compile(r" grew without end$")),
)
_TURNED = "the loss rose again"
# What unknown errors are about, by words of any program. Of pairs of labelled jobs that share one of these 78 of 98
# (numbers) and 144 of 263 (settings) had the same cause; data, shapes and files were right in one of three and less,
# so they are not here (docs/LOG.md).
_ABOUT = (
    (
        NUMBERS,
        re.compile(
            r"(?<![a-z])(?:nan|inf|infinity|infinite|non-?finite)(?![a-z])|not[ _](?:a number|finite)", re.IGNORECASE
        ),
    ),
    (
        SETTINGS,
        re.compile(
            r"\b(?:unknown|unrecogni[sz]ed|unsupported|unused|ambiguous|unexpected|invalid)\b[\w -]{0,40}"
            r"\b(?:option|argument|parameter|key|flag|setting|variant)s?\b"
            r"|\b(?:option|argument|parameter|flag|setting)s?\b[\w ]{0,30}"
            r"\b(?:unknown|not used|not recogni[sz]ed|invalid)\b"
            r"|\bregistered under\b|\bdid you mean\b|(?<![a-z])(?:cfg|config)(?![a-z])|(?<![a-z])configerror\b",
            re.IGNORECASE,
        ),
    ),
)
_ERRNO = re.compile(r"\berrno\b", re.IGNORECASE)  # the system's "Invalid argument" is one of a call, not of a person
_TOLD = 400  # characters at the end of a trace, where an exception says what it is


def by_course(diagnosis: Diagnosis) -> str:
    """What broke, as the numbers and the ranks of a job tell it; empty where they tell nothing."""
    cause = diagnosis.next.cause if diagnosis.next else ""
    found = next((meaning for meaning, sentence in _CAUSES if sentence.search(cause)), "")
    return found or (TURNED if _TURNED.casefold() in diagnosis.headline.casefold() else "")


def by_words(template: str) -> str:
    """What an error that nobody wrote down is about; empty where its words do not tell."""
    last = template.rstrip().rpartition("\n")[2][-_TOLD:]
    found = next((meaning for meaning, words in _ABOUT if words.search(last)), "")
    return "" if found == SETTINGS and _ERRNO.search(last) else found
