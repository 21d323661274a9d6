"""Writes code as Markdown, byte for byte, and brings the code of a text into a form that lasts."""

import re

from core.markdown.code import code_in, outside_code
from core.markdown.locating import Code, CodeKind
from core.markdown.spans import code_spans

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
