"""Recognises what publishes a folder, and lists its pages in reading order."""

import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path, PurePosixPath
from typing import NamedTuple
from urllib.parse import quote

from core.ingestion.account.included import included_files
from core.ingestion.account.survey import Survey, survey
from core.ingestion.account.unread import unread_files
from core.ingestion.formats.flavours.flavour import MarkdownFlavour
from core.ingestion.formats.registry import is_readable, suffix_of, suffixes_of
from core.ingestion.sites.docusaurus_site import is_docusaurus, read_docusaurus
from core.ingestion.sites.front_matter.hugo_site import is_hugo, read_hugo
from core.ingestion.sites.front_matter.jekyll_site import is_jekyll, read_jekyll
from core.ingestion.sites.jupyter_site import is_jupyter_book, read_jupyter_book
from core.ingestion.sites.mdbook_site import is_mdbook, read_mdbook
from core.ingestion.sites.mkdocs_site import is_mkdocs, read_mkdocs
from core.ingestion.sites.page_files import is_folder_page, read_inside, readable
from core.ingestion.sites.quarto_site import is_quarto, read_quarto
from core.ingestion.sites.site import MODULE_SEPARATOR, Site, SiteKind, SitePage
from core.ingestion.sites.sphinx_site import is_sphinx, read_sphinx

_MARKDOWN = suffixes_of("markdown")
_QUARTO = suffixes_of("quarto", "rmarkdown")
_SUBTITLES = suffixes_of("subtitles")
_LANGUAGE = re.compile(r"\.[a-z]{2,3}(?:-[A-Za-z]{2,4})?")
_LATEX = suffixes_of("latex")
_RST = suffixes_of("rst")
_INCLUDING = _QUARTO | _RST | {".mdx"}
"""Pages of a plain folder that may include others."""


class _Generator(NamedTuple):
    name: str
    recognises: Callable[[Path], bool]
    read: Callable[[Path], Site | None]


_GENERATORS: Sequence[_Generator] = (
    _Generator("an mdBook", is_mdbook, read_mdbook),
    _Generator("a MkDocs site", is_mkdocs, read_mkdocs),
    _Generator("a Docusaurus site", is_docusaurus, read_docusaurus),
    _Generator("a Quarto project", is_quarto, read_quarto),
    _Generator("a Jupyter Book", is_jupyter_book, read_jupyter_book),
    _Generator("a Sphinx site", is_sphinx, read_sphinx),
    _Generator("a Hugo site", is_hugo, read_hugo),
    _Generator("a Jekyll site", is_jekyll, read_jekyll),
)

_NO_SITE = (
    "The folder looks like {name}, but its configuration cannot be read, or names no page that is "
    "there: it is read as a plain folder, with every page in it."
)


def detect_site(folder: Path, *, page_suffix: str = "") -> Site:
    """Return the site in `folder`, with every file of it that is no page.

    What no generator can read is a plain folder.

    Args:
        folder: an existing folder.
        page_suffix: how the pages of a plain folder are published, in place of `.md`.
            Nothing by default: GitHub Pages and most static hosts answer to `intro` for
            `intro.html`. `.html` or `/` says it exactly.
    """
    root = folder.resolve()
    seen = survey(root)
    site = _detected(root, seen, page_suffix)
    return replace(site, left_out=unread_files(site, seen))


def _detected(root: Path, seen: Survey, page_suffix: str) -> Site:
    warnings: list[str] = []
    for generator in _GENERATORS:
        if not generator.recognises(root):
            continue
        site = generator.read(root)
        if site is not None and site.pages:
            return replace(site, warnings=(*warnings, *site.warnings))
        warnings.append(_NO_SITE.format(name=generator.name))
    return _plain_folder(seen, page_suffix, tuple(warnings))


def _plain_folder(seen: Survey, page_suffix: str, warnings: tuple[str, ...]) -> Site:
    readable_files = [path for path in seen.files if is_readable(path)]
    partials = _partials(seen.folder, readable_files)
    pages = (loose_page(path, page_suffix) for path in readable_files if path not in partials)
    return Site(SiteKind.FOLDER, seen.folder, tuple(pages), None, (".",), warnings)


def _partials(folder: Path, paths: Sequence[str]) -> frozenset[str]:
    """Return the files that are made to be included, where a page includes them.

    Those are `_part.mdx`, and the chapters of a whole LaTeX document.
    """
    underscored = [path for path in paths if PurePosixPath(path).name.startswith("_")]
    including = [path for path in paths if suffix_of(path) in _INCLUDING]
    parts = included_files(folder, including, underscored, (".",))
    latex = [path for path in paths if suffix_of(path) in _LATEX]
    whole = [path for path in latex if "\\documentclass" in (read_inside(folder, path) or "")]
    chapters = [path for path in latex if path not in whole]
    return parts | included_files(folder, whole, chapters, (".",))


def loose_page(path: str, page_suffix: str = "") -> SitePage:
    """Return the page of a file that no generator publishes."""
    module = MODULE_SEPARATOR.join(map(readable, path.split("/")[:-1]))
    return SitePage(
        path, _url_path(PurePosixPath(path), page_suffix), module, None, _dialect_of(path)
    )


def _dialect_of(path: str) -> MarkdownFlavour:
    suffix = suffix_of(path)
    if suffix in _QUARTO:
        return MarkdownFlavour.QUARTO
    return MarkdownFlavour.DOCUSAURUS if suffix == ".mdx" else MarkdownFlavour.MARKDOWN


def _url_path(path: PurePosixPath, page_suffix: str) -> str:
    if path.suffix.lower() in _SUBTITLES:
        return quote(_recording(path), errors="surrogateescape")
    if path.suffix.lower() in _QUARTO | _RST:
        page_suffix = ".html"
    elif path.suffix.lower() not in _MARKDOWN:
        return quote(path.as_posix(), errors="surrogateescape")
    parent = "" if path.parent.name == "" else f"{path.parent.as_posix()}/"
    published = "" if is_folder_page(path.name) else f"{path.stem}{page_suffix}"
    return quote(parent + published, errors="surrogateescape")


def _recording(path: PurePosixPath) -> str:
    """Return where the recording is whose subtitles these are: `week1/tides.en.vtt`, week1/tides.

    A name that is the id of a video keeps every character, so that a site's address and it lead
    to the video.
    """
    bare = path.with_suffix("")
    language = _LANGUAGE.fullmatch(bare.suffix)
    return (bare.with_suffix("") if language else bare).as_posix()
