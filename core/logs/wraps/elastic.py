"""Elasticsearch and OpenSearch: answers of a search, and their hits one a line, as elasticdump writes them."""

import re
from typing import Any

from core.logs.wraps.documents import Document
from core.logs.wraps.json_objects import read_object
from core.logs.wraps.peeled import Peeled, Wrap, any_text, usual
from core.logs.wraps.records import read_record


def peel(line: bytes) -> Peeled | None:
    """The document of a hit."""
    hit = read_object(line)
    return None if hit is None else _read_hit(hit, None)


def _read_hit(hit: Any, _: Any) -> Peeled | None:
    if not isinstance(hit, dict):
        return None
    source = hit.get("_source")
    if isinstance(source, dict):
        return read_record(source)
    fields = hit.get("fields")  # of a search that asks for fields: each is a list
    if not isinstance(fields, dict) or not all(isinstance(value, list) for value in fields.values()):
        return None
    return read_record({name: value[0] if value else value for name, value in fields.items()})


fit = usual(Wrap("Elastic", peel, is_torn=any_text))
DOCUMENT = Document("Elastic", re.compile(r'"hits"\s*:\s*\{'), ("hits",), _read_hit)
