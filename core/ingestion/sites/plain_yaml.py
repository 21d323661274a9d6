"""Reads YAML as plain text values; its tags run nothing."""

import yaml


def _nothing(loader: yaml.BaseLoader, tag: str, node: yaml.Node) -> None:
    """Stand for a value with a tag, such as `!ENV` or `!!python/name:`."""


class _PlainLoader(yaml.BaseLoader):
    yaml_multi_constructors = {"!": _nothing, "tag:yaml.org,2002:python/": _nothing}  # noqa: RUF012


def plain_values(text: str) -> object:
    """Return texts, lists, mappings, and none where a tag asked for something else.

    Raises:
        ValueError: when the text is no YAML, or too deep.
    """
    try:
        return yaml.load(text, Loader=_PlainLoader)
    except (yaml.YAMLError, RecursionError) as error:
        raise ValueError("no YAML") from error
