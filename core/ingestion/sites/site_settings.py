"""The nouns of a folder of course pages: the site, its pages and where they are published."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path

from core.ingestion.formats.includes import MarkdownFlavour
from core.ingestion.refusal import LeftOut

MODULE_SEPARATOR = " › "


class SiteKind(StrEnum):
    """What publishes the folder."""

    MDBOOK = "mdbook"
    MKDOCS = "mkdocs"
    DOCUSAURUS = "docusaurus"
    QUARTO = "quarto"
    JUPYTER_BOOK = "jupyter book"
    SPHINX = "sphinx"
    JEKYLL = "jekyll"
    HUGO = "hugo"
    FOLDER = "folder"


@dataclass(frozen=True, slots=True)
class SitePage:
    """One page of the course."""

    path: str
    """The file, relative to the site's folder, with forward slashes."""
    url_path: str
    """Where the page is published under the base URL: percent-encoded, no leading slash."""
    module: str = ""
    """Part, chapter or folder, outermost first, joined by ` › `; empty at the top."""
    title: str | None = None
    """What the navigation calls the page, if it says."""
    dialect: MarkdownFlavour = MarkdownFlavour.MARKDOWN


@dataclass(frozen=True, slots=True)
class Site:
    """A folder of course pages, in reading order."""

    kind: SiteKind
    folder: Path
    """Absolute, without symbolic links."""
    pages: tuple[SitePage, ...]
    base_url: str | None = None
    """Where the configuration says that it is published, if it does."""
    include_roots: tuple[str, ...] = ()
    """Folders, relative to the site's, in which included files are looked for."""
    warnings: tuple[str, ...] = field(default=())
    """One sentence for each thing that the configuration names and that is not there."""
    docs: str = "."
    """The folder, relative to the site's, that has its pages."""
    unlisted: str = ""
    """Why a readable file in `docs` is no page: "is not in the summary"."""
    unpublished: Mapping[str, str] = field(default_factory=dict)
    """Why single files in `docs` are no pages: drafts."""
    foreign: Mapping[str, str] = field(default_factory=dict)
    """Why files, and whole folders, hold no text of the course: the summary, old versions."""
    left_out: tuple[LeftOut, ...] = ()
    """Every file of the folder that is no page."""
