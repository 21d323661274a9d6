"""The nouns of a folder of course pages: the site, its pages and where they are published."""

from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path

from core.ingestion.formats.dialects import Dialect

MODULE_SEPARATOR = " › "


class SiteKind(StrEnum):
    """What publishes the folder."""

    MDBOOK = "mdbook"
    MKDOCS = "mkdocs"
    DOCUSAURUS = "docusaurus"
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
    dialect: Dialect = Dialect.MARKDOWN


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
    """One sentence for each thing that was left out."""
