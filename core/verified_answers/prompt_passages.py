"""An answer of the staff as a passage that a language model may read, and has to cite."""

import re
from uuid import UUID, uuid5

from core.i18n import text
from core.markdown.code import outside_code
from core.models import RetrievedChunk
from core.text.tokens import count_tokens
from core.verified_answers.base import VerifiedAnswer

_MARKER = re.compile(r"[ \t]*\\?\[\d+\]")


_INSTRUCTION = (
    "A passage below “{place}” is what the course's staff answered to the question that stands "
    "above it. Cite it like any other passage, and use it only where that question asks the same "
    "as this one: in the same case, with the same numbers, names and conditions."
)


def instruction() -> str:
    """Return what a language model has to know of such passages.

    It names them as `passage_of` does in the same task: in the language of who is answered.
    """
    return _INSTRUCTION.format(place=text("verified-place"))


def passage_of(answer: VerifiedAnswer, generation: UUID) -> RetrievedChunk | None:
    """Return an answer as a passage; None: its text is nothing but markers.

    It stands below the staff's name in the language of who is answered, where a fallback that
    quotes it shows it.

    Args:
        generation: The edition that is answered from.
    """
    said = outside_code(answer.answer_text, lambda prose: _MARKER.sub("", prose)).strip()
    if not said:
        return None
    place = text("verified-place")
    return RetrievedChunk(
        chunk_id=uuid5(answer.answer_id, str(answer.revision)),
        course_id=answer.course_id,
        document_id=answer.answer_id,
        generation=generation,
        content_text=said,
        source_file=place,
        page_title=place,
        headings=(answer.question,) if answer.question else (),
        chunk_index=0,
        total_chunks=1,
        token_count=count_tokens(said),
        char_start=0,
        char_end=len(said),
        metadata={"verified": answer.verified_at.date().isoformat()},
        similarity_score=1.0,
    )
