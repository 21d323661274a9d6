"""What stands below an answer on every platform: where it is from, and what to check."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import datetime, time

from adapters.markdown.formulas import plain_formulas
from core.i18n import Message, text
from core.i18n.dates import date_of
from core.markdown.writing import one_line
from core.models import EXTRACTIVE, NOBODY, STAFF, AgentResponse, Outcome, RetrievedChunk
from core.text.links import prose_without_links

_SURE = 0.75
"""Confidence from which on a model's answer is called sure, and `located` from which on the place
of the book's own words needs no remark."""
_CLOSEST = (Message("notice-closest"), Message("notice-closest-within"))
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
    """Return how sure a model's answer is; of the book's own words, how sure their place is."""
    if response.checked is not None:
        return checked_on(response)
    if response.outcome is Outcome.ERROR:
        return text("answer-sure-no-answer")
    if response.asks_nothing:
        return text("answer-sure-no-question")
    if response.outcome is Outcome.ABSTAINED:
        return text("answer-sure-not-covered")
    if is_by_model(response):
        return _of_model(response)
    if response.outcome is Outcome.PARTIAL:
        return text("answer-closest")
    return text("answer-from-book") if _needs_no_check(response) else text("answer-place-unsure")


def _of_model(response: AgentResponse) -> str:
    if response.outcome is Outcome.PARTIAL:
        return text("answer-sure-not")
    return text("answer-sure") if _needs_no_check(response) else text("answer-sure-fairly")


def _needs_no_check(response: AgentResponse) -> bool:
    """Return whether a model's answer is sure, or the place of the book's own words is."""
    chance = response.confidence if is_by_model(response) else response.located
    return response.outcome is Outcome.ANSWERED and chance >= _SURE


def remarks(response: AgentResponse) -> Iterator[str]:
    """Yield what is to be known of an answer besides its footnotes: what to check, and notices."""
    if response.checked is not None:
        yield checked_on(response)
    is_said = any(not one.renderings().isdisjoint(response.notices) for one in _CLOSEST)
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
    return text("notice-check-closest") if is_partial else text("notice-check-place")
