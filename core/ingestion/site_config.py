"""Reads YAML configuration as plain text values; its tags run nothing."""

from pathlib import Path

import yaml

from core.ingestion.page_files import read_inside

_MAX_CHARACTERS = 200_000


def _nothing(loader: yaml.BaseLoader, tag: str, node: yaml.Node) -> None:
    """Stand for a value with a tag, such as `!ENV` or `!!python/name:`."""


class _PlainLoader(yaml.BaseLoader):
    yaml_multi_constructors = {"!": _nothing, "tag:yaml.org,2002:python/": _nothing}  # noqa: RUF012


def read_yaml(folder: Path, name: str) -> dict[object, object] | None:
    """Return the mapping in a YAML or JSON file of the folder, or none if there is none.

    All values are texts, lists, mappings, or none where a tag asked for something else.
    """
    text = read_inside(folder, name)
    if text is None or len(text) > _MAX_CHARACTERS:
        return None
    try:
        values = yaml.load(text.replace("\t", "  "), Loader=_PlainLoader)
    except (yaml.YAMLError, RecursionError):
        return None
    return values if isinstance(values, dict) else None
