"""Chooses the passages that answer best: whole sentences around the likeliest ones.

That the sentences around the best two answer more than the best three by themselves was measured
on textbooks; docs/measuring.md has the figures.
"""

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate, dropwhile, groupby
from types import MappingProxyType
from typing import Any

from core.answering.writers.base import Claim, GenerationTask, QuotedWords
from core.answering.writers.pieces import ENTRY, PROSE, TABLE, Piece
from core.answering.writers.scoring import Scored, says_again
from core.domain import Again, AnswerLength, Citation, RetrievedChunk
from core.domain.i18n import text
from core.domain.markdown import without_code

MOST_WORDS: Mapping[AnswerLength, int] = MappingProxyType(
    {AnswerLength.SHORT: 80, AnswerLength.NORMAL: 200, AnswerLength.LONG: 320}
)
AFTER = 3
"""Pieces that a passage has after the one that it is chosen for."""
FURTHEST = 2
"""Pieces that it has before that one: a second where what it would begin with leans."""
OPENING = 5
"""Pieces before a passage that are shown, too, where what was read of its section begins with them
and they have room: what a section is about stands there."""
WORTHWHILE = 0.7
"""Share of the best score that the centre of a further passage must reach."""
MOST_SECTIONS = 2
"""Whose passages are shown; the others come with *More*."""
ROOM = 30
"""Words that a further passage must have room for, so that it is more than a sentence."""
WORDS_A_PASSAGE = 60
"""For so many words of an answer there may be one passage."""


@dataclass(frozen=True, slots=True)
class Window:
    """A passage: neighbouring pieces of one section."""

    pieces: tuple[Piece, ...]
    centres: Mapping[Piece, Scored]
    """Those of them that answer, the best first."""


def choose(pieces: Sequence[Piece], ranked: Sequence[Scored], most_words: int) -> list[Window]:
    """Return the few best passages, the best first; none when nothing can be shown.

    The likeliest answer is always whole; what stands around it is added for as long as all
    passages have no more words than `most_words` together. Passages that meet become one.
    """
    positions = {piece: position for position, piece in enumerate(pieces)}
    taken: set[int] = set()
    centres: dict[int, Scored] = {}
    said: list[frozenset[int]] = []
    best_first = sorted(ranked, key=lambda scored: -scored.score)
    most = max(most_words // WORDS_A_PASSAGE, 1)
    passages = 0
    sections = list[object]()
    for scored in best_first:
        own = (scored.piece.place[0], scored.piece.section)
        is_further = bool(sections) and own not in sections
        if is_further and len(sections) == MOST_SECTIONS:
            continue
        if passages == most or scored.score < WORTHWHILE * best_first[0].score:
            break
        centre = positions[scored.piece]
        room = most_words - sum(pieces[position].words for position in taken)
        too_long = taken and max(scored.piece.words, ROOM) > room
        if centre in taken or too_long or says_again(scored.terms, said):
            continue
        sections += [] if own in sections else [own]
        said.append(scored.terms)
        centres[centre] = scored
        around = range(centre, centre + 1)
        if not scored.alone:
            around = _around(pieces, centre, taken, room)
        passages += scored.piece.kind != ENTRY or not _adjoins(pieces, around, taken)
        taken.update(around)
    return _windows(pieces, _with_openings(pieces, taken, most_words), centres)


def _adjoins(pieces: Sequence[Piece], around: range, taken: set[int]) -> bool:
    """Return whether a passage meets what is taken of its section."""
    before = pieces[around.start].follows and around.start - 1 in taken
    is_after = around.stop < len(pieces) and pieces[around.stop].follows
    return before or (is_after and around.stop in taken) or not taken.isdisjoint(around)


def beginning(pieces: Sequence[Piece], most_words: int) -> list[Window]:
    """Return the first pieces that can be shown, one at least where there is any."""
    shown = (position for position, piece in enumerate(pieces) if piece.shown)
    found = list(dropwhile(lambda position: not pieces[position].citable, shown))
    words = accumulate(pieces[position].words for position in found)
    fit = max(1, sum(total <= most_words for total in words))
    return _windows(pieces, found[:fit], {})


def _around(pieces: Sequence[Piece], centre: int, taken: set[int], room: int) -> range:
    """Return the passage around a piece, within `room` words but for what it cannot do without.

    That is the piece itself and, where it leans on it, the one before. What the answer before
    showed is left out, unless the piece leans on it or was shown itself.
    """
    room -= pieces[centre].words
    known = pieces[centre].known
    start = end = centre
    while pieces[start].follows and centre - start < FURTHEST:
        before, leans = pieces[start - 1], pieces[start].leans
        is_needed = leans and start == centre
        fits = before.words <= room and (known or not before.known)
        if not before.shown or not (is_needed or (fits and (leans or start == centre))):
            break
        start -= 1
        room -= before.words * (start not in taken)
    while end - centre < AFTER and end + 1 < len(pieces) and pieces[end + 1].follows:
        after = pieces[end + 1]
        if not after.shown or (after.words > room and end + 1 not in taken):
            break
        if after.known and not known:
            break
        end += 1
        room -= after.words * (end not in taken)
    fit = [n for n in range(start, end + 1) if n == centre or pieces[n].citable]
    return range(fit[0], fit[-1] + 1)


def _with_openings(pieces: Sequence[Piece], taken: set[int], most_words: int) -> set[int]:
    """Return the positions of pieces with those of what their sections begin with, if near."""
    whole = set(taken)
    room = most_words - sum(pieces[position].words for position in taken)
    for position in sorted(taken):
        first = position
        while pieces[first].follows and position - first < OPENING and first - 1 not in whole:
            first -= 1
        opening = pieces[first:position]
        words = sum(piece.words for piece in opening)
        known = pieces[position].known
        begins = opening and opening[0].citable and not (opening[0].leans or opening[0].follows)
        is_fit = all(p.shown and p.kind != ENTRY and (known or not p.known) for p in opening)
        if begins and is_fit and words <= room:
            whole.update(range(first, position))
            room -= words
    return whole


def _windows(
    pieces: Sequence[Piece], taken: Collection[int], centres: Mapping[int, Scored]
) -> list[Window]:
    """Return the runs of neighbours among the pieces at some positions, by their first centre."""
    runs: list[list[int]] = []
    for position in sorted(taken):
        if runs and runs[-1][-1] + 1 == position and pieces[position].follows:
            runs[-1].append(position)
        else:
            runs.append([position])
    runs.sort(key=lambda run: min((n for n, c in enumerate(centres) if c in run), default=0))
    return [
        Window(
            tuple(pieces[position] for position in run),
            {pieces[n]: scored for n, scored in centres.items() if n in run},
        )
        for run in runs
    ]


_EMPHASISED = re.compile(r"[*_\\]|~~")
"""What would take our marks for its own, or be taken for them."""


def claims_of(windows: Sequence[Window], evidence: Sequence[RetrievedChunk]) -> Iterator[Claim]:
    """Yield a claim for what of a passage stands in one chunk; sections in order of their best."""
    sections: dict[object, list[Window]] = {}
    for window in windows:
        chunk = evidence[window.pieces[0].chunk_number]
        sections.setdefault((chunk.document_id, chunk.headings), []).append(window)
    firsts = [evidence[own[0].pieces[0].chunk_number] for own in sections.values()]
    is_first = True
    for own, heading in zip(sections.values(), _headings(firsts), strict=True):
        best = own[0]
        own.sort(key=lambda window: window.pieces[0].place[1])
        is_later = False
        for window in [best, *(one for one in own if one is not best)] if is_first else own:
            by_chunk = groupby(window.pieces, key=lambda piece: piece.chunk_number)
            for number, (_, run) in enumerate(by_chunk):
                pieces = list(run)
                lead = "\n\n" if not number or pieces[0].opens else None
                lead = _GAP if is_later and not number else lead
                claim = _claim(pieces, window, evidence, heading, lead)
                yield replace(claim, **_answering(window, pieces)) if is_first else claim
                heading, is_first, is_later = None, False, True


_GAP = "\n\n…\n\n"
"""Stands where words of the section are left out."""
_MOST_CODE = 3
"""Lines of code that are shown alone, and again where they stand."""


def _answering(window: Window, run: Sequence[Piece]) -> dict[str, Any]:
    """Return what of a passage answers, as it stands alone above it, and how like it is."""
    best = next(iter(window.centres.values()), None)
    if best is None:
        return {}
    piece, told = best.piece, {"likeness": best.likeness}
    if len(window.pieces) > 1 and piece.kind == PROSE:
        return told | {"first": f"> {piece.text}"}
    if piece.lines and best.line is not None and len(piece.lines) > 1:
        shown = piece.alone(best.line)
        return told | {"first": shown if piece.kind == TABLE else f"> {shown}"}
    return told


def _headings(chunks: Sequence[RetrievedChunk]) -> list[str | None]:
    """Return what stands above each of several sections; the footnotes name their places whole.

    Nothing stands above a single one: its footnote would say the same.
    """
    if len(chunks) < 2:
        return [None] * len(chunks)
    short = [_own_heading(chunk) or chunk.page_title for chunk in chunks]
    alike = {one for one in short if short.count(one) > 1}
    return [
        place_of(chunk) if name in alike else name
        for chunk, name in zip(chunks, short, strict=True)
    ]


def _own_heading(chunk: RetrievedChunk) -> str | None:
    return chunk.section_heading or (chunk.headings[-1] if chunk.headings else None)


def place_of(chunk: RetrievedChunk) -> str:
    """Return what a passage's section is called: its page, and its heading where it has one."""
    own = _own_heading(chunk)
    return chunk.page_title if own in {None, chunk.page_title} else f"{chunk.page_title} › {own}"


def _claim(
    run: Sequence[Piece],
    window: Window,
    evidence: Sequence[RetrievedChunk],
    heading: str | None,
    lead: str | None,
) -> Claim:
    first, last = run[0], run[-1]
    marks = len(window.pieces) > 1
    text = _shown(first, window, marks=marks)
    for piece in run[1:]:
        text += ("\n\n" if piece.opens else " ") + _shown(piece, window, marks=marks)
    quote = evidence[first.chunk_number].content_text[first.start : last.end]
    quoted = QuotedWords(first.chunk_number, quote, first.start)
    return Claim(text, (quoted,), lead=lead, heading=heading)


def _shown(piece: Piece, window: Window, *, marks: bool) -> str:
    text = piece.text
    is_line = piece.kind == PROSE or (piece.kind == ENTRY and "\n" not in text)
    scored = window.centres.get(piece)
    if scored is not None and scored.line is not None and piece.text == piece.quote:
        start, _, line = scored.line
        return f"{text[:start]}{_marked(piece, line)}{text[start + len(line) :]}"
    bold = marks and scored is not None and is_line
    is_emphasised = _EMPHASISED.search(without_code(text)) is not None
    return f"**{text}**" if bold and not is_emphasised else text


def _marked(piece: Piece, line: str) -> str:
    """Return a line of a block in bold, where it has no marks of its own."""
    if _EMPHASISED.search(without_code(line)) or "`" in line:
        return line
    if piece.kind == TABLE:
        return re.sub(r"[^|\s](?:[^|]*[^|\s])?", r"**\g<0>**", line)
    mark, _, words = line.partition(" ")
    return f"{mark} **{words.strip()}**" if "\n" not in words else line


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
