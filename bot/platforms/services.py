"""What every chat platform is built from."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING

from adapters.access.course_directory import CourseDirectory
from adapters.access.readers import Readers
from adapters.access.standing import StaffStanding
from adapters.context.pointing import Pointing
from adapters.context.question_context import QuestionContext
from adapters.features.about import Facts
from adapters.features.answer_actions import AnswerActions
from adapters.features.channel_settings import ChannelSettings
from adapters.features.data_export import DataExport
from adapters.features.greeting import Greeting
from adapters.features.policy_settings import PolicySettings
from adapters.features.radar_views import RadarViews
from adapters.features.staff.board import QueueBoard
from adapters.features.staff.desk import StaffDesk
from adapters.features.staff.settings import PlatformTerms, StaffSettings
from adapters.features.suggestions import Suggestions
from adapters.intake.deleted_channels import DeletedChannels
from adapters.intake.front_desk import FrontDesk
from adapters.intake.platform_clock import PlatformClock
from bot import __version__
from bot.handbook import COURSE
from bot.services import Services
from core.access.roster import Roster
from core.access.staff_store import StaffStore
from core.access.tenants import Tenant
from core.help_requests.cards import QueueCards
from core.help_requests.store import HelpRequests
from core.i18n import Message
from core.inbox.places import InboxPlaces
from core.inbox.store import Inbox
from core.models import EXTRACTIVE, AgentRequest, AgentResponse
from core.policies.store import HintSteps
from core.privacy.personal_data import PersonalData
from core.privacy.personal_export import PersonalExport
from core.privacy.retention import Retention
from core.radar.picture import DARK, LIGHT
from core.radar.store import RadarStore
from core.retrieval.topics import Topics
from core.staff_answers import StaffAnswers
from core.storage.budgets.store import TokenBudgets, TokenLimits
from core.storage.channels.exchanges import Exchanges
from core.storage.channels.panels import Panels
from core.storage.channels.store import ChannelRules, Conversations
from core.storage.feedback import Feedback
from core.telemetry.metering import Meter
from core.verified_answers.cited_passages import CitedPassages
from core.verified_answers.store import VerifiedAnswers

if TYPE_CHECKING:
    from sqlalchemy.ext.asyncio import AsyncEngine


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

    def queue_board(self, staff: StaffDesk) -> QueueBoard:
        """Return what chooses the channels in which staff see what waits."""
        return QueueBoard(staff, QueueCards(self.opened.engine))

    def personal(self) -> PersonalData:
        """Return what is stored about people."""
        return PersonalData(
            sessions=self.opened.sessions,
            inbox=self.inbox,
            places=self.places(),
            conversations=Conversations(self.opened.engine),
            exchanges=Exchanges(self.opened.engine),
            panels=Panels(self.opened.engine),
            rules=self.rules,
            feedback=Feedback(self.opened.engine),
            budgets=TokenBudgets(self.opened.engine, limits=TokenLimits()),
            requests=HelpRequests(self.opened.engine),
            answers=VerifiedAnswers(self.opened.engine),
            hints=HintSteps(self.opened.engine),
        )

    def question_context(self) -> QuestionContext:
        """Return what completes questions with the things that they point at."""
        minutes = self.opened.settings.inbox.conversation_minutes
        return QuestionContext(
            Pointing(self.opened.local),
            self.inbox,
            self.opened.sessions,
            goes_on_for=timedelta(minutes=minutes),
        )

    def own_data(self) -> DataExport:
        """Return what shows people all that is stored about them."""
        return DataExport(PersonalExport(self.opened.engine), self.directory, self.readers)

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
            handbook=COURSE.course_id,
            version=__version__,
            writer=_writer(self.opened),
            escape=escape,
        )

    def greeting(self, escape: Callable[[str], str]) -> Greeting:
        """Return what greets new places; `escape` is the platform's."""
        return Greeting(self.desk, self.directory, escape)

    def staff_settings(self, settings: ChannelSettings, words: PlatformTerms) -> StaffSettings:
        """Return who may use `/course`, and whom it names; `words` are the platform's own."""
        return StaffSettings(self.desk, self.roster, self.staff, settings, words)

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


def _writer(opened: Services) -> Message | str:
    chosen = opened.chosen_generator()
    if chosen != EXTRACTIVE:
        return opened.models.table(chosen).model
    return Message("about-writer-extractive")


def retention_of(opened: Services) -> Retention:
    """Return what deletes that which the settings do not have kept any more."""
    days = opened.settings.retention.days
    return Retention(opened.engine, kept_for=timedelta(days=days) if days else None)
