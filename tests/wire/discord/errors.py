"""Discord's refusals: a status, a JSON error code, and for bad forms a tree of field errors."""

from collections.abc import Mapping
from typing import Any

Json = dict[str, Any]


class ApiError(Exception):
    """What a REST call is refused with."""

    def __init__(self, status: int, code: int, message: str, **extra: Any) -> None:
        super().__init__(f"{status} {code} {message}")
        self.status = status
        self.code = code
        self.body: Json = {"message": message, "code": code, **extra}


_KNOWN: Mapping[int, tuple[int, str]] = {
    10002: (404, "Unknown Application"),
    10003: (404, "Unknown Channel"),
    10004: (404, "Unknown Guild"),
    10007: (404, "Unknown Member"),
    10008: (404, "Unknown Message"),
    10013: (404, "Unknown User"),
    10014: (404, "Unknown Emoji"),
    10015: (404, "Unknown Webhook"),
    10062: (404, "Unknown interaction"),
    10063: (404, "Unknown application command"),
    20016: (429, "This action cannot be performed due to slowmode rate limit"),
    40060: (400, "Interaction has already been acknowledged."),
    50001: (403, "Missing Access"),
    50003: (403, "Cannot execute action on a DM channel"),
    50005: (403, "Cannot edit a message authored by another user"),
    50006: (400, "Cannot send an empty message"),
    50007: (403, "Cannot send messages to this user"),
    50008: (400, "Cannot send messages in a non-text channel"),
    50013: (403, "Missing Permissions"),
    50021: (403, "Cannot execute action on a system message"),
    50024: (403, "Cannot execute action on this channel type"),
    50027: (401, "Invalid Webhook Token"),
    50033: (400, "Invalid Recipient(s)"),
    50083: (400, "Thread is archived"),
    50109: (400, "The request body contains invalid JSON."),
    160002: (400, "Cannot reply without permission to read message history"),
    160004: (400, "A thread has already been created for this message"),
    160005: (400, "This thread is locked"),
}


def refusal(code: int) -> ApiError:
    """Return Discord's standard refusal for a JSON error code."""
    status, message = _KNOWN[code]
    return ApiError(status, code, message)


class FormErrors:
    """Collects what is wrong with a body, each at its path."""

    def __init__(self) -> None:
        self._tree: Json = {}

    def add(self, path: str, code: str, message: str) -> None:
        """Record one error; `path` is dotted, with list positions as numbers."""
        node = self._tree
        for key in path.split("."):
            node = node.setdefault(key, {})
        node.setdefault("_errors", []).append({"code": code, "message": message})

    def required(self, path: str) -> None:
        """Record that a field is missing."""
        self.add(path, "BASE_TYPE_REQUIRED", "This field is required")

    def choice(self, path: str, allowed: object) -> None:
        """Record that a value is none of those allowed."""
        self.add(path, "BASE_TYPE_CHOICES", f"Value must be one of {allowed}.")

    def text(self, path: str, value: Any, longest: int, shortest: int = 0) -> None:
        """Check the length of a text in UTF-16 units, the strictest reading of the limits."""
        if not isinstance(value, str):
            self.add(path, "BASE_TYPE_BAD_TYPE", "Could not interpret value as string.")
        elif units(value) > longest:
            limit = f"Must be {longest} or fewer in length."
            if shortest:
                limit = f"Must be between {shortest} and {longest} in length."
            self.add(path, "BASE_TYPE_BAD_LENGTH" if shortest else "BASE_TYPE_MAX_LENGTH", limit)
        elif len(value) < shortest:
            message = f"Must be between {shortest} and {longest} in length."
            self.add(path, "BASE_TYPE_BAD_LENGTH", message)

    def count(self, path: str, items: list[Any], most: int, fewest: int = 0) -> None:
        """Check the length of a list."""
        if not fewest <= len(items) <= most:
            message = f"Must be between {fewest} and {most} in length."
            self.add(path, "BASE_TYPE_BAD_LENGTH", message)

    def check(self) -> None:
        """Raise 50035 if anything was recorded."""
        if self._tree:
            raise ApiError(400, 50035, "Invalid Form Body", errors=self._tree)


def invalid(path: str, code: str, message: str) -> ApiError:
    """Return a 50035 with one field error."""
    return ApiError(
        400, 50035, "Invalid Form Body", errors=_nested(path, {"code": code, "message": message})
    )


def units(text: str) -> int:
    """Return the length of a text in UTF-16 code units."""
    return len(text.encode("utf-16-le", "surrogatepass")) // 2


def _nested(path: str, error: Json) -> Json:
    tree: Json = {"_errors": [error]}
    for key in reversed(path.split(".")):
        tree = {key: tree}
    return tree
