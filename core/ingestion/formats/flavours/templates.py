"""Takes the template language of Hugo and of Jekyll out of a page, and keeps the text in it."""

import re
from collections.abc import Iterator, Sequence

from core.ingestion.formats.flavours.source_lines import Edit, SourceLine, edited, joined

_SHORTCODE = re.compile(
    r"\{\{(?P<mark>[<%])\s{0,20}(?P<escaped>/\*)?(?P<body>(?:(?![>%]\}\}).){0,1000}?)[>%]\}\}",
    re.DOTALL,
)
_LIQUID = re.compile(
    r"\{%-?\s{0,20}(?P<body>(?:(?!%\}).){0,1000}?)-?%\}|\{\{(?P<value>(?:(?!\}\}).){0,1000}?)\}\}",
    re.DOTALL,
)
_ATTRIBUTES = re.compile(r"[ \t]?\{::?[^{}\n]{0,500}\}")
_SKIPPED = frozenset({"comment"})


def without_shortcodes(lines: Sequence[SourceLine]) -> list[SourceLine]:
    """Return a page of Hugo without its shortcodes; what a pair of them encloses stays.

    `highlight` becomes a code block, and a shortcode that is written out stays as it is shown.
    """
    return edited(lines, _shortcodes(joined(lines)))


def _shortcodes(text: str) -> Iterator[Edit]:
    for tag in _SHORTCODE.finditer(text):
        body = tag["body"].strip()
        if tag["escaped"]:
            closing = "%" if tag["mark"] == "%" else ">"
            shown = f"{{{{{tag['mark']} {body.removesuffix('*/').strip()} {closing}}}}}"
            yield Edit(tag.start(), tag.end(), shown)
            continue
        words = body.strip("/ ").split()
        if words[:1] == ["highlight"]:
            language = words[1].strip('"') if len(words) > 1 and not body.startswith("/") else ""
            yield Edit(tag.start(), tag.end(), f"\n```{language}\n")
        else:
            yield Edit(tag.start(), tag.end(), "")


def without_liquid(lines: Sequence[SourceLine]) -> list[SourceLine]:
    """Return a page of Jekyll without the tags of Liquid and the attributes of kramdown.

    What `raw` encloses stays as it is, `highlight` becomes a code block, and a comment goes.
    """
    plain = edited(lines, _liquid(joined(lines)))
    return edited(plain, _attributes(plain))


def _liquid(text: str) -> Iterator[Edit]:
    until, skipped_from = "", 0
    for tag in _LIQUID.finditer(text):
        words = (tag["body"] or "").split()
        name = words[0] if words else ""
        if until:
            if name != until:
                continue
            start = skipped_from if until.removeprefix("end") in _SKIPPED else tag.start()
            until = ""
            yield Edit(start, tag.end(), "")
        elif name in {"raw", *_SKIPPED}:
            until, skipped_from = f"end{name}", tag.start()
            if name == "raw":
                yield Edit(tag.start(), tag.end(), "")
        elif name in {"highlight", "endhighlight"}:
            language = words[1] if name == "highlight" and len(words) > 1 else ""
            yield Edit(tag.start(), tag.end(), f"\n```{language}\n")
        else:
            yield Edit(tag.start(), tag.end(), "")


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
