"""`glossator ask`: one question, one answer."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from uuid import UUID

from pydantic import TypeAdapter

from adapters.console import JsonReply, PlainReply, TerminalReply
from adapters.delivery.run_turn import take_turn
from bot.cli.context import check_generator, choose_course_of, services, terminal_user
from bot.cli.exits import BadInput, Exit, UsageError
from bot.keyring.keys import PSEUDONYM
from bot.log import tell
from bot.services import Services, missing_text
from core.errors import CollectionDamaged, CollectionMissing
from core.grounding.languages import language_of
from core.i18n import use_locale
from core.models import (
    EXPLAIN_QUOTE,
    AgentRequest,
    ContextMode,
    Course,
    QueryType,
    Question,
    UserContext,
)


@dataclass(frozen=True, slots=True)
class AskArguments:
    """What was asked on the command line."""

    text: str | None
    course_id: str | None = None
    quote: str | None = None
    quote_file: Path | None = None
    section: str | None = None
    session: UUID | None = None


async def ask(
    asked: AskArguments, *, generator: str | None, as_json: bool, evidence: bool = False
) -> int:
    """Answer one question and return the exit code.

    With `evidence`, the words that the answer rests on stand below each place.

    Raises:
        RequestError: when the question is empty, too short or too long.
    """
    quote = asked.quote if asked.quote_file is None else read_quote(asked.quote_file)
    if quote is not None and not quote.strip():
        raise UsageError("The quote is empty.")
    if asked.text is None and quote is None:
        raise UsageError("Ask a question, or quote a passage with --quote.")
    if asked.text is not None:
        TypeAdapter(Question).validate_python(asked.text)  # before a course has to be named
    async with services(keys=[PSEUDONYM], needs_room=False) as opened:
        check_generator(opened, generator)
        course = await choose_course_of(opened, asked.session, asked.course_id)
        request = console_request(
            opened, course, asked.text, quote, section=asked.section, session=asked.session
        )
        agent = opened.agent(generator)
        await opened.load_writer(course.course_id, generator)
        with (
            use_locale(request.user_context.locale),
            open_reply(as_json=as_json, evidence=evidence) as reply,
        ):
            await take_turn(agent, request, reply)
        if reply.error is not None:
            raise reply.error
        if reply.failure in (CollectionMissing.user_message, CollectionDamaged.user_message):
            tell(missing_text(course.course_id))
    return Exit.OK if reply.succeeded else Exit.UNAVAILABLE


def console_request(
    opened: Services,
    course: Course,
    text: str | None,
    quote: str | None = None,
    *,
    section: str | None = None,
    session: UUID | None = None,
    stands_alone: bool = False,
    locale: str | None = None,
) -> AgentRequest:
    """Return the request for what was typed at a terminal.

    What Glossator itself says about it is in the question's language, else that of the quote.

    Args:
        locale: Of what was said before, for a question too short to show a language.

    Raises:
        RequestError: when the question is empty, too short or too long.
    """
    quoted = quote is not None
    return AgentRequest(
        course_id=course.course_id,
        query_text=EXPLAIN_QUOTE if text is None else text,
        query_type=QueryType.SECTION_SPECIFIC if section else QueryType.GLOBAL,
        section_filter=section,
        stands_alone=stands_alone,
        context_mode=ContextMode.SELECTED_TEXT if quoted else ContextMode.FULL_BOOK,
        selected_text=quote,
        session_id=session,
        user_id=terminal_user(opened.keys),
        user_context=UserContext(
            platform="console",
            workspace="local",
            locale=language_of(*filter(None, (text, quote))) or locale,
        ),
    )


@contextmanager
def open_reply(*, as_json: bool, evidence: bool = False) -> Iterator[JsonReply]:
    """Open the reply that fits where the output goes: JSON, a terminal or a pipe."""
    if as_json:
        yield JsonReply()
    elif not sys.stdout.isatty():
        yield PlainReply(evidence=evidence)
    else:
        from rich.console import Console

        with TerminalReply(Console(), evidence=evidence) as reply:
            yield reply


def read_quote(path: Path) -> str:
    """Return the passage in a file.

    Raises:
        BadInput: when the file is missing, empty or no text.
    """
    try:
        text = path.read_text(encoding="utf-8-sig")
    except OSError as error:
        raise BadInput(f"The file {path} cannot be read: {error.strerror}.") from error
    except UnicodeDecodeError as error:
        raise BadInput(f"The file {path} is not UTF-8 text.") from error
    if not text.strip():
        raise BadInput(f"The file {path} is empty.")
    return text
