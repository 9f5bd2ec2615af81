"""Documents that are written from the program into docs/, as their files hold them."""

import json

from pydantic import BaseModel

from bot.slack.manifest import manifest

DIALECT = "https://json-schema.org/draft/2020-12/schema"


def schema_text(*documents: type[BaseModel], title: str = "") -> str:
    """The JSON schema of a document, or of one of several under a title."""
    schemas = [document.model_json_schema(mode="serialization") for document in documents]
    schema = schemas[0] if len(schemas) == 1 else {"title": title, "oneOf": schemas}
    return json.dumps({"$schema": DIALECT, **schema}, indent=2) + "\n"


def manifest_text() -> str:
    """The app's manifest for Socket Mode."""
    return json.dumps(manifest(), indent=2) + "\n"
