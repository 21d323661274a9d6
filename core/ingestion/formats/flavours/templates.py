"""Takes the template languages of course pages out of a page: Jinja, Liquid, shortcodes of Hugo.

Values that the course's settings say are put in. One that cannot be put in keeps its braces.
"""

import re
from collections.abc import Callable, Iterator, Sequence

from core.ingestion.formats.flavours.includes import Includes
from core.ingestion.formats.flavours.jsx_html import is_said
from core.ingestion.formats.flavours.source_lines import (
    Edit,
    SourceLine,
    edited,
    joined,
    line_finder,
)
from core.ingestion.formats.flavours.values import Values

_SHORTCODE = re.compile(
    r"\{\{(?P<mark>[<%])\s{0,20}(?P<escaped>/\*)?(?P<body>(?:(?![>%]\}\}).){0,1000}?)[>%]\}\}",
    re.DOTALL,
)
_ARGUMENT = re.compile(r"""(?:([\w-]+)\s*=\s*)?(?:"([^"]*)"|'([^']*)'|`([^`]*)`|(\S+))""")
_SHOWN_ARGUMENTS = frozenset(
    {"title", "caption", "summary", "header", "label", "name", "text", "quote", "content"}
)
_TAG = re.compile(
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
        for tag in _TAG.finditer(self._text):
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
        words = _TAG.sub("", self._text[start:end]) if kind != "comment" else self._text[start:end]
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
