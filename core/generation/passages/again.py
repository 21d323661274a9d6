"""Shows an answer again: its place alone, or that there is nothing shorter or longer."""

from collections.abc import Iterator, Mapping, Sequence

from core.generation.base import Claim, GenerationTask, QuotedWords
from core.generation.passages.pieces import Piece
from core.generation.passages.showing import place_of
from core.i18n import text
from core.models import Again, AnswerLength, Citation


def most_words_of(task: GenerationTask, limits: Mapping[AnswerLength, int]) -> int:
    """Return how many words an answer may have; 0: one sentence alone.

    A shorter one has those of the length below what was shown last, a longer one the most.
    """
    if task.again is Again.LONGER:
        return max(limits.values())
    if task.again is not Again.SHORTER:
        return limits[task.length]
    shown = _words(quote.quote for quote in task.shown[-1])
    return max((limit for limit in limits.values() if limit < shown), default=0)


def without_shown(task: GenerationTask, pieces: Sequence[Piece]) -> list[Piece]:
    """Return the pieces as they may be shown; where more is wanted, the rest of the same pages.

    What was shown before is hidden then, and so is all of other documents.
    """
    if task.again is not Again.LONGER:
        return [*pieces]
    quotes = [quote for citations in task.shown for quote in _quotes(task, citations)]
    pages = {task.evidence[quote.chunk_number].document_id for quote in quotes}
    return [
        piece if piece.place[0] in pages and not _overlaps(piece, quotes) else piece.hidden()
        for piece in pieces
    ]


def instead(task: GenerationTask, written: Sequence[object]) -> list[Claim]:
    """Return what is said instead of what was written; empty: that is said.

    Where the place is wanted, that is each place; where nothing shorter or longer is there, that
    there is none, with the place of what was shown.
    """
    quotes = list(_quotes(task, task.shown[-1])) if task.shown else []
    if not quotes:
        return []
    place = place_of(task.evidence[quotes[0].chunk_number])
    claims = [one for one in written if isinstance(one, Claim)]
    if task.again is Again.WHERE:
        return list(_places(task, quotes))
    if task.again is Again.LONGER and not claims:
        return [Claim(text("answer-nothing-longer", place=place), tuple(quotes))]
    shown = _words(quote.quote for quote in task.shown[-1])
    if task.again is Again.SHORTER and _words(q.text for c in claims for q in c.quotes) >= shown:
        return [Claim(text("answer-nothing-shorter", place=place), tuple(quotes))]
    return []


def _places(task: GenerationTask, quotes: Sequence[QuotedWords]) -> Iterator[Claim]:
    places: dict[str, list[QuotedWords]] = {}
    for quote in quotes:
        places.setdefault(place_of(task.evidence[quote.chunk_number]), []).append(quote)
    for place, own in places.items():
        yield Claim(text("answer-place", place=place), tuple(own), lead="\n\n")


def _quotes(task: GenerationTask, citations: Sequence[Citation]) -> Iterator[QuotedWords]:
    """Yield what was cited, as far as its chunk is in the evidence."""
    numbers = {chunk.chunk_id: number for number, chunk in enumerate(task.evidence)}
    for one in citations:
        if one.chunk_id in numbers:
            yield QuotedWords(numbers[one.chunk_id], one.quote, one.char_start)


def _overlaps(piece: Piece, quotes: Sequence[QuotedWords]) -> bool:
    """Return whether some of a piece was quoted."""
    return any(
        quote.chunk_number == piece.chunk_number
        and piece.start < quote.start + len(quote.text)
        and quote.start < piece.end
        for quote in quotes
    )


def _words(quotes: Iterator[str]) -> int:
    return sum(len(quote.split()) for quote in quotes)
