"""Templates of messages by Drain (L4, section 4.2), each distinct masked message once.

Differs: L4 feeds every line in the order of the log. Here each distinct message
comes once, the most frequent first, so that neither the order of files nor the number of workers can change a template
(method.md); grouping accuracy on the loghub sets is the same (speed.md). A guard token keeps messages
apart that differ in a typed slot (errno, exit code, Xid ...), in the name of a structured message, in how something
ended, in their level or in being a block: plain Drain merges ``Xid 79`` and ``Xid 94``, ``state UP`` and
``state DOWN``.
"""

import json
import sys
from collections import Counter
from collections.abc import Mapping
from dataclasses import astuple

from core.events.template import Template, template
from core.logs.fold import JOB_TEXTS, MAX_TOKENS, folding
from core.logs.messages import plain
from core.logs.telling_words import guard
from core.memory import Memory
from core.parsing import drain

WILDCARD = drain.WILDCARD
SIMILARITY = 0.8  # share of equal tokens; best grouping accuracy of .4 to .8 on the loghub sets (docs/LOG.md)


def find_templates(counts: Mapping[str, int]) -> dict[str, Template]:
    """The template of every message text.

    Args:
        counts: how often each distinct message text occurs, over all jobs that are parsed together.
    """
    called = folding(counts, JOB_TEXTS)
    if not called:
        return _templates(counts)
    folded: Counter[str] = Counter()
    for text, count in counts.items():
        folded[called.get(text, text)] += count
    found = _templates(folded)
    return {text: found[called.get(text, text)] for text in counts}


def _templates(counts: Mapping[str, int]) -> dict[str, Template]:
    # the guard is the first token, by which the tree chooses the leaf
    parser = drain.FastDrain(similarity=SIMILARITY, children=sys.maxsize, digits_are_parameters=False)
    cluster_of = {}
    for text in sorted(counts, key=lambda text: (-counts[text], text)):
        cluster, _ = parser.add_log_message(f"{guard(text)} {_clip(plain(text))}")
        cluster_of[text] = cluster
    made: dict[int, Template] = {}
    members: dict[int, list[str]] = {}
    for text, cluster in cluster_of.items():
        members.setdefault(cluster.cluster_id, []).append(text)
    for number, texts in members.items():
        # a template of one message is the message: its id does not depend on what else was parsed
        tokens = cluster_of[texts[0]].log_template_tokens[1:]
        text = plain(texts[0]) if len(texts) == 1 else " ".join(tokens)
        made[number] = template(text, sample=texts[0])
    return {text: made[cluster.cluster_id] for text, cluster in cluster_of.items()}


def _clip(text: str) -> str:
    return " ".join(text.split(" ", MAX_TOKENS)[:MAX_TOKENS])


def recall_templates(counts: Mapping[str, int], memory: Memory | None) -> dict[str, Template]:
    """As ``find_templates``, which takes seconds for ten thousand texts; memory: of what was found for them."""
    if memory is None:
        return find_templates(counts)
    texts = sorted(counts)

    def find() -> bytes:
        found = find_templates(counts)
        numbers: dict[Template, int] = {}
        of_text = [numbers.setdefault(found[text], len(numbers)) for text in texts]
        return json.dumps([[astuple(template) for template in numbers], of_text]).encode()

    known, of_text = json.loads(memory.of("templates", find))
    templates = [Template(*fields) for fields in known]
    return {text: templates[number] for text, number in zip(texts, of_text, strict=True)}
