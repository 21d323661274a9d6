"""Reads a Markdown page the way its publisher does, and hands on its text and structure."""

from collections.abc import Callable, Sequence

from markdown_it import MarkdownIt
from mdit_py_plugins.deflist import deflist_plugin
from mdit_py_plugins.footnote import footnote_plugin

from core.errors import UnsupportedDocument
from core.ingestion.document import ParsedDocument, document_of
from core.ingestion.formats.characters import visible_document
from core.ingestion.formats.flavours import mdbook
from core.ingestion.formats.flavours.flavour import MarkdownFlavour
from core.ingestion.formats.flavours.includes import Includes
from core.ingestion.formats.flavours.mdx import plain_markdown
from core.ingestion.formats.flavours.myst import has_directives, with_directives
from core.ingestion.formats.flavours.obsidian import without_obsidian
from core.ingestion.formats.flavours.quarto import with_shown_text
from core.ingestion.formats.flavours.snippets import with_markdown_in_html, with_snippets
from core.ingestion.formats.flavours.source_lines import SourceLine, joined, source_lines
from core.ingestion.formats.flavours.templates import (
    with_template,
    without_liquid,
    without_shortcodes,
)
from core.ingestion.formats.flavours.values import Values
from core.ingestion.formats.markdown.admonitions import admonitions_plugin
from core.ingestion.formats.markdown.blocks import markdown_blocks
from core.ingestion.formats.markdown.formulas import formulas_plugin
from core.ingestion.formats.markdown.front_matter import front_matter
from core.ingestion.formats.markdown.marks import marks_plugin
from core.ingestion.formats.markdown.text_tables import text_tables_plugin

_MAX_NESTING = 40
_INDENTED = frozenset(
    {
        MarkdownFlavour.MKDOCS,
        MarkdownFlavour.MARKDOWN,
        MarkdownFlavour.HUGO,
        MarkdownFlavour.JEKYLL,
    }
)
"""Where a box is an indented block after `!!!`."""


def parse_markdown(
    text: str, *, dialect: str, read_include: Callable[[str], str | None]
) -> ParsedDocument:
    """Return a page as blocks, without hidden text and markup.

    Args:
        text: the page, with its front matter.
        dialect: a value of `Dialect`.
        read_include: gives the text of a file that the page includes, or none if it is missing.
            Paths have forward slashes and count from the page's folder; those of MkDocs
            snippets, and those beginning with `@site/`, from the folder of the site.

    Raises:
        UnsupportedDocument: the page is nested too deeply.
    """
    kind = MarkdownFlavour(dialect)
    lines = source_lines(text)
    head = front_matter(lines)
    includes = Includes(read_include)
    written = lines[head.height :]
    title = head.metadata.get("title") or mdbook.page_title(written)
    body = _prepared(written, kind, includes, Values(kind, head.values, includes.value))
    try:
        md = _parser(kind)
        blocks = list(markdown_blocks(md, md.parse(joined(body)), body, kind, includes))
    except RecursionError as error:
        raise UnsupportedDocument("is nested too deeply") from error
    warnings = (*head.warnings, *includes.warnings)
    return visible_document(
        document_of(
            title,
            blocks,
            metadata=head.metadata,
            warnings=warnings,
            left_out=includes.omissions,
        )
    )


def _prepared(
    lines: Sequence[SourceLine], dialect: MarkdownFlavour, includes: Includes, values: Values
) -> Sequence[SourceLine]:
    """Return the lines after what the dialect does before Markdown is read."""
    match dialect:
        case MarkdownFlavour.MDBOOK:
            return mdbook.with_captions(mdbook.with_includes(lines, includes))
        case MarkdownFlavour.MKDOCS:
            whole = with_snippets(with_template(lines, values, includes), includes)
            return with_markdown_in_html(whole)
        case MarkdownFlavour.DOCUSAURUS:
            return plain_markdown(lines, includes, values)
        case MarkdownFlavour.QUARTO:
            return with_shown_text(lines, includes, values)
        case MarkdownFlavour.MYST:
            return with_directives(lines, includes, values)
        case MarkdownFlavour.HUGO:
            return without_shortcodes(lines, values, includes)
        case MarkdownFlavour.JEKYLL:
            return with_markdown_in_html(without_liquid(lines, values, includes))
        case MarkdownFlavour.MARKDOWN:
            if has_directives(lines):
                lines = with_directives(lines, includes, values)
            return without_obsidian(lines, includes)


def _parser(dialect: MarkdownFlavour) -> MarkdownIt:
    md = MarkdownIt("commonmark", {"html": True, "maxNesting": _MAX_NESTING})
    md.enable(["table", "strikethrough"])
    md.use(footnote_plugin, inline=False, move_to_end=False)
    md.use(deflist_plugin).use(formulas_plugin)
    is_pandoc = dialect is MarkdownFlavour.QUARTO
    has_marks = is_pandoc or dialect is MarkdownFlavour.MKDOCS
    is_loose = dialect in {MarkdownFlavour.MKDOCS, MarkdownFlavour.MARKDOWN}
    md.use(marks_plugin, pandoc=has_marks, critic=is_loose)
    is_plain = dialect is MarkdownFlavour.MARKDOWN
    md.use(text_tables_plugin, simple=is_pandoc or is_plain, verse=is_pandoc)
    if dialect is MarkdownFlavour.DOCUSAURUS:
        md.disable("code")
    md.use(
        admonitions_plugin,
        directives=dialect
        not in {MarkdownFlavour.MKDOCS, MarkdownFlavour.QUARTO, MarkdownFlavour.MYST},
        indented=dialect in _INDENTED,
    )
    return md
