"""The formats that courses are written in, whether or not they are read."""

from collections.abc import Mapping
from pathlib import PurePosixPath

_NAMES: Mapping[str, tuple[str, ...]] = {
    "Markdown": (".md", ".markdown", ".mdx", ".mdown", ".mkd"),
    "Quarto": (".qmd",),
    "R Markdown": (".rmd",),
    "reStructuredText": (".rst", ".rest"),
    "plain text": (".txt", ".text"),
    "AsciiDoc": (".adoc", ".asciidoc", ".asc"),
    "Org": (".org",),
    "Textile": (".textile",),
    "wiki markup": (".wiki", ".mediawiki"),
    "LaTeX": (".tex", ".latex", ".ltx", ".rnw"),
    "Typst": (".typ",),
    "a Jupyter notebook": (".ipynb",),
    "HTML": (".html", ".htm", ".xhtml"),
    "PDF": (".pdf",),
    "PostScript": (".ps",),
    "DjVu": (".djvu",),
    "an e-book": (".epub", ".mobi", ".azw3"),
    "a Word file": (".docx",),
    "an old Word file": (".doc",),
    "a PowerPoint file": (".pptx",),
    "an old PowerPoint file": (".ppt",),
    "an OpenDocument file": (".odt", ".odp"),
    "a Pages file": (".pages",),
    "rich text": (".rtf",),
    "DocBook": (".docbook", ".dbk"),
    "PreTeXt": (".ptx",),
    "CNXML": (".cnxml",),
    "subtitles": (".srt", ".vtt"),
}
"""Pictures, sounds, code, styles, fonts, tables and other data are none of these."""
_NAME_BY_SUFFIX = {suffix: name for name, suffixes in _NAMES.items() for suffix in suffixes}
TEXT_SUFFIXES = frozenset(_NAME_BY_SUFFIX)


def suffix_of(path: str) -> str:
    """Return the suffix in lower case, with its dot; empty where there is none."""
    return PurePosixPath(path).suffix.lower()


def is_text_like(path: str) -> bool:
    """Return whether a file of this name may hold a text of a course."""
    return suffix_of(path) in TEXT_SUFFIXES


def unread_format(path: str) -> str:
    """Return why a file is left out whose suffix is that of no format that is read."""
    name = _NAME_BY_SUFFIX.get(suffix_of(path))
    return f"is {name}, which is not read" if name else "is no format that is read"
