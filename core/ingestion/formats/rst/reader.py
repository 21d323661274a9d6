"""Reads reStructuredText with docutils, and what Sphinx adds to it, without opening a file."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from docutils import nodes
from docutils.core import publish_doctree
from docutils.parsers.rst import directives, roles

from core.ingestion.document import ParsedDocument, document_of
from core.ingestion.formats.flavours.includes import Includes
from core.ingestion.formats.flavours.source_lines import joined, source_lines
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
    lines = list(with_includes(source_lines(text.expandtabs(8)), includes))
    with _ours():
        tree = publish_doctree(
            joined(lines), settings_overrides={**_SETTINGS, "glossator_includes": includes}
        )
    return document_of(None, list(rst_blocks(tree, lines, includes)), warnings=includes.warnings)


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
