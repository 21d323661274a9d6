"""Qdrant's published interface, and a check of requests against it."""

import json
from functools import cache
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from tests.wire.qdrant_server import Recorded

OPENAPI = Path(__file__).parents[2].parent / "shared" / "data" / "qdrant_openapi.json"
published = pytest.mark.skipif(not OPENAPI.exists(), reason="Qdrant's OpenAPI document is not here")
"""For tests that need the document."""


def check(request: Recorded) -> None:
    """Fail for a request with anything in it that the document does not name."""
    document = _document()
    operation = document["paths"][request.path][request.method.lower()]
    known = {entry["name"] for entry in operation.get("parameters", ())}
    assert set(request.query) <= known
    if "requestBody" not in operation:
        assert request.body is None
        return
    schema = operation["requestBody"]["content"]["application/json"]["schema"]
    whole = {**strict(schema), "components": _components()}
    jsonschema.Draft7Validator(whole).validate(request.body)


@cache
def _document() -> Any:
    return json.loads(OPENAPI.read_text())


@cache
def _components() -> Any:
    return strict(_document()["components"])


def strict(schema: Any) -> Any:
    """Return an OpenAPI 3.0 schema as JSON Schema, with unknown keys refused."""
    if isinstance(schema, list):
        return [strict(entry) for entry in schema]
    if not isinstance(schema, dict):
        return schema
    made = {key: strict(value) for key, value in schema.items() if key != "nullable"}
    if made.get("type") == "object" and isinstance(made.get("properties"), dict):
        made.setdefault("additionalProperties", False)
    if schema.get("nullable") is True:
        return {"anyOf": [made, {"type": "null"}]} if made else {"type": "null"}
    return made
