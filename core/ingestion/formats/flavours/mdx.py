"""Turns MDX into Markdown with plain HTML tags: code and formulas stay as they are."""

import re
from collections.abc import Iterator, Sequence

from core.ingestion.formats.flavours.includes import Includes, resolved
from core.ingestion.formats.flavours.jsx import JsxTag, expression_end, jsx_tag, string_literal
from core.ingestion.formats.flavours.jsx_html import (
    escaped,
    is_block,
    is_component,
    label,
    tag_html,
)
from core.ingestion.formats.flavours.source_lines import (
    Edit,
    SourceLine,
    edited,
    included_lines,
    joined,
    line_finder,
    source_lines,
)
from core.ingestion.formats.flavours.values import Values, settings
from core.ingestion.formats.markdown.front_matter import front_matter

_SPECIAL = re.compile(
    r"^[ \t>]*(?:(?:[-*+]|\d{1,9}[.)])[ \t]+)?(?P<fence>`{3,}(?=[^`\n]*$)|~{3,})"
    r"|^(?P<module>import\s+(?:[\"'{*]|[\w$]+\s*(?:,|from\b))"
    r"|export\s+(?:const|let|var|function|default|class|async|[{*]))"
    r"|(?P<escape>\\.)"
    r"|(?P<code>`+)"
    r"|(?P<formula>\$\$[^$]+\$\$|\$(?![\s$])[^$\n]*?[^\s$\\]\$(?!\d))"
    r"|(?P<comment><!--)"
    r"|(?P<expression>\{)"
    r"|(?P<tag><(?=[A-Za-z/>]))",
    re.MULTILINE,
)
_HEADING_ID = re.compile(r"\{(?:/\*\s*)?(#[\w.:-]+)(?:\s*\*/)?\}(?=[ \t]*$)", re.MULTILINE)
_PARTIAL_IMPORT = re.compile(
    r"^import\s+([\w$]+)\s+from\s+[\"']([^\"'\n]+\.mdx?)[\"']", re.MULTILINE
)
_PATIENCE = 2_000_000
_MAX_INDENT = 100
_TAGS = re.compile(r"</?[A-Za-z][^<>]*>")
_DEEPEST = 8
_LONGEST_COMPONENT = 5_000


def plain_markdown(
    lines: Sequence[SourceLine],
    includes: Includes,
    values: Values,
    chain: tuple[str, ...] = (),
) -> list[SourceLine]:
    """Return the lines without imports, exports, expressions and components.

    The children of components stay, texts among their props become words, and an imported page
    that stands as `<Part />` is put in its place. An expression that names a constant of the
    page, a value of its head or of an imported file becomes that; another keeps its braces.
    Component tags are left as `<x-name>` on lines of their own, so that what hides its content
    can still be recognised.
    """
    return edited(lines, _Scan(lines, includes, values, chain).edits())


_EXPORT = re.compile(
    r"^(?:export\s+)?(?:const|let|var)\s+([A-Za-z_$][\w$]*)\s*(?::\s*\w+\s*)?=\s*"
    r"|,\s*([A-Za-z_$][\w$]*)\s*=\s*(?=[\d\"'`])",
    re.MULTILINE,
)
_COMPONENT = re.compile(
    r"(?:const\s+([A-Z]\w*)\s*=\s*(?:function\s*)?|function\s+([A-Z]\w*)\s*)\(\s*\{?([^(){}]*)\}?\s*\)"
    r"[^<`\"']{0,200}?(?=<)"
)
_DATA_IMPORT = re.compile(
    r"^import\s+([\w$]+)\s+from\s+[\"']([^\"'\n]+\.(?:json|ya?ml|toml))[\"']", re.MULTILINE
)
_LITERAL = re.compile(
    r"(?P<number>-?\d[\d_]*(?:\.\d+)?)(?=\s*(?:;|\n|,|\}|\Z))|(?P<truth>true|false)\b"
    r"|(?P<text>\"(?:[^\"\\\n]|\\.)*\"|'(?:[^'\\\n]|\\.)*')|(?P<template>`(?:[^`\\]|\\.)*`)"
    r"|(?P<name>[A-Za-z_$][\w$]*(?:\??\.[\w$]+|\[\d+\]|\[['\"]\w+['\"]\])*)"
)
_REFERENCE = re.compile(r"[A-Za-z_$][\w$]*(?:\??\.[\w$]+|\[\w+\])*")
_PROP = re.compile(r"\{(?:props\.)?(\w+)\}")
_HOLE = re.compile(r"\$\{([^{}]*)\}")
_CHILDREN = frozenset({"children", "props.children", "undefined", "null", "true", "false"})
_SENTENCE = re.compile(r"\"([^\"\n]+)\"|'([^'\n]+)'|`([^`]+)`|>([^<>{}]+)<")


def _literal(text: str, start: int, values: Values, *, whole: bool = False) -> object:
    """Return the value that is written at `start`, if it is a constant or made of such."""
    if text[start : start + 1] in {"{", "["} and not whole:
        end = expression_end(f"{{{text[start:]}}}", 0)
        body = text[start : start + (end or 0) - 2] if end else ""
        return _data(body)
    found = _LITERAL.match(text, start)
    if found is None or (whole and found.end() != len(text)):
        return None
    if found["text"]:
        return re.sub(r"\\(.)", r"\1", found["text"][1:-1])
    if template := found["template"]:
        holes = [values.text(hole.strip()) for hole in _HOLE.findall(template)]
        if None in holes:
            return None
        filled = iter(holes)
        return _HOLE.sub(lambda _: next(filled) or "", template[1:-1])
    if found["name"]:
        return values.text(found["name"].replace("?.", ".")) if found.end() else None
    return found["number"] or found["truth"]


def _data(written: str) -> object:
    """Return what an object or list of JavaScript says, where it is data alone."""
    end = expression_end(written, 0) if written.startswith("{") else None
    text = written[:end] if end else written[: written.rfind("]") + 1]
    return settings(text, "data.yml") if "=>" not in text and "(" not in text else None


def _words_of(expression: str) -> str:
    """Return the sentences in an expression: its texts of more than one word."""
    texts = (next(filter(None, one), "") for one in _SENTENCE.findall(expression))
    return " ".join(text for text in texts if " " in text.strip())


class _Scan:
    """One pass over the text of a page."""

    def __init__(
        self,
        lines: Sequence[SourceLine],
        includes: Includes,
        values: Values,
        chain: tuple[str, ...],
    ) -> None:
        text = joined(lines)
        self._text, self._includes, self._chain = text, includes, chain
        self._values, self._line_of = values, line_finder(lines)
        self._partials: dict[str, str] = {}
        self._components: dict[str, str] = {}
        """What the components that the page defines are made of."""
        self._block_starts = {len(text) - len(text.lstrip())}
        self._patience = _PATIENCE  # characters to look at in vain

    def edits(self) -> Iterator[Edit]:
        position = 0
        while special := _SPECIAL.search(self._text, position):
            edit = self._edit(special, special.lastgroup or "")
            position = max(edit.end, special.start() + 1)
            if self._text[edit.start : edit.end] != edit.text:
                yield edit

    def _edit(self, special: re.Match[str], kind: str) -> Edit:
        start, text = special.start(), self._text
        match kind:
            case "fence":
                return self._kept(start, self._fence_end(special))
            case "module":
                return self._module(start)
            case "code":
                return self._kept(start, self._code_end(special))
            case "comment":
                end = text.find("-->", start)
                end = len(text) if end < 0 else end + 3
                self._includes.left_out("comment", self._line_of(start), text[start + 4 : end - 3])
                return Edit(start, end, "")
            case "expression" if self._patience > 0:
                return self._expression(start)
            case "tag" if self._patience > 0:
                return self._tag(start)
            case _:
                return self._kept(start, special.end())

    def _kept(self, start: int, end: int) -> Edit:
        return Edit(start, end, self._text[start:end])

    def _fence_end(self, opening: re.Match[str]) -> int:
        fence = opening["fence"]
        closing = re.compile(rf"^[ \t>]*{fence[0]}{{{len(fence)},}}[ \t]*$", re.MULTILINE)
        match = closing.search(self._text, opening.end())
        return match.end() if match else len(self._text)

    def _code_end(self, opening: re.Match[str]) -> int:
        paragraph_end = self._text.find("\n\n", opening.end())
        closing = re.compile(rf"(?<!`){opening['code']}(?!`)")
        limit = len(self._text) if paragraph_end < 0 else paragraph_end
        match = closing.search(self._text, opening.end(), limit)
        return match.end() if match else opening.end()

    def _module(self, start: int) -> Edit:
        """Drop an import or export at the start of a block, up to where its braces close."""
        text = self._text
        begins_block = text[start - 2 : start] == "\n\n" or start in self._block_starts
        if not begins_block:
            return self._kept(start, start + 1)
        depth, position = 0, start
        while position < len(text):
            end = text.find("\n\n", position)
            end = len(text) if end < 0 else end
            depth += text.count("{", position, end) - text.count("}", position, end)
            position = end + 1
            if depth <= 0:
                break
        end = min(position, len(text))
        for name, path in _PARTIAL_IMPORT.findall(text, start, end):
            self._partials[name] = path
        self._constants(text[start:end])
        self._block_starts.add(end)
        return Edit(start, end, "")

    def _constants(self, module: str) -> None:
        """Note what an export gives a name, and what an import of data does."""
        for found in _EXPORT.finditer(module):
            value = _literal(module, found.end(), self._values)
            if value is not None:
                self._values.set(found[1] or found[2], value)
        components = list(_COMPONENT.finditer(module))
        ends = (*(component.start() for component in components[1:]), len(module))
        for component, end in zip(components, ends, strict=False):
            made = module[component.end() : module.rfind(">", component.end(), end) + 1]
            self._components[component[1] or component[2]] = made
        for name, path in _DATA_IMPORT.findall(module):
            text = self._includes.value(resolved(path, self._chain).removeprefix("./"))
            if text is not None and (data := settings(text, path)) is not None:
                self._values.set(name, data)

    def _expression(self, start: int) -> Edit:
        if heading_id := _HEADING_ID.match(self._text, start):
            return Edit(start, heading_id.end(), f"{{{heading_id[1]}}}")
        end = expression_end(self._text, start)
        if end is None:
            self._patience -= len(self._text) - start
            return self._kept(start, start + 1)
        written = self._text[start:end]
        inner = written[1:-1].strip()
        if inner.startswith("/*"):
            self._includes.left_out("comment", self._line_of(start), inner[2:-2])
            return Edit(start, end, "")
        literal = string_literal(written)
        value = literal if literal is not None else _literal(inner, 0, self._values, whole=True)
        if value is not None:
            return Edit(start, end, escaped(str(value)))
        if inner and inner not in _CHILDREN:
            self._includes.left_out("expression", self._line_of(start), _words_of(inner))
        is_shown = _REFERENCE.fullmatch(inner) is not None and inner not in _CHILDREN
        return Edit(start, end, escaped(written) if is_shown else "")

    def _tag(self, start: int) -> Edit:
        tag = jsx_tag(self._text, start)
        if tag is None:
            self._patience -= len(self._text) - start
            return self._kept(start, start + 1)
        if tag.name in self._partials and not tag.closing:
            shown = self._partial(self._partials[tag.name], tag, self._line_of(start))
            return Edit(start, tag.end, shown)
        if tag.self_closing and (made := self._components.get(tag.name)):
            return Edit(start, tag.end, self._component(made, tag, start))
        if tag.name[:1].isupper() and not tag.closing:
            self._note_props(tag, start)
        return Edit(start, tag.end, self._placed(tag, start))

    def _note_props(self, tag: JsxTag, start: int) -> None:
        """Note what a component says that is not read: computed props, or a picture it draws."""
        for value in tag.attributes.values():
            words = _words_of(value) if value.startswith("{") else ""
            if words and string_literal(value) is None:
                self._includes.left_out("computed prop", self._line_of(start), words)
        if tag.self_closing and not label(tag):
            self._includes.left_out(f"component {tag.name}", self._line_of(start))

    def _component(self, made: str, tag: JsxTag, start: int) -> str:
        """Return what a component of the page shows with its props in place."""
        given = {name: string_literal(v) or v.strip("{}") for name, v in tag.attributes.items()}
        made = _PROP.sub(
            lambda prop: escaped(given[prop[1]]) if prop[1] in given else prop[0], made
        )
        if len(self._chain) > _DEEPEST or len(made) > _LONGEST_COMPONENT:
            return ""
        inner = included_lines(made, self._line_of(start))
        chain = (*self._chain, tag.name)
        return joined(plain_markdown(inner, self._includes, self._values, chain))

    def _partial(self, path: str, tag: JsxTag, number: int) -> str:
        path = resolved(path, self._chain).removeprefix("./")
        text = self._includes.text(path, self._chain)
        if text is None:
            return ""
        lines = source_lines(text)
        body = lines[front_matter(lines).height :]
        self._values.set("props", {name: tag.words(name) for name in tag.attributes})
        inner = included_lines(joined(body), number)
        content = plain_markdown(inner, self._includes, self._values, (*self._chain, path))
        return f"\n\n{joined(content)}\n\n"

    def _placed(self, tag: JsxTag, start: int) -> str:
        """Return the HTML for a tag, on lines of its own where it is a block."""
        before = self._text[max(0, start - _MAX_INDENT) : start].rpartition("\n")[2]
        after = self._text[tag.end : tag.end + _MAX_INDENT].partition("\n")[0]
        indent = before[: len(before) - len(before.lstrip())]
        begins, ends = not _TAGS.sub("", before).strip(), not after.strip()
        markup = tag_html(tag)
        if not is_block(tag) and not (is_component(tag) and (begins or ends)):
            return markup
        margin = "\n\n" + (indent if begins else "")
        words = label(tag)
        return f"{margin}{markup}{margin}" + (f"{words}{margin}" if words else "")
