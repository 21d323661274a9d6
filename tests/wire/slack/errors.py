"""Slack's refusals: an HTTP 200 whose body says that it is not ok, and why."""

from typing import Any

Json = dict[str, Any]


class SlackError(Exception):
    """What a Web API call is refused with."""

    def __init__(self, error: str, *details: str, **extra: Any) -> None:
        super().__init__(error, *details)
        self.body: Json = {"ok": False, "error": error, **extra}
        if details:
            self.body["errors"] = list(details)
            self.body["response_metadata"] = {"messages": [f"[ERROR] {d}" for d in details]}

    @property
    def error(self) -> str:
        """Return Slack's word for what is wrong."""
        return str(self.body["error"])


class Complaints:
    """Collects what is wrong with blocks or a view, each at its JSON pointer."""

    def __init__(self) -> None:
        self.found: list[str] = []

    def add(self, pointer: str, message: str) -> None:
        """Record one mistake."""
        self.found.append(f"{message} [json-pointer:{pointer}]")

    def text(self, pointer: str, value: Any, longest: int, shortest: int = 1) -> None:
        """Check that a value is a string of a permitted length."""
        if not isinstance(value, str):
            self.add(pointer, "must be a string")
        elif len(value) > longest:
            self.add(pointer, f"must be less than {longest + 1} characters")
        elif len(value) < shortest:
            self.add(pointer, f"must be more than {shortest - 1} characters")

    def count(self, pointer: str, items: Any, most: int, fewest: int = 1) -> list[Any]:
        """Check the length of a list and return it, empty if it is none."""
        if not isinstance(items, list):
            self.add(pointer, "must be an array")
            return []
        if len(items) > most:
            self.add(pointer, f"no more than {most} items allowed")
        elif len(items) < fewest:
            self.add(pointer, f"must have at least {fewest} items")
        return items

    def required(self, pointer: str, holder: Json, *names: str) -> None:
        """Check that fields are there."""
        for name in names:
            if holder.get(name) in (None, ""):
                self.add(pointer, f"missing required field: {name}")

    def fields(self, pointer: str, holder: Json, known: frozenset[str]) -> None:
        """Check that there are no other fields than the known ones."""
        for name in sorted(set(holder) - known):
            self.add(pointer, f"invalid additional property: {name}")
