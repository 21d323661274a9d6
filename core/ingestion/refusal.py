"""Recognises folders that programs have filled, by evidence."""

import os
import posixpath
import re
import tomllib
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from core.ingestion.document import Block, Omission
from core.ingestion.formats.registry import is_text_like
from core.ingestion.sites.site import read_inside, read_yaml

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


_KINDS_KEPT = 50
_OTHERS = "other element"
_WORD = re.compile(r"\w+")


@dataclass(frozen=True, slots=True)
class LeftOut:
    """A file or page that was seen and not read."""

    path: str
    """As documents of the source are named; the address of a web page."""
    reason: str
    """Follows the path: "is not in the summary"."""
    is_missed: bool
    """Whether the course may lack its text: it is text-like, and not known to be no text of it."""


def missed(path: str, reason: str) -> LeftOut:
    """Return a file whose text the course may lack, if it has one."""
    return LeftOut(path, reason, is_text_like(path))


def foreign(path: str, reason: str) -> LeftOut:
    """Return a file that is known to hold no text of the course, whatever its suffix."""
    return LeftOut(path, reason, False)


@dataclass(frozen=True, slots=True)
class NotRead:
    """Elements of one kind that the text of a document does not have."""

    document: str
    kind: str
    """A singular noun: `text box`."""
    count: int
    words: int
    """How many words they held; 0 also where that is not known."""
    where: tuple[str, ...] = ()
    """Where they stood; empty where an earlier run read the document."""


def not_read(document: str, left_out: Iterable[Omission]) -> list[NotRead]:
    """Return what was left out of a document that was read now, by kind."""
    kinds: dict[str, list[Omission]] = {}
    for one in left_out:
        kinds.setdefault(one.kind, []).append(one)
    return [
        NotRead(
            document,
            kind,
            sum(one.count for one in same),
            sum(one.words for one in same),
            tuple(dict.fromkeys(one.where for one in same if one.where)),
        )
        for kind, same in kinds.items()
    ]


def not_read_before(document: str, kept: Mapping[str, Sequence[int]] | None) -> list[NotRead]:
    """Return what was left out of a document that an earlier run read, by kind."""
    return [NotRead(document, kind, count, words) for kind, (count, words) in (kept or {}).items()]


def counts_kept(left_out: Iterable[Omission]) -> dict[str, tuple[int, int]]:
    """Return the counts and words by kind as a document keeps them; rare kinds go together."""
    kinds = sorted(not_read("", left_out), key=lambda one: (-one.words, -one.count, one.kind))
    kept = {one.kind: (one.count, one.words) for one in kinds[:_KINDS_KEPT]}
    if rest := kinds[_KINDS_KEPT:]:
        kept[_OTHERS] = (sum(one.count for one in rest), sum(one.words for one in rest))
    return kept


def more_left_out_than_read(blocks: Iterable[Block], left_out: Sequence[Omission]) -> str:
    """Return a warning where less of a document was read than left out; else nothing.

    An element of unknown words counts as one word.
    """
    if not left_out:
        return ""
    missing = sum(max(one.words, one.count) for one in left_out)
    words = sum(len(_WORD.findall(block.text)) for block in blocks)
    if missing <= words:
        return ""
    return f"more of it was left out than read: {words:,} words were read, {missing:,} were not"
