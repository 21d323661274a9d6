"""Reads YAML configuration as plain text values; its tags run nothing."""

from pathlib import Path

from core.ingestion.sites.page_files import read_inside

_MAX_CHARACTERS = 200_000


def read_yaml(folder: Path, name: str) -> dict[object, object] | None:
    """Return the mapping in a YAML or JSON file of the folder, or none if there is none.

    All values are texts, lists, mappings, or none where a tag asked for something else.
    """
    values = read_yaml_values(folder, name)
    return values if isinstance(values, dict) else None


def read_yaml_values(folder: Path, name: str) -> object:
    """Return what is in a YAML or JSON file of the folder, or none, as `read_yaml` does."""
    text = read_inside(folder, name)
    if text is None or len(text) > _MAX_CHARACTERS:
        return None
    from core.ingestion.sites.plain_yaml import plain_values  # most folders have no such file

    try:
        return plain_values(text.replace("\t", "  "))
    except ValueError:
        return None
