"""Templates that were found before, for the same messages: Drain takes seconds for ten thousand of them."""

import json
from collections.abc import Mapping
from dataclasses import astuple

from core.events.template import Template
from core.memory import Memory
from core.parsing.templates import find_templates


def recall_templates(counts: Mapping[str, int], memory: Memory | None) -> dict[str, Template]:
    """The template of every message text, as ``find_templates``; memory: of these messages."""
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
