"""Reads and names the files of a site without leaving its folder."""

import re
from collections.abc import Callable, Sequence
from pathlib import Path, PurePosixPath

from core.ingestion.formats.decoding import decode_text
from core.ingestion.formats.flavours.flavour import MarkdownFlavour

_MAX_BYTES = 1_000_000
_NUMBER_PREFIX = re.compile(r"\d+\s*[-_.)]+\s*(?=[^-_.\s])")
_DATE_OR_VERSION = re.compile(r"\d+[-_.]\d+")
_FOLDER_PAGES = frozenset({"index", "readme", "_index"})


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
    if dialect == MarkdownFlavour.MKDOCS:
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
