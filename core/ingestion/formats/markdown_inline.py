"""Flattens the inline markup of Markdown into the words that a reader sees."""

import re
import unicodedata
from collections import Counter
from collections.abc import Callable, Sequence

from markdown_it.token import Token

from core.domain.links import code_span
from core.ingestion.document import lowered, raised, shifted_formula
from core.ingestion.formats.html_elements import TAG, OpenElements, attribute
from core.ingestion.formats.includes import Includes, MarkdownFlavour

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


_NUMBERED = re.compile(r"(.*)_([0-9]{1,9})", re.DOTALL)
_GITHUB_KEEPS = frozenset({"Lu", "Ll", "Lt", "Lm", "Lo", "Mn", "Mc", "Me", "Nd", "Nl", "Pc"})


class AnchorSlugs:
    """The anchors of one page; ask for its headings in order, each once."""

    def __init__(self, slug: Callable[[str], str], number: Callable[[str], str]) -> None:
        self._slug, self._number = slug, number

    def anchor(self, heading: str, explicit: str | None = None) -> str:
        """Return the fragment of a heading, without `#`; an id its author gave wins."""
        return self._number(explicit) if explicit else self._number(self._slug(heading))


def anchor_slugs(dialect: MarkdownFlavour) -> AnchorSlugs:
    """Return the rule by which `dialect` names the headings of one page."""
    match dialect:
        case MarkdownFlavour.MDBOOK:
            return AnchorSlugs(mdbook_slug, _CountedAnchors().unique)
        case MarkdownFlavour.MKDOCS:
            return AnchorSlugs(python_markdown_slug, _UnderscoredAnchors().unique)
        case MarkdownFlavour.QUARTO:
            return AnchorSlugs(pandoc_slug, _FreeAnchors().unique)
        case MarkdownFlavour.MYST:
            return AnchorSlugs(docutils_slug, _NumberedAnchors().unique)
        case _:
            return AnchorSlugs(github_slug, _FreeAnchors().unique)


def mdbook_slug(heading: str) -> str:
    """Return the id mdBook makes of a heading. Source: mdBook, `normalize_id`."""
    kept = (_mdbook_character(character) for character in heading.strip())
    return "".join(kept)


def _mdbook_character(character: str) -> str:
    if character.isalnum() or character in "_-":
        return character.lower() if character.isascii() else character
    return "-" if character.isspace() else ""


def python_markdown_slug(heading: str) -> str:
    """Return the id Python-Markdown makes. Source: its toc extension, `slugify`."""
    plain = unicodedata.normalize("NFKD", heading).encode("ascii", "ignore").decode("ascii")
    return re.sub(r"[-\s]+", "-", re.sub(r"[^\w\s-]", "", plain).strip().lower())


def github_slug(heading: str) -> str:
    """Return the id GitHub and Docusaurus make. Source: github-slugger."""
    kept = (
        character
        for character in heading.strip().lower()
        if character in "- " or unicodedata.category(character) in _GITHUB_KEEPS
    )
    return "".join(kept).replace(" ", "-")


def pandoc_slug(heading: str) -> str:
    """Return the id Pandoc makes. Source: its extension `auto_identifiers`."""
    spaced = re.sub(r"\s+", "-", heading.strip().lower())
    kept = "".join(character for character in spaced if character.isalnum() or character in "_-.")
    begins = next((n for n, character in enumerate(kept) if character.isalpha()), len(kept))
    return kept[begins:] or "section"


def docutils_slug(heading: str) -> str:
    """Return the id docutils makes, empty where no letter is ASCII. Source: its `make_id`."""
    plain = unicodedata.normalize("NFKD", heading.lower()).encode("ascii", "ignore").decode("ascii")
    spaced = re.sub(r"[^a-z0-9]+", "-", " ".join(plain.split()))
    return re.sub(r"\A[-0-9]+|-+\Z", "", spaced)


class _NumberedAnchors:
    """docutils under Sphinx: what has no name of its own, or one that is taken, is `id1`, `id2`."""

    def __init__(self) -> None:
        self._used: set[str] = set()
        self._next = 1

    def unique(self, slug: str) -> str:
        while not slug or slug in self._used:
            slug = f"id{self._next}"
            self._next += 1
        self._used.add(slug)
        return slug


class _CountedAnchors:
    """mdBook: the n-th repetition of an id gets `-n`, even where that is taken."""

    def __init__(self) -> None:
        self._seen: Counter[str] = Counter()

    def unique(self, slug: str) -> str:
        repetition = self._seen[slug]
        self._seen[slug] += 1
        return f"{slug}-{repetition}" if repetition else slug


class _FreeAnchors:
    """GitHub: the first `-n` that is free."""

    def __init__(self) -> None:
        self._repetitions: dict[str, int] = {}

    def unique(self, slug: str) -> str:
        result = slug
        while result in self._repetitions:
            self._repetitions[slug] += 1
            result = f"{slug}-{self._repetitions[slug]}"
        self._repetitions[result] = 0
        return result


class _UnderscoredAnchors:
    """Python-Markdown: counts on from the number an id ends in; an empty one becomes `_1`."""

    def __init__(self) -> None:
        self._used: set[str] = set()
        self._next: dict[str, int] = {}

    def unique(self, slug: str) -> str:
        if slug and slug not in self._used:
            self._used.add(slug)
            return slug
        numbered = _NUMBERED.fullmatch(slug)
        stem, number = (numbered[1], int(numbered[2]) + 1) if numbered else (slug, 1)
        number = max(number, self._next.get(stem, 0))
        while f"{stem}_{number}" in self._used:
            number += 1
        self._next[stem] = number + 1
        self._used.add(f"{stem}_{number}")
        return f"{stem}_{number}"
