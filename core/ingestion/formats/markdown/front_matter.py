"""Takes the YAML or TOML block off the top of a Markdown page."""

import tomllib
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from core.ingestion.formats.flavours.source_lines import SourceLine, joined

_MAX_LINES = 400
_MAX_CHARACTERS = 20_000
_UNREADABLE = "The front matter could not be read and was left out."
_ENDS: Mapping[str, tuple[str, ...]] = {"---": ("---", "..."), "+++": ("+++",)}


class FrontMatter(NamedTuple):
    """What the block says, how many lines of the page it takes, and what was wrong with it."""

    metadata: Mapping[str, str]
    height: int
    warnings: tuple[str, ...] = ()
    values: Mapping[object, object] = {}
    """All that it says, nested as it is written."""


def front_matter(lines: Sequence[SourceLine]) -> FrontMatter:
    """Return the front matter of a page; values are text as written, lists joined by commas.

    Blank lines may stand before it. Nested values are in `values` alone. A block that cannot be
    read costs its values, not the page.
    """
    start = next((at for at, line in enumerate(lines) if line.text.strip()), 0)
    mark = lines[start].text.rstrip() if lines else ""
    end = _closing_line(lines, start, mark)
    if end == 0:
        return FrontMatter({}, 0)
    text = joined(lines[start + 1 : end])
    if len(text) > _MAX_CHARACTERS:
        return FrontMatter({}, end + 1, (_UNREADABLE,))
    try:
        values = tomllib.loads(text) if mark == "+++" else _yaml(text)
    except (ValueError, RecursionError):
        is_prose = start or (mark == "+++" and "=" not in text)
        return FrontMatter({}, 0) if is_prose else FrontMatter({}, end + 1, (_UNREADABLE,))
    if not isinstance(values, dict):
        # Prose between two rules stays; an empty block, or one of comments only, goes.
        return FrontMatter({}, 0 if values or start else end + 1)
    metadata = {str(name): _plain(value) for name, value in values.items()}
    return FrontMatter(
        {name: text for name, text in metadata.items() if text}, end + 1, values=values
    )


def _yaml(text: str) -> object:
    import yaml  # most pages have none

    try:
        # BaseLoader makes text of every value: no tag runs anything, "1.10" stays "1.10".
        return yaml.load(text, Loader=yaml.BaseLoader)
    except yaml.YAMLError as error:
        raise ValueError("no YAML") from error


def _closing_line(lines: Sequence[SourceLine], start: int, mark: str) -> int:
    for index in range(start + 1, min(len(lines), start + _MAX_LINES) if mark in _ENDS else 0):
        if lines[index].text.rstrip() in _ENDS[mark]:
            return index
    return 0


def _plain(value: object) -> str:
    if isinstance(value, list):
        return ", ".join(str(item).strip() for item in value if not isinstance(item, list | dict))
    if isinstance(value, bool):
        return str(value).lower()
    return "" if isinstance(value, dict) or value is None else str(value).strip()
