"""Reads the front matter by which Jekyll and Hugo order and publish their pages."""

import re
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from core.ingestion.sites.page_files import read_inside, reading_order

_HEAD_CHARACTERS = 20_000
_MAX_LINES = 400
_TOML = "+++"
_YAML = "---"


@dataclass(frozen=True, slots=True)
class PageHead:
    """What the front matter of a page says; all values are texts, lists or mappings."""

    values: Mapping[object, object]
    is_there: bool
    """Whether the page has front matter at all."""

    def text(self, *names: str) -> str | None:
        """Return the first text under one of the names, if there is any."""
        found = (self.values.get(name) for name in names)
        return next((one.strip() for one in found if isinstance(one, str) and one.strip()), None)

    def number(self, *names: str) -> float | None:
        """Return the first number under one of the names, if there is any."""
        for name in names:
            written = self.values.get(name)
            if isinstance(written, str) and re.fullmatch(r"[+-]?\d{1,12}(\.\d{1,12})?", written):
                return float(written)
        return None

    def says(self, name: str, value: str) -> bool:
        """Return whether a value is `true` or `false`, as YAML and TOML write it."""
        return (self.text(name) or "").lower() == value


NO_HEAD = PageHead({}, False)


def page_head(folder: Path, path: str) -> PageHead:
    """Return the front matter of a file: YAML between `---`, TOML between `+++`, or JSON."""
    text = (read_inside(folder, path) or "")[:_HEAD_CHARACTERS].lstrip("\ufeff")
    lines = re.sub(r"\r\n?", "\n", text).split("\n")
    mark = lines[0].rstrip()
    if mark in {_YAML, _TOML}:
        for number, line in enumerate(lines[1:_MAX_LINES], 1):
            if line.rstrip() == mark or (mark == _YAML and line.rstrip() == "..."):
                inside = "\n".join(lines[1:number])
                return PageHead(toml_values(inside) if mark == _TOML else _yaml(inside), True)
    if mark.startswith("{") and (end := text.find("\n}\n")) > 0:
        return PageHead(_yaml(text[: end + 2]), True)
    return NO_HEAD


def toml_values(text: str) -> Mapping[object, object]:
    """Return what a TOML text says, numbers and dates as texts; nothing where it is none."""
    try:
        return {name: _as_text(value) for name, value in tomllib.loads(text).items()}
    except (tomllib.TOMLDecodeError, RecursionError):
        return {}


def _as_text(value: object) -> object:
    if isinstance(value, Mapping):
        return {name: _as_text(inner) for name, inner in value.items()}
    if isinstance(value, list):
        return [_as_text(inner) for inner in value]
    return str(value).lower() if isinstance(value, bool) else str(value)


def _yaml(text: str) -> Mapping[object, object]:
    from core.ingestion.sites.plain_yaml import plain_values

    try:
        values = plain_values(text.replace("\t", "  "))
    except ValueError:
        return {}
    return values if isinstance(values, Mapping) else {}


def in_order(paths: Iterable[str], weights: Mapping[str, float | None]) -> list[str]:
    """Return paths by their weights, those without one after the others, in natural order."""

    def key(path: str) -> tuple[bool, float, object]:
        weight = weights.get(path)
        return weight is None, weight or 0.0, reading_order(path)

    return sorted(paths, key=key)
