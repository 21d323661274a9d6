"""Reads reStructuredText with docutils, and what Sphinx adds to it, without opening a file."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from docutils import nodes
from docutils.core import publish_doctree
from docutils.parsers.rst import directives, roles

from core.ingestion.document import ParsedDocument, document_of
from core.ingestion.formats.flavours.flavour import MarkdownFlavour
from core.ingestion.formats.flavours.includes import Includes
from core.ingestion.formats.flavours.source_lines import (
    SourceLine,
    included_lines,
    joined,
    source_lines,
)
from core.ingestion.formats.flavours.values import Values
from core.ingestion.formats.rst.blocks import rst_blocks
from core.ingestion.formats.rst.directives import DIRECTIVES, Unknown
from core.ingestion.formats.rst.includes import with_includes
from core.ingestion.formats.rst.roles import role_for

_SETTINGS: dict[str, Any] = {
    "_disable_config": True,
    "auto_id_prefix": "id",  # Sphinx numbers what has no name of its own so
    "docinfo_xform": False,
    "doctitle_xform": False,
    "file_insertion_enabled": False,
    "halt_level": 5,
    "line_length_limit": 100_000,
    "raw_enabled": False,
    "report_level": 3,
    "smart_quotes": False,
    "syntax_highlight": "none",
    "traceback": True,
    "warning_stream": False,
}


def parse_rst(text: str, *, read_include: Callable[[str], str | None]) -> ParsedDocument:
    """Return a page as blocks; directives and roles of Sphinx are known, others keep their text.

    Nothing is opened, run or taken over raw: included files come from `read_include` alone.

    Args:
        text: the page.
        read_include: gives the text of a file by its path relative to the page, or none.
    """
    includes = Includes(read_include)
    values = Values(MarkdownFlavour.MYST, {}, read_include)
    lines = list(with_includes(source_lines(text.expandtabs(8)), includes))
    lines = [*_from_settings(values, text, "rst_prolog"), *lines]
    lines += _from_settings(values, text, "rst_epilog")
    ours = {
        "glossator_includes": includes,
        "glossator_lines": lines,
        "glossator_settings": values.program,
    }
    with _ours():
        tree = publish_doctree(joined(lines), settings_overrides={**_SETTINGS, **ours})
    return document_of(
        None,
        list(rst_blocks(tree, lines, includes)),
        warnings=includes.warnings,
        left_out=includes.omissions,
    )


def _from_settings(values: Values, text: str, name: str) -> list[SourceLine]:
    """Return what `conf.py` puts before or after each page; with the names that Sphinx knows."""
    written = values.program.get(name) if "|" in text or ":" in text else None
    added = written if isinstance(written, str) else ""
    known = ("release", "version", "project", "author", "copyright")
    for named in known if name == "rst_epilog" else ():
        value = values.program.get(named)
        if named == "version" and value is None:
            value = values.program.get("release")
        if value and f"|{named}|" in text and f".. |{named}|" not in f"{text}{added}":
            added += f"\n\n.. |{named}| replace:: {value}\n"
    number = 1 if name == "rst_prolog" else text.count("\n") + 1
    return included_lines(f"\n\n{added}\n\n", number) if added.strip() else []


@contextmanager
def _ours() -> Iterator[None]:
    """Let docutils find our directives and roles before its own, as Sphinx does."""
    of_docutils = directives.directive, roles.role

    def directive(name: str, language: Any, document: nodes.document) -> tuple[Any, list[Any]]:
        plain = name.lower().rpartition(":")[2]
        if ours := DIRECTIVES.get(name.lower()) or DIRECTIVES.get(plain):
            return ours, []
        found, _ = of_docutils[0](name, language, document)
        return found or Unknown, []

    def role(name: str, language: Any, line: int, reporter: Any) -> tuple[Any, list[Any]]:
        if ours := role_for(name):
            return ours, []
        found, _ = of_docutils[1](name, language, line, reporter)
        return found or role_for("any"), []

    directives.directive, roles.role = directive, role  # type: ignore[assignment]
    try:
        yield
    finally:
        directives.directive, roles.role = of_docutils
