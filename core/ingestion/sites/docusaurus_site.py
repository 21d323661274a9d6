"""Reads the folder of a Docusaurus site: its documents, their order and their URLs."""

import posixpath
import re
from pathlib import Path
from typing import NamedTuple
from urllib.parse import quote, urljoin

from core.ingestion.account.survey import page_files
from core.ingestion.formats.flavours.flavour import MarkdownFlavour
from core.ingestion.formats.flavours.jsx import expression_end
from core.ingestion.formats.flavours.source_lines import source_lines
from core.ingestion.formats.markdown.front_matter import front_matter
from core.ingestion.sites.docusaurus_sidebar import SidebarDocument, sidebar_documents
from core.ingestion.sites.page_files import file_inside, is_folder_page, read_inside, without_number
from core.ingestion.sites.site import Site, SiteKind, SitePage

_CONFIGS = tuple(f"docusaurus.config.{suffix}" for suffix in ("js", "ts", "mjs", "cjs"))
_SUFFIXES = (".md", ".mdx")
_HEAD_CHARACTERS = 20_000
_COPIES = {
    "versioned_docs": "belongs to an earlier version of the site",
    "i18n": "is a translation of the site",
}
_DOCS_OPTIONS = re.compile(r"\bdocs\s*:\s*(?=\{)")


class _Options(NamedTuple):
    """What the configuration says, as far as it is written as plain text."""

    base_url: str | None
    docs: str
    route: str
    sidebar: str
    trailing_slash: str


def is_docusaurus(folder: Path) -> bool:
    """Return whether the folder holds a Docusaurus site."""
    return any(file_inside(folder, name) for name in _CONFIGS)


def read_docusaurus(folder: Path) -> Site | None:
    """Return the documents in the order of the sidebar, or none without a documents folder."""
    config = next(filter(None, (read_inside(folder, name) for name in _CONFIGS)), "")
    options = _options(config)
    docs = folder / options.docs
    if not docs.resolve().is_relative_to(folder) or not docs.is_dir():
        return None
    unpublished: dict[str, str] = {}
    documents: list[SidebarDocument] = []
    for path in page_files(docs, _SUFFIXES):
        metadata = _metadata(docs, path)
        place = posixpath.normpath(posixpath.join(options.docs, path))
        if _is_excluded(path):
            unpublished[place] = "begins with an underscore, so Docusaurus does not publish it"
        elif metadata.get("draft", "").lower() == "true":
            unpublished[place] = "is a draft"
        else:
            documents.append(SidebarDocument.of(path, metadata))
    pages = tuple(
        SitePage(
            posixpath.normpath(posixpath.join(options.docs, document.path)),
            _url_path(document, options),
            module,
            document.label,
            MarkdownFlavour.DOCUSAURUS,
        )
        for document, module in sidebar_documents(folder, docs, options.sidebar, documents)
    )
    return Site(
        SiteKind.DOCUSAURUS,
        folder,
        pages,
        options.base_url,
        (options.docs, "."),
        docs=options.docs,
        unlisted="is no page of Docusaurus",
        unpublished=unpublished,
        foreign=_COPIES,
    )


def _is_excluded(path: str) -> bool:
    """Return whether Docusaurus leaves out a document, or a folder that it is in, by its name."""
    *folders, name = path.split("/")
    return any(map(_is_underscored, folders)) or (
        _is_underscored(name) and not is_folder_page(name)
    )


def _is_underscored(name: str) -> bool:
    return name.startswith("_")


def _options(config: str) -> _Options:
    docs = _DOCS_OPTIONS.search(config)
    end = expression_end(config, docs.end()) if docs else None
    options = config[docs.end() : end] if docs and end else ""
    url, base = _value(config, "url"), _value(config, "baseUrl") or "/"
    is_url = url.startswith(("http://", "https://"))
    return _Options(
        urljoin(url, base) if is_url else None,
        posixpath.normpath(_value(options, "path") or "docs"),
        (_value(options, "routeBasePath") or "docs").strip("/"),
        _value(options, "sidebarPath") or "sidebars.js",
        (re.findall(r"^\s*trailingSlash\s*:\s*(true|false)", config, re.MULTILINE) or [""])[0],
    )


def _value(config: str, name: str) -> str:
    """Return the value of the first `name: 'value'` that is no comment."""
    quoted = r"""(?:require\.resolve\(\s*)?(["'`])([^"'`\n$]*)\1"""
    found = re.search(rf"(?:^|[{{,])[ \t]*{name}\s*:\s*{quoted}", config, re.MULTILINE)
    return found[2] if found else ""


def _metadata(docs: Path, path: str) -> dict[str, str]:
    text = read_inside(docs, path) or ""
    return dict(front_matter(source_lines(text[:_HEAD_CHARACTERS])).metadata)


def _url_path(document: SidebarDocument, options: _Options) -> str:
    """Return the path of a document. Source: Docusaurus, `getSlug`."""
    folders = "".join(f"/{without_number(name)}" for name in document.path.split("/")[:-1])
    folder = f"{folders}/"
    slug = document.slug or ("" if document.is_category_index else document.base_id)
    path = posixpath.join(folder, slug)
    path = posixpath.normpath(f"/{options.route}/{path}") + ("/" if path.endswith("/") else "")
    if options.trailing_slash == "true":
        path = f"{path.rstrip('/')}/"
    elif options.trailing_slash == "false":
        path = path.rstrip("/")
    return quote(path.lstrip("/"), errors="surrogateescape")
