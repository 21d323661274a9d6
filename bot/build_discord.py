"""Builds the Discord adapter from the settings."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING
from uuid import uuid4

from adapters.actions.about import Facts, Greeting, Suggestions
from adapters.actions.answers import AnswerActions
from adapters.actions.commands import Commands, Setup
from adapters.actions.presses import Presses
from adapters.actions.reports import DataExport, OwnData, RadarViews
from adapters.actions.settings import ChannelSettings, PlatformTerms, PolicySettings, StaffSettings
from adapters.actions.staff import QueueBoard, StaffDesk
from adapters.chat.access import Readers
from adapters.chat.course_directory import CourseDirectory
from adapters.chat.front_desk import DeletedChannels, FrontDesk
from adapters.chat.incoming_message import PlatformClock
from adapters.chat.places import StaffStanding
from adapters.chat.question_context import Pointing, QuestionContext
from bot import __version__
from bot.platforms import DiscordSettings
from bot.services import HANDBOOK, Services
from core.domain import EXTRACTIVE, AgentRequest, AgentResponse
from core.domain.errors import ConfigurationError
from core.domain.i18n import Message
from core.domain.telemetry import Meter
from core.retrieval.sections import Topics
from core.storage.access import Tenant
from core.storage.access_store import Roster, StaffStore
from core.storage.channels import ChannelRules, Conversations
from core.storage.inbox.queries import InboxPlaces
from core.storage.inbox.store import Inbox
from core.storage.leases import RateLimitWindows, leases_of
from core.storage.privacy import PersonalData, PersonalExport, Retention
from core.storage.sessions import Feedback
from core.teaching.help_requests import HelpRequests
from core.teaching.queue_cards import QueueCards
from core.teaching.radar_picture import DARK, LIGHT
from core.teaching.radar_store import RadarStore
from core.teaching.staff_answers import CitedPassages, StaffAnswers
from core.teaching.verified_store import VerifiedAnswers

if TYPE_CHECKING:
    from sqlalchemy.ext.asyncio import AsyncEngine

    from adapters.discord.adapter import DiscordAdapter


@dataclass(frozen=True, slots=True)
class ChatServices:
    """The inbox with what stands around it."""

    opened: Services
    inbox: Inbox
    holding: "AsyncEngine"
    """Connections for claims and renewals alone."""
    desk: FrontDesk
    readers: Readers
    standing: StaffStanding
    rules: ChannelRules
    staff: StaffStore
    roster: Roster
    directory: CourseDirectory
    wake: Callable[[], None]
    """Wakes the worker, as there is something to do."""
    stop: Callable[[str, Sequence[Tenant]], Awaitable[bool]]
    """Ends the answer to an event of some tenants, by its key; returns whether it was on its way.
    """
    meter: Meter
    clocks: Mapping[str, PlatformClock]
    """By platform: what this process knows of the platforms' clocks."""

    def actions(self) -> AnswerActions:
        """Return what the buttons under an answer do."""
        return AnswerActions(
            desk=self.desk,
            inbox=self.inbox,
            sessions=self.opened.sessions,
            feedback=Feedback(self.opened.engine),
            directory=self.directory,
            rules=self.rules,
            wake=self.wake,
            stop=self.stop,
        )

    def staff_desk(self, actions: AnswerActions) -> StaffDesk:
        """Return what leads questions to the staff, and their answers back."""
        engine = self.opened.engine
        passages = CitedPassages(self.opened.catalogue, self.opened.index)
        requests, answers = HelpRequests(engine), VerifiedAnswers(engine)
        return StaffDesk(
            desk=self.desk,
            actions=actions,
            standing=self.standing,
            directory=self.directory,
            inbox=self.inbox,
            sessions=self.opened.sessions,
            feedback=Feedback(engine),
            staff=StaffAnswers(engine, self.inbox, requests, answers, passages),
            wake=self.wake,
        )

    def personal(self) -> PersonalData:
        """Return what is stored about people."""
        return PersonalData(self.opened.holders, self.inbox)

    def question_context(self) -> QuestionContext:
        """Return what completes questions with the things that they point at."""
        minutes = self.opened.settings.inbox.conversation_minutes
        return QuestionContext(
            Pointing(self.opened.local),
            self.inbox,
            self.opened.sessions,
            goes_on_for=timedelta(minutes=minutes),
        )

    def own_data(self) -> OwnData:
        """Return what shows people all that is stored about them, and deletes it."""
        export = DataExport(
            PersonalExport(self.opened.engine, self.opened.holders, self.inbox),
            self.directory,
            self.readers,
        )
        return OwnData(self.desk, self.personal(), export)

    def doing(
        self,
        platform: str,
        escape: Callable[[str], str],
        terms: PlatformTerms,
        names: Mapping[str, Message],
    ) -> "PlatformActions":
        """Return what commands, buttons and forms do on a platform.

        Args:
            escape: Makes a text one that the platform shows letter by letter.
            names: What the platform calls the rules that are not the same everywhere.
        """
        own_data, facts, policies = self.own_data(), self.facts(escape), self.policy_settings()
        channels = self.channel_settings(names)
        settings = StaffSettings(self.desk, self.roster, self.staff, channels, terms)
        actions = self.actions()
        staff = self.staff_desk(actions)
        presses = Presses(
            desk=self.desk,
            actions=actions,
            staff=staff,
            board=QueueBoard(staff, QueueCards(self.opened.engine)),
            own_data=own_data,
            settings=settings,
            policies=policies,
        )
        commands = Commands(
            desk=self.desk,
            directory=self.directory,
            facts=facts,
            own_data=own_data,
            presses=presses,
            setup=Setup(channels, settings, policies, self.radar_views(platform)),
        )
        return PlatformActions(commands, presses, own_data, facts)

    def suggestions(self) -> Suggestions:
        """Return what suggests questions, each tried beforehand as any other is answered."""
        agent = self.opened.agent()

        async def rehearse(request: AgentRequest) -> AgentResponse:
            _, response = await agent.rehearse(request)
            return response

        topics = Topics(self.opened.catalogue, self.opened.index)
        return Suggestions(self.directory, topics.of, rehearse)

    def places(self) -> InboxPlaces:
        """Return what the inbox knows of places."""
        return InboxPlaces(self.opened.engine)

    def gone_places(self) -> DeletedChannels:
        """Return what forgets deleted channels."""
        return DeletedChannels(self.desk, self.places(), Conversations(self.opened.engine))

    def facts(self, escape: Callable[[str], str]) -> Facts:
        """Return what is said about the bot; `escape` is the platform's."""
        return Facts(
            desk=self.desk,
            directory=self.directory,
            handbook=HANDBOOK.course_id,
            version=__version__,
            writer=_writer(self.opened),
            escape=escape,
        )

    def greeting(self, escape: Callable[[str], str]) -> Greeting:
        """Return what greets new places; `escape` is the platform's."""
        return Greeting(self.desk, self.directory, escape)

    def policy_settings(self) -> PolicySettings:
        """Return what staff set of how questions are answered."""
        return PolicySettings(
            self.desk,
            self.opened.policies,
            described=self.opened.course_file.policies_of,
            zone_of=self.opened.course_file.zone,
        )

    def radar_views(self, platform: str) -> RadarViews:
        """Return what staff of a platform see of what was asked."""
        return RadarViews(
            self.opened.radar,
            RadarStore(self.opened.engine),
            self.policy_settings().course,
            self._title_of,
            DARK if platform == "discord" else LIGHT,
        )

    async def _title_of(self, course_id: str) -> str:
        course = await self.opened.catalogue.course(course_id)
        return course_id if course is None else course.title

    def channel_settings(self, names: Mapping[str, Message]) -> ChannelSettings:
        """Return what staff set; `names` are the platform's own names of rules."""
        return ChannelSettings(
            self.desk,
            self.rules,
            self.directory,
            names=names,
            described=self.opened.course_file.rules_of,
        )


@dataclass(frozen=True, slots=True)
class PlatformActions:
    """What people can do on a platform besides asking by a message."""

    commands: Commands
    presses: Presses
    own_data: OwnData
    facts: Facts


def _writer(opened: Services) -> Message | str:
    chosen = opened.chosen_generator()
    if chosen != EXTRACTIVE:
        return opened.models.table(chosen).model
    return Message("about-writer-extractive")


def retention_of(opened: Services) -> Retention:
    """Return what deletes that which the settings do not have kept any more."""
    days = opened.settings.retention.days
    kept_for = timedelta(days=days) if days else None
    return Retention(opened.engine, opened.holders, kept_for=kept_for)


def discord_adapter(chats: ChatServices) -> "DiscordAdapter":
    """Return the adapter; nothing is connected yet.

    Raises:
        ConfigurationError: when there is no token.
    """
    from adapters.discord.account import Greeter
    from adapters.discord.adapter import DiscordAdapter
    from adapters.discord.catch_up import ShardCursors
    from adapters.discord.commands import AppCommands, Questions, shown
    from adapters.discord.outbound import as_written
    from adapters.discord.presses import DiscordClicks

    settings = chats.opened.settings.group(DiscordSettings)
    if settings.token is None:
        raise ConfigurationError("Discord needs a token: set GLOSSATOR_DISCORD__TOKEN.")
    desk = chats.desk
    does = chats.doing(
        "discord",
        as_written,
        PlatformTerms(Message("tenant-server"), shown),
        {"auto_answer": Message("settings-name-auto-answer-forum")},
    )
    questions = Questions(desk, chats.wake, chats.meter)
    names = chats.opened.settings.commands
    return DiscordAdapter(
        token=settings.token.get_secret_value(),
        api_url=settings.api_url,
        message_content=settings.message_content,
        desk=desk,
        gone=chats.gone_places(),
        cursors=ShardCursors(chats.inbox, chats.places()),
        clicks=DiscordClicks(does.presses),
        greeter=Greeter(chats.readers, chats.greeting(as_written)),
        commands=AppCommands(does.commands, does.presses, questions, names),
        wake=chats.wake,
        closed=RateLimitWindows(chats.opened.engine),
        shards=settings.shards,
        leases=leases_of(chats.holding, uuid4().hex, chats.opened.settings.inbox.lease),
        clock=chats.clocks["discord"],
        context=chats.question_context(),
        meter=chats.meter,
    )
