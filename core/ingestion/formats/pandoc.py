"""Has pandoc read a text, mended where it would show what a reader of the page never sees."""

import json
import re
import zipfile
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from io import BytesIO
from xml.etree.ElementTree import Element, ParseError, tostring

from core.domain.errors import UnsupportedDocument
from core.ingestion.document import Omission, ParsedDocument, document_of
from core.ingestion.formats.decoding import check_container, decode_text
from core.ingestion.formats.pandoc_tree import Tree

_WORD = re.compile(r"\w+")
_PIXELS = re.compile(rb"[0-9a-fA-F\r\n ]{1000,}+")
_PICTURE_HEAD = 20_000
"""How many bytes may say of what kind an RTF picture is, before those of the picture."""
_NOTE = re.compile(r"\[(INFO|WARNING)\] (.*)")


def parse_by_pandoc(
    data: bytes, name: str, charset: str | None, convert: Callable[[str, bytes], bytes]
) -> ParsedDocument:
    """Return a document that pandoc reads as a format that it calls `name`.

    Raises:
        UnsupportedDocument: when pandoc cannot read it; ProgramMissing without pandoc.
    """
    source = _prepared(data, name, charset)
    notes, _, tree = convert(name, source.data).partition(b"\0")
    try:
        root = json.loads(tree)
        reader = Tree(source.has_braces)
        abstract = root["meta"].get("abstract", {})
        is_line = abstract.get("t") == "MetaInlines"
        parts = [{"t": "Para", "c": abstract["c"]}] if is_line else abstract.get("c", [])
        shown = [*parts, *root["blocks"]]
        blocks = list(reader.blocks(shown))
        title = reader.title(root["meta"].get("title"))
    except (ValueError, TypeError, KeyError, IndexError, AttributeError) as error:
        raise UnsupportedDocument("becomes a tree of pandoc's that is not known") from error
    skipped = _skipped(notes.decode(errors="replace"), name)
    lost = _lost(source.data, [shown, root["meta"].get("title")]) if name in _XML else ()
    left_out = (*source.left_out, *skipped, *lost, *reader.left_out)
    return document_of(title or None, blocks, warnings=source.warnings, left_out=left_out)


def _skipped(notes: str, name: str) -> Iterator[Omission]:
    """Yield what pandoc says that it passes over, once each."""
    for kind, note in dict.fromkeys(_NOTE.findall(notes)):
        what, _, where = note.partition(" at ")
        if kind == "WARNING" or (what.startswith(("Skipped", "Ignored")) and name != "org"):
            place = re.search(r"line \d+", where)  # what it skips of Org it reads as a sign
            what = re.sub(r"^(Skipped|Ignored element)\s*|['\"]", "", what)
            yield Omission("passage that pandoc skips", place[0] if place else what[:80])


_XML = frozenset({"docbook", "jats", "fb2"})
_NO_TEXT = frozenset(
    {
        *("front", "info", "articleinfo", "bookinfo", "chapterinfo", "indexterm", "math"),
        *("description", "stylesheet", "binary"),
    }
)
"""Elements of XML formats that say something of the text, or the same in another form."""


def _lost(data: bytes, tree: object) -> Iterator[Omission]:
    """Yield the words of an XML text that its tree does not have, by their element.

    Pandoc says nothing of elements that it does not know, such as the tables of FictionBook.
    """
    root = _parsed(re.sub(rb"<!DOCTYPE[^\[>]{0,500}>", b"", data, count=1))
    left = Counter(word for text in _texts(tree) for word in _WORD.findall(text))
    lost = Counter[str]()
    waiting = [] if root is None else [root]
    while waiting:
        element = waiting.pop()
        shown = [one for one in element if _plain(one) not in _NO_TEXT]
        waiting += reversed(shown)
        for text in (element.text, *(one.tail for one in element)):
            for word in _WORD.findall(text or ""):
                lost[_plain(element)] += left[word] <= 0
                left[word] -= 1
    for name, words in lost.items():
        if words:
            yield Omission("passage that pandoc skips", f"in <{name}>", words)


def _texts(tree: object) -> Iterator[str]:
    waiting = [tree]
    while waiting:
        one = waiting.pop()
        if isinstance(one, str):
            yield one
        elif isinstance(one, dict):
            waiting += one.values() if one.get("t") != "Str" else [one["c"]]
        elif isinstance(one, list):
            waiting += one


@dataclass(slots=True)
class _Source:
    """A text for pandoc, and what was taken out of it."""

    data: bytes
    warnings: tuple[str, ...] = ()
    left_out: list[Omission] = field(default_factory=list)
    has_braces: bool = False
    """Whether `{name}` in it stands for a value that the text itself sets."""


def _prepared(data: bytes, name: str, charset: str | None) -> _Source:
    """Return a document as pandoc is to read it, by the name that pandoc has for its format.

    Raises:
        UnsupportedDocument: for an archive that is damaged or a bomb.
    """
    if name == "odt":
        return _opendocument(data)
    if name == "rtf":
        return _Source(_mended_rtf(data))
    decoded = decode_text(data, declared=charset)
    text, source = decoded.text, _Source(b"", decoded.warnings, has_braces=name == "asciidoc")
    if name == "asciidoc":
        text = _AsciiDoc(source.left_out).preprocessed(text)
    elif name == "docbook":
        text = _docbook(text, source.left_out)
    elif name == "org":
        source.has_braces = "{{{" in text
        source.left_out += _comments_of_org(text)
    elif name == "mediawiki":
        text = _wiki_page(text, source.left_out)
    source.data = text.encode(errors="replace")
    return source


def _comments_of_org(text: str) -> Iterator[Omission]:
    """Yield the comments of an Org file, and the sections that it does not export."""
    off_below, in_comment = 99, False
    for number, line in enumerate(text.split("\n"), 1):
        bare = line.strip()
        if heading := re.match(r"(\*+)\s+(.*)", line):
            if len(heading[1]) <= off_below:
                is_off = re.search(r":noexport:(?:[\w@:]*:)?\s*$", line)
                is_off = is_off or re.match(r"(?:[A-Z]+ )?COMMENT\b", heading[2])
                off_below = len(heading[1]) if is_off else 99
        elif bare.lower() in {"#+begin_comment", "#+end_comment"}:
            in_comment = bare.lower() == "#+begin_comment"
            continue
        if (off_below < 99 or in_comment or bare.startswith("# ")) and _WORD.search(bare):
            kind = "switched-off passage" if off_below < 99 else "comment"
            yield Omission(kind, f"line {number}", len(_WORD.findall(bare)))


def _wiki_page(text: str, left_out: list[Omission]) -> str:
    """Return what a page of a wiki shows itself, without what it gives to other pages."""
    for given in re.findall(r"<includeonly>(.*?)</includeonly>", text, re.DOTALL):
        left_out.append(Omission("passage for other pages", "", len(_WORD.findall(given))))
    text = re.sub(r"<includeonly>.*?</includeonly>", "", text, flags=re.DOTALL)
    return re.sub(r"</?(?:noinclude|onlyinclude)\s*/?>", "", text)


def _mended_rtf(data: bytes) -> bytes:
    """Return RTF without the bytes of its pictures, and with a blank after each `\\u945`.

    Without the blank, pandoc loses the character after the replacement: `\\u945?x` becomes `α`.
    """
    parts, at = list[bytes](), 0
    for picture in re.finditer(rb"\\pict(?![a-z])", data):
        near = _PIXELS.search(data, max(at, picture.end()), picture.end() + _PICTURE_HEAD)
        if near and (whole := _PIXELS.match(data, near.start())):
            parts.append(data[at : near.start()])
            at = whole.end()
    return re.sub(
        rb"(\\\\)|(\\u-?\d{1,6})(?![\d ])",
        lambda match: match[0] if match[1] else match[2] + b" ",
        b"".join([*parts, data[at:]]),
    )


class _AsciiDoc:
    """Does what AsciiDoc's preprocessor does, line by line, which pandoc does not."""

    _DIRECTIVE = re.compile(r"(ifdef|ifndef|ifeval|endif|include)::(\S*?)\[(.*)\]\s*$")
    _SETTING = re.compile(r":(!?)([A-Za-z0-9_][\w-]*)(!?):(?:\s+(.*))?$")
    _FENCE = re.compile(r"(-{4,}|\.{4,}|\+{4,}|```)[\w ]*$")

    def __init__(self, left_out: list[Omission]) -> None:
        self._left_out = left_out
        self._attributes: dict[str, str] = {}

    def preprocessed(self, text: str) -> str:
        """Return the text without comments and switched-off branches; both are counted."""
        lines, branches = list[str](), list[bool]()
        fence = ""
        for number, line in enumerate(self._without_head(text.split("\n")), 1):
            bare = line.rstrip()
            directive = self._DIRECTIVE.match(bare)
            if directive and directive[1] in {"ifdef", "ifndef", "ifeval", "endif"}:
                kept = self._branch(directive, branches)
                if kept and all(branches):
                    lines.append(kept)
            elif not all(branches):
                self._omit("switched-off passage", number, bare)
            elif fence == "////":
                fence = "" if bare == fence else fence
                self._omit("comment", number, bare.strip("/"))
            elif directive:
                self._omit("included file", number, "")
            elif fence:
                fence = "" if bare == fence else fence
                lines.append(line)
            elif bare == "////":
                fence = bare
            elif bare.startswith("//") and not bare.startswith("///"):
                self._omit("comment", number, bare)
            else:
                fence = bare if self._FENCE.match(bare) else ""
                fence = "```" if fence.startswith("```") else fence
                self._set(bare)
                lines.append(line)
        return "\n".join(lines)

    @staticmethod
    def _without_head(lines: list[str]) -> list[str]:
        """Return the lines with blank ones for the front matter of a site's page."""
        if lines[0].rstrip() == "---" and "---" in (rest := [one.rstrip() for one in lines[1:400]]):
            height = rest.index("---") + 2
            return [""] * height + lines[height:]
        return lines

    def _branch(self, directive: re.Match[str], branches: list[bool]) -> str:
        """Open or close a branch, and return the text of one that stands on one line."""
        kind, names, inside = directive.groups()
        if kind == "endif":
            if branches:
                branches.pop()
            return ""
        if kind == "ifeval":
            branches.append(self._holds(inside))
            return ""
        known = [name in self._attributes for name in re.split(r"[,+]", names)]
        holds = all(known) if "+" in names else any(known)
        holds = holds if kind == "ifdef" else not holds
        if inside:
            return inside if holds else ""
        branches.append(holds)
        return ""

    def _holds(self, condition: str) -> bool:
        """Return whether a comparison of two values holds."""
        match = re.fullmatch(r"\s*(.+?)\s*(==|!=|<=|>=|<|>)\s*(.+?)\s*", condition)
        if match is None:
            return False
        left, right = (self._value(match[n]) for n in (1, 3))
        equal, less = left == right, (_number(left), left) < (_number(right), right)
        return {
            "==": equal,
            "!=": not equal,
            "<": less,
            "<=": less or equal,
            ">": not (less or equal),
            ">=": not less,
        }[match[2]]

    def _value(self, text: str) -> str:
        return re.sub(
            r"\{([\w-]+)\}", lambda name: self._attributes.get(name[1], ""), text.strip("\"'")
        )

    def _set(self, line: str) -> None:
        if setting := self._SETTING.match(line):
            before, name, after, value = setting.groups()
            if before or after:
                self._attributes.pop(name, None)
            else:
                self._attributes[name] = value or ""

    def _omit(self, kind: str, line: int, words: str) -> None:
        if kind == "included file" or words.strip():
            self._left_out.append(Omission(kind, f"line {line}", len(_WORD.findall(words))))


def _number(text: str) -> float:
    return float(text) if re.fullmatch(r"-?\d{1,15}(?:\.\d{1,15})?", text) else 0.0


def _docbook(text: str, left_out: list[Omission]) -> str:
    """Return DocBook without remarks and what is marked as deleted, where there is any."""
    if "<remark" not in text and "revisionflag" not in text:
        return text
    root = _parsed(text.encode())
    if root is None:  # with entities: pandoc reads those that the text itself declares
        return text

    def unshown(element: Element) -> str:
        if _plain(element) == "remark":
            return "comment"
        return "deleted text" if element.get("revisionflag") == "deleted" else ""

    _take_out(root, unshown, left_out)
    return tostring(root, encoding="unicode")


_STYLE = "urn:oasis:names:tc:opendocument:xmlns:style:1.0"
_TEXT = "urn:oasis:names:tc:opendocument:xmlns:text:1.0"
_MOST_STYLES = 20
"""One on another."""
_BOXES = frozenset({"text-box", "custom-shape"})
_ODT_UNSHOWN: Mapping[str, str] = {
    "tracked-changes": "deleted text",
    "annotation": "comment",
    "hidden-text": "hidden text",
    "hidden-paragraph": "hidden text",
}


def _opendocument(data: bytes) -> _Source:
    """Return an OpenDocument file without hidden text, and with its boxes after their paragraph."""
    check_container(data)
    source = _Source(data)
    try:
        with zipfile.ZipFile(BytesIO(data)) as archive:
            if b"encryption-data" in archive.read("META-INF/manifest.xml"):
                raise UnsupportedDocument("is encrypted")
            root = _parsed(archive.read("content.xml"))
            if root is None:
                raise UnsupportedDocument("is a damaged OpenDocument file")
            named = (
                _parsed(archive.read("styles.xml")) if "styles.xml" in archive.namelist() else None
            )
            styles = {
                (str(style.get(f"{{{_STYLE}}}family")), str(style.get(f"{{{_STYLE}}}name"))): style
                for part in (named, root)
                for style in (part.iter(f"{{{_STYLE}}}style") if part is not None else ())
            }

            def unshown(element: Element) -> str:
                kind, name = _plain(element), element.get(f"{{{_TEXT}}}style-name")
                if kind == "section" and element.get(f"{{{_TEXT}}}display") == "none":
                    return "hidden text"
                family = {"span": "text", "p": "paragraph", "h": "paragraph"}.get(kind)
                by_style = _unshown_by_style(styles, family, name) if family and name else ""
                return by_style or _ODT_UNSHOWN.get(kind, "")

            _take_out(root, unshown, source.left_out)
            _move_boxes(root)
            source.data = _with_content(archive, tostring(root, encoding="utf-8"))
    except (KeyError, RuntimeError, zipfile.BadZipFile, EOFError, OSError) as error:
        raise UnsupportedDocument("is a damaged OpenDocument file") from error
    return source


def _unshown_by_style(
    styles: Mapping[tuple[str, str], Element], family: str, name: str | None
) -> str:
    """Return why a text of this style is not read, as the style or one above it says."""
    for _ in range(_MOST_STYLES):
        style = styles.get((family, name or ""))
        if style is None:
            break
        for one in style:
            line = one.get(f"{{{_STYLE}}}text-line-through-style")
            line = line or one.get(f"{{{_STYLE}}}text-line-through-type")
            if one.get(f"{{{_TEXT}}}display") == "none":
                return "hidden text"
            if line:
                return "" if line == "none" else "struck text"
        name = style.get(f"{{{_STYLE}}}parent-style-name")
    return ""


def _with_content(archive: zipfile.ZipFile, content: bytes) -> bytes:
    """Return the archive with another content, and without its pictures."""
    target = BytesIO()
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as written:
        for member in archive.namelist():
            if member == "content.xml":
                written.writestr(member, content)
            elif member == "mimetype" or member.endswith(".xml"):
                written.writestr(member, archive.read(member))
    return target.getvalue()


def _move_boxes(root: Element) -> None:
    """Put the paragraphs of text boxes and shapes after the one that they are anchored in."""
    paragraphs = {f"{{{_TEXT}}}p", f"{{{_TEXT}}}h"}
    for parent in list(root.iter()):
        for child in reversed(list(parent)):
            if child.tag not in paragraphs:
                continue
            boxes = [one for one in child.iter() if _plain(one) in _BOXES]
            at = list(parent).index(child) + 1
            for box in reversed(boxes):
                for inner in reversed(list(box)):
                    if _plain(inner) in {"p", "h", "list", "table"}:
                        box.remove(inner)
                        parent.insert(at, inner)


def _take_out(root: Element, unshown: Callable[[Element], str], left_out: list[Omission]) -> None:
    """Remove the elements that `unshown` names a kind for; what follows them stays."""
    waiting = [root]
    while waiting:
        parent = waiting.pop()
        for child in list(parent):
            kind = unshown(child)
            if not kind:
                waiting.append(child)
                continue
            words = len(_WORD.findall(" ".join(_shown(child))))
            if words:
                left_out.append(Omission(kind, "", words))
            index = list(parent).index(child)
            parent.remove(child)
            if child.tail and index:
                parent[index - 1].tail = (parent[index - 1].tail or "") + child.tail
            elif child.tail:
                parent.text = (parent.text or "") + child.tail


def _shown(element: Element) -> Iterator[str]:
    """Yield the words in an element, without who wrote it and when."""
    for one in element.iter():
        if one.text and _plain(one) not in {"creator", "date"}:
            yield one.text
        if one.tail and one is not element:
            yield one.tail


def _plain(element: Element) -> str:
    """Return the name of an element without its namespace."""
    return str(element.tag).rpartition("}")[2]


def _parsed(data: bytes) -> Element | None:
    """Return the tree of an XML text; None where it is damaged or declares entities."""
    from defusedxml.common import DefusedXmlException
    from defusedxml.ElementTree import fromstring

    try:
        root: Element = fromstring(data, forbid_dtd=True)
    except (DefusedXmlException, ParseError, ValueError):
        return None
    return root
