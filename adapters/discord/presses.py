"""What the buttons under an answer do, also those from before a restart."""

import logging
import re
from collections.abc import Awaitable, Callable, Coroutine, Mapping
from functools import partial
from typing import Any, Protocol, Self, cast
from uuid import UUID

import discord

from adapters.actions.about import in_words
from adapters.actions.answers import REASONS, AnswerActions, Clicker, Declined, reason_of
from adapters.actions.reports import DataExport, File
from adapters.chat import base as nearest_sections
from adapters.chat.acceptor import Unreadable
from adapters.chat.access import NAME, Choice
from adapters.chat.buttons import ANY, REST_OF, Button, custom_id, parsed
from adapters.chat.front_desk import FrontDesk, Received
from adapters.chat.markdown.layout import visible
from adapters.discord import outbound
from adapters.discord.commands import acknowledge
from adapters.discord.inbound import (
    DIRECT,
    PLATFORM,
    heard_command,
    is_guest,
    location_of,
    may_open_thread,
    presence_of,
)
from adapters.discord.notices import Interaction, in_time, respond, show, show_in_place, tell
from adapters.discord.outbound import MOST_OPTIONS, evidence, layout
from adapters.discord.staff_presses import StaffClicks
from core.domain import MAX_QUESTION, MIN_QUESTION, i18n
from core.domain.errors import BotError, RequestError
from core.domain.i18n import text
from core.storage.privacy import PersonalData, StoredAmounts
from core.storage.sessions import LONGEST_REASON

logger = logging.getLogger(__name__)


_MODAL_OPEN = 900.0
"""Seconds after which discord.py forgets that it showed a modal."""


class ButtonActions:
    """Does what a button under an answer says; each click is answered to its clicker alone."""

    def __init__(self, desk: FrontDesk, actions: AnswerActions, staff: StaffClicks) -> None:
        self._desk = desk
        self._actions = actions
        self.staff = staff
        self._doing: dict[Button, Callable[[Interaction, UUID], Awaitable[None]]] = {
            Button.HELPFUL: self._helpful,
            Button.NOT_HELPFUL: self._not_helpful,
            Button.EVIDENCE: self._evidence,
            Button.WITHOUT_QUOTE: self._without_quote,
            Button.NOT_MEANT: self._not_meant,
            Button.FIND_COURSE: self._find_course,
            Button.SHARE: self._share,
            Button.STOP: self._stop,
            **staff.doing,
        }

    async def clicked(self, interaction: Interaction, button: Button, request_id: UUID) -> None:
        """Do what a button says; the clicker reads when it cannot be done."""
        try:
            await self._doing[button](interaction, request_id)
        except BotError as error:
            await _tell_failure(interaction, error)

    async def chosen(self, interaction: Interaction, request_id: UUID, course_id: str) -> None:
        """Have a question answered that waited for its course."""
        choosing = self._actions.choose(
            request_id,
            course_id,
            self._clicker(interaction),
            lambda request: heard_command(
                interaction,
                request.query_text,
                section=request.section_filter,
                quote=request.selected_text,
                private=self._is_private(interaction),
            ),
        )
        await self._take_up(interaction, choosing)

    async def _find_course(self, interaction: Interaction, request_id: UUID) -> None:
        """Show a form that asks for a word of the course's title."""
        await respond(lambda: interaction.response.send_modal(CourseModal(request_id)))

    async def _found(self, interaction: Interaction, request_id: UUID, typed: str) -> None:
        """Show the courses that fit it, in place of the message with the button."""
        clicker = self._clicker(interaction)
        finding = self._actions.find_courses(request_id, clicker, typed, limit=MOST_OPTIONS)
        courses = await in_time(interaction, finding, thinking=False)
        known = tuple((course_id, visible(title)) for course_id, title in courses)
        sentence = text("course-which") if known else text("course-find-none", typed=typed)
        choice = Choice(request_id, known, is_found=True)
        await show_in_place(interaction, layout(outbound.sentence(sentence, choice)))

    async def _take_up(
        self, interaction: Interaction, asking: Coroutine[Any, Any, Received | str]
    ) -> None:
        """Acknowledge what a click asks, or tell why there is nothing to be answered."""
        try:
            asked = await in_time(interaction, asking)
        except BotError as error:
            await _tell_failure(interaction, error)
            return
        if isinstance(asked, str):
            await tell(interaction, asked)
        else:
            await acknowledge(interaction, asked)

    async def section_chosen(self, interaction: Interaction, request_id: UUID, number: int) -> None:
        """Ask a question that was refused again, within one of the nearest sections."""
        kept = self._is_kept_private(interaction)
        asking = self._actions.ask_within(
            request_id,
            number,
            self._clicker(interaction),
            lambda question, private: heard_command(interaction, question, private=kept or private),
        )
        await self._take_up(interaction, asking)

    async def question_chosen(
        self, interaction: Interaction, request_id: UUID, number: int
    ) -> None:
        """Ask one of the questions that the bot has asked back with."""
        kept = self._is_kept_private(interaction)
        asking = self._actions.ask_choice(
            request_id,
            number,
            self._clicker(interaction),
            lambda question, private: heard_command(interaction, question, private=kept or private),
        )
        await self._take_up(interaction, asking)

    async def _not_meant(self, interaction: Interaction, request_id: UUID) -> None:
        """Show a form with the question that a follow-up was taken for."""
        clicker = self._clicker(interaction)
        understood = await in_time(interaction, self._actions.understood(request_id, clicker))
        if interaction.response.is_done():  # it took long: now no form can be shown
            await tell(interaction, i18n.text("not-meant-slow"))
            return
        await respond(lambda: interaction.response.send_modal(MeantModal(request_id, understood)))

    async def _meant(self, interaction: Interaction, request_id: UUID, question: str) -> None:
        """Ask what was typed into that form."""
        kept = self._is_kept_private(interaction)
        asking = self._actions.ask_meant(
            request_id,
            self._clicker(interaction),
            lambda private: heard_command(interaction, question.strip(), private=kept or private),
        )
        await self._take_up(interaction, asking)

    async def submitted(
        self, interaction: Interaction, button: Button, name: UUID, fields: Mapping[str, str]
    ) -> None:
        """Take in what was typed into a form; the clicker reads when it cannot be kept."""
        if button is Button.NOT_HELPFUL:
            reason = reason_of(fields.get("because", ""), fields.get("reason", ""))
            await self.reason_given(interaction, name, reason)
            return
        if button is Button.NOT_MEANT:
            await self._meant(interaction, name, fields.get("question", ""))
            return
        try:
            if button is Button.FIND_COURSE:
                await self._found(interaction, name, fields.get("course", "").strip())
                return
            await self.staff.submitted(interaction, button, name, fields)
        except BotError as error:
            await _tell_failure(interaction, error)

    async def reason_given(
        self, interaction: Interaction, request_id: UUID, reason: str | None
    ) -> None:
        """Keep why an answer was not helpful."""
        try:
            await self._vote(interaction, request_id, helpful=False, reason=reason)
        except BotError as error:
            await _tell_failure(interaction, error)
        else:
            below = self.staff.below_vote(request_id)
            await tell(interaction, i18n.text("vote-reason-kept"), view=below)

    async def _helpful(self, interaction: Interaction, request_id: UUID) -> None:
        await self._vote(interaction, request_id, helpful=True)
        await tell(interaction, i18n.text("vote-noted"))

    async def _not_helpful(self, interaction: Interaction, request_id: UUID) -> None:
        await self._vote(interaction, request_id, helpful=False)
        await self.staff.voted_down(interaction, request_id)
        if interaction.response.is_done():  # it took long: now no modal can be shown
            below = self.staff.below_vote(request_id)
            await tell(interaction, i18n.text("vote-noted-not-helpful"), view=below)
        else:
            await respond(lambda: interaction.response.send_modal(ReasonModal(request_id)))

    async def _vote(
        self,
        interaction: Interaction,
        request_id: UUID,
        *,
        helpful: bool,
        reason: str | None = None,
    ) -> None:
        await in_time(
            interaction,
            self._actions.vote(
                request_id,
                self._clicker(interaction),
                helpful=helpful,
                reason=reason,
                cast_at=interaction.created_at,
            ),
        )

    async def _evidence(self, interaction: Interaction, request_id: UUID) -> None:
        turn = await in_time(
            interaction, self._actions.turn(request_id, self._clicker(interaction))
        )
        await show(interaction, evidence(turn.agent_response))

    async def _without_quote(self, interaction: Interaction, request_id: UUID) -> None:
        private = self._is_private(interaction)
        asking = self._actions.ask_without_quote(
            request_id,
            self._clicker(interaction),
            lambda question: heard_command(interaction, question, private=private),
        )
        await acknowledge(interaction, await in_time(interaction, asking))

    async def _share(self, interaction: Interaction, request_id: UUID) -> None:
        if is_guest(interaction):
            raise Declined(i18n.text("discord-not-a-member"))
        address = {
            "route": "message",
            "channel": interaction.channel_id,
            "message": None,
            "open_thread": may_open_thread(interaction),
            "asker": interaction.user.id,
            "dm": interaction.guild_id is None,
        }
        clicker = self._clicker(interaction)
        sharing = self._actions.share(request_id, clicker, interaction.id, address)
        await tell(interaction, await in_time(interaction, sharing))

    async def _stop(self, interaction: Interaction, request_id: UUID) -> None:
        is_staff = partial(self._desk.is_staff, presence_of(interaction))
        stopping = self._actions.stop(request_id, self._clicker(interaction), is_staff)
        await tell(interaction, await in_time(interaction, stopping))

    def _is_private(self, interaction: Interaction) -> bool:
        """Return whether the clicker alone sees what a click has answered."""
        return self._is_kept_private(interaction) or _is_ephemeral(interaction)

    def _is_kept_private(self, interaction: Interaction) -> bool:
        """Return whether nothing that is clicked here is answered to all."""
        is_guild = interaction.guild_id is not None
        return is_guild and self._desk.keeps_private(location_of(interaction))

    def _clicker(self, interaction: Interaction) -> Clicker:
        location = location_of(interaction)
        user_id = self._desk.pseudonym(PLATFORM, location.workspace, location.user)
        return Clicker(location, user_id)


async def _tell_failure(interaction: Interaction, error: BotError) -> None:
    if not isinstance(error, RequestError):
        logger.warning("a click failed: %s", error)
    await tell(interaction, error.user_message)


class ReasonModal(discord.ui.Modal):
    """Asks why an answer was not helpful; the vote is kept already.

    What is sent back arrives at `form_in`, also when the bot was restarted meanwhile.
    """

    def __init__(self, request_id: UUID) -> None:
        name = custom_id(Button.NOT_HELPFUL, request_id)
        title = i18n.text("vote-why")
        super().__init__(title=title, timeout=_MODAL_OPEN, custom_id=name)
        options = [
            discord.RadioGroupOption(label=str(said), value=value)
            for value, said in REASONS.items()
        ]
        because: discord.ui.RadioGroup[Any] = discord.ui.RadioGroup(
            custom_id="because", required=False, options=options
        )
        words: discord.ui.TextInput[Any] = discord.ui.TextInput(
            custom_id="reason",
            style=discord.TextStyle.paragraph,
            max_length=LONGEST_REASON,
            required=False,
        )
        label = i18n.text("vote-because-optional")
        self.add_item(discord.ui.Label(text=label, component=because))
        label = i18n.text("vote-in-your-words-optional")
        self.add_item(discord.ui.Label(text=label, component=words))


class CourseModal(discord.ui.Modal):
    """Asks for a word of a course's title; it arrives as `ReasonModal` does."""

    course: discord.ui.TextInput["CourseModal"] = discord.ui.TextInput(
        custom_id="course", min_length=1, max_length=100
    )

    def __init__(self, request_id: UUID) -> None:
        name, title = custom_id(Button.FIND_COURSE, request_id), text("button-find-course")
        super().__init__(title=title, timeout=_MODAL_OPEN, custom_id=name)
        self.course.label = text("course-find-word")


class MeantModal(discord.ui.Modal):
    """Asks what was meant, beginning with what was understood; it arrives as `ReasonModal` does."""

    question: discord.ui.TextInput["MeantModal"] = discord.ui.TextInput(
        custom_id="question",
        style=discord.TextStyle.paragraph,
        min_length=MIN_QUESTION,
        max_length=MAX_QUESTION,
    )

    def __init__(self, request_id: UUID, understood: str) -> None:
        name = custom_id(Button.NOT_MEANT, request_id)
        super().__init__(title=i18n.text("not-meant-title"), timeout=_MODAL_OPEN, custom_id=name)
        self.question.label = i18n.text("not-meant-question")
        self.question.default = understood[:MAX_QUESTION]


def _is_ephemeral(interaction: Interaction) -> bool:
    return interaction.message is not None and interaction.message.flags.ephemeral


class Clickable(Protocol):
    """The client that a click comes in by."""

    clicks: "ButtonActions"
    unreadable: Unreadable


async def contained(interaction: Interaction, doing: Callable[[], Awaitable[None]]) -> None:
    """Do what a click asks for; one that cannot be read is noted, and its clicker notified."""
    with i18n.use_locale(str(interaction.locale)):
        try:
            await doing()
        except Exception as error:  # noqa: BLE001 - a click of any form is answered
            client = cast("Clickable", interaction.client)
            client.unreadable.note("INTERACTION_CREATE", interaction.id, error)
            await tell(interaction, BotError.user_message)


class AnswerButton(discord.ui.DynamicItem[discord.ui.Button[Any]], template=ANY):
    """A button under an answer, made again from its custom id when it is clicked."""

    def __init__(self, item: discord.ui.Button[Any], button: Button, request_id: UUID) -> None:
        super().__init__(item)
        self._button = button
        self._request_id = request_id

    @classmethod
    async def from_custom_id(
        cls, _: Interaction, item: discord.ui.Item[Any], match: re.Match[str], /
    ) -> Self:
        """Return the button that a custom id names."""
        button = cast("discord.ui.Button[Any]", item)
        return cls(button, Button(match["button"]), UUID(match["request"]))

    async def callback(self, interaction: Interaction) -> None:
        """Do what the button says."""
        clicks = cast("Clickable", interaction.client).clicks
        await contained(
            interaction, lambda: clicks.clicked(interaction, self._button, self._request_id)
        )


class RestMenu(discord.ui.DynamicItem[discord.ui.Select[Any]], template=REST_OF):
    """The menu of what has no button of its own, made again when something is chosen."""

    @classmethod
    async def from_custom_id(
        cls, _: Interaction, item: discord.ui.Item[Any], match: re.Match[str], /
    ) -> Self:
        """Return the menu that a custom id names."""
        return cls(cast("discord.ui.Select[Any]", item))

    async def callback(self, interaction: Interaction) -> None:
        """Do what was chosen, as its button would."""
        clicks = cast("Clickable", interaction.client).clicks

        async def choose() -> None:
            name = cast("Mapping[str, Any]", interaction.data or {})["values"][0]
            if (chosen := parsed(str(name))) is not None:
                await clicks.clicked(interaction, *chosen)

        await contained(interaction, choose)


class CourseMenu(discord.ui.DynamicItem[discord.ui.Select[Any]], template=NAME):
    """A menu of courses, made again from its custom id when something is chosen."""

    def __init__(self, item: discord.ui.Select[Any], request_id: UUID) -> None:
        super().__init__(item)
        self._request_id = request_id

    @classmethod
    async def from_custom_id(
        cls, _: Interaction, item: discord.ui.Item[Any], match: re.Match[str], /
    ) -> Self:
        """Return the menu that a custom id names."""
        return cls(cast("discord.ui.Select[Any]", item), UUID(match["request"]))

    async def callback(self, interaction: Interaction) -> None:
        """Answer from the course that was chosen."""
        clicks = cast("Clickable", interaction.client).clicks

        async def choose() -> None:
            course_id = cast("Mapping[str, Any]", interaction.data or {})["values"][0]
            await clicks.chosen(interaction, self._request_id, str(course_id))

        await contained(interaction, choose)


class SectionButton(discord.ui.DynamicItem[discord.ui.Button[Any]], template=nearest_sections.NAME):
    """A section near to a question that was refused, or one of the questions that it may be.

    It is made again when it is clicked.
    """

    def __init__(
        self, item: discord.ui.Button[Any], kind: str, request_id: UUID, number: int
    ) -> None:
        super().__init__(item)
        self._kind = kind
        self._request_id = request_id
        self._number = number

    @classmethod
    async def from_custom_id(
        cls, _: Interaction, item: discord.ui.Item[Any], match: re.Match[str], /
    ) -> Self:
        """Return the button that a custom id names."""
        button = cast("discord.ui.Button[Any]", item)
        return cls(button, match["kind"], UUID(match["request"]), int(match["number"]))

    async def callback(self, interaction: Interaction) -> None:
        """Ask within the section, or the question."""
        clicks = cast("Clickable", interaction.client).clicks
        is_choice = self._kind == nearest_sections.CHOICE
        doing = clicks.question_chosen if is_choice else clicks.section_chosen
        await contained(interaction, lambda: doing(interaction, self._request_id, self._number))


class MyData:
    """Shows, gives and deletes what is stored about who asks for it, to them alone."""

    def __init__(self, desk: FrontDesk, personal: PersonalData, own_data: DataExport) -> None:
        self._desk = desk
        self._personal = personal
        self._own_data = own_data

    async def show(self, interaction: Interaction) -> None:
        """Show how much is stored, with buttons that give it or delete it."""

        async def counted() -> StoredAmounts:
            return await self._personal.stored(await self._pseudonyms(interaction))

        try:
            stored = await in_time(interaction, counted())
        except BotError as error:
            await tell(interaction, error.user_message)
            return
        view = discord.ui.View(timeout=None).add_item(ExportMyData())
        if stored.anything:
            view.add_item(ForgetMe())
        await tell(interaction, in_words(stored, "Discord"), view=view)

    async def export(self, interaction: Interaction) -> None:
        """Give the asker, and no one else, all that is stored about them, as a file."""

        async def made() -> File:
            theirs = await self._pseudonyms(interaction)
            return await self._own_data.file(theirs, location_of(interaction))

        try:
            file = await in_time(interaction, made())
        except BotError as error:
            await tell(interaction, error.user_message)
        else:
            await tell(interaction, i18n.text("privacy-export-sent"), file=file)

    async def forget(self, interaction: Interaction) -> None:
        """Delete what is stored about the asker, in all servers that we share."""

        async def forgotten() -> None:
            await self._personal.forget(await self._pseudonyms(interaction))

        try:
            await in_time(interaction, forgotten())
        except BotError as error:
            await tell(interaction, error.user_message)
            return
        if interaction.response.is_done():
            await tell(interaction, i18n.text("privacy-deleted"))
        else:
            await respond(
                lambda: interaction.response.edit_message(
                    content=i18n.text("privacy-deleted"), view=None
                )
            )

    async def _pseudonyms(self, interaction: Interaction) -> list[str]:
        """Return the pseudonyms a person may have: one a server, and one for direct messages.

        Servers that the bot has left, or that other processes connect, are among them as long as
        an event of theirs is kept; raises StoreError when the database fails.
        """
        known = await self._personal.workspaces(PLATFORM)
        workspaces = {DIRECT, *known, *(str(guild.id) for guild in interaction.client.guilds)}
        user = str(interaction.user.id)
        return [self._desk.pseudonym(PLATFORM, workspace, user) for workspace in sorted(workspaces)]


class MyDataHolder(Protocol):
    """The client that a click comes in by."""

    my_data: MyData


class ForgetMe(discord.ui.DynamicItem[discord.ui.Button[Any]], template=re.compile("gl:forget-me")):
    """Deletes what is stored about the user who clicks it."""

    def __init__(self) -> None:
        style = discord.ButtonStyle.danger
        super().__init__(
            discord.ui.Button(
                label=i18n.text("privacy-delete-all"), style=style, custom_id="gl:forget-me"
            )
        )

    @classmethod
    async def from_custom_id(
        cls, _: Interaction, __: discord.ui.Item[Any], ___: re.Match[str], /
    ) -> Self:
        """Return the button; there is nothing to read from its custom id."""
        return cls()

    async def callback(self, interaction: Interaction) -> None:
        """Delete what is stored."""
        my_data = cast("MyDataHolder", interaction.client).my_data
        await contained(interaction, lambda: my_data.forget(interaction))


class ExportMyData(
    discord.ui.DynamicItem[discord.ui.Button[Any]], template=re.compile("gl:export-my-data")
):
    """Gives its clicker a file with all that is stored about them."""

    def __init__(self) -> None:
        label = i18n.text("privacy-export")
        super().__init__(discord.ui.Button(label=label, custom_id="gl:export-my-data"))

    @classmethod
    async def from_custom_id(
        cls, _: Interaction, __: discord.ui.Item[Any], ___: re.Match[str], /
    ) -> Self:
        """Return the button; there is nothing to read from its custom id."""
        return cls()

    async def callback(self, interaction: Interaction) -> None:
        """Give what is stored."""
        my_data = cast("MyDataHolder", interaction.client).my_data
        await contained(interaction, lambda: my_data.export(interaction))
