"""What every button and every form does, who may, and what its user is shown."""

import logging
from collections.abc import Awaitable, Callable, Coroutine, Mapping
from functools import partial
from typing import Any
from uuid import UUID

from adapters.actions.answers import REASONS, AnswerActions, reason_of
from adapters.actions.queue import AnswerForm, HelpCard, page_name, page_of
from adapters.actions.reports import OwnData
from adapters.actions.settings import (
    LONGEST_NAME,
    LONGEST_TEXT,
    AssignmentForm,
    PolicySettings,
    StaffSettings,
)
from adapters.actions.staff import QueueBoard, StaffDesk
from adapters.actions.use import (
    Cards,
    Clicker,
    CoursesFound,
    Declined,
    Evidence,
    Field,
    Form,
    Notice,
    QuestionTaken,
    Result,
    Reviewer,
    Use,
)
from adapters.chat.access import Choice, request_in
from adapters.chat.base import CHOICE, pressed_section
from adapters.chat.buttons import NO_ID, Button, parsed
from adapters.chat.front_desk import FrontDesk, Received
from adapters.chat.incoming_message import IncomingMessage
from adapters.chat.markdown.layout import visible
from core.answering.verified import LONGEST_ANSWER, LONGEST_QUESTION
from core.domain import MAX_QUESTION, MIN_QUESTION, AgentRequest
from core.domain.errors import BotError, RequestError
from core.domain.i18n import text
from core.storage.sessions import LONGEST_REASON

logger = logging.getLogger(__name__)

IN_PLACE = frozenset(
    {
        Button.TAKE,
        Button.DISMISS,
        Button.SAME_QUESTION,
        Button.OTHER_QUESTION,
        Button.FIND_COURSE,
    }
)
"""Buttons and forms that may change the message they stand on."""
_OF_ONES_OWN = frozenset({Button.STOP, Button.DELETE, Button.EXPORT, Button.FORGET_ME})
"""Guests may press these anywhere and always."""
_MOST_FOUND = 25
"""Courses that a menu shows on every platform."""

Pressed = Callable[[UUID, Use], Awaitable[Result]]
Sent = Callable[[UUID, Mapping[str, str], Use], Awaitable[Result]]


class Presses:
    """Does what buttons and forms say; raises nothing: what fails is a sentence for its user."""

    def __init__(
        self,
        *,
        desk: FrontDesk,
        actions: AnswerActions,
        staff: StaffDesk,
        board: QueueBoard,
        own_data: OwnData,
        settings: StaffSettings,
        policies: PolicySettings,
    ) -> None:
        self._desk = desk
        self._actions = actions
        self._staff = staff
        self._board = board
        self._own_data = own_data
        self._settings = settings
        self._policies = policies
        self._pressed: dict[Button, Pressed] = {
            Button.HELPFUL: self._helpful,
            Button.NOT_HELPFUL: self._not_helpful,
            Button.EVIDENCE: self._evidence,
            Button.WITHOUT_QUOTE: self._without_quote,
            Button.NOT_MEANT: self._not_meant,
            Button.FIND_COURSE: self._find_course,
            Button.SHARE: self._share,
            Button.STOP: self._stop,
            Button.DELETE: self._delete,
            Button.ASK_STAFF: self._ask_staff,
            Button.STAFF_ANSWER: self._read_offered,
            Button.TAKE: self._take,
            Button.ANSWER: self._answer,
            Button.DISMISS: self._dismiss,
            Button.VERIFY: self._verify,
            Button.EDIT: self._edit,
            Button.RETIRE: self._retire,
            Button.SAME_QUESTION: partial(self._judge, is_same=True),
            Button.OTHER_QUESTION: partial(self._judge, is_same=False),
            Button.MORE: self._more,
            Button.ASSIGNMENT: self._assignment,
            Button.EXPORT: lambda _, use: self._own_data.export(use),
            Button.FORGET_ME: lambda _, use: self._own_data.forget(use),
        }
        self._sent: dict[Button, Sent] = {
            Button.NOT_HELPFUL: self._reason_given,
            Button.NOT_MEANT: self._meant,
            Button.FIND_COURSE: self._courses_found,
            Button.ANSWER: self._answered,
            Button.VERIFY: self._verified,
            Button.EDIT: self._edited,
            Button.ASSIGNMENT: self._assigned,
        }

    async def pressed(self, name: str, value: str | None, use: Use) -> Result:
        """Do what a button or a menu of that name says; None: it is not the bot's.

        Args:
            value: What was chosen in a menu.
        """
        if value is not None and (request_id := request_in(name)) is not None:
            return await self.choose_course(request_id, value, use)
        if (numbered := pressed_section(value or name)) is not None:
            return await self.choose_number(*numbered, use)
        found = parsed(value or name)
        return await self.press(*found, use) if found is not None else None

    async def press(self, button: Button, name: UUID, use: Use) -> Result:
        """Do what a button says."""

        async def done() -> Result:
            if button not in _OF_ONES_OWN:
                await self.check_guest(use)
            return await self._pressed[button](name, use)

        return await error_as_notice(done())

    async def submit(
        self, button: Button, name: UUID, fields: Mapping[str, str], use: Use
    ) -> Result:
        """Take in what was typed into a form, by the names of its fields."""

        async def done() -> Result:
            if button not in _OF_ONES_OWN:
                await self.check_guest(use)
            sent = self._sent.get(button)
            return await sent(name, fields, use) if sent is not None else None

        return await error_as_notice(done())

    async def choose_course(self, request_id: UUID, course_id: str, use: Use) -> Result:
        """Have a question answered that waited for its course."""
        private = self._is_private(use)

        def incoming(request: AgentRequest) -> IncomingMessage:
            return use.heard(
                request.query_text,
                quote=request.selected_text,
                section=request.section_filter,
                private=private,
            )

        clicker = self.clicker(use)
        return await error_as_notice(
            _asked(self._actions.choose(request_id, course_id, clicker, incoming))
        )

    async def choose_number(self, kind: str, request_id: UUID, number: int, use: Use) -> Result:
        """Ask within one of the nearest sections, or one of the questions asked back with."""
        kept = self._is_kept_private(use)

        def incoming(question: str, private: bool) -> IncomingMessage:
            return use.heard(question, private=kept or private)

        ask = self._actions.ask_choice if kind == CHOICE else self._actions.ask_within
        return await error_as_notice(_asked(ask(request_id, number, self.clicker(use), incoming)))

    async def verify_message(self, message: str, use: Use) -> Result:
        """Open the form in which the answer that a message shows is corrected."""

        async def done() -> Result:
            request_id = await self._staff.checked.shown_in(use.location.platform, message)
            return await self._verify(request_id, use)

        return await error_as_notice(done())

    async def queue(self, use: Use, offset: int = 0) -> Cards:
        """Return what waits for the staff of a place; raises RequestError for others."""
        return (await self._staff.queue(self.reviewer(use), offset)).shown()

    async def verified(self, use: Use, offset: int = 0) -> Cards:
        """Return what staff verified; raises RequestError for others."""
        reviewer, checked = self.reviewer(use), self._staff.checked
        cards = tuple(one.card for one in await checked.answers(reviewer, offset))
        shown = offset + len(cards)
        is_more = shown < await checked.number(reviewer)
        heading = "" if cards else text("verified-none")
        return Cards(heading, cards, page_name(shown, of_verified=True) if is_more else None)

    async def post_queue(self, use: Use) -> Notice:
        """Have what waits posted into the channel."""
        posting = self._board.post_here(
            self.reviewer(use), use.here, enterprise=use.enterprise, locale=await use.locale()
        )
        return Notice(await posting)

    async def stop_queue(self, use: Use) -> Notice:
        """Have it posted no more."""
        return Notice(await self._board.stop(self.reviewer(use), use.here))

    async def open_assignment(self, use: Use) -> Result:
        """Open the form for an assignment; raises RequestError for who is not staff."""
        return await self._assignment(NO_ID, use)

    def clicker(self, use: Use) -> Clicker:
        """Return the user as their answers know them."""
        location = use.location
        pseudonym = self._desk.pseudonym(location.platform, location.workspace, location.user)
        return Clicker(location, pseudonym)

    def reviewer(self, use: Use) -> Reviewer:
        """Return the user as staff."""
        return Reviewer(use.who, self.clicker(use).user_id)

    # --- under an answer ------------------------------------------------------------------

    async def _helpful(self, request_id: UUID, use: Use) -> Notice:
        await self._actions.vote(request_id, self.clicker(use), helpful=True, cast_at=use.at)
        return Notice(text("vote-noted"))

    async def _not_helpful(self, request_id: UUID, use: Use) -> Notice:
        """Keep the vote, and ask why; the question may be passed on to the staff."""
        clicker = self.clicker(use)
        await self._actions.vote(request_id, clicker, helpful=False, cast_at=use.at)
        await self._staff.voted_down(request_id, clicker)
        await use.open(reason_form(request_id))
        return Notice(text("vote-noted-not-helpful"), (Button.ASK_STAFF,), request_id)

    async def _reason_given(self, request_id: UUID, fields: Mapping[str, str], use: Use) -> Notice:
        reason = reason_of(fields.get("because", ""), fields.get("reason", ""))
        await self._actions.vote(
            request_id, self.clicker(use), helpful=False, reason=reason, cast_at=use.at
        )
        return Notice(text("vote-reason-kept"), (Button.ASK_STAFF,), request_id)

    async def _evidence(self, request_id: UUID, use: Use) -> Evidence:
        turn = await self._actions.turn(request_id, self.clicker(use))
        return Evidence(turn.agent_response)

    async def _without_quote(self, request_id: UUID, use: Use) -> QuestionTaken:
        private = self._is_private(use)
        return QuestionTaken(
            await self._actions.ask_without_quote(
                request_id,
                self.clicker(use),
                lambda question: use.heard(question, private=private),
            )
        )

    async def _not_meant(self, request_id: UUID, use: Use) -> Result:
        """Show a form with the question that a follow-up was taken for."""
        understood = await self._actions.understood(request_id, self.clicker(use))
        field = Field(
            "question",
            text("not-meant-question"),
            MAX_QUESTION,
            MIN_QUESTION,
            understood[:MAX_QUESTION],
            is_long=True,
        )
        form = Form(Button.NOT_MEANT, request_id, text("not-meant-title"), (field,))
        return None if await use.open(form) else Notice(text("not-meant-slow"))

    async def _meant(self, request_id: UUID, fields: Mapping[str, str], use: Use) -> Result:
        question, kept = fields.get("question", "").strip(), self._is_kept_private(use)
        asking = self._actions.ask_meant(
            request_id,
            self.clicker(use),
            lambda private: use.heard(question, private=kept or private),
        )
        return await _asked(asking)

    async def _find_course(self, request_id: UUID, use: Use) -> Result:
        """Show a form that asks for a word of the course's title."""
        field = Field("course", text("course-find-word"), 100, 1)
        form = Form(Button.FIND_COURSE, request_id, text("button-find-course"), (field,))
        return None if await use.open(form) else Notice(text("queue-no-form"))

    async def _courses_found(
        self, request_id: UUID, fields: Mapping[str, str], use: Use
    ) -> CoursesFound:
        typed, clicker = fields.get("course", "").strip(), self.clicker(use)
        found = await self._actions.find_courses(request_id, clicker, typed, limit=_MOST_FOUND)
        known = tuple((course_id, visible(title)) for course_id, title in found)
        sentence = text("course-which") if known else text("course-find-none", typed=typed)
        return CoursesFound(sentence, Choice(request_id, known, is_found=True))

    async def _share(self, request_id: UUID, use: Use) -> Notice:
        address = await use.address_to_share()
        clicker = self.clicker(use)
        return Notice(await self._actions.share(request_id, clicker, use.position, address))

    async def _stop(self, request_id: UUID, use: Use) -> Notice:
        return Notice(await self.stop(request_id, use))

    async def stop(self, request_id: UUID, use: Use) -> str:
        """End an answer that is being written; raises BotError with what its user reads."""
        is_staff = partial(self._desk.is_staff, use.who)
        return await self._actions.stop(request_id, self.clicker(use), is_staff)

    async def _delete(self, _: UUID, use: Use) -> Notice:
        if use.answer_message is None:
            raise Declined(text("answer-gone"))
        message = (use.location.platform, use.answer_message)
        is_staff = partial(self._desk.is_staff, use.who)
        clicker = self.clicker(use)
        return Notice(await self._actions.delete(message, clicker, use.position, is_staff))

    # --- to the staff and back ------------------------------------------------------------

    async def _ask_staff(self, request_id: UUID, use: Use) -> Notice:
        clicker, locale = self.clicker(use), await use.locale()
        return Notice(await self._staff.ask(request_id, clicker, use.who, locale))

    async def _read_offered(self, request_id: UUID, use: Use) -> Result:
        private = self._is_private(use)
        reading = self._staff.read_offered(
            request_id,
            self.clicker(use),
            lambda question: use.heard(question, private=private),
        )
        return await _asked(reading)

    async def _take(self, help_id: UUID, use: Use) -> Result:
        return await self._change(help_id, use, self._staff.take)

    async def _dismiss(self, help_id: UUID, use: Use) -> Result:
        return await self._change(help_id, use, self._staff.dismiss)

    async def _change(
        self, help_id: UUID, use: Use, change: Callable[[UUID, Reviewer], Awaitable[HelpCard]]
    ) -> Result:
        """Change a request, and show that where its button stands."""
        reviewer, name = self.reviewer(use), await use.user_name()
        async with self._board.changing(help_id, reviewer, name, use.show_card) as standing:
            card = await change(help_id, reviewer)
        if standing.message is not None and standing.message == use.message:
            return None  # the button's own message shows it
        page = await self._staff.page_with(card, reviewer)
        return page.shown(in_place=use.alone)

    async def _answer(self, help_id: UUID, use: Use) -> Result:
        """Hold a request, and open the form that answers it before its card changes."""
        reviewer, name = self.reviewer(use), await use.user_name()
        async with self._board.changing(help_id, reviewer, name, use.show_card):
            form = await self._staff.form(help_id, reviewer)
            return await _opened(Button.ANSWER, help_id, text("queue-form-title"), form, use)

    async def _answered(self, help_id: UUID, fields: Mapping[str, str], use: Use) -> Notice:
        kept = await self._staff.answer(
            help_id,
            self.reviewer(use),
            fields.get("question", ""),
            fields.get("answer", ""),
            use.position,
            use.reply_address,
        )
        return Notice(kept)

    async def _verify(self, request_id: UUID, use: Use) -> Result:
        form = await self._staff.checked.form_to_verify(request_id, self.reviewer(use))
        return await _opened(Button.VERIFY, request_id, text("verify-form-title"), form, use)

    async def _verified(self, request_id: UUID, fields: Mapping[str, str], use: Use) -> Notice:
        question, said = fields.get("question", ""), fields.get("answer", "")
        reviewer = self.reviewer(use)
        return Notice(await self._staff.checked.verify(request_id, reviewer, question, said))

    async def _edit(self, answer_id: UUID, use: Use) -> Result:
        form = await self._staff.checked.form_to_edit(answer_id, self.reviewer(use))
        return await _opened(Button.EDIT, answer_id, text("verify-form-title"), form, use)

    async def _edited(self, answer_id: UUID, fields: Mapping[str, str], use: Use) -> Notice:
        question, said = fields.get("question", ""), fields.get("answer", "")
        reviewer = self.reviewer(use)
        return Notice(await self._staff.checked.edit(answer_id, reviewer, question, said))

    async def _retire(self, answer_id: UUID, use: Use) -> Notice:
        return Notice(await self._staff.checked.retire(answer_id, self.reviewer(use)))

    async def _judge(self, phrasing_id: UUID, use: Use, *, is_same: bool) -> Cards:
        judging = self._staff.checked.judge(phrasing_id, self.reviewer(use), is_same=is_same)
        first = page_name(0, of_verified=True)
        return Cards("", ((await judging).card,), first, in_place=True)

    async def _more(self, name: UUID, use: Use) -> Cards:
        offset, of_verified = page_of(name)
        return await (self.verified if of_verified else self.queue)(use, offset)

    async def _assignment(self, _: UUID, use: Use) -> Result:
        await self._settings.admit_at(use)
        await self._policies.course(use.who)
        fields = (
            Field("name", text("policy-form-name"), LONGEST_NAME),
            Field("text", text("policy-form-text"), LONGEST_TEXT, is_long=True),
            Field("sections", text("policy-form-sections"), 500, is_long=True, required=False),
            Field("until", text("policy-form-until"), 20, required=False),
            Field(
                "solution", text("policy-form-solution"), LONGEST_TEXT, is_long=True, required=False
            ),
        )
        form = Form(
            Button.ASSIGNMENT,
            NO_ID,
            text("policy-form-title"),
            fields,
            submit=text("policy-form-save"),
        )
        if not await use.open(form):
            raise Declined(text("policy-form-too-late"))
        return Notice(text("policy-form-open"))

    async def _assigned(self, _: UUID, fields: Mapping[str, str], use: Use) -> Notice:
        form = AssignmentForm(
            name=fields.get("name", ""),
            text=fields.get("text", ""),
            sections=fields.get("sections", ""),
            until=fields.get("until", ""),
            solution=fields.get("solution", ""),
        )
        await self._settings.admit_at(use)
        return Notice(await self._policies.set_assignment(use.who, form))

    # --- checks ---------------------------------------------------------------------------

    async def check_guest(self, use: Use) -> None:
        """Raise Declined for a guest where guests are not answered."""
        if not use.outsider:
            return
        rules = await self._desk.rules_at(use.location)
        if not rules.outsiders:
            raise Declined(text("asking-not-for-guests"))

    def _is_private(self, use: Use) -> bool:
        """Return whether the clicker alone sees what a click has answered."""
        return self._is_kept_private(use) or use.alone

    def _is_kept_private(self, use: Use) -> bool:
        """Return whether nothing that is pressed here is answered to all."""
        return not use.direct and self._desk.keeps_private(use.location)


def reason_form(request_id: UUID) -> Form:
    """Return the form that asks why an answer was not helpful; the vote is kept already."""
    because = tuple((value, str(said)) for value, said in REASONS.items())
    fields = (
        Field(
            "because",
            text("vote-because"),
            required=False,
            unmarked=text("vote-because-optional"),
            options=because,
        ),
        Field(
            "reason",
            text("vote-in-your-words"),
            LONGEST_REASON,
            is_long=True,
            required=False,
            unmarked=text("vote-in-your-words-optional"),
        ),
    )
    return Form(Button.NOT_HELPFUL, request_id, text("vote-why"), fields)


async def error_as_notice(doing: Coroutine[Any, Any, Result]) -> Result:
    """Return what something comes to; where it fails, the sentence that its user reads."""
    try:
        return await doing
    except BotError as error:
        if not isinstance(error, RequestError):
            logger.warning("what a user did failed: %s", error)
        return Notice(error.user_message)


async def _asked(asking: Coroutine[Any, Any, Received | str]) -> Result:
    asked = await asking
    return Notice(asked) if isinstance(asked, str) else QuestionTaken(asked)


async def _opened(button: Button, name: UUID, title: str, form: AnswerForm, use: Use) -> Result:
    """Open the form in which staff answer, next to what the bot found."""
    beside = form.beside
    heading = text("queue-form-passages") if beside else text("queue-form-no-passages")
    fields = (
        Field("question", text("queue-form-question"), LONGEST_QUESTION, value=form.question),
        Field("answer", text("queue-form-answer"), LONGEST_ANSWER, value=form.draft, is_long=True),
    )
    shown = Form(button, name, title, fields, beside=f"{heading}\n{beside}".strip())
    if not await use.open(shown):
        raise Declined(text("queue-no-form"))
    return None
