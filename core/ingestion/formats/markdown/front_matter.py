"""Takes the YAML block off the top of a Markdown page."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from core.ingestion.formats.flavours.source_lines import SourceLine, joined

_MAX_LINES = 400
_MAX_CHARACTERS = 20_000
_UNREADABLE = "The front matter could not be read and was left out."


class FrontMatter(NamedTuple):
    """What the block says, how many lines of the page it takes, and what was wrong with it."""

    metadata: Mapping[str, str]
    height: int
    warnings: tuple[str, ...] = ()


def front_matter(lines: Sequence[SourceLine]) -> FrontMatter:
    """Return the front matter of a page; values are text as written, lists joined by commas.

    Nested values are left out. A block that is no YAML costs its values, not the page.
    """
    end = _closing_line(lines)
    if end == 0:
        return FrontMatter({}, 0)
    text = joined(lines[1:end])
    if len(text) > _MAX_CHARACTERS:
        return FrontMatter({}, end + 1, (_UNREADABLE,))
    import yaml  # most pages have none

    try:
        # BaseLoader makes text of every value: no tag runs anything, "1.10" stays "1.10".
        values = yaml.load(text, Loader=yaml.BaseLoader)
    except (yaml.YAMLError, RecursionError):
        return FrontMatter({}, end + 1, (_UNREADABLE,))
    if not isinstance(values, dict):
        # Prose between two rules stays; an empty block, or one of comments only, goes.
        return FrontMatter({}, 0 if values else end + 1)
    metadata = {str(name): _plain(value) for name, value in values.items()}
    return FrontMatter({name: text for name, text in metadata.items() if text}, end + 1)


def _closing_line(lines: Sequence[SourceLine]) -> int:
    if not lines or lines[0].text.rstrip() != "---":
        return 0
    for index, line in enumerate(lines[1:_MAX_LINES], start=1):
        if line.text.rstrip() in {"---", "..."}:
            return index
    return 0


def _plain(value: object) -> str:
    if isinstance(value, str):
        return value.strip()
    if isinstance(value, list):
        return ", ".join(item.strip() for item in value if isinstance(item, str))
    return ""
