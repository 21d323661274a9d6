"""The roles of Sphinx: inline markup such as `:ref:` and `:func:`, as the words that are shown."""

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from docutils import nodes

_CODE = frozenset(
    {
        *("func", "meth", "class", "mod", "attr", "data", "exc", "obj", "const", "any", "file"),
        *("command", "program", "option", "envvar", "kbd", "makevar", "regexp", "samp", "token"),
        *("keyword", "macro", "type", "member", "var", "enum", "struct", "union", "function"),
        *("method", "module", "attribute", "exception", "confval", "setting", "js", "rst", "dir"),
    }
)
_WORDS = frozenset(
    {
        *("ref", "doc", "numref", "term", "abbr", "guilabel", "menuselection", "eq", "download"),
        *(
            "cite",
            "cite:t",
            "cite:p",
            "cite:ps",
            "cite:ts",
            "index",
            "dfn",
            "mailheader",
            "newsgroup",
        ),
        *("pep", "rfc", "keyword", "manpage", "mimetype", "footcite", "issue"),
    }
)
_DOCUTILS = frozenset({"math", "code", "sub", "sup", "subscript", "superscript", "title-reference"})
_TITLED = re.compile(r"(.+?)\s*<([^<>]*)>\s*", re.DOTALL)
_PLACE = re.compile(r"%s|\{(?:number|name)\}")
"""Where the number of a chapter or figure is put in, which is known when a book is built."""
_Role = Callable[..., tuple[list[nodes.Node], list[nodes.system_message]]]


def role_for(name: str) -> _Role | None:
    """Return what reads a role of Sphinx, with or without its domain; none for docutils' own."""
    plain = name.lower()
    short = plain.rpartition(":")[2]
    if plain in _WORDS or short in _WORDS:
        return _reference if short in {"ref", "numref", "doc", "eq"} else _words
    return _code if short in _CODE and short not in _DOCUTILS else None


def _parts(text: str) -> tuple[str, str, bool]:
    """Return title and target of `title <target>`, and whether the title is given."""
    plain = nodes.unescape(text)
    titled = _TITLED.fullmatch(plain)
    return (titled[1], titled[2], True) if titled else (plain, plain, False)


def _reference(
    _name: str,
    raw: str,
    text: str,
    _line: int,
    _inliner: Any,
    _options: Mapping[str, Any] | None = None,
    _content: Sequence[str] = (),
) -> tuple[list[nodes.Node], list[nodes.system_message]]:
    """A link within the course; one without a title waits for that of its target."""
    title, target, is_given = _parts(text)
    is_given = is_given and not _PLACE.search(title)
    node = nodes.inline(raw, target if _PLACE.search(title) else title)
    if not is_given:
        node["glossator_title"] = title if _PLACE.search(title) else "%s"
        node["glossator_target"] = nodes.fully_normalize_name(target)
    return [node], []


def placed(title: str, name: str) -> str:
    """Return the title of a link with the name of its target in place."""
    return name if title == "%s" else _PLACE.sub(lambda _: f"“{name}”", title)


def _words(
    name: str,
    raw: str,
    text: str,
    _line: int,
    _inliner: Any,
    _options: Mapping[str, Any] | None = None,
    _content: Sequence[str] = (),
) -> tuple[list[nodes.Node], list[nodes.system_message]]:
    shown = _parts(text)[0].lstrip("!")
    if name.endswith(("guilabel", "menuselection")):  # `&` marks the letter of a key
        shown = re.sub(r"&(.)", r"\1", shown)
    return [nodes.inline(raw, shown)], []


def _code(
    _name: str,
    raw: str,
    text: str,
    _line: int,
    _inliner: Any,
    _options: Mapping[str, Any] | None = None,
    _content: Sequence[str] = (),
) -> tuple[list[nodes.Node], list[nodes.system_message]]:
    title, _, is_given = _parts(text)
    title = title.lstrip("!")
    if not is_given and title.startswith("~"):
        title = title[1:].rpartition(".")[2]
    return [nodes.literal(raw, title)], []
