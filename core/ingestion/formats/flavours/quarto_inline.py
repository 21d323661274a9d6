"""What stands in the prose of Quarto and R Markdown and is shown otherwise: references, labels."""

import re
from collections.abc import Callable, Mapping, Sequence

from core.ingestion.formats.flavours.source_lines import SourceLine
from core.markdown.spans import code_spans

KINDS: Mapping[str, str] = {
    "fig": "Figure",
    "tbl": "Table",
    "tab": "Table",
    "lst": "Listing",
    "eq": "Equation",
    "sec": "Section",
    "thm": "Theorem",
    "lem": "Lemma",
    "cor": "Corollary",
    "prp": "Proposition",
    "cnj": "Conjecture",
    "def": "Definition",
    "exm": "Example",
    "exr": "Exercise",
    "sol": "Solution",
    "rem": "Remark",
    "alg": "Algorithm",
    "nte": "Note",
    "tip": "Tip",
    "wrn": "Warning",
    "imp": "Important",
    "cau": "Caution",
}
_NAME = rf"(?P<kind>{'|'.join(KINDS)})[-:](?P<id>[A-Za-z0-9][\w:-]{{0,100}})"
LABELLED = re.compile(_NAME)
_ATTRIBUTES = r"\{\s?(?:[.#][\w:-]|[\w-]{1,40}\s?=)[^{}\n]{0,500}\}"
_REFERENCE = re.compile(rf"(?<![\w@\\])-?@{_NAME}|\\@ref\({_NAME.replace('P<', 'P<r_')}\)")
_BRACKETED = re.compile(rf"\[((?:[^\[\]@]{{0,80}}@(?:{'|'.join(KINDS)})-[\w:-]++)++)\]")
SPAN = re.compile(rf"(?<![!\]])\[([^\[\]]{{1,500}})\]{_ATTRIBUTES}")
LABEL = re.compile(rf"(?<=[)\]`]){_ATTRIBUTES}|(?<=\$\$)\s*\{{#eq-[^{{}}\n]{{0,100}}\}}")
_TABLE_CAPTION = re.compile(r"\s*(?:Table)?:\s(.{1,1000}?)\s?\{#tbl-[^{}\n]{0,200}\}\s*")
_HEADING = re.compile(r"#{1,6}\s+(.*?)\s*\{[^{}]*#(sec-[\w:-]+)[^{}]*\}\s*")

_LONGEST = 1_000
"""Characters of a heading or caption with a label."""


def shown_prose(lines: Sequence[SourceLine]) -> Callable[[str], str]:
    """Return what makes of a line of prose what a reader sees of it.

    A reference to a section of the page is the section's heading; one to a figure, a theorem or
    another page's section is its kind and the words of its label, for numbers are given only
    when the book is built. Labels and attributes are gone. Code stays.

    Source: the Quarto guide, "Cross References"; bookdown, "Cross-references".
    """
    headings: dict[str, str] = {}
    for line in lines:
        if "{#sec-" in line.text[:_LONGEST] and (found := _HEADING.fullmatch(line.text[:_LONGEST])):
            headings.setdefault(found[2].removeprefix("sec-"), found[1])

    def words(reference: re.Match[str]) -> str:
        kind, name = reference["kind"] or reference["r_kind"], reference["id"] or reference["r_id"]
        if kind == "sec" and name in headings:
            return f"“{headings[name]}”"
        label = re.sub(r"[-_:]+", " ", name)
        return f"{KINDS[kind]} {label}" if reference["kind"] else label

    def shown(text: str) -> str:
        if "{#tbl-" in text[:_LONGEST] and (caption := _TABLE_CAPTION.fullmatch(text)):
            return str(caption[1].strip())
        if not any(mark in text for mark in ("@", "]{", "){", "`{", "${", "$ {")):
            return text
        text = _BRACKETED.sub(r"(\1)", LABEL.sub("", SPAN.sub(r"\1", text)))
        return _REFERENCE.sub(words, text)

    return lambda line: _outside_of_code(line, shown)


def _outside_of_code(line: str, change: Callable[[str], str]) -> str:
    spans = list(code_spans(line, 0, len(line))) if "`" in line else []
    if not spans:
        return change(line)
    pieces, position = list[str](), 0
    for start, end in spans:
        label = LABEL.match(line, end)
        pieces += [change(line[position:start]), line[start:end]]
        position = label.end() if label else end
    return "".join([*pieces, change(line[position:])])
