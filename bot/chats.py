"""What every chat platform is built from."""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass

from adapters.about import Facts
from adapters.answer_actions import AnswerActions
from adapters.channel_settings import ChannelSettings
from adapters.desk import FrontDesk
from adapters.guide import Guide
from bot import __version__
from bot.handbook import COURSE
from bot.wiring import Services, chosen_generator
from core.budgets.store import Limits, TokenBudgets
from core.channels.store import ChannelRules
from core.feedback.store import Feedback
from core.inbox.store import Inbox
from core.personal import PersonalData


@dataclass(frozen=True, slots=True)
class ChatServices:
    """The inbox with what stands around it."""

    opened: Services
    inbox: Inbox
    desk: FrontDesk
    guide: Guide
    wake: Callable[[], None]
    """Tells the worker that there is something to do."""
    stop: Callable[[str], Awaitable[bool]]
    """Ends the answer to an event, by its key; returns whether it was on its way."""

    def actions(self) -> AnswerActions:
        """Return what the buttons under an answer do."""
        return AnswerActions(
            desk=self.desk,
            inbox=self.inbox,
            sessions=self.opened.sessions,
            feedback=Feedback(self.opened.engine),
            wake=self.wake,
            stop=self.stop,
        )

    def personal(self) -> PersonalData:
        """Return what is stored about people."""
        return PersonalData(
            sessions=self.opened.sessions,
            inbox=self.inbox,
            feedback=Feedback(self.opened.engine),
            budgets=TokenBudgets(self.opened.engine, limits=Limits()),
        )

    def facts(self, escape: Callable[[str], str]) -> Facts:
        """Return what is told about the bot; `escape` is the platform's."""
        return Facts(
            desk=self.desk,
            guide=self.guide,
            handbook=COURSE.course_id,
            version=__version__,
            writer=_writer(self.opened),
            escape=escape,
        )

    def channel_settings(self, names: Mapping[str, str]) -> ChannelSettings:
        """Return what staff set; `names` are the platform's own names of rules."""
        rules = ChannelRules(self.opened.engine)
        return ChannelSettings(self.desk, rules, self.guide, names=names)


def _writer(opened: Services) -> str:
    if chosen_generator(opened.settings) == "gemini":
        return opened.settings.gemini.model
    return "the book's own words, without a model"
