"""Writes code as Markdown, byte for byte, and brings the code of a text into a form that lasts."""

import re
from collections.abc import Sequence

from core.domain.i18n import text
from core.domain.markdown import Code, CodeKind, code_in, code_spans, masked, outside_code
from core.domain.request import UnreadPart
from core.domain.response import CITATION_MARKER

_TICKS = re.compile("`+")
_LANGUAGE = re.compile(r"[\w+#.-]{1,32}")
_NO_CONTAINER = re.compile(r"[^>\s]")


def code_span(code: str) -> str:
    """Return code within a line, between as many backticks as it needs; it has no line feed."""
    runs = {len(run) for run in _TICKS.findall(code)}
    return _spanned(code, "`" * next(n for n in range(1, len(runs) + 2) if n not in runs))


def _spanned(code: str, ticks: str) -> str:
    is_blank = bool(code) and not code.strip(" ")
    is_padded = len(ticks) > 1 or code[:1] in {"", " ", "`"} or code.endswith("`")
    room = " " if is_padded and not is_blank else ""
    return f"{ticks}{room}{code}{room}{ticks}"


def fenced(code: str, language: str = "") -> str:
    """Return a block of code, between as many backticks as it needs."""
    longest = max(map(len, _TICKS.findall(code)), default=0)
    marks = "`" * max(longest + 1, 3)
    return f"{marks}{language_of(language)}\n{code}\n{marks}"


def language_of(info: str) -> str:
    """Return the language that a fence's first line names; empty where it names none."""
    language = _LANGUAGE.match(info.strip())
    return language.group() if language else ""


def lasting(text: str) -> str:
    """Return the text with code that stays what it is, whatever is written after it.

    Indented blocks become fences, fences are closed and name their language alone, and spans
    stand on one line.
    """
    text = _stripped(text)
    for code in reversed(code_in(text)):
        written = text[code.start : code.end]
        if code.kind is CodeKind.INDENTED and code.top:
            written = fenced(code.content)
        elif code.kind is CodeKind.FENCE:
            written = _closed(text, code)
        elif code.kind is CodeKind.SPAN and "\n" in written:
            written = _spanned(code.content, _ticks_of(written))
        text = text[: code.start] + written + text[code.end :]
    return _stripped(text)


def one_line(text: str) -> str:
    """Return the text on one line: its prose with single blanks, its spans of code as they are.

    Of a block of code it has the first line, with a mark where there are more.
    """
    line = outside_code(text, _single_blanks, code=_on_one_line)
    if [code.content for code in code_in(line)] == [*filter(None, map(_first_line, code_in(text)))]:
        return line
    return outside_code(text, _without_marks, code=_on_one_line)  # what opened no code now does


def beginning(line: str, longest: int) -> str:
    """Return a line, or its first words with a mark after them; no code in it is cut."""
    if len(line) <= longest:
        return line
    code = list(code_spans(line, 0, len(line)))
    ends = (blank.start() for blank in re.finditer(r"\s", line[: longest - 1]))
    end = max((e for e in ends if not any(first < e < last for first, last in code)), default=0)
    return f"{line[:end]} …" if end else "…"


def _on_one_line(code: Code, written: str) -> str:
    if code.kind is CodeKind.SPAN:
        return written if "\n" not in written else _spanned(code.content, _ticks_of(written))
    first = _first_line(code)
    more = code.content.strip().partition("\n")[2]
    return f" {code_span(first)}{' …' if more else ''} " if first else " "


def _first_line(code: Code) -> str:
    is_span = code.kind is CodeKind.SPAN
    return code.content if is_span else code.content.strip().partition("\n")[0].strip()


def _single_blanks(prose: str) -> str:
    return re.sub(r"\s+", " ", prose).strip()


def _without_marks(prose: str) -> str:
    return re.sub("~{3,}", "—", _single_blanks(prose).replace("`", "‘"))


def _stripped(text: str) -> str:
    """Return the text without blanks around it, but for those that its code needs."""
    text = text.strip("\n").rstrip()
    stripped = text.lstrip()
    is_same = [code.content for code in code_in(text)] == [c.content for c in code_in(stripped)]
    return stripped if is_same else text


def _ticks_of(span: str) -> str:
    return span[: len(span) - len(span.lstrip("`"))]


def _closed(text: str, code: Code) -> str:
    opening, feed, rest = text[code.start : code.end].partition("\n")
    marks = opening[: len(opening) - len(opening.lstrip(opening[0]))]
    language = language_of(code.info)
    opening = opening if opening[len(marks) :].strip() == language else marks + language
    if code.closed:
        return opening + feed + rest
    before = text[text.rfind("\n", 0, code.start) + 1 : code.start]
    return f"{opening}{feed}{rest}\n{_NO_CONTAINER.sub(' ', before)}{marks}"


_URL = re.compile(
    r"(?i)(?<![a-z])[a-z][a-z0-9+.-]{1,20}://"
    r"(?:\[[^\s\[\]]+\][^\s<>()\[\]\"'`|]*|[^\s<>()\[\]\"'`|]+)"
    r"|(?<![a-z])www\.[^\s<>()\[\]\"'`|]+"
    r"|(?:javascript|vbscript|(?<![^\W\d])(?:data|mailto)):(?:(?:javascript|vbscript|data|mailto):)*(?=[^\s:])[^\s<>\[\]\"'`|]*"
)
"""A host may be a number in brackets; digits before it, as of `%22`, are none of an address."""
_TARGET = re.compile(
    r"!?\[(?P<text>[^\[\]]*)\](?:\([^()]*(?:\([^()]*\)[^()]*)*\)|\[[^\[\]]*\])|<[/!]?[a-zA-Z][^<>]*>"
)
"""A link or an image of Markdown with its label, or a tag of HTML."""
_MARKER = re.compile(r"\s?" + CITATION_MARKER.pattern)
_SCHEME = re.compile(r"(?i)^[a-z][a-z0-9+.-]*://")
_TRAILING = ".,;:!?"
_HEADING = re.compile(r"^#{1,6} .*\n*", re.MULTILINE)


def without_links(text: str) -> str:
    """Return prose with every URL reduced to the bare name of its host.

    >>> without_links("See https://user@www.example.org/a?b=c.")
    'See example.org.'
    """
    return _URL.sub(_host, text)


def prose_without_links(markdown: str) -> str:
    """Return Markdown with each URL of its prose reduced to a host; its code stays as it is.

    >>> prose_without_links("From https://www.example.org/a: `curl https://example.org/b`")
    'From example.org: `curl https://example.org/b`'
    """
    return outside_code(markdown, without_links)


def shown_prose(text: str) -> str:
    """Return a sentence as a reader is to see it: its code as it is, its prose without targets."""
    return outside_code(lasting(text), without_targets)


def without_markers(answer: str) -> str:
    """Return an answer's Markdown without the numbers of its citations; code stays as it is."""
    return outside_code(answer, lambda prose: _MARKER.sub("", prose)).strip()


def without_layout(answer: str) -> str:
    """Return what an answer says: no headings above its passages, no bold; code stays as it is."""
    said, begins = "", 0
    for heading in _HEADING.finditer(masked(answer)):
        said += answer[begins : heading.start()]
        begins = heading.end()
    return outside_code(said + answer[begins:], lambda prose: prose.replace("**", ""))


def without_targets(text: str) -> str:
    """Return prose with the labels of its links, and without the rest of them and without tags.

    >>> without_targets('The [law](a.html "b") of <b>demand</b>[x][y]')
    'The law of demandx'
    """
    while (plain := _TARGET.sub(lambda match: match["text"] or "", text)) != text:
        text = plain
    return text


def _host(match: re.Match[str]) -> str:
    url = match.group()
    tail = url[len(url.rstrip(_TRAILING)) :]
    address = _SCHEME.sub("", url.rstrip(_TRAILING))
    if _SCHEME.match(url) is None and not url.lower().startswith("www."):
        return url.partition(":")[0]
    host = re.split(r"[/?#\\]", address, maxsplit=1)[0].rsplit("@", 1)[-1]
    return host.removeprefix("www.").removeprefix("WWW.") + tail


def unread_instead(kinds: Sequence[UnreadPart]) -> str:
    """Return which kinds cannot be read, and what to do instead."""
    return text("unread-only", kinds=_named(kinds))


def unread_besides(kinds: Sequence[UnreadPart]) -> str:
    """Return that an answer leaves these kinds out of account."""
    return text("unread-too", kinds=_named(kinds))


def _named(kinds: Sequence[UnreadPart]) -> str:
    names = {
        UnreadPart.IMAGE: text("unread-kind-image"),
        UnreadPart.PDF: text("unread-kind-pdf"),
        UnreadPart.VOICE: text("unread-kind-voice"),
        UnreadPart.VIDEO: text("unread-kind-video"),
        UnreadPart.FILE: text("unread-kind-file"),
    }
    named = [name for kind, name in names.items() if kind in kinds]
    *before, last = named
    if not before:
        return last
    if len(before) == 1:
        return text("either-of-two", before=before[0], last=last)
    return text("either-of-many", before=", ".join(before), last=last)
