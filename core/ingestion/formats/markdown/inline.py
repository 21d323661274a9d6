"""Flattens the inline markup of Markdown into the words that a reader sees."""

import re
from collections.abc import Sequence

from markdown_it.token import Token

from core.ingestion.formats.flavours.flavour import MarkdownFlavour
from core.ingestion.formats.flavours.includes import Includes
from core.ingestion.formats.html.nesting import TAG, OpenElements, attribute
from core.ingestion.formats.markup import lowered, raised, shifted_formula
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
_ENDS_OF_MARKUP = frozenset(
    {"image", "code_inline", "link_close", "strong_close", "em_close", "softbreak"}
)


_SHIFTS = {"sup": raised, "sub": lowered}
EMBEDDED = frozenset({"iframe", "video", "audio", "object", "embed", "svg", "canvas"})
"""Elements of HTML that show something which is not read."""


class InlineText:
    """Writes the words of inline tokens; HTML that hides them counts across a whole page."""

    def __init__(
        self, dialect: MarkdownFlavour, elements: OpenElements, includes: Includes
    ) -> None:
        self._dialect, self._elements, self._includes = dialect, elements, includes
        self.line = 0
        """Where what is read now begins."""

    def words(self, tokens: Sequence[Token], *, code_marks: bool = True) -> str:
        """Return the text of one paragraph, heading or cell.

        Args:
            tokens: children of an inline token.
            code_marks: whether inline code keeps its backticks.
        """
        depth = len(self._elements)
        parts: list[str] = []
        gone: list[str] = []
        struck, commented = 0, 0
        shifts: list[tuple[str, int, bool]] = []
        """Of each part that is raised or lowered: how, where it begins, whether it is a link."""
        previous = ""
        for token in tokens:
            if token.type in _WORDS and not (struck or commented or self._elements.hidden):
                parts.append(self._token(token, previous, code_marks))
                previous = token.type
                continue
            kind, _, edge = token.type.rpartition("_")
            if token.type == "html_inline":
                kind, edge = self._shift_of(token.content)
                parts.append(self._html(token.content))
            if kind in _SHIFTS and edge == "open":
                shifts.append((kind, len(parts), False))
            elif kind in _SHIFTS and edge == "close" and shifts and shifts[-1][0] == kind:
                _shift(parts, *shifts.pop())
            elif kind == "s" and edge:
                struck += 1 if edge == "open" else -1
                if not struck:
                    self._leave_out("struck text", gone)
            elif kind == "comment" and edge:
                commented += 1 if edge == "open" else -1
                if not commented:
                    self._leave_out("comment", gone)
            elif token.type != "html_inline":
                text = self._token(token, previous, code_marks)
                if token.type == "link_open" and shifts:
                    shifts[-1] = (*shifts[-1][:2], True)
                is_gone = struck or commented or self._elements.hidden
                (gone if is_gone else parts).append(text)
            if gone and not struck and not commented and not self._elements.hidden:
                self._leave_out(self._elements.last_hidden, gone)
            previous = token.type
        self._leave_out(self._elements.last_hidden if not struck else "struck text", gone)
        while shifts:
            _shift(parts, *shifts.pop())
        self._elements.close_to(depth)
        text = _REPEATED_SPACES.sub(" ", "".join(parts))
        return _LINE_EDGES.sub("\n", text).strip().replace(_KEPT, " ")

    def _leave_out(self, kind: str, gone: list[str]) -> None:
        if text := "".join(gone).strip():
            self._includes.left_out(kind, self.line, text)
        gone.clear()

    @staticmethod
    def _shift_of(markup: str) -> tuple[str, str]:
        """Return whether a tag of HTML begins or ends what is raised or lowered."""
        tag = TAG.match(markup)
        name = (tag["name"] or "").lower() if tag else ""
        return (
            (name, "close" if tag and tag["closing"] else "open") if name in _SHIFTS else ("", "")
        )

    def _html(self, markup: str) -> str:
        hidden = self._elements.hidden
        self._elements.read(markup)
        tag = TAG.match(markup)
        if hidden or tag is None or not tag["name"]:
            if markup.startswith("<!--"):
                self._includes.left_out("comment", self.line, markup[4:-3])
            return ""
        name = tag["name"].lower()
        if name == "br":
            return "\n"
        if name in EMBEDDED and not tag["closing"]:
            self._includes.left_out(f"{name} element", self.line)
        if name == "img":
            self._includes.left_out("picture", self.line)
            return attribute(tag["attributes"], "alt")
        return ""

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
                self._includes.left_out("picture", self.line)
                return self.words(token.children or [], code_marks=code_marks)
            case "formula":
                shifted = shifted_formula(token.content[1:-1]) if token.content[0] == "$" else None
                return token.content if shifted is None else shifted
            case _:
                return ""

    def _text(self, text: str, previous: str) -> str:
        if self._dialect is MarkdownFlavour.MKDOCS:
            text = _ICON.sub("", _ATTRIBUTE_LIST.sub("", text))
            if previous in _ENDS_OF_MARKUP:
                text = _TRAILING_LIST.sub("", text)
        return _SPACES.sub(" ", text)


def _shift(parts: list[str], kind: str, start: int, is_link: bool) -> None:
    """Write the last parts as raised or lowered; a raised link is the mark of a note."""
    text = "".join(parts[start:]).strip()
    del parts[start:]
    if text and not (is_link and kind == "sup"):
        parts.append(_SHIFTS[kind](text))


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
