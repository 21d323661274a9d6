"""A parser of CommonMark whose result is shallow enough to be walked through by recursion.

It stands alone because it loads the library, which a text without marks does not need.
"""

from markdown_it import MarkdownIt
from markdown_it.rules_inline import StateInline
from markdown_it.rules_inline.backticks import backtick
from markdown_it.rules_inline.image import image
from markdown_it.token import Token

SOURCE = "source"
"""Key of a code span's metadata: its offsets in the text of its paragraph, marks included."""


_DEEPEST_BLOCK = 50
"""Levels of lists and quotes; a list has two."""
_DEEPEST_MARK = 12
"""Emphases, strong and struck words inside each other; further ones are characters."""
_DEEPEST_IMAGE = 3
"""Images in the descriptions of images; further ones are characters."""
_IMAGES = "images"


def shallow_commonmark() -> MarkdownIt:
    """Return a new parser, of CommonMark with tables, without HTML and link definitions."""
    markdown = MarkdownIt("commonmark", {"maxNesting": _DEEPEST_BLOCK, "html": False})
    markdown.inline.ruler.at("backticks", _located_backtick)
    markdown.inline.ruler.at("image", _shallow_image)
    markdown.inline.ruler2.before("fragments_join", "shallow_marks", _shallow_marks)
    return markdown.enable(["table", "strikethrough"]).disable(["reference"])


def _located_backtick(state: StateInline, silent: bool) -> bool:
    start, known = state.pos, len(state.tokens)
    found = backtick(state, silent)
    if found and len(state.tokens) > known and state.tokens[-1].type == "code_inline":
        state.tokens[-1].meta[SOURCE] = (start, state.pos)
    return found


def _shallow_image(state: StateInline, silent: bool) -> bool:
    """Read an image, unless it stands in too many; each is parsed in a call of its own."""
    depth = state.env.get(_IMAGES, 0)
    if depth >= _DEEPEST_IMAGE:
        return False
    state.env[_IMAGES] = depth + 1
    try:
        return image(state, silent)
    finally:
        state.env[_IMAGES] = depth


def _shallow_marks(state: StateInline) -> None:
    """Turn marks that stand too deep inside each other back into characters."""
    depth = 0
    for token in state.tokens:
        nesting = token.nesting
        depth += min(nesting, 0)
        if nesting and depth >= _DEEPEST_MARK and token.markup:
            _into_characters(token)
        depth += max(nesting, 0)


def _into_characters(mark: Token) -> None:
    mark.type, mark.tag, mark.nesting = "text", "", 0
    mark.content, mark.markup = mark.markup, ""
