"""Finds the files of a site without leaving its folder."""

import os
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path, PurePosixPath

from core.ingestion.formats.decoding import decode_text
from core.ingestion.formats.dialects import Dialect

_FOREIGN_FOLDERS = frozenset({"node_modules", "venv", "__pycache__", "site-packages"})
_MARKDOWN_SUFFIXES = frozenset({".md", ".mdx", ".markdown"})
_MAX_BYTES = 1_000_000
_SUFFIXES_NAMED = 6
_LINKS_NAMED = 6
_NUMBER_PREFIX = re.compile(r"\d+\s*[-_.)]+\s*(?=[^-_.\s])")
_DATE_OR_VERSION = re.compile(r"\d+[-_.]\d+")
_FOLDER_PAGES = frozenset({"index", "readme", "_index"})


def page_files(folder: Path, suffixes: Iterable[str]) -> list[str]:
    """Return the files below `folder` with one of `suffixes`, in natural order.

    Paths are relative, with forward slashes. Partials (`_part.mdx`), hidden and foreign folders
    (`node_modules`) are left out, and so is whatever a symbolic link finds outside.
    """
    wanted, root = frozenset(suffixes), folder.resolve()
    found = (path for path in files_below(root) if path.suffix.lower() in wanted)
    kept = [path.relative_to(root).as_posix() for path in found if _is_page(path, root)]
    return sorted(kept, key=reading_order)


def other_files(folder: Path, suffixes: Iterable[str]) -> str | None:
    """Return one sentence that counts the files `page_files` skips by their suffix, or none."""
    wanted, root = frozenset(suffixes), folder.resolve()
    skipped = (
        path.suffix.lower() or "no suffix"
        for path in files_below(root)
        if path.suffix.lower() not in wanted and _is_page(path, root)
    )
    counts = sorted(Counter(skipped).items(), key=lambda pair: (-pair[1], pair[0]))
    if not counts:
        return None
    named = [f"{count:,} {well_formed(suffix)}" for suffix, count in counts[:_SUFFIXES_NAMED]]
    if rest := sum(count for _, count in counts[_SUFFIXES_NAMED:]):
        named.append(f"{rest:,} others")
    return f"Files of other formats are left out: {', '.join(named)}."


def links_outside(folder: Path) -> str | None:
    """Return one sentence that names the symbolic links which lead out of `folder`, or none."""
    root = folder.resolve()
    found = sorted(
        path.relative_to(root).as_posix()
        for parent, folders, files in _walk(root)
        for path in (Path(parent, name) for name in (*folders, *files))
        if path.is_symlink() and path.exists() and not path.resolve().is_relative_to(root)
    )
    if not found:
        return None
    named = [well_formed(path) for path in found[:_LINKS_NAMED]]
    if rest := len(found) - len(named):
        named.append(f"{rest:,} others")
    return f"Links that lead out of the folder are left out: {', '.join(named)}."


def files_below(root: Path) -> Iterator[Path]:
    """Yield every file below `root`, hidden and foreign folders left out, in no set order."""
    for parent, _, files in _walk(root):
        yield from (Path(parent, name) for name in files)


def _walk(root: Path) -> Iterator[tuple[str, list[str], list[str]]]:
    for parent, folders, files in os.walk(root):
        folders[:] = [name for name in folders if name[0] not in "._" and not _is_foreign(name)]
        yield parent, folders, files


def _is_foreign(folder: str) -> bool:
    return folder in _FOREIGN_FOLDERS


def _is_page(path: Path, root: Path) -> bool:
    if path.name.startswith(".") or not path.is_file():
        return False
    is_markdown = path.suffix.lower() in _MARKDOWN_SUFFIXES
    if is_markdown and path.name.startswith("_") and not is_folder_page(path.name):
        return False
    return not path.is_symlink() or file_inside(root, str(path)) is not None


def file_inside(root: Path, path: str) -> Path | None:
    """Return the file at `path`, if it really is in `root`, links followed; else none."""
    try:
        found = (root / path).resolve()
        return found if found.is_relative_to(root.resolve()) and found.is_file() else None
    except (OSError, ValueError, RuntimeError):
        return None


def read_inside(root: Path, path: str) -> str | None:
    """Return the text of a file in `root`, or none if it is missing, outside or too large."""
    found = file_inside(root, path)
    try:
        if found is None or found.stat().st_size > _MAX_BYTES:
            return None
        return decode_text(found.read_bytes()).text
    except OSError:
        return None


def include_reader(
    folder: Path, page: str, include_roots: Sequence[str], dialect: str
) -> Callable[[str], str | None]:
    """Return what gives the text of a file that `page` includes, never from outside `folder`.

    Args:
        folder: the site's.
        page: the page's path in it.
        include_roots: folders in it where MkDocs looks first, the others after the page's own.
        dialect: a value of `Dialect`.
    """
    beside = PurePosixPath(page).parent.as_posix()
    roots = [beside, *include_roots]
    if dialect == Dialect.MKDOCS:
        roots = [*include_roots, beside]

    def read(path: str) -> str | None:
        if path.startswith("@site/"):
            return read_inside(folder, path.removeprefix("@site/"))
        relative = path.lstrip("/")
        texts = (read_inside(folder, f"{root}/{relative}") for root in roots)
        return next((text for text in texts if text is not None), None)

    return read


def is_folder_page(name: str) -> bool:
    """Return whether a file stands for its folder: `index.md`, `README.md`."""
    return PurePosixPath(name).stem.lower() in _FOLDER_PAGES


def reading_order(path: str) -> tuple[tuple[object, ...], ...]:
    """Return a sort key: numbers by value, the page of a folder before the others in it."""
    *folders, name = path.split("/")
    return (*map(_natural, folders), (not is_folder_page(name), *_natural(name)[1:]))


def _natural(name: str) -> tuple[object, ...]:
    pieces = re.split(r"(\d{1,18})", name.lower())
    return (
        True,
        *((piece.isdigit(), int(piece) if piece.isdigit() else piece) for piece in pieces),
    )


def without_number(name: str) -> str:
    """Return a name without the number that orders it: `01-intro`; dates and versions stay."""
    prefix = _NUMBER_PREFIX.match(name)
    return name if prefix is None or _DATE_OR_VERSION.match(name) else name[prefix.end() :]


def readable(name: str) -> str:
    """Return the name of a folder as words: `02-supply_and_demand`, Supply and demand."""
    words = re.sub(r"[-_\s]+", " ", without_number(well_formed(name))).strip()
    return words[:1].upper() + words[1:]


def well_formed(name: str) -> str:
    """Return the name of a file as text; bytes of it that are no UTF-8 become `�`."""
    return name.encode(errors="surrogateescape").decode(errors="replace")
