"""The paragraphs that an answer rests on, as blocks of a modal in Slack."""

from collections.abc import Iterator, Sequence
from typing import Any

from adapters.markdown.evidence import Exhibit, Paragraph, Stretch, exhibits
from adapters.markdown.splitting import shortened, utf16_length
from adapters.slack.markup.rich_text import Element, inline_code, preformatted, quote, words_in
from adapters.slack.markup.text import unlinked
from core.markdown.code import outside_code
from core.markdown.locating import CodeKind
from core.models import AgentResponse

Block = dict[str, Any]

_MOST_PLACES = 90
_LONGEST_TITLE = 300
_LONGEST_WORDS = 2_900
_BOLD = ("bold",)


def evidence(response: AgentResponse) -> list[Block]:
    """Return a block for each place cited, which shows every character as it is."""
    return blocks_of(exhibits(response))


def blocks_of(found: Sequence[Exhibit]) -> list[Block]:
    """Return a block for each place."""
    return [
        {"type": "rich_text", "elements": [_place(one), *_paragraphs(one)]}
        for one in found[:_MOST_PLACES]
    ]


def _place(exhibit: Exhibit) -> Element:
    place = exhibit.place
    title = shortened(outside_code(place.title, unlinked), _LONGEST_TITLE) or "…"
    shown: Element = {"type": "text", "text": title}
    if place.url:
        shown = {"type": "link", "url": place.url, "text": title}
    parts: list[Element] = [{"type": "text", "text": f"{place.numbers} "}, shown]
    if more := " · ".join(filter(None, [place.locator, place.file])):
        parts.append({"type": "text", "text": f" · {unlinked(more)}"})
    return {"type": "rich_text_section", "elements": parts}


def _paragraphs(exhibit: Exhibit) -> Iterator[Element]:
    room = _LONGEST_WORDS
    for paragraph in exhibit.paragraphs:
        if room > 0:
            yield from _paragraph(_cut(paragraph, room))
        room -= sum(utf16_length(one.text) for one in paragraph.stretches)


def _cut(paragraph: Paragraph, room: int) -> Paragraph:
    """Return the beginning of a paragraph that is longer than there is room."""
    kept = list[Stretch]()
    for stretch in paragraph.stretches:
        if room <= 0:
            break
        text = shortened(stretch.text, room, count=utf16_length) if stretch.code is None else None
        kept.append(stretch if text is None else Stretch(text, cited=stretch.cited))
        room -= utf16_length(stretch.text)
    return Paragraph(tuple(kept))


def _paragraph(paragraph: Paragraph) -> Iterator[Element]:
    """Yield quotes, and the blocks of code among them."""
    inline = list[Element]()
    for stretch in paragraph.stretches:
        styles = _BOLD if stretch.cited else ()
        if stretch.code is None:
            inline += words_in(stretch.text, styles)
        elif stretch.code.kind is CodeKind.SPAN:
            inline.append(inline_code(stretch.text, styles))
        else:
            yield from quote(inline)
            yield preformatted(stretch.text)
            inline = []
    yield from quote(inline)
