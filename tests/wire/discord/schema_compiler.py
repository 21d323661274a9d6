"""JSON schemas turned into plain functions, fast enough to run on every body of every test."""

import re
from collections.abc import Callable, Mapping
from typing import Any

Accepts = Callable[[Any], bool]
_TYPES: Mapping[str, Accepts] = {
    "string": lambda value: isinstance(value, str),
    "integer": lambda value: isinstance(value, int) and not isinstance(value, bool),
    "number": lambda value: isinstance(value, int | float) and not isinstance(value, bool),
    "boolean": lambda value: isinstance(value, bool),
    "null": lambda value: value is None,
    "array": lambda value: isinstance(value, list),
    "object": lambda value: isinstance(value, dict),
}
IGNORED = {"description", "format", "title", "default", "deprecated", "contentEncoding"}


class Compiler:
    """Compiles the schemas of one document; references are followed when first met."""

    def __init__(self, definitions: Mapping[str, Any]) -> None:
        self._definitions = definitions
        self._known: dict[str, Accepts] = {}

    def compile(self, schema: Any) -> Accepts:
        """Return a function that tells whether a value fits the schema.

        Raises:
            ValueError: The schema uses a keyword that the compiler does not know.
        """
        if schema in (True, {}):
            return lambda value: True
        checks = [
            getattr(self, f"_{key.lstrip('$').lower()}")(part, schema)
            for key, part in schema.items()
            if _matters(key)
        ]
        if len(checks) == 1:
            return checks[0]  # type: ignore[no-any-return]
        return lambda value: all(check(value) for check in checks)

    def _ref(self, target: str, _: Any) -> Accepts:
        name, known = target.rsplit("/", 1)[1], self._known
        if name not in known:
            known[name] = _unfinished
            known[name] = self.compile(self._definitions[name])
        return lambda value: known[name](value)

    def _type(self, names: str | list[str], _: Any) -> Accepts:
        checks = [_TYPES[name] for name in ([names] if isinstance(names, str) else names)]
        if len(checks) == 1:
            return checks[0]
        return lambda value: any(check(value) for check in checks)

    def _enum(self, values: list[Any], _: Any) -> Accepts:
        return lambda value: value in values

    def _const(self, constant: Any, _: Any) -> Accepts:
        return lambda value: bool(value == constant)

    def _properties(self, properties: Mapping[str, Any], _: Any) -> Accepts:
        checks = {name: self.compile(schema) for name, schema in properties.items()}

        def check_properties(value: Any) -> bool:
            if not isinstance(value, dict):
                return True
            return all(key not in checks or checks[key](part) for key, part in value.items())

        return check_properties

    def _additionalproperties(self, schema: Any, parent: Mapping[str, Any]) -> Accepts:
        declared = set(parent.get("properties", ()))
        check = self.compile(schema) if schema is not False else lambda value: False
        return lambda value: (
            not isinstance(value, dict)
            or all(check(part) for key, part in value.items() if key not in declared)
        )

    def _required(self, names: list[str], _: Any) -> Accepts:
        needed = set(names)
        return lambda value: not isinstance(value, dict) or needed <= value.keys()

    def _items(self, schema: Any, _: Any) -> Accepts:
        check = self.compile(schema)
        return lambda value: not isinstance(value, list) or all(map(check, value))

    def _oneof(self, schemas: list[Any], _: Any) -> Accepts:
        checks = [self.compile(schema) for schema in schemas]
        return lambda value: sum(check(value) for check in checks) == 1

    def _anyof(self, schemas: list[Any], _: Any) -> Accepts:
        checks = [self.compile(schema) for schema in schemas]
        return lambda value: any(check(value) for check in checks)

    def _allof(self, schemas: list[Any], _: Any) -> Accepts:
        checks = [self.compile(schema) for schema in schemas]
        return lambda value: all(check(value) for check in checks)

    def _pattern(self, pattern: str, _: Any) -> Accepts:
        search = re.compile(pattern).search
        return lambda value: not isinstance(value, str) or search(value) is not None

    def _uniqueitems(self, unique: bool, _: Any) -> Accepts:
        return lambda value: (
            not unique
            or not isinstance(value, list)
            or len({repr(item) for item in value}) == len(value)
        )

    def _minlength(self, least: int, _: Any) -> Accepts:
        return lambda value: not isinstance(value, str) or len(value) >= least

    def _maxlength(self, most: int, _: Any) -> Accepts:
        return lambda value: not isinstance(value, str) or len(value) <= most

    def _minitems(self, least: int, _: Any) -> Accepts:
        return lambda value: not isinstance(value, list) or len(value) >= least

    def _maxitems(self, most: int, _: Any) -> Accepts:
        return lambda value: not isinstance(value, list) or len(value) <= most

    def _minproperties(self, least: int, _: Any) -> Accepts:
        return lambda value: not isinstance(value, dict) or len(value) >= least

    def _maxproperties(self, most: int, _: Any) -> Accepts:
        return lambda value: not isinstance(value, dict) or len(value) <= most

    def _minimum(self, least: float, _: Any) -> Accepts:
        return lambda value: not _is_number(value) or value >= least

    def _maximum(self, most: float, _: Any) -> Accepts:
        return lambda value: not _is_number(value) or value <= most


def _unfinished(value: Any) -> bool:
    raise AssertionError("a schema was used before it was compiled")


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _matters(keyword: str) -> bool:
    if keyword in IGNORED or keyword.startswith("x-"):
        return False
    if not hasattr(Compiler, f"_{keyword.lstrip('$').lower()}"):
        raise ValueError(f"unknown keyword {keyword}")
    return True
