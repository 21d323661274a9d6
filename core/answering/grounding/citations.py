"""Numbers the citations of one answer; a citation is words that stand in the book."""

import re
import unicodedata
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

from core.domain import AgentResponse, Citation, QuoteStatus, RetrievedChunk, source_urls
from core.domain.i18n import Message, text
from core.domain.links import (
    beginning,
    fenced,
    lasting,
    one_line,
    prose_without_links,
    without_links,
)
from core.domain.markdown import code_in, is_block, outside_code

if TYPE_CHECKING:
    from core.answering.grounding.differences import Difference


_BRACKETED_NUMBER = re.compile(r"\[(\d+)\]")
_BACKTICK = re.compile(r"\\?`")
_TILDES = re.compile("~{3,}")


class CitedPlace(NamedTuple):
    """Where quoted words stand: a chunk of the evidence and a span of its text."""

    chunk_number: int
    start: int
    end: int


@dataclass
class CitationLedger:
    """Numbers the citations of one answer.

    `evidence` are the chunks that may be cited. Equal passages share a number.
    """

    evidence: Sequence[RetrievedChunk]
    citations: list[Citation] = field(default_factory=list)

    def locate(self, chunk_number: int, quote: str, start: int) -> CitedPlace | None:
        """Return where the quote stands, to the letter; None when it does not stand there.

        Args:
            chunk_number: Which of the evidence it is said to stand in.
            quote: What is said to stand there.
            start: Where it begins.
        """
        if not 0 <= chunk_number < len(self.evidence) or not quote.strip() or start < 0:
            return None
        if not self.evidence[chunk_number].content_text.startswith(quote, start):
            return None
        return CitedPlace(chunk_number, start, start + len(quote))

    def cite(self, text: str, places: Sequence[CitedPlace]) -> str:
        """Return `text` without links, followed by the markers of its citations."""
        markers = dict.fromkeys(self._marker(place) for place in places)
        shown = presentable(text)
        return f"{shown}{_glue(shown)}{' '.join(f'[{marker}]' for marker in markers)}"

    @property
    def grounding_chunks(self) -> tuple[RetrievedChunk, ...]:
        """The cited chunks in order of first citation, each once."""
        by_id = {chunk.chunk_id: chunk for chunk in self.evidence}
        cited = dict.fromkeys(citation.chunk_id for citation in self.citations)
        return tuple(by_id[chunk_id] for chunk_id in cited)

    @property
    def sources(self) -> tuple[str, ...]:
        """The cited chunks' URLs in order of first citation, each once."""
        return source_urls(self.grounding_chunks, tuple(self.citations))

    def _marker(self, place: CitedPlace) -> int:
        chunk = self.evidence[place.chunk_number]
        for citation in self.citations:
            known = (citation.chunk_id, citation.char_start, citation.char_end)
            if known == (chunk.chunk_id, place.start, place.end):
                return citation.marker
        marker = len(self.citations) + 1
        self.citations.append(
            Citation(
                marker=marker,
                chunk_id=chunk.chunk_id,
                quote=chunk.content_text[place.start : place.end],
                char_start=place.start,
                char_end=place.end,
            )
        )
        return marker


def _glue(shown: str) -> str:
    """Return what stands between a text and its markers; right below a table is a row."""
    last = shown.rstrip().rpartition("\n")[-1]
    if last.lstrip().startswith("|"):
        return "\n\n"
    return "\n" if is_block(shown) or is_block(last) else " "


def below_mark(text: str, lead: str | None) -> str:
    """Return a claim's text; lines of a block move right, below the mark of their item.

    Args:
        lead: The layout in front of it, such as a bullet.
    """
    mark = (lead or "").rpartition("\n")[2]
    if not mark.strip() or not is_block(text):
        return text
    return text.replace("\n", "\n" + " " * len(mark))


def presentable(text: str) -> str:
    """Return Markdown as it is shown: its code byte for byte, its prose without links.

    The prose has nothing that looks like our markers. Code that was left open is closed; what
    opens none and never closes becomes a plain quotation mark, since the text of one claim must
    not swallow the marker of the next.
    """
    text = lasting(text)
    shown = outside_code(text, _prose)
    return shown if _codes(shown) == _codes(text) else _in_blocks(text)


def _codes(text: str) -> list[str]:
    return [code.content for code in code_in(text)]


def _in_blocks(text: str) -> str:
    """Return prose and code that cannot be taken for anything else: each on lines of its own."""
    return outside_code(
        text,
        lambda prose: " ".join(_prose(prose).split()),
        code=lambda code, _: f"\n\n{fenced(code.content)}\n\n",
    ).strip()


def _prose(text: str) -> str:
    plain = _TILDES.sub("—", _BACKTICK.sub("‘", without_links(text)))
    return _BRACKETED_NUMBER.sub(r"(\1)", plain)


_FUNCTION_WORDS = {
    "en": "the of and to in is that for it as with was are by this be on from or which an have "
    "has not their when can will its they at per what how does if more than were but these also "
    "who why where did should would could me my you your we i",
    "de": "der die das und ist nicht ein eine zu den von mit sich des auf für im dem auch als wird "
    "es an werden aus oder einen einer wie sind bei durch wenn wir nur was dass kann um über "
    "ich du mir mich muss soll kannst wer wo wann warum welche welcher welches wieviel haben hat",
    "fr": "le la les et des est une un du en que qui dans pour pas sur au par plus ne ce il sont "
    "avec aux se cette ou elle comme mais nous leur être quand lorsque ces quel quelle sa d l "
    "je tu pourquoi comment où quels quelles quoi combien",
    "es": "el la los las y de que en un una es por con para del se su al lo como más no son o sus "
    "pero este esta entre cuando también hay muy qué cómo cuál porque ser si está fue "
    "yo dónde cuándo cuánto cuánta cuáles quién",
    "it": "il la di che e è un una per in non del della con i le gli sono si da al nel come più "
    "dei anche alla delle ma questo questa quando ha cosa quale essere perché dell l "
    "io dove quanto quali chi",
    "pt": "o a os as e de que em um uma é por com para do da no na se dos das não mais como ao "
    "são ou seu sua mas quando também pelo pela este esta ser está foi qual "
    "eu onde quanto quais quem porque por",
    "nl": "de het een en van is dat in te niet op zijn voor met die aan er als ook bij door om "
    "naar maar wordt worden dan wat hoe deze dit kan uit heeft over hun of "
    "ik je waarom welke waar wanneer",
    "pl": "i w na z się nie jest to że do jak o co przez dla od po za są przy ale może tym który "
    "która które oraz ich tego tej lub",
    "sv": "och att det som en på är av för med den till inte om ett han de var från när kan eller "
    "man men ska har hur vad sig vid",
    "da": "og at det som en på er af for med den til ikke om et de var fra når kan eller man men "
    "skal har hvordan hvad sig ved",
    "cs": "a je se na v že to s z do o které jako pro při by ale jsou nebo když jeho podle není",
    "ro": "și de la în a că este o un nu cu pe din mai sau pentru care ca sunt se prin dar",
    "tr": "ve bir bu da de için ile olarak daha çok ne gibi olan ya kadar değil mi en ise nasıl",
    "id": "yang dan di ke dari untuk dengan pada adalah ini itu tidak dalam atau juga oleh akan "
    "karena jika apa bagaimana",
}
_WORD = re.compile(r"[^\W\d_]+")
_WORDS_OF = {code: frozenset(words.split()) for code, words in _FUNCTION_WORDS.items()}
_LANGUAGES_OF = {
    word: frozenset(code for code, known in _WORDS_OF.items() if word in known)
    for words in _WORDS_OF.values()
    for word in words
}
_FEWEST_HITS = 1.5
_LEAD = 1.3
_FEWEST_WORDS = 3
"""Words of two letters or more; a question in Latin script that has fewer shows no language."""
_FEWEST_IN_ANSWERED = 2
"""Function words of another language, without which an answered question is not taken to be in
it."""
_FEWEST_DIFFERENT = 4
"""Function words of a language in Latin script, without which texts are not taken to be in it."""
_OWN_SCRIPTS = ("CJK", "HANGUL", "CYRILLIC", "ARABIC", "HEBREW", "GREEK",
                "DEVANAGARI", "THAI", "BENGALI", "TAMIL", "GEORGIAN", "ARMENIAN")  # fmt: skip
_ONE_WRITING = {"HIRAGANA": "CJK", "KATAKANA": "CJK"}
ENGLISH = "en"


def language_of(*texts: str) -> str | None:
    """Return the language of the first of the texts that shows one; None: none does.

    The answer is a code of two letters for languages in Latin script, and the name of the
    script for any other.
    """
    return next((found for text in texts if (found := _language(text)) is not None), None)


def is_in_another_language(question: str, language: str, *, answered: bool = False) -> bool:
    """Return whether a question is surely not in a book's language, a BCP 47 tag.

    Args:
        answered: Whether the book answered it all the same: then a foreign name or title is no
            sign, but two words of another language are, and none of the book's own.
    """
    found = _in_most([question], language)
    if found not in _WORDS_OF:
        return found is not None
    words = {word for word in _WORD.findall(question.casefold()) if len(word) > 1}
    if answered and len(words & _WORDS_OF[found]) < _FEWEST_IN_ANSWERED:
        return False
    own = _WORDS_OF[language.partition("-")[0].casefold()]
    is_mixed = answered and words & own - _WORDS_OF[found]
    return not is_mixed and _count_words(question) >= _FEWEST_WORDS


def foreign_language(texts: Sequence[str], language: str) -> str | None:
    """Return what more than half of some texts are in, where that is not a book's language.

    Args:
        language: The book's, a BCP 47 tag; of one that is not known by its words nothing is said.

    Returns:
        As `language_of`; None: most are in the book's language, or show none, or they have too few
        of the words by which a language is known.
    """
    found = _in_most(texts, language)
    if found not in _WORDS_OF:
        return found
    words = {word for text in texts for word in _WORD.findall(text.casefold())}
    return found if len(words & _WORDS_OF[found]) >= _FEWEST_DIFFERENT else None


def _in_most(texts: Sequence[str], language: str) -> str | None:
    own = language.partition("-")[0].casefold()
    [(most, count)] = Counter(map(language_of, texts)).most_common(1) or [(None, 0)]
    return most if own in _FUNCTION_WORDS and most != own and 2 * count > len(texts) else None


def _count_words(text: str) -> int:
    return sum(len(word) > 1 for word in _WORD.findall(text))


@lru_cache(maxsize=1 << 9)
def _language(text: str) -> str | None:
    words = _WORD.findall(text.casefold())
    return _script("".join(words)) or _by_function_words(words)


def _by_function_words(words: Sequence[str]) -> str | None:
    """Return the language that has clearly more of the words than any other."""
    hits: dict[str, float] = {}
    for known in filter(None, map(_LANGUAGES_OF.get, words)):
        for code in known:
            hits[code] = hits.get(code, 0.0) + 1 / len(known)
    ranked = sorted(hits, key=hits.__getitem__, reverse=True)
    if not ranked or hits[ranked[0]] < min(_FEWEST_HITS, 0.3 * len(words)):
        return None
    is_clear = len(ranked) == 1 or hits[ranked[0]] >= _LEAD * hits[ranked[1]]
    return ranked[0] if is_clear else None


def _script(letters: str) -> str | None:
    """Return the script of most letters, none for the Latin one."""
    if letters.isascii():
        return None
    names = (unicodedata.name(letter, "").partition(" ")[0] for letter in letters)
    name, _ = Counter(_ONE_WRITING.get(name, name) for name in names).most_common(1)[0]
    return name if name in _OWN_SCRIPTS else None


_MOST_DIFFERENCES = 3
_LONGEST_DIFFERENCE = 80
"""Characters of words in which a quote differs from the book."""
_LANGUAGES = {
    "en": Message("language-en"),
    "de": Message("language-de"),
    "fr": Message("language-fr"),
    "es": Message("language-es"),
    "it": Message("language-it"),
    "pt": Message("language-pt"),
    "nl": Message("language-nl"),
    "pl": Message("language-pl"),
    "sv": Message("language-sv"),
    "da": Message("language-da"),
    "cs": Message("language-cs"),
    "ro": Message("language-ro"),
    "tr": Message("language-tr"),
    "id": Message("language-id"),
}
_LONGEST_HEADING = 80
"""Characters of a heading that are shown while its section is read."""
_LONGEST_PLACE = 160
"""Characters of the page and heading that stand above a passage."""


def reading(headings: Sequence[str]) -> str:
    """Return what is shown while the sections that were found are read."""
    names = (text("answer-name", name=_on_one_line(h, _LONGEST_HEADING)) for h in headings)
    return text("notice-reading", names=", ".join(names))


def not_covered(*, within: bool = False, is_near: bool = False) -> str:
    """Return what is said where the book, or one section of it, gives no answer.

    Args:
        is_near: Whether the book speaks of what was asked all the same.
    """
    if within:
        return text("answer-not-covered-within")
    return text("answer-nearest") if is_near else text("answer-not-covered")


def other_language(language: str) -> str:
    """Return the answer to a question in another language than the book's, a BCP 47 tag."""
    name = _LANGUAGES[language.partition("-")[0].casefold()]
    return text("answer-other-language", language=name)


def no_section(name: str) -> str:
    """Return the answer when the section that a question names does not exist."""
    return text("answer-no-section", name=prose_without_links(name))


def not_carried(*, within: bool = False) -> str:
    """Return the answer when nothing that was written is carried by the book, or its section."""
    return text("answer-not-carried-within") if within else text("answer-not-carried")


def heading(place: str, level: int = 3) -> str:
    """Return the line above a passage that says where it stands, as Markdown.

    Above the answer to a part of the question it says which part that is, and is of level 2.
    """
    return f"{'#' * level} {_on_one_line(place, _LONGEST_PLACE)}"


def part_without(*, within: bool) -> str:
    """Return what stands in place of an answer to a part of the question."""
    return text("answer-part-without-within") if within else text("answer-part-without")


def with_nearest(said: str, sections: Sequence[str]) -> str:
    """Return a refusal as one text, which names the nearest sections, if there are any."""
    if not sections:
        return said
    names = "; ".join(text("answer-name", name=prose_without_links(one)) for one in sections)
    return f"{said} {text('answer-nearest-sections', names=names, count=len(sections))}"


def quote_place(status: QuoteStatus, place: str, differing: Sequence["Difference"] = ()) -> str:
    """Return the sentence that says where a quoted passage stands, and how it misquotes it."""
    if differing:
        told = "; ".join(map(_difference, differing[:_MOST_DIFFERENCES]))
        return text("answer-misquoted", place=place, told=told)
    if status is QuoteStatus.VERBATIM:
        return text("answer-quote-verbatim", place=place)
    return text("answer-quote-reworded", place=place)


def _on_one_line(name: str, longest: int) -> str:
    return beginning(one_line(prose_without_links(name)), longest)


def _difference(one: "Difference") -> str:
    quoted, written = (beginning(words, _LONGEST_DIFFERENCE) for words in (one.quoted, one.written))
    if not written:
        return text("answer-difference-missing", quoted=quoted)
    if not quoted:
        return text("answer-difference-added", written=written)
    return text("answer-difference", written=written, quoted=quoted)


def understood(response: AgentResponse) -> str | None:
    """Return the line above an answer that says what was understood; None: what was asked."""
    if response.understood_as is None:
        return None
    return text("answer-understood-as", question=one_line(response.understood_as))


def asking_back(choices: Sequence[str]) -> str:
    """Return the question which of several is meant, with their numbers."""
    listed = "\n".join(f"{n}. {one_line(one)}" for n, one in enumerate(choices, 1))
    return f"{text('answer-which-one')}\n\n{listed}"
