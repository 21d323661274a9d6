"""An answer of the staff as a passage that a language model may read, and has to cite."""

import re
from uuid import UUID, uuid5

from core.markdown.code import outside_code
from core.models import RetrievedChunk
from core.text.tokens import count_tokens
from core.verified_answers.base import VerifiedAnswer

STAFF_PLACE = "Course staff"
"""What stands above such a passage where a model reads it."""
INSTRUCTION = (
    f"A passage below “{STAFF_PLACE}” is what the course's staff answered to the question that "
    "stands above it. Cite it like any other passage, and use it only where that question asks "
    "the same as this one: in the same case, with the same numbers, names and conditions."
)
_MARKER = re.compile(r"[ \t]*\\?\[\d+\]")


def passage_of(answer: VerifiedAnswer, generation: UUID) -> RetrievedChunk | None:
    """Return an answer as a passage; None: its text is nothing but markers.

    Args:
        generation: The edition that is answered from.
    """
    said = outside_code(answer.answer_text, lambda prose: _MARKER.sub("", prose)).strip()
    if not said:
        return None
    return RetrievedChunk(
        chunk_id=uuid5(answer.answer_id, str(answer.revision)),
        course_id=answer.course_id,
        document_id=answer.answer_id,
        generation=generation,
        content_text=said,
        source_file=STAFF_PLACE,
        page_title=STAFF_PLACE,
        headings=(answer.question,) if answer.question else (),
        chunk_index=0,
        total_chunks=1,
        token_count=count_tokens(said),
        char_start=0,
        char_end=len(said),
        metadata={"trusted": 1, "verified": answer.verified_at.date().isoformat()},
        similarity_score=1.0,
    )
