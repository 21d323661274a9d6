"""Says what is wrong with a value, in one sentence and without the validator's own words."""

from collections.abc import Mapping
from typing import Any

from pydantic_core import ErrorDetails

from bot.platforms.registry import PLATFORMS
from core.models import course_id_like

_KEYS_OF_IDS = ("course", "course_id")
"""Where the id is the value, which is not told."""
_COURSE_ID = "^[a-z0-9]["
_LANGUAGE = "^[A-Za-z]{2,3}"

_ALLOWED: Mapping[str, str] = {
    "bool_parsing": "must be true or false",
    "bool_type": "must be true or false",
    "enum": "must be {expected}",
    "float_parsing": "must be a number",
    "float_type": "must be a number",
    "finite_number": "must be a number",
    "greater_than_equal": "must be {ge} or more",
    "int_from_float": "must be a whole number",
    "int_parsing": "must be a whole number",
    "int_type": "must be a whole number",
    "less_than_equal": "must be {le} or less",
    "literal_error": "must be {expected}",
    "string_too_short": "must not be empty",
    "string_type": 'must be a text, such as "this"',
    "tuple_type": 'must be a list, such as ["this", "that"]',
}
_TABLES = frozenset({"dict_type", "mapping_type", "model_attributes_type", "model_type"})


def sentence_of(problem: ErrorDetails) -> str:
    """Return the key and what may stand there, as one sentence without its full stop."""
    place = ".".join(str(part) for part in problem["loc"] if part != "[key]")
    allowed = _allowed(problem, place)
    return f"{place} {allowed}" if allowed.startswith("must ") else f"{place}: {allowed}"


def _allowed(problem: ErrorDetails, place: str) -> str:
    kind, context = problem["type"], problem.get("ctx", {})
    if kind in _TABLES:
        name = f"{place}.ID" if place in _TABLES_OF_TABLES else place
        return f"must be a table: begin it with a line that says [{name}]"
    if kind == "string_pattern_mismatch":
        return _written(context, str(problem["loc"][-2 if problem["loc"][-1] == "[key]" else -1]))
    if kind in _ALLOWED:
        return _ALLOWED[kind].format_map(context)
    return problem["msg"].removeprefix("Value error, ")


_TABLES_OF_TABLES = frozenset({"courses", *(f"{name}.channels" for name in PLATFORMS)})


def _written(context: Mapping[str, Any], key: str) -> str:
    """Return how a text must be written, by the pattern that it does not fit.

    Args:
        key: under which it stands, or which it is.
    """
    pattern = str(context["pattern"])
    if pattern.startswith(_COURSE_ID):
        return (
            "must be a course's name: lower-case letters, digits, - and _ only, at most 64, "
            "and a letter or digit first"
        ) + (
            f", such as {near}" if key not in _KEYS_OF_IDS and (near := course_id_like(key)) else ""
        )
    if pattern.startswith(_LANGUAGE):
        return 'must be the code of a language, such as "en", "de" or "pt-BR"'
    return "must not be empty"
