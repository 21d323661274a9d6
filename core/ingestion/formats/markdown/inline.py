"""Flattens the inline markup of Markdown into the words that a reader sees."""

import re
from collections.abc import Sequence

from markdown_it.token import Token

from core.ingestion.formats.flavours.flavour import MarkdownFlavour
from core.ingestion.formats.html.nesting import TAG, OpenElements, attribute
from core.markdown.writing import code_span

_SPACES = re.compile(r"[ \t\xa0\n]+")
_LINE_EDGES = re.compile(r" *\n *")
_REPEATED_SPACES = re.compile(r" {2,}")
_ATTRIBUTE_LIST = re.compile(r"\{:[^{}\n]*\}")
_TRAILING_LIST = re.compile(r"^\{\s*(?:[.#][\w-]|[\w-]+\s*=)[^{}\n]*\}")
_ICON = re.compile(r":(?:material|octicons|fontawesome|simple)-[a-z0-9-]+:")
_KEPT = "\0"
"""Stands for a blank of code, which is kept as it is; no Markdown has this character."""
_WORDS = frozenset({"text", "code_inline"})
_ENDS_OF_MARKUP = frozenset({"image", "code_inline", "link_close", "strong_close", "em_close"})


class InlineText:
    """Writes the words of inline tokens; HTML that hides them counts across a whole page."""

    def __init__(self, dialect: MarkdownFlavour, elements: OpenElements) -> None:
        self._dialect, self._elements = dialect, elements

    def words(self, tokens: Sequence[Token], *, code_marks: bool = True) -> str:
        """Return the text of one paragraph, heading or cell.

        Args:
            tokens: children of an inline token.
            code_marks: whether inline code keeps its backticks.
        """
        depth = len(self._elements)
        parts: list[str] = []
        previous = ""
        for token in tokens:
            if token.type == "html_inline":
                parts.append(self._html(token.content))
            elif not self._elements.hidden:
                parts.append(self._token(token, previous, code_marks))
            previous = token.type
        self._elements.close_to(depth)
        text = _REPEATED_SPACES.sub(" ", "".join(parts))
        return _LINE_EDGES.sub("\n", text).strip().replace(_KEPT, " ")

    def _html(self, markup: str) -> str:
        hidden = self._elements.hidden
        self._elements.read(markup)
        tag = TAG.match(markup)
        if hidden or tag is None or not tag["name"]:
            return ""
        name = tag["name"].lower()
        if name == "br":
            return "\n"
        return attribute(tag["attributes"], "alt") if name == "img" else ""

    def _token(self, token: Token, previous: str, code_marks: bool) -> str:
        match token.type:
            case "text":
                return self._text(token.content, previous)
            case "code_inline":
                code = code_span(token.content) if code_marks else token.content.strip()
                return code.replace(" ", _KEPT)
            case "softbreak":
                return " "
            case "hardbreak":
                return "\n"
            case "image":
                return self.words(token.children or [], code_marks=code_marks)
            case "formula":
                return token.content
            case _:
                return ""

    def _text(self, text: str, previous: str) -> str:
        if self._dialect is MarkdownFlavour.MKDOCS:
            text = _ICON.sub("", _ATTRIBUTE_LIST.sub("", text))
            if previous in _ENDS_OF_MARKUP:
                text = _TRAILING_LIST.sub("", text)
        return _SPACES.sub(" ", text)


def linked_share(tokens: Sequence[Token]) -> float:
    """Return the share of the letters of a paragraph that stand in links, 0 to 1."""
    depth, inside, total = 0, 0, 0
    for token in tokens:
        depth += (token.type == "link_open") - (token.type == "link_close")
        letters = len(token.content.strip()) if token.type in _WORDS else 0
        total += letters
        inside += letters if depth else 0
    return inside / total if total else 0.0


def is_image(tokens: Sequence[Token]) -> bool:
    """Return whether a paragraph is an image alone, so that its words are a caption."""
    shown = [token for token in tokens if token.content.strip() or token.type == "image"]
    return bool(shown) and all(token.type == "image" for token in shown)
