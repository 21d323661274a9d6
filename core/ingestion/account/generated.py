"""Recognises folders that programs have filled, by evidence."""

import os
import posixpath
import tomllib
from collections.abc import Callable, Collection, Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

from core.ingestion.sites.page_files import read_inside
from core.ingestion.sites.site_config import read_yaml

_INSTALLED = frozenset({"node_modules", "bower_components", "site-packages"})
_CACHE_SIGNATURE = "Signature: 8a477f597d28d172789f06886806bc55"
"""Source: the Cache Directory Tagging Specification."""
_PACKAGE_FACTS = {".egg-info": "PKG-INFO", ".dist-info": "METADATA"}


class _Program(NamedTuple):
    """What fills folders, and how it is known to be used in a folder."""

    name: str
    configs: tuple[str, ...]
    outputs: tuple[str, ...]
    """Relative to the folder of the configuration; the default ones."""
    key: tuple[str, ...] = ()
    """Where the configuration names an output folder in place of those."""
    always: tuple[str, ...] = ()
    """Folders that it fills next to its output."""


_PROGRAMS = (
    _Program("mdBook", ("book.toml",), ("book",), ("build", "build-dir")),
    _Program("MkDocs", ("mkdocs.yml", "mkdocs.yaml"), ("site",), ("site_dir",)),
    _Program(
        "Docusaurus",
        tuple(f"docusaurus.config.{suffix}" for suffix in ("js", "ts", "mjs", "cjs")),
        ("build",),
    ),
    _Program("Jekyll", ("_config.yml", "_config.yaml"), ("_site",), ("destination",)),
    _Program("Jupyter Book", ("_toc.yml", "myst.yml"), ("_build",)),
    _Program(
        "Quarto",
        ("_quarto.yml", "_quarto.yaml"),
        ("_site", "_book", "_manuscript"),
        ("project", "output-dir"),
        ("_freeze", "_extensions"),
    ),
    _Program("bookdown", ("_bookdown.yml",), ("_book",), ("output_dir",), ("_bookdown_files",)),
    _Program("R Markdown", ("_site.yml",), ("_site",), ("output_dir",)),
    _Program("Sphinx", ("conf.py",), ("_build",)),
    _Program(
        "Hugo",
        ("hugo.toml", "hugo.yaml", "hugo.yml"),
        ("public",),
        ("publishDir",),
        ("resources/_gen",),
    ),
    _Program("Eleventy", ("eleventy.config.js", ".eleventy.js"), ("_site",)),
    _Program("Cargo", ("Cargo.toml",), ("target",)),
)


def outputs_of(root: Path, folder: str, names: Collection[str]) -> Iterator[tuple[str, str]]:
    """Yield the folders that programs fill which are configured in `folder`, each with a reason.

    Args:
        root: the source's folder.
        folder: relative to it, with forward slashes; empty for itself. Results are so, too.
        names: the files in it.
    """
    for program in _PROGRAMS:
        for config in program.configs:
            if config in names:
                for output in _outputs(program, root / folder, config):
                    path = posixpath.normpath(posixpath.join(folder, output))
                    if not _holds(path, folder):
                        yield path, f"is in {path}, which {program.name} fills"


def _holds(path: str, folder: str) -> bool:
    """Return whether `path` is `folder`, has it inside, or lies outside of the source."""
    return path in {".", folder} or path.startswith(("..", "/")) or folder.startswith(f"{path}/")


def _outputs(program: _Program, folder: Path, config: str) -> Iterator[str]:
    value: object = _READERS.get(config.rpartition(".")[2], _no_values)(folder, config)
    for name in program.key:
        value = value.get(name) if isinstance(value, Mapping) else None
    named = program.key and isinstance(value, str) and value.strip()
    yield from (str(value).strip(),) if named else program.outputs
    yield from program.always


def _toml(folder: Path, name: str) -> Mapping[str, object]:
    try:
        return tomllib.loads(read_inside(folder, name) or "")
    except (tomllib.TOMLDecodeError, RecursionError):
        return {}


def _yaml(folder: Path, name: str) -> Mapping[object, object]:
    return read_yaml(folder, name) or {}


def _no_values(_folder: Path, _name: str) -> Mapping[str, object]:
    return {}


_READERS: Mapping[str, Callable[[Path, str], Mapping[str, object] | Mapping[object, object]]] = {
    "toml": _toml,
    "yml": _yaml,
    "yaml": _yaml,
}


def why_foreign(folder: Path) -> str | None:
    """Return why nothing in a folder is a text of the course, or none, by the folder itself."""
    name = folder.name
    if name.startswith("."):
        return "is in a hidden folder"
    if name in _INSTALLED:
        return f"is in {name}, which holds installed packages"
    if name == "__pycache__" or (read_inside(folder, "CACHEDIR.TAG") or "").startswith(
        _CACHE_SIGNATURE
    ):
        return "is in a cache"
    if os.path.isfile(folder / "pyvenv.cfg"):  # a folder may be closed
        return "is in a virtual environment"
    facts = _PACKAGE_FACTS.get(folder.suffix)
    if facts and os.path.isfile(folder / facts):
        return "describes an installed package"
    return None
