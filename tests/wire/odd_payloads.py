"""Payloads with one field that is null, absent, of another type, huge, or no proper text."""

import copy
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from tests.wire.discord.schema import DESCRIPTION

Path = tuple[str | int, ...]
KINDS = ("null", "absent", "other", "huge", "broken")
FRAMES = (
    *("[]", "{", "7", '{"op": 0, "t": {}, "d": 1}', '{"op": 0, "t": "MESSAGE_CREATE"}', "NaN"),
    *("[" * 100_000, '{"a":' * 50_000, "1" * 5_000, '{"op": "0"}', '{"op": 1, "d": "x"}'),
    *('{"op": 0, "t": "MESSAGE_CREATE", "s": "x", "d": {}}', '{"op": 0, "t": "RESUMED", "s": {}}'),
)
"""What may stand in place of an event of Discord's gateway."""
_DEEPEST = 5
_LONGEST = 3_000
_SNOWFLAKE = "118000000000000001"
_MOMENT = "2026-01-01T00:00:00+00:00"


@dataclass(frozen=True)
class Odd:
    """A payload with one odd field."""

    path: Path
    kind: str
    payload: Any

    def __str__(self) -> str:
        return f"{'.'.join(map(str, self.path))} {self.kind}"


def odd_ones(payload: Any, *, step: int = 1) -> list[Odd]:
    """Return every `step`-th payload that differs from a good one in one field."""
    found = [Odd(p, kind, _changed(payload, p, kind)) for p in _paths(payload) for kind in KINDS]
    return found[::step]


def _paths(value: Any, at: Path = ()) -> Iterator[Path]:
    if at:
        yield at
    if len(at) >= _DEEPEST:
        return
    if isinstance(value, dict):
        for name, inner in value.items():
            yield from _paths(inner, (*at, name))
    elif isinstance(value, list) and value:
        yield from _paths(value[0], (*at, 0))


def _changed(payload: Any, path: Path, kind: str) -> Any:
    changed = copy.deepcopy(payload)
    holder = changed
    for step in path[:-1]:
        holder = holder[step]
    if kind == "absent":
        del holder[path[-1]]
    else:
        holder[path[-1]] = None if kind == "null" else _odd(holder[path[-1]], kind)
    return changed


def _odd(value: Any, kind: str) -> Any:
    """Return a value of another type, or one that is huge."""
    if kind == "other":
        return ["odd", {"odd": None}] if isinstance(value, str | int | type(None)) else "odd"
    if kind == "broken":
        return f"{value}\ud83d\0" if isinstance(value, str) else -1e308
    match value:
        case bool() | None:
            return "x" * _LONGEST
        case int():
            return 2**80
        case str():
            return "9" * _LONGEST if value.isdecimal() else "x" * _LONGEST
        case list():
            return [*value, *([None] * 500)]
        case _:
            return {**value, **{f"odd{number}": [number] for number in range(500)}}


class Described:
    """Payloads with every field that Discord's own description knows."""

    def __init__(self, schemas: Mapping[str, Any]) -> None:
        self._schemas = schemas

    def payload(self, name: str) -> Any:
        """Return an example of a schema."""
        return self._example(self._schemas[name], name, 0)

    def _example(self, schema: Mapping[str, Any], field: str, depth: int) -> Any:
        if "$ref" in schema:
            return self._example(self._schemas[schema["$ref"].rsplit("/", 1)[1]], field, depth)
        for choice in ("oneOf", "anyOf", "allOf"):
            if choice in schema:
                real = [one for one in schema[choice] if one.get("type") != "null"]
                return self._example(real[0], field, depth) if real else None
        kind = schema.get("type")
        kind = next((k for k in kind if k != "null"), None) if isinstance(kind, list) else kind
        if "const" in schema or "enum" in schema:
            return schema.get("const", (schema.get("enum") or [None])[0])
        match kind:
            case "object":
                fields = schema.get("properties", {}) if depth < _DEEPEST else {}
                return {n: self._example(one, n, depth + 1) for n, one in fields.items()}
            case "array":
                items = schema.get("items") or schema.get("prefixItems", [{}])[0]
                return [self._example(items, field, depth + 1)] if depth < _DEEPEST else []
            case "integer" | "number":
                return 1
            case "boolean":
                return False
            case _:
                return _text(schema, field)


def _text(schema: Mapping[str, Any], field: str) -> str:
    if schema.get("format") == "snowflake" or field == "id" or field.endswith("_id"):
        return _SNOWFLAKE
    return _MOMENT if schema.get("format") == "date-time" else "text"


def described() -> Described | None:
    """Return what Discord describes; None: the description is not beside the project."""
    if not DESCRIPTION.is_file():
        return None
    return Described(json.loads(DESCRIPTION.read_text(encoding="utf-8"))["components"]["schemas"])
