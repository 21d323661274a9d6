"""Takes an answer apart: its sentences, each with the passages that it cites."""

import re
import unicodedata
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import accumulate

from core.markdown.code import masked
from core.models import CITATION_MARKER, AgentResponse, Outcome, QuoteStatus
from core.text.links import without_layout, without_links
from core.text.sentences import sentences

_BULLET = re.compile(r"\A\s*(?:[-*•+]|\d{1,3}[.)])\s+")
_TOKEN = re.compile(r"(?<![\w-])-(?=\d)|[^\W_]+|[+/=<>%$€£&|^~]")
_MARKERS = re.compile(rf"{CITATION_MARKER.pattern}(?:\s*{CITATION_MARKER.pattern})*")


@dataclass(frozen=True, slots=True)
class CitedPassage:
    """What a marker stands for."""

    quote: str
    chunk: str
    """The text around the quote, its headings in front."""


@dataclass(frozen=True, slots=True)
class Statement:
    """One sentence of an answer, without its bullet and markers."""

    text: str
    passages: tuple[CitedPassage, ...] = ()
    """What it cites, in order; empty: it has no citation."""


def statements_of(response: AgentResponse) -> list[Statement]:
    """Return what an answer says, in order.

    A citation belongs to the sentence that it ends, and to those right before as far as they
    stand in its quote word for word. Our own sentences are left out: an abstention, and where
    the reader's passage stands. So are lines such as `For example:` in front of what is cited.
    """
    if response.outcome not in {Outcome.ANSWERED, Outcome.PARTIAL}:
        return []
    parts = list(_parts(without_layout(response.response_text), _passages(response)))
    location = response.quote_location
    tells_a_place = location is not None and location.status is not QuoteStatus.NOT_FOUND
    said = parts[1:] if tells_a_place else parts
    return [one for text, cited in said for one in _cut(text, cited, response.query_text)]


def _passages(response: AgentResponse) -> dict[int, CitedPassage]:
    """Return what each marker stands for."""
    chunks = {
        chunk.chunk_id: "\n\n".join((*chunk.headings, chunk.content_text))
        for chunk in response.grounding_chunks
    }
    return {
        citation.marker: CitedPassage(citation.quote, chunks[citation.chunk_id])
        for citation in response.citations
    }


def _parts(
    text: str, passages: Mapping[int, CitedPassage]
) -> Iterator[tuple[str, tuple[CitedPassage, ...]]]:
    """Yield the text up to each run of markers, with what they stand for."""
    prose = masked(text)  # `x[7]` is no marker
    position = 0
    for run in _MARKERS.finditer(prose):
        markers = dict.fromkeys(int(n) for n in CITATION_MARKER.findall(run.group()))
        cited = tuple(passages[marker] for marker in markers if marker in passages)
        yield text[position : run.start()], cited
        position = run.end()
    yield text[position:], ()


def _cut(text: str, passages: tuple[CitedPassage, ...], question: str) -> Iterator[Statement]:
    said = [without_bullet(sentence) for sentence in sentences(text)]
    said = [sentence for sentence in said if any(map(str.isalnum, sentence))]
    for sentence in said[:-1]:
        quoting = tuple(passage for passage in passages if stands_in(sentence, passage.quote))
        if quoting or not passages or not _leads_in(sentence):
            yield Statement(sentence, quoting)
    if said:
        yield Statement(said[-1], passages)


def _leads_in(sentence: str) -> bool:
    """Return whether a line announces what comes after it."""
    return sentence.rstrip("*_ ").endswith((":", "："))


def without_bullet(sentence: str) -> str:
    """Return the item of a list without the sign or number in front of it."""
    return _BULLET.sub("", sentence)


def stands_in(sentence: str, text: str) -> bool:
    """Return whether the sentence stands in the text word for word, as whole sentences of it.

    Layout makes no difference. A part of a sentence is not enough: what was left out may turn
    its meaning round.
    """
    wanted = _folded(sentence)
    parts = [_folded(part) for part in sentences(text)]
    runs = (parts[start:] for start in range(len(parts)))
    return any(wanted in accumulate(run, "{} {}".format) for run in runs)


def _folded(text: str) -> str:
    plain = (
        unicodedata.normalize("NFKC", without_links(without_bullet(text)))
        .replace("−", "-")
        .casefold()
    )
    return " ".join(_TOKEN.findall(plain))
