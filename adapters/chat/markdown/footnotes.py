"""What stands below an answer on every platform: where it is from, and what to check."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, time
from itertools import pairwise

from adapters.chat.markdown.formulas import plain_formulas
from core.domain import EXTRACTIVE, NOBODY, STAFF, AgentResponse, Outcome, RetrievedChunk
from core.domain.i18n import Message, date_of, text
from core.domain.links import one_line, prose_without_links
from core.domain.markdown import Code, CodeKind, code_in

_SURE = 0.75
"""Confidence from which on a model's answer is called sure."""
_NEAR = (Message("notice-near"), Message("notice-near-within"))
_GIVEN = frozenset({Outcome.ANSWERED, Outcome.PARTIAL})
_LOCATORS = ("page", "slide", "cell", "second")
"""What of a chunk's metadata says where it stands, in order."""


@dataclass(frozen=True, slots=True)
class Footnote:
    """One place in the book that an answer cites."""

    markers: tuple[int, ...]
    """The numbers that stand for it in the answer, in order."""
    title: str
    """The page's title and the path of headings, without addresses."""
    locator: str
    """The page, slide, cell or time, such as `p. 3` or `1:05`, and whether its text was recognised
    from a scan or is not the course's own; empty where there is nothing of it."""
    url: str | None
    """Where it can be read; None for a course that is not published."""
    file: str

    @property
    def numbers(self) -> str:
        """The markers as they stand in the answer: `[1] [2]`."""
        return " ".join(f"[{marker}]" for marker in self.markers)


def footnotes(response: AgentResponse) -> list[Footnote]:
    """Return a footnote for each place cited, once, in order of first citation."""
    chunks = {chunk.chunk_id: chunk for chunk in response.grounding_chunks}
    notes: dict[tuple[str, ...], Footnote] = {}
    for citation in response.citations:
        place = place_in_book(chunks[citation.chunk_id])
        key = (place.title, place.locator, place.file)
        note = notes.setdefault(key, place)
        notes[key] = replace(note, markers=(*note.markers, citation.marker))
    return [*notes.values()]


def place_in_book(chunk: RetrievedChunk) -> Footnote:
    """Return where a chunk stands, as a footnote without numbers."""
    if chunk.verified_on is not None:
        day = date_of(datetime.combine(chunk.verified_on, time()))
        title = text("verified-source", date=day)
        question = one_line(next(iter(chunk.headings), ""))
        return Footnote((), title, question, None, chunk.source_file)
    if chunk.is_askers:
        return Footnote((), chunk.page_title, "", None, "")
    path = dict[str, str]()
    for one in (chunk.page_title, *chunk.headings):
        path.setdefault(_bare(one), one)
    locators = [
        _locator(kind, chunk.metadata[kind]) for kind in _LOCATORS if kind in chunk.metadata
    ]
    if chunk.is_recognised:
        locators.append(text("answer-recognised"))
    if not chunk.is_trusted:
        locators.append(text("answer-not-own"))
    return Footnote(
        markers=(),
        title=plain_formulas(prose_without_links(" › ".join(path.values()))),
        locator=" · ".join(locators),
        url=chunk.source_url,
        file=chunk.source_file,
    )


def _bare(title: str) -> str:
    """Return what two forms of one title have in common: its words, without marks and capitals."""
    return " ".join(title.replace("`", "").replace("*", "").casefold().split())


def _locator(kind: str, number: int | str) -> str:
    match kind:
        case "second":
            return _clock(int(number))
        case "page":
            return text("answer-locator-page", number=number)
        case "slide":
            return text("answer-locator-slide", number=number)
        case _:
            return text("answer-locator-cell", number=number)


def _clock(seconds: int) -> str:
    """Return a time as players show it: `1:05`, `1:02:05`."""
    minutes, hours = seconds // 60, seconds // 3600
    shown = f"{hours}:{minutes % 60:02}" if hours else f"{minutes}"
    return f"{shown}:{seconds % 60:02}"


def is_by_model(response: AgentResponse) -> bool:
    """Return whether a language model wrote this answer."""
    return response.outcome in _GIVEN and response.model_name not in {EXTRACTIVE, NOBODY, STAFF}


def lead_in(response: AgentResponse) -> str:
    """Return the word in front of the places of the book's own words: `From`; else nothing."""
    is_by_book = response.outcome in _GIVEN and not is_by_model(response)
    return text("answer-from") if is_by_book else ""


def confidence_in_words(response: AgentResponse) -> str:
    """Return how sure an answer is: of the book's own words, whether they are all of it."""
    if response.checked is not None:
        return checked_on(response)
    if response.outcome is Outcome.ERROR:
        return text("answer-sure-no-answer")
    if response.asks_nothing:
        return text("answer-sure-no-question")
    if response.outcome is Outcome.ABSTAINED:
        is_near = bool(response.nearest_sections)
        return text("answer-sure-nearest") if is_near else text("answer-sure-not-covered")
    if is_by_model(response):
        return _of_model(response)
    is_plain = response.outcome is Outcome.ANSWERED
    return text("answer-from-book") if is_plain else text("answer-near")


def _of_model(response: AgentResponse) -> str:
    if response.outcome is Outcome.PARTIAL:
        return text("answer-sure-not")
    return text("answer-sure") if _needs_no_check(response) else text("answer-sure-fairly")


def _needs_no_check(response: AgentResponse) -> bool:
    """Return whether an answer is told plainly; a model's is where it is sure."""
    is_sure = not is_by_model(response) or response.confidence >= _SURE
    return response.outcome is Outcome.ANSWERED and is_sure


def remarks(response: AgentResponse) -> Iterator[str]:
    """Yield what is to be known of an answer besides its footnotes: what to check, and notices."""
    if response.checked is not None:
        yield checked_on(response)
    is_said = any(not one.renderings().isdisjoint(response.notices) for one in _NEAR)
    if response.outcome in _GIVEN and not _needs_no_check(response) and not is_said:
        yield _warning(response)
    yield from response.notices
    for offered in response.offered:
        yield text("verified-offered", question=one_line(offered.question))


def answered_question(response: AgentResponse) -> str:
    """Return the question that the staff answered, to stand above their answer; else nothing.

    Whoever reads the answer may have asked something else.
    """
    if response.checked is None:
        return ""
    return text("verified-offered", question=one_line(response.checked.question))


def checked_on(response: AgentResponse) -> str:
    """Return that the course's staff checked an answer, and when; empty for any other."""
    if response.checked is None:
        return ""
    day = date_of(response.checked.checked_at)
    if response.citations:
        return text("verified-checked", date=day)
    return text("verified-checked-without-book", date=day)


def _warning(response: AgentResponse) -> str:
    is_partial = response.outcome is Outcome.PARTIAL
    if is_by_model(response):
        return text("notice-check-not-sure") if is_partial else text("notice-check-fairly-sure")
    return text("notice-near")


_BLANK_LINES = re.compile(r"\n[ \t]*\n\s*")
_RULE_OF_TABLE = frozenset({*"|:- "})
"""What the line below a table's header is made of."""
_MARKER = re.compile(r"\[\d+\]")
Span = tuple[int, int]


@dataclass(frozen=True, slots=True)
class Stretch:
    """Some words of a paragraph, or code in it."""

    text: str
    """Prose as it is written, or the content of the code."""
    code: Code | None = None
    cited: bool = False


@dataclass(frozen=True, slots=True)
class Paragraph:
    """A paragraph of the book of which something is cited."""

    stretches: tuple[Stretch, ...]
    table: str = ""
    """Its Markdown, where it is a table, in which no words are marked."""


@dataclass(frozen=True, slots=True)
class Exhibit:
    """One place in the book, with what is cited of it."""

    place: Footnote
    paragraphs: tuple[Paragraph, ...]


def exhibits(response: AgentResponse) -> list[Exhibit]:
    """Return the paragraphs that an answer cites, by place, in order of first citation."""
    chunks = {chunk.chunk_id: chunk for chunk in response.grounding_chunks}
    markers: dict[Footnote, tuple[int, ...]] = {}
    spans: dict[Footnote, dict[str, list[Span]]] = {}
    for citation in response.citations:
        chunk = chunks[citation.chunk_id]
        place = place_in_book(chunk)
        markers[place] = (*markers.get(place, ()), citation.marker)
        texts = spans.setdefault(place, {})
        texts.setdefault(chunk.content_text, []).append((citation.char_start, citation.char_end))
    return [
        Exhibit(
            replace(place, markers=numbers),
            tuple(one for text, cited in spans[place].items() for one in _paragraphs(text, cited)),
        )
        for place, numbers in markers.items()
    ]


def adds_to(response: AgentResponse) -> bool:
    """Return whether the paragraphs that an answer cites say more than the answer shows."""
    shown = _letters(response.response_text)
    return any(
        _letters("".join(one.text for one in paragraph.stretches)) not in shown
        for exhibit in exhibits(response)
        for paragraph in exhibit.paragraphs
    )


def _letters(text: str) -> str:
    """Return the letters and digits of a text, without the numbers of its citations."""
    return "".join(filter(str.isalnum, _MARKER.sub("", text).casefold()))


def _paragraphs(text: str, cited: Sequence[Span]) -> Iterator[Paragraph]:
    """Yield the paragraphs of a text that the spans reach into."""
    for start, end in _paragraph_spans(text):
        inside = [(max(a, start) - start, min(b, end) - start) for a, b in _merged(cited)]
        if inside := [(a, b) for a, b in inside if a < b]:
            paragraph = text[start:end]
            table = paragraph if _is_table(paragraph) else ""
            yield Paragraph(tuple(_stretches(paragraph, inside)), table)


def _merged(spans: Sequence[Span]) -> Iterator[Span]:
    """Yield spans of which none touches another, so that no word of the book is divided."""
    start = end = 0
    for a, b in sorted(spans):
        if a > end:
            yield start, end
            start = a
        end = max(end, b)
    yield start, end


def _paragraph_spans(text: str) -> Iterator[Span]:
    """Yield where paragraphs begin and end; a blank line inside of code ends none."""
    code = [one for one in code_in(text) if one.kind is not CodeKind.SPAN]
    start = 0
    for gap in _BLANK_LINES.finditer(text):
        if not any(one.start < gap.start() < one.end - 1 for one in code):
            yield start, gap.start()
            start = gap.end()
    yield start, len(text)


def _stretches(text: str, cited: Sequence[Span]) -> Iterator[Stretch]:
    position = 0
    for code in code_in(text):
        yield from _prose(text, position, code.start, cited)
        reached = any(a < code.end and code.start < b for a, b in cited)
        yield Stretch(code.content, code, reached)
        position = code.end
    yield from _prose(text, position, len(text), cited)


def _prose(text: str, start: int, end: int, cited: Sequence[Span]) -> Iterator[Stretch]:
    """Yield prose, divided where cited words begin and end."""
    inside = [(max(a, start), min(b, end)) for a, b in cited]
    edges = {start, end, *(edge for a, b in inside if a < b for edge in (a, b))}
    for a, b in pairwise(sorted(edges)):
        if words := text[a:b]:
            yield Stretch(words, cited=any(c <= a and b <= d for c, d in inside))


def _is_table(text: str) -> bool:
    lines = text.strip().splitlines()
    has_header = len(lines) > 1 and {*lines[1]} <= _RULE_OF_TABLE
    return has_header and all(line.lstrip().startswith("|") for line in lines)
