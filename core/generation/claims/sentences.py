"""The sentences of the evidence, each with the number that a model cites it by."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from core.generation.base import Passage, QuotedWords
from core.generation.passages.pieces import LAID_OUT, laid_out, tells
from core.models import RetrievedChunk
from core.text.sentences import Span


@dataclass(frozen=True, slots=True)
class NumberedSentence:
    """A whole sentence, row of a list, table, formula or code block of one chunk."""

    number: int
    """From 1, in the order in which a model reads them."""
    chunk_number: int
    """Position of its chunk in the evidence, from 0."""
    start: int
    end: int
    """Its span in the chunk's text."""
    text: str
    opens: bool
    """Whether a line of its own begins here."""


@dataclass(eq=False)
class Numbering:
    """Gives each sentence that a model reads its number, once for an answer."""

    with_all: bool = False
    """Whether exercises, captions and navigation, which answer nothing, are numbered as well."""
    _known: dict[tuple[int, Span], NumberedSentence] = field(default_factory=dict)
    _chunks: dict[int, RetrievedChunk] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self._known)

    def add(self, passage: Passage) -> list[NumberedSentence]:
        """Return the sentences of a passage; one that has a number keeps it."""
        self._chunks[passage.chunk_number] = passage.chunk
        return [self._numbered(passage, span) for span in self._spans(passage)]

    def quotes(self, numbers: Sequence[int]) -> tuple[QuotedWords, ...] | None:
        """Return the sentences with these numbers, verbatim, neighbours joined into one quote.

        None: one of the numbers was never given.
        """
        if any(not 1 <= number <= len(self) for number in numbers):
            return None
        known, quotes = list(self._known.values()), list[QuotedWords]()
        for sentence in (known[number - 1] for number in sorted(set(numbers))):
            text = self._chunks[sentence.chunk_number].content_text
            start, end = sentence.start, sentence.end
            if quotes and quotes[-1].chunk_number == sentence.chunk_number:
                before = quotes[-1].start + len(quotes[-1].text)
                if before <= start and not text[before:start].strip():
                    start = quotes.pop().start
            quotes.append(QuotedWords(sentence.chunk_number, text[start:end], start))
        return tuple(quotes)

    def _numbered(self, passage: Passage, span: Span) -> NumberedSentence:
        key = (passage.chunk_number, span)
        if key not in self._known:
            text = passage.chunk.content_text
            before = text[: span.start]
            opens = "\n" in before[len(before.rstrip()) :] or not before.strip()
            self._known[key] = NumberedSentence(
                len(self) + 1, passage.chunk_number, *span, text[slice(*span)], opens
            )
        return self._known[key]

    def _spans(self, passage: Passage) -> list[Span]:
        read = Span(passage.start, passage.start + len(passage.text))
        inside = [
            Span(max(start, read.start), min(end, read.end))
            for start, end, _ in laid_out(passage.chunk, LAID_OUT)
            if start < read.end and read.start < end
        ]
        spans = [span for span in inside if passage.chunk.content_text[slice(*span)].strip()]
        telling = [span for span in spans if tells(passage.chunk, *span)]
        return spans if self.with_all or not telling else telling
