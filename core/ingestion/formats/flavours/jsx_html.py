"""Writes JSX tags as HTML that Markdown understands."""

import re

from core.ingestion.formats.flavours.jsx import JsxTag

_MARKUP = re.compile(r"([\\`*_\[\]<>#{}$|~])")
_BLOCK_TAGS = frozenset(
    {
        *("article", "aside", "center", "details", "div", "figcaption", "figure", "footer"),
        *("header", "main", "nav", "p", "section", "summary"),
    }
)
_SHOWN = frozenset(
    {"description", "caption", "text", "summary", "heading", "subtitle", "content", "question"}
)
_NEVER_SHOWN = frozenset(
    "title label type className class style id key ref src href to url link icon alt width height "
    "d viewBox transform points fill stroke sizes srcSet groupId value values defaultValue code "
    "language path from import regex pattern query".split()
)
_PLAIN_ATTRIBUTES = ("alt", "id", "style", "start", "colspan", "rowspan")


def is_component(tag: JsxTag) -> bool:
    """Return whether the tag is no element of HTML: a component or a fragment."""
    return tag.name[:1].isupper() or not tag.name


def is_block(tag: JsxTag) -> bool:
    """Return whether the tag is an element of HTML that holds blocks."""
    return tag.name in _BLOCK_TAGS


def tag_html(tag: JsxTag) -> str:
    """Return the HTML tag in place of a JSX one, with what tells whether it hides its content.

    A component becomes `<x-name>`, so that no name means anything in HTML.
    """
    if not tag.name:
        return ""
    if tag.name == "img" and not tag.hides and not tag.style:
        return f"![{escaped(tag.words('alt'))}](picture)"
    name = _html_name(tag.name)
    if tag.closing:
        return f"</{name}>"
    written = [f' {key}="{tag.words(key)}"' for key in _PLAIN_ATTRIBUTES if _is_quotable(tag, key)]
    if tag.attributes.get("style", "").startswith("{"):
        written.append(f' style="{tag.style}"')
    hidden = " hidden" if tag.hides else ""
    return f"<{name}{''.join(written)}{hidden}{' /' if tag.self_closing else ''}>"


def _html_name(name: str) -> str:
    if name in {"Head", "head"}:
        return "template"
    lowered = re.sub(r"[^a-z0-9]+", "-", name.lower())
    # A JSX paragraph holds its children; an HTML one would end before the first of them.
    is_plain = name[0].islower() and "." not in name and name != "p"
    return lowered if is_plain else f"x-{lowered}"


def _is_quotable(tag: JsxTag, name: str) -> bool:
    words = tag.words(name)
    return bool(words) and '"' not in words


def label(tag: JsxTag) -> str:
    """Return the words that a component shows besides its content, as Markdown.

    Those are its title or label, and each other prop that is a sentence or is called after what
    it shows.
    """
    if tag.closing or not tag.name[:1].isupper():
        return ""
    kind = tag.words("type").capitalize() if tag.name == "Admonition" else ""
    title = tag.words("title") or tag.words("label") or kind
    others = (name for name in tag.attributes if name not in _NEVER_SHOWN)
    texts = (tag.words(name) for name in others if name in _SHOWN or is_said(tag.words(name)))
    return ". ".join(filter(None, (escaped(title), *map(escaped, texts))))


def is_said(words: str) -> bool:
    """Return whether the value of a prop is words for people: a sentence, or the start of one."""
    number = len(words.split())
    return number > 2 or (number == 2 and words[0].isupper())


def escaped(words: str) -> str:
    """Return Markdown that reads as exactly these words."""
    return _MARKUP.sub(r"\\\1", words)
