"""The sentences of a chunk that a claim or a reader's quote rests on."""

from dataclasses import dataclass

from core.text.sentences import Span, sentence_spans


@dataclass(frozen=True, slots=True)
class QuotedPassage:
    """Whole sentences of a chunk that a claim rests on."""

    content: str
    """All of the chunk's text."""
    start: int
    end: int
    headings: tuple[str, ...] = ()
    """The path of titles above the chunk."""

    @property
    def text(self) -> str:
        """The quoted sentences."""
        return self.content[self.start : self.end]


def sentences_around(passage: QuotedPassage) -> QuotedPassage:
    """Return the whole sentences that a passage touches; of a table, its rows."""
    start, end = found = Span(passage.start, passage.end)
    for sentence in sentence_spans(passage.content):
        if sentence.end > found.start and sentence.start < found.end:
            if passage.content.startswith("|", sentence.start):
                sentence = _rows(passage.content, sentence, found)
            start, end = min(start, sentence.start), max(end, sentence.end)
    return QuotedPassage(passage.content, start, end, passage.headings)


def _rows(content: str, table: Span, found: Span) -> Span:
    """Return the span of those rows of a table that `found` touches."""
    start = max(content.rfind("\n", table.start, max(found.start, table.start)) + 1, table.start)
    end = content.find("\n", min(found.end, table.end), table.end)
    return Span(start, end if end >= 0 else table.end)
