"""Turns MDX into Markdown with plain HTML tags: code and formulas stay as they are."""

import html
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import NamedTuple

from core.ingestion.formats.includes import (
    Edit,
    Includes,
    SourceLine,
    edited,
    front_matter,
    included_lines,
    joined,
    line_finder,
    resolved,
    source_lines,
)
from core.ingestion.formats.values import Values, settings

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


_SHORTCODE = re.compile(
    r"\{\{(?P<mark>[<%])\s{0,20}(?P<escaped>/\*)?(?P<body>(?:(?![>%]\}\}).){0,1000}?)[>%]\}\}",
    re.DOTALL,
)
_ARGUMENT = re.compile(r"""(?:([\w-]+)\s*=\s*)?(?:"([^"]*)"|'([^']*)'|`([^`]*)`|(\S+))""")
_SHOWN_ARGUMENTS = frozenset(
    {"title", "caption", "summary", "header", "label", "name", "text", "quote", "content"}
)
_TEMPLATES_TAG = re.compile(
    r"\{#(?P<comment>(?:(?!#\}).){0,4000}?)#\}"
    r"|\{%[-+]?\s{0,20}(?P<body>(?:(?!%\}).){0,1000}?)[-+]?%\}"
    r"|\{\{-?(?![<%{])(?P<value>(?:(?!\}\}).){0,1000}?)-?\}\}",
    re.DOTALL,
)
_ATTRIBUTES = re.compile(r"[ \t]?\{::?[^{}\n]{0,500}\}")
_ASSIGNMENT = re.compile(r"(?:set|assign)\s+([A-Za-z_]\w*)\s*=\s*(.+)", re.DOTALL)
_IN_ADDRESS = re.compile(r"""\]\([^()\s]*\Z|\b(?:href|src)\s*=\s*["'][^"'\n]*\Z|\]:\s*\S*\Z""")
_KEPT_WHOLE = frozenset({"raw", "verbatim"})
_LEFT_OUT = frozenset({"comment", "macro", "capture"})
_LINKS = frozenset({"link", "post_url"})


def without_shortcodes(
    lines: Sequence[SourceLine], values: Values, includes: Includes
) -> list[SourceLine]:
    """Return a page of Hugo without its shortcodes; what a pair of them encloses stays.

    `highlight` becomes a code block, `param` its value, and a shortcode that is written out stays
    as it is shown. What one says in its own words, such as a caption, is read.
    """
    text, line_of = joined(lines), line_finder(lines)
    pairs = set(re.findall(r"\{\{[<%]\s{0,20}/\s{0,20}([\w./-]+)", text))

    def edits() -> Iterator[Edit]:
        for tag in _SHORTCODE.finditer(text):
            body = tag["body"].strip()
            if tag["escaped"]:
                closing = "%" if tag["mark"] == "%" else ">"
                shown = f"{{{{{tag['mark']} {body.removesuffix('*/').strip()} {closing}}}}}"
                yield Edit(tag.start(), tag.end(), shown)
                continue
            yield Edit(tag.start(), tag.end(), shown_of(tag, body))

    def shown_of(tag: re.Match[str], body: str) -> str:
        words = body.strip("/ ").split()
        name = words[0] if words else ""
        if name == "highlight":
            language = words[1].strip('"') if len(words) > 1 and not body.startswith("/") else ""
            return f"\n```{language}\n"
        if name == "param" and len(words) > 1:
            value = values.text(words[1].strip("\"'"))
            if value is None:
                includes.left_out("value that is not known", line_of(tag.start()))
            return tag[0] if value is None else value
        if body.startswith("/") or _IN_ADDRESS.search(
            text[max(0, tag.start() - 200) : tag.start()]
        ):
            return ""
        shown = _said(body)
        if not shown and name not in pairs:
            includes.left_out(f"shortcode {name}", line_of(tag.start()))
        return f"\n\n{'. '.join(shown)}\n\n" if shown else ""

    return edited(lines, edits())


def _said(arguments: str) -> list[str]:
    """Return what a shortcode or include says in its own words: a caption, a sentence."""
    found = [(one[1], one[2] or one[3] or one[4] or "") for one in _ARGUMENT.finditer(arguments)]
    return [text for name, text in found if text and (name in _SHOWN_ARGUMENTS or is_said(text))]


def without_liquid(
    lines: Sequence[SourceLine], values: Values, includes: Includes
) -> list[SourceLine]:
    """Return a page of Jekyll without the tags of Liquid and the attributes of kramdown."""
    plain = with_template(lines, values, includes)
    return edited(plain, _attributes(plain))


def with_template(
    lines: Sequence[SourceLine], values: Values, includes: Includes
) -> list[SourceLine]:
    """Return a page with its tags of Jinja or Liquid carried out, as far as that can be done.

    Only the branch that holds stays; of a condition that cannot be decided, and of a loop, all
    stays once. What `raw` encloses stays as it is, `highlight` becomes code.
    """
    text = joined(lines)
    if "{{" not in text and "{%" not in text and "{#" not in text:
        return list(lines)
    return edited(lines, _Template(text, line_finder(lines), values, includes).edits())


class _Template:
    """One pass over the tags of a page."""

    def __init__(
        self, text: str, line_of: Callable[[int], int], values: Values, includes: Includes
    ) -> None:
        self._text, self._line_of = text, line_of
        self._values, self._includes = values, includes
        self._open: list[tuple[bool | None, bool]] = []
        """Of each condition around: whether its branch holds, and whether one before it did."""

    def edits(self) -> Iterator[Edit]:
        until, skipped_from = "", 0
        hidden_from: int | None = None
        for tag in _TEMPLATES_TAG.finditer(self._text):
            words = (tag["body"] or "").split()
            name = words[0] if words else ""
            if until:
                if name == until:
                    is_kept = until.removeprefix("end") in _KEPT_WHOLE
                    if not is_kept:
                        self._omit(until.removeprefix("end"), skipped_from, tag.start())
                    if hidden_from is None:
                        yield Edit(tag.start() if is_kept else skipped_from, tag.end(), "")
                    until = ""
                continue
            if name in _KEPT_WHOLE or name in _LEFT_OUT:
                until, skipped_from = f"end{name}", tag.start()
                if name in _KEPT_WHOLE and hidden_from is None:
                    yield Edit(tag.start(), tag.end(), "")
                continue
            was_shown = all(holds is not False for holds, _ in self._open)
            is_branch = self._follow(name, " ".join(words[1:]))
            is_shown = all(holds is not False for holds, _ in self._open)
            if hidden_from is not None:
                if is_shown:
                    self._omit("hidden text", hidden_from, tag.start())
                    yield Edit(hidden_from, tag.end(), "")
                    hidden_from = None
            elif was_shown and not is_shown:
                hidden_from = tag.start()
            else:
                yield Edit(tag.start(), tag.end(), "" if is_branch else self._shown(tag, words))

    def _follow(self, name: str, condition: str) -> bool:
        """Follow a condition or loop, and return whether the tag is one of its edges."""
        match name:
            case "if" | "unless":
                holds = self._values.holds(condition)
                holds = holds if holds is None or name == "if" else not holds
                self._open.append((holds, holds is True))
            case "for" | "case":
                self._open.append((None, False))
            case "elif" | "elsif" | "else" | "when" if self._open:
                holds, before = self._open[-1]
                is_else = name == "else"
                now = (
                    None
                    if holds is None
                    else (not before if is_else else self._values.holds(condition))
                )
                self._open[-1] = (False if before else now, before or now is True)
            case "endif" | "endunless" | "endfor" | "endcase" if self._open:
                self._open.pop()
            case _:
                return False
        return True

    def _shown(self, tag: re.Match[str], words: list[str]) -> str:
        name, at = words[0] if words else "", tag.start()
        if tag["comment"] is not None:
            self._omit("comment", at, tag.end())
            return ""
        if tag["value"] is not None:
            value = self._values.written(tag["value"])
            if value is not None:
                return value
            if _IN_ADDRESS.search(self._text[max(0, at - 200) : at]):
                return ""
            self._includes.left_out("value that is not known", self._line_of(at))
            return tag[0]
        if assignment := _ASSIGNMENT.fullmatch((tag["body"] or "").strip()):
            self._values.set(assignment[1], self._values.written(assignment[2]))
        elif name in {"highlight", "endhighlight"}:
            language = words[1] if name == "highlight" and len(words) > 1 else ""
            return f"\n```{language}\n"
        elif name == "include" and len(words) > 1:
            if words[1][0] in "\"'":  # as Jinja has it
                return self._includes.text(words[1].strip("\"'"), ()) or ""
            if said := _said(" ".join(words[2:])):
                return f"\n\n{'. '.join(said)}\n\n"
            self._includes.left_out("included template", self._line_of(at))
        elif name not in _LINKS and not name.startswith("end"):
            self._includes.left_out(f"tag {name}" if name else "tag", self._line_of(at))
        return ""

    def _omit(self, kind: str, start: int, end: int) -> None:
        words = (
            _TEMPLATES_TAG.sub("", self._text[start:end])
            if kind != "comment"
            else self._text[start:end]
        )
        self._includes.left_out(kind, self._line_of(start), words.strip("{#%} "))


def _attributes(lines: Sequence[SourceLine]) -> Iterator[Edit]:
    """Yield the attribute lists of kramdown outside of code."""
    position, fence = 0, ""
    for line in lines:
        mark = re.match(r"[ ]{0,3}(`{3,}|~{3,})", line.text)
        if mark and not fence:
            fence = mark[1]
        elif mark and fence and mark[1].startswith(fence):
            fence = ""
        elif not fence and "{:" in line.text:
            for found in _ATTRIBUTES.finditer(line.text):
                if line.text.count("`", 0, found.start()) % 2 == 0:
                    yield Edit(position + found.start(), position + found.end(), "")
        position += len(line.text) + 1
