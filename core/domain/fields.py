"""Field types that several entities share, and the base of all entities."""

import re
import unicodedata
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from enum import StrEnum
from types import MappingProxyType
from typing import Annotated, Any, Final
from urllib.parse import SplitResult, urlsplit
from uuid import UUID

from pydantic import (
    AfterValidator,
    AwareDatetime,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    StringConstraints,
    ValidationInfo,
    model_validator,
)

from core.domain.errors import EmptyQuestion, QuestionTooLong, QuestionTooShort

MIN_QUESTION = 2
MAX_QUESTION = 999
MAX_SELECTED_TEXT = 8_000
MOST_CHOICES = 4
"""Questions that an asker chooses from."""
MAX_SECTION_NAME = 1_000
CLOCK_SKEW = timedelta(seconds=5)
STORED: Final[Mapping[str, bool]] = MappingProxyType({"stored": True})
"""Validation context of what was accepted once: a clock set back must not make it unreadable."""

_UNSTORABLE = re.compile("[\x00\ud800-\udfff]")
"""NUL, which PostgreSQL takes in no text, and half a surrogate pair, which UTF-8 cannot hold."""
_SENTENCE_END = re.compile(r"[.!?…][\"'”’)\]]*(?=\s)|[。！？][”’」』）]*")
_WORD_END = re.compile(r"\S(?=\s)")


def now() -> datetime:
    """Return the current time in UTC."""
    return datetime.now(UTC)


def _utc(moment: datetime) -> datetime:
    return moment.astimezone(UTC)


def _not_in_future(moment: datetime, info: ValidationInfo) -> datetime:
    if info.context is not STORED and moment > now() + CLOCK_SKEW:
        raise ValueError("must not be in the future")
    return moment


def well_formed(text: str) -> str:
    """Return `text` with U+FFFD for each character that no database holds.

    A chat delivers such text when a program cut a message in the middle of an emoji.
    """
    return _UNSTORABLE.sub("\N{REPLACEMENT CHARACTER}", text)


def _well_formed(value: Any) -> Any:
    return well_formed(value) if isinstance(value, str) else value


def _question(text: str) -> str:
    text = text.strip()
    if not text:
        raise EmptyQuestion
    if len(text) < MIN_QUESTION:
        raise QuestionTooShort(len(text), MIN_QUESTION)
    if len(text) > MAX_QUESTION:
        raise QuestionTooLong(len(text), MAX_QUESTION)
    return text


def cut_selected_text(text: str) -> tuple[str, bool]:
    """Return a quote of at most 8,000 characters, and whether it had to be cut.

    The cut falls after the last sentence that fits, else after the last word.
    """
    if len(text) <= MAX_SELECTED_TEXT:
        return text, False
    for end in (_SENTENCE_END, _WORD_END):
        ends = [match.end() for match in end.finditer(text, 0, MAX_SELECTED_TEXT + 1)]
        fitting = [place for place in ends if MAX_SELECTED_TEXT // 2 < place <= MAX_SELECTED_TEXT]
        if fitting:
            return text[: fitting[-1]], True
    return text[:MAX_SELECTED_TEXT], True


def _quote(value: Any) -> Any:
    return cut_selected_text(value)[0] if isinstance(value, str) else value


def _section_name(value: Any) -> Any:
    return value[:MAX_SECTION_NAME] if isinstance(value, str) else value


def is_web_url(url: str) -> bool:
    """Return whether this is an http(s) URL that a link may lead to."""
    try:
        _web_url(url)
    except ValueError:
        return False
    return True


def _web_url(url: str) -> str:
    parts = urlsplit(url)
    if parts.scheme not in {"http", "https"} or not parts.hostname:
        raise ValueError("must be an http(s) URL")
    if url.split() != [url] or not url.isprintable():
        raise ValueError("must not contain spaces or control characters")
    return url


UtcTime = Annotated[AwareDatetime, AfterValidator(_utc)]
PastTime = Annotated[UtcTime, AfterValidator(_not_in_future)]
_Text = Annotated[str, BeforeValidator(_well_formed)]
Question = Annotated[_Text, AfterValidator(_question)]
"""Stripped, 3 to 999 characters; anything else raises the RequestError that says so."""
NonBlank = Annotated[_Text, StringConstraints(min_length=1, pattern=r"\S")]
Quote = Annotated[NonBlank, BeforeValidator(_quote)]
"""A passage of at most 8,000 characters; longer is cut at a sentence."""
SectionName = Annotated[NonBlank, BeforeValidator(_section_name)]
"""What a section is called, at most 1,000 characters: a longer one is cut; no section has it."""
Unit = Annotated[float, Field(ge=0.0, le=1.0, allow_inf_nan=False)]
Count = Annotated[int, Field(ge=0)]
WebUrl = Annotated[str, AfterValidator(_web_url)]
CourseId = Annotated[str, StringConstraints(pattern=r"^[a-z0-9][a-z0-9_-]{0,63}$")]
"""A course's short name: lower-case letters, digits, `-` and `_`, at most 64."""


def course_id_like(text: str) -> str | None:
    """Return the course's id that comes nearest to a text, `bio-201` for "BIO 201"; None: none."""
    plain = unicodedata.normalize("NFKD", text).encode("ascii", "ignore").decode().lower()
    return re.sub(r"[^a-z0-9]+", "-", plain).strip("-")[:64].strip("-") or None


TenantName = Annotated[str, StringConstraints(pattern=r"^[a-z]+:[A-Za-z0-9]+$")]
"""A guild, workspace or organisation: `discord:42`, `slack:T0123`."""
Milliseconds = Annotated[float, Field(ge=0.0, allow_inf_nan=False)]


class Model(BaseModel):
    """Immutable, exact: unknown fields are refused, in words that quote nothing.

    Of what is `STORED` they are left out: a later version may have written it.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", hide_input_in_errors=True)

    @model_validator(mode="before")
    @classmethod
    def _leave_out_what_a_later_version_stored(cls, values: Any, info: ValidationInfo) -> Any:
        if info.context is not STORED or not isinstance(values, dict):
            return values
        return {name: value for name, value in values.items() if name in cls.model_fields}


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


class Course(Model):
    """One book (or site, or set of slides) that questions are answered from."""

    course_id: CourseId
    title: NonBlank
    base_url: WebUrl | None = None
    """Where the book is published; a document's URL is this plus its path."""
    language: str = "en"
    """BCP 47 tag of the book's language."""
    tenant: TenantName | None = None
    """Who owns it; none: the operator."""


def is_on_site(url: str, base_url: str | None) -> bool:
    """Return whether `url` lies on the course's own site: same host, port and path prefix."""
    if base_url is None:
        return False
    mine, site = urlsplit(url), urlsplit(base_url)
    folder = site.path if site.path.endswith("/") else site.path.rpartition("/")[0] + "/"
    return _place(mine) == _place(site) and (mine.path or "/").startswith(folder)


def _place(parts: SplitResult) -> str:
    """Return the host and port that count as one site: with or without TLS and `www.`."""
    return parts.netloc.lower().removeprefix("www.").removesuffix(":80").removesuffix(":443")


class PolicyMode(StrEnum):
    """What is answered to a question, from the most to the least."""

    FULL = "full"
    HINTS = "hints"
    """Where to read; then the rule; then a worked case of the book."""
    SECTIONS = "sections"
    """Where to read alone."""
    CLOSED = "closed"
    """Nothing."""
