"""Reads the rows that a course is measured with."""

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Annotated, Any

from pydantic import AfterValidator, Field, Strict, ValidationError

from core.errors import InvalidQuestions
from core.models import MIN_QUESTION, Model


def _long_enough(question: str) -> str:
    if len(question.strip()) < MIN_QUESTION:
        raise ValueError("too short")
    return question


class EarlierTurn(Model, extra="ignore"):
    """One message before the question."""

    role: str
    text: str


class GoldQuestion(Model, coerce_numbers_to_str=True):
    """A question with what is known about its answer."""

    id: str
    question: Annotated[str, Strict(), AfterValidator(_long_enough)]
    history: tuple[EarlierTurn, ...] = ()
    """Oldest first; only the turns of the role `user` (or `human`) are asked."""
    relevant: tuple[str, ...] = ()
    """Source files that hold the answer."""
    answers: tuple[str, ...] = ()
    """Reference answers; for kind `span` they stand in the text word for word."""
    answerable: bool = True
    kind: str = Field(default="")

    @property
    def earlier_questions(self) -> list[str]:
        """What the user said before, oldest first."""
        return [turn.text for turn in self.history if turn.role in {"user", "human"}]


def read_questions(path: Path) -> list[GoldQuestion]:
    """Return the rows of a JSONL file in order; blank lines are skipped.

    Raises:
        InvalidQuestions: naming the file or line and what is wrong.
    """
    try:
        # Not splitlines: JSON texts may hold the other separators that it knows.
        lines = path.read_text(encoding="utf-8-sig").split("\n")
    except OSError as error:
        raise InvalidQuestions(f"The file {path} cannot be read: {error.strerror}.") from error
    except UnicodeDecodeError as error:
        raise InvalidQuestions(f"The file {path} is not UTF-8 text.") from error
    rows = [_row(path, number, line) for number, line in enumerate(lines, 1) if line.strip()]
    if not rows:
        raise InvalidQuestions(f"The file {path} has no questions.")
    return rows


def _row(path: Path, number: int, line: str) -> GoldQuestion:
    try:
        fields = dict(_known(json.loads(line)))
        fields.setdefault("id", str(number))
        return GoldQuestion.model_validate(fields)
    except (json.JSONDecodeError, TypeError, AttributeError) as error:
        raise InvalidQuestions(f"{path}, line {number} is not a JSON object.") from error
    except ValidationError as error:
        problem = error.errors(include_url=False, include_input=False)[0]
        if problem["loc"] == ("question",):
            text = f"{path}, line {number}: question must be a text of {MIN_QUESTION} characters"
            raise InvalidQuestions(f"{text} at least.") from error
        place = ".".join(str(part) for part in problem["loc"])
        raise InvalidQuestions(f"{path}, line {number}: {place}: {problem['msg']}.") from error


def _known(row: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    """Keep the fields we read: rows may carry more."""
    for name, value in row.items():
        if name in GoldQuestion.model_fields and value is not None:
            yield name, value
