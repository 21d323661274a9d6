"""The records of a local platform as JSON, so that a later run goes on where one ended."""

import dataclasses
from collections.abc import Iterable, Mapping
from datetime import datetime
from enum import Enum
from typing import Any

Json = dict[str, Any]
Attributes = tuple[str, ...]


def frozen(state: object, attributes: Attributes) -> Json:
    """Return what some attributes hold: records, and texts, numbers, dates and collections.

    A record is written once, and referred to by its number wherever it stands.
    """
    freezer = _Freezer()
    roots = {name: freezer.value(getattr(state, name)) for name in attributes}
    return {"roots": roots, "records": freezer.records}


def thawed(snapshot: Json, kinds: Iterable[type]) -> Mapping[str, Any]:
    """Return the attributes of a snapshot, by name.

    Args:
        kinds: The classes of the records. A field that a class no longer has is left out,
            and one that it has got since has its default.
    """
    return _Thawer(snapshot["records"], {kind.__name__: kind for kind in kinds}).roots(
        snapshot["roots"]
    )


class _Freezer:
    def __init__(self) -> None:
        self.records: list[Json] = []
        self._numbers: dict[int, int] = {}

    def value(self, value: Any) -> Any:
        match value:
            case Enum():
                return value.value
            case None | bool() | int() | float() | str():
                return value
            case datetime():
                return {"date": value.isoformat()}
            case dict():
                return {"map": [[self.value(k), self.value(v)] for k, v in value.items()]}
            case list():
                return [self.value(item) for item in value]
            case tuple():
                return {"tuple": [self.value(item) for item in value]}
            case set() | frozenset():
                return {"set": sorted(value)}
        return {"record": self._record(value)}

    def _record(self, value: Any) -> int:
        if id(value) not in self._numbers:
            number = self._numbers[id(value)] = len(self.records)
            self.records.append({"kind": type(value).__name__})
            fields = {f.name: self.value(getattr(value, f.name)) for f in dataclasses.fields(value)}
            self.records[number]["fields"] = fields
        return self._numbers[id(value)]


class _Thawer:
    def __init__(self, records: list[Json], kinds: Mapping[str, type]) -> None:
        self._records = records
        # Made before they are filled: records refer to each other in circles.
        self._made: list[Any] = [object.__new__(kinds[record["kind"]]) for record in records]

    def roots(self, roots: Json) -> Mapping[str, Any]:
        for record, made in zip(self._records, self._made, strict=True):
            self._fill(made, record["fields"])
        return {name: self._value(value) for name, value in roots.items()}

    def _fill(self, made: Any, stored: Json) -> None:
        for field in dataclasses.fields(made):
            value = self._value(stored[field.name]) if field.name in stored else _default(field)
            object.__setattr__(made, field.name, _as_declared(field, value))

    def _value(self, stored: Any) -> Any:
        if isinstance(stored, list):
            return [self._value(item) for item in stored]
        if not isinstance(stored, dict):
            return stored
        [(kind, held)] = stored.items()
        match kind:
            case "date":
                return datetime.fromisoformat(held)
            case "map":
                return {self._value(key): self._value(value) for key, value in held}
            case "tuple":
                return tuple(self._value(item) for item in held)
            case "set":
                return set(held)
        return self._made[held]


def _default(field: "dataclasses.Field[Any]") -> Any:
    if field.default_factory is not dataclasses.MISSING:
        return field.default_factory()
    assert field.default is not dataclasses.MISSING, f"a snapshot says nothing of {field.name}"
    return field.default


def _as_declared(field: "dataclasses.Field[Any]", value: Any) -> Any:
    """Return a value of the enumeration or frozen set that its field is declared to be."""
    kind = field.type
    if isinstance(kind, type) and issubclass(kind, Enum):
        return kind(value)
    is_frozen = isinstance(value, set) and "frozenset" in str(kind)
    return frozenset(value) if is_frozen else value
