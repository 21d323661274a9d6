"""Reads JSX tags and JavaScript expressions, as far as finding their end needs."""

import html
import re
from collections.abc import Mapping
from typing import NamedTuple

_MARK = re.compile(r"""[{}"'`]|/\*|//""")
_MAY_STAND_ALONE = frozenset("\"'")  # an apostrophe in the text of a component
_ENDINGS: Mapping[str, re.Pattern[str]] = {
    '"': re.compile(r'(?:[^"\\\n]|\\.)*+"'),
    "'": re.compile(r"(?:[^'\\\n]|\\.)*+'"),
    "`": re.compile(r"(?:[^`\\]|\\.)*+`", re.DOTALL),
    "/*": re.compile(r"(?:(?!\*/).)*+\*/", re.DOTALL),
    "//": re.compile(r"[^\n]*+"),
}
_TAG = re.compile(r"<(/?)([A-Za-z][\w.:-]*+)?\s*+")
_ATTRIBUTE = re.compile(
    r"""([A-Za-z_@:$][\w.:$-]*+)\s*+(?:=\s*+(?:"([^"]*)"|'([^']*)'|(?=\{)))?+"""
)
_TAG_END = re.compile(r"\s*+(/?)>")
_SPACE = re.compile(r"\s*+")
_STRING = re.compile(r"""(["'`])((?:(?!\1)[^\\])*+)\1""")
_STYLE = re.compile(r"""([A-Za-z]+)\s*:\s*["']?([^"',{}]+)""")


class JsxTag(NamedTuple):
    """A tag, or with an empty name a fragment, and where it ends in the text."""

    name: str
    closing: bool
    self_closing: bool
    attributes: Mapping[str, str]
    """Texts as they are, expressions with their braces, bare names as empty texts."""
    end: int

    def words(self, name: str) -> str:
        """Return the text of an attribute, or an empty one if it is computed."""
        value = self.attributes.get(name, "")
        text = string_literal(value) if value.startswith("{") else html.unescape(value)
        return " ".join((text or "").split())

    @property
    def hides(self) -> bool:
        """Whether the tag itself says that its content is not shown."""
        hidden = self.attributes.get("hidden", "{false}")
        return hidden.replace(" ", "") != "{false}"

    @property
    def style(self) -> str:
        """The `style` as CSS, also where it is written as an object."""
        style = self.attributes.get("style", "")
        if not style.startswith("{"):
            return style
        rules = _STYLE.findall(style)
        return "; ".join(f"{_kebab(name)}: {value.strip()}" for name, value in rules)


def _kebab(name: str) -> str:
    return re.sub(r"[A-Z]", lambda capital: "-" + capital[0].lower(), name)


def expression_end(text: str, start: int) -> int | None:
    """Return where the expression whose brace opens at `start` ends, or none."""
    depth, position = 0, start
    while mark := _MARK.search(text, position):
        position = mark.end()
        if mark[0] == "{":
            depth += 1
        elif mark[0] == "}":
            depth -= 1
            if depth == 0:
                return position
        elif ending := _ENDINGS[mark[0]].match(text, position):
            position = ending.end()
        elif mark[0] not in _MAY_STAND_ALONE:
            return None
    return None


def string_literal(expression: str) -> str | None:
    """Return the text of an expression that is nothing but a string: `{"two words"}`."""
    literal = _STRING.fullmatch(expression[1:-1].strip())
    return literal[2] if literal and "${" not in literal[2] else None


def jsx_tag(text: str, start: int) -> JsxTag | None:
    """Return the tag that begins at `start`, or none if there is none."""
    opening = _TAG.match(text, start)
    if opening is None:
        return None
    attributes: dict[str, str] = {}
    position = opening.end()
    while (end := _TAG_END.match(text, position)) is None:
        after = _attribute(text, position, attributes)
        if after is None:
            return None
        position = after
    name = opening[2] or ""
    if not name and attributes:
        return None
    return JsxTag(name, bool(opening[1]), bool(end[1]), attributes, end.end())


def _attribute(text: str, position: int, attributes: dict[str, str]) -> int | None:
    """Add the attribute at `position` and return where the next may begin, or none."""
    if text.startswith("{", position):  # {...props}
        end = expression_end(text, position)
    elif named := _ATTRIBUTE.match(text, position):
        end = named.end()
        value = named[2] or named[3] or ""
        if text.startswith("{", end) and "=" in named[0]:
            after = expression_end(text, end)
            value, end = text[end : after or end], after
        attributes[named[1]] = value
    else:
        return None
    return None if end is None else _space_end(text, end)


def _space_end(text: str, position: int) -> int:
    space = _SPACE.match(text, position)
    return space.end() if space else position
