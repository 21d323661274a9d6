"""Reads what a section says from its beginning, or one numbered paragraph of it."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate, islice, pairwise

from core.index.base import VectorIndex
from core.models import Chunk
from core.retrieval.editions.edition_reader import EditionReader
from core.retrieval.evidence import BUDGET, Excerpt
from core.retrieval.named_sections.numbers import read_number
from core.retrieval.named_sections.references import SectionReference
from core.retrieval.named_sections.resolution import (
    MOST,
    counts_sections_like,
    find_sections,
    holds,
    near_number,
    resolve_section,
)
from core.retrieval.retrieval import retrieved, whole
from core.storage.catalogue import Catalogue, Edition, SectionRecord
from core.text.tokens import count_tokens

_MARKER = re.compile(r"^[ \t*_]*\((\d+[a-z]?)\)", re.MULTILINE)
"""What a numbered paragraph of a statute begins with."""


@dataclass(frozen=True, slots=True)
class NamedSection:
    """What a question's reference came to."""

    sections: tuple[SectionRecord, ...]
    """In book order; none: the book has no such section."""
    name: str
    """The heading, or how the question calls what is missing."""
    paragraph: str | None
    near: tuple[str, ...]
    """Headings of where to look when the section, or the paragraph of it, is missing."""


class SectionReader:
    """Finds what a question names in an edition, and reads it."""

    def __init__(self, catalogue: Catalogue, index: VectorIndex) -> None:
        self._catalogue = catalogue
        self._reader = EditionReader(index)

    async def find(
        self, edition: Edition, references: Sequence[SectionReference], limited_to: str | None
    ) -> NamedSection | None:
        """Return the section whose text is asked for; None: the question is an ordinary one.

        Args:
            limited_to: The section that alone is searched.

        Raises:
            UnknownSection: when there is none called `limited_to`.
        """
        sections = await self._catalogue.sections(edition.generation)
        if not sections:
            return None
        searched: list[SectionRecord] = []
        paragraph = None
        if limited_to is not None:
            wanted = resolve_section(limited_to, sections)
            searched = [section for section in sections if section.section_id in wanted]
            _, paragraph = read_number(limited_to) or (None, None)
        return named_section(references, sections, searched, paragraph)

    async def chunks(self, edition: Edition, named: NamedSection) -> list[Chunk]:
        """Return the text of the section in book order."""
        files = dict.fromkeys(section.source_file for section in named.sections)
        modules = {section.module for section in named.sections if section.module}
        documents = await self._catalogue.documents(edition.generation)
        return [
            chunk
            for document in documents
            if document.source_file in files or document.module in modules
            async for chunk in self._reader.scroll(edition, document.document_id)
            if any(
                holds(section, chunk.source_file, chunk.headings, chunk.module_name)
                for section in named.sections
            )
        ]


def named_section(
    references: Sequence[SectionReference],
    sections: Sequence[SectionRecord],
    searched: Sequence[SectionRecord],
    paragraph: str | None,
) -> NamedSection | None:
    """Return the section that is asked for; None: the question is an ordinary one.

    Args:
        searched: The sections that alone are searched; empty: the whole book.
        paragraph: The paragraph of them that the reader limited the question to.
    """
    for reference in references:
        found, own = list(searched), reference.paragraph or paragraph
        if reference.name:
            named, own = find_sections(reference, sections), reference.paragraph
            found = [
                s
                for s in named
                if not searched or any(holds(o, s.source_file, s.path, s.module) for o in searched)
            ]
        if found:
            titles = tuple(dict.fromkeys(one.title for one in found))
            return NamedSection(tuple(found), titles[0], own, titles[:MOST])
        number = reference.number
        if number and not searched and counts_sections_like(number, sections):
            return NamedSection((), reference.name, None, near_number(number, sections))
    return None


def excerpts_of(chunks: Sequence[Chunk], paragraph: str | None, most: int) -> list[Excerpt]:
    """Return what a writer reads of a section: its beginning, or the paragraph asked for.

    None at all when the paragraphs have numbers and none of them has this one.
    """
    if paragraph and any(_MARKER.search(chunk.content_text) for chunk in chunks):
        return list(islice(_paragraph_of(chunks, paragraph), most))
    lengths = accumulate(chunk.token_count for chunk in chunks)
    fit = max(1, sum(length <= BUDGET for length in lengths))
    return [whole(retrieved(chunk, 1.0)) for chunk in chunks[: min(fit, most)]]


def _paragraph_of(chunks: Sequence[Chunk], number: str) -> Iterator[Excerpt]:
    """Yield the paragraph marked "(number)", which may go on in the next chunk of its section."""
    headings, marked = None, ""
    for chunk in chunks:
        marked = marked if chunk.headings == headings else ""
        headings, text = chunk.headings, chunk.content_text
        marks = [(mark.start(), mark[1].casefold()) for mark in _MARKER.finditer(text)]
        for (start, name), (end, _) in pairwise([(0, marked), *marks, (len(text), "")]):
            if name == number and text[start:end].strip():
                yield Excerpt(retrieved(chunk, 1.0), start, end, count_tokens(text[start:end]))
            marked = name
