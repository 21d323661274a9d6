"""What an answer says of the course's staff: that they checked it, or have one to offer."""

from typing import Annotated
from uuid import UUID

from pydantic import Field

from core.models.fields import Model, NonBlank, UtcTime


class StaffCheck(Model):
    """The answer of a course's staff that is shown in place of a written one."""

    answer_id: UUID
    revision: Annotated[int, Field(ge=1)]
    question: NonBlank
    """The question that staff answered."""
    checked_at: UtcTime


class OfferedAnswer(Model):
    """An answer of a course's staff to a question that may be the same."""

    answer_id: UUID
    question: NonBlank
    """The question that staff answered, under which the answer is offered."""
