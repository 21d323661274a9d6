"""Reads LaTeX with pylatexenc: what a reader of the printed page sees, formulas as they are."""

from collections.abc import Callable

from core.ingestion.document import ParsedDocument, document_of
from core.ingestion.formats.flavours.includes import Includes
from core.ingestion.formats.flavours.source_lines import source_lines
from core.ingestion.formats.latex.blocks import latex_blocks
from core.ingestion.formats.latex.source import latex_source


def parse_latex(text: str, *, read_include: Callable[[str], str | None]) -> ParsedDocument:
    r"""Return a document as blocks, with the files that it includes.

    Own macros are replaced in the text, and stay in formulas. Nothing is run: no `\write`, no
    `\catcode`, no package. Commands that nothing here knows keep the words of their arguments.

    Args:
        text: a document, or a part of one without its preamble.
        read_include: gives the text of a file by its path relative to the document, or none.
    """
    includes = Includes(read_include)
    source = latex_source(source_lines(text), includes)
    title, blocks = latex_blocks(source, includes)
    return document_of(title, blocks, warnings=includes.warnings, left_out=includes.omissions)
