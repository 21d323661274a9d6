"""Web pages: the main content of a page without its navigation and its hidden text."""

import re

from selectolax.lexbor import LexborHTMLParser, LexborNode, SelectolaxError

from core.domain.errors import UnsupportedDocument
from core.ingestion.document import Block, BlockKind, Omission, ParsedDocument, document_of
from core.ingestion.formats.decoding import decode_text
from core.ingestion.formats.html_blocks import html_blocks
from core.ingestion.formats.html_elements import apply_sheets

_CONTENT_SELECTORS = (
    ".theme-doc-markdown",
    ".md-content__inner",
    "[itemprop=articleBody]",
    ".bd-article",
    ".devsite-article-body",
    "#mw-content-text",
    ".markdown-body",
    ".ltx_page_content",
    "main article",
    "main",
    "[role=main]",
    "article",
    ".document .body",
    ".entry-content",
    ".post-content",
)
_SITE_FURNITURE = "header,footer,aside,[role=navigation],[role=banner],[role=contentinfo]"
_MIN_SHARE = 0.2
_CHARSET = re.compile(rb"<meta[^>]{0,200}charset\s*=\s*[\"']?([\w.:-]+)", re.IGNORECASE)
_TEX_SCRIPT = re.compile(r"mathjax|katex", re.IGNORECASE)


def parse_html(
    data: bytes | str, *, charset: str | None = None, is_book: bool = False
) -> ParsedDocument:
    """Return the main content of a page.

    The content is the first of the known containers of documentation sites, `<main>` or
    `<article>` that holds a good part of the page's text, otherwise the body without header,
    footer and asides. What a page hides until a click is read.

    Args:
        charset: what the web server declared.
        is_book: the page is of an e-book: all of its body is content.

    Raises:
        UnsupportedDocument: when the page has too many elements.
    """
    text, warnings = _text(data, charset)
    try:
        tree = LexborHTMLParser(text)
    except SelectolaxError as error:
        raise UnsupportedDocument("is HTML of more elements than memory holds") from error
    if tree.body is None:
        return document_of(None, (), warnings=warnings)
    apply_sheets(tree)
    root, left_out, others = tree.body, frozenset[int](), 0
    if not is_book:
        root, left_out, others = _main_content(tree, tree.body)
    if others:
        warnings = (
            *warnings,
            f"{others} other parts of the page, each with much of its text, were left out",
        )
    missing: list[Omission] = []
    drawn = bool(_TEX_SCRIPT.search(text))
    blocks = html_blocks(root, tex_in_text=drawn, left_out=left_out, missing=missing)
    return document_of(
        _title(tree, blocks),
        blocks,
        metadata=_metadata(tree),
        warnings=warnings,
        left_out=missing,
    )


def _text(data: bytes | str, charset: str | None) -> tuple[str, tuple[str, ...]]:
    if isinstance(data, str):
        return data, ()
    declared = _CHARSET.search(data[:4096])
    decoded = decode_text(data, declared=charset or (declared[1].decode() if declared else None))
    return decoded.text, decoded.warnings


def _main_content(
    tree: LexborHTMLParser, body: LexborNode
) -> tuple[LexborNode, frozenset[int], int]:
    """Return the element to read, the ids of the elements in it to leave out, and a number.

    That is of the elements that could have been read in its place and are not in it.
    """
    needed = _MIN_SHARE * _prose_length(body)
    for selector in _CONTENT_SELECTORS:
        candidates = tree.css(selector)
        found = max(candidates, key=_prose_length, default=None)
        if found is not None and _prose_length(found) > needed:
            inside = {found.mem_id, *(node.mem_id for node in found.css(selector))}
            others = (node for node in candidates if node.mem_id not in inside)
            return found, frozenset(), sum(_prose_length(node) > needed for node in others)
    furniture = (node for node in body.css(_SITE_FURNITURE) if node.css_first("h1") is None)
    return body, frozenset(node.mem_id for node in furniture), 0


def _prose_length(node: LexborNode) -> int:
    """Return how much text the element has, scripts and styles not counted."""
    unseen = sum(len(inner.text()) for inner in node.css("script,style,noscript,svg"))
    return len(node.text()) - unseen


def _title(tree: LexborHTMLParser, blocks: list[Block]) -> str | None:
    """Return the page's own title, without the site's name where a heading tells it apart."""
    node = tree.css_first("head > title")
    title = " ".join(node.text().split()) if node is not None else ""
    heading = next((block.text for block in blocks if block.kind is BlockKind.HEADING), "")
    if heading and heading.lower() in title.lower():
        return heading
    return _meta(tree, "meta[property='og:title']") or title or None


def _metadata(tree: LexborHTMLParser) -> dict[str, str]:
    language = tree.root.attributes.get("lang") if tree.root is not None else None
    author = _meta(tree, "meta[name=author]")
    return {
        name: value.strip()
        for name, value in (("language", language), ("author", author))
        if value and value.strip()
    }


def _meta(tree: LexborHTMLParser, selector: str) -> str:
    node = tree.css_first(selector)
    return " ".join((node.attributes.get("content") or "").split()) if node is not None else ""
