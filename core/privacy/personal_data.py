"""Counts and deletes what is stored about a person, over all stores."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from core.help_requests.store import HelpRequests
from core.inbox.places import Channel, InboxPlaces
from core.inbox.store import Inbox
from core.policies.store import HintSteps
from core.storage.budgets.store import TokenBudgets
from core.storage.channels.exchanges import Exchanges
from core.storage.channels.panels import Panels
from core.storage.channels.rules import Rules
from core.storage.channels.store import ChannelRules, Conversations, Place
from core.storage.feedback import Feedback
from core.storage.sessions.store import SessionStore
from core.verified_answers.store import VerifiedAnswers


@dataclass(frozen=True, slots=True)
class StoredAmounts:
    """How much is stored about a person."""

    questions: int = 0
    """With their answers."""
    waiting: int = 0
    """Questions that wait for their answer, and the addresses of answers given."""
    votes: int = 0
    passed_on: int = 0
    """Questions that went to staff, and wordings that are kept with what staff answered."""

    @property
    def anything(self) -> bool:
        """Whether there is anything to delete."""
        return bool(self.questions or self.waiting or self.votes or self.passed_on)

    def __add__(self, other: "StoredAmounts") -> "StoredAmounts":
        return StoredAmounts(
            self.questions + other.questions,
            self.waiting + other.waiting,
            self.votes + other.votes,
            self.passed_on + other.passed_on,
        )


class PersonalData:
    """All that the stores hold of a person, by the person's pseudonyms.

    A person has a pseudonym a workspace. Methods raise StoreError when the database fails;
    what was deleted by then stays deleted, and calling again deletes the rest.
    """

    def __init__(
        self,
        *,
        sessions: SessionStore,
        inbox: Inbox,
        places: InboxPlaces,
        conversations: Conversations,
        exchanges: Exchanges,
        panels: Panels,
        rules: ChannelRules,
        feedback: Feedback,
        budgets: TokenBudgets,
        requests: HelpRequests,
        answers: VerifiedAnswers,
        hints: HintSteps,
    ) -> None:
        self._sessions = sessions
        self._inbox = inbox
        self._places = places
        self._conversations = conversations
        self._exchanges = exchanges
        self._panels = panels
        self._rules = rules
        self._feedback = feedback
        self._budgets = budgets
        self._requests = requests
        self._answers = answers
        self._hints = hints

    async def workspaces(self, platform: str) -> frozenset[str]:
        """Return the workspaces of a platform that something is kept of, left ones included."""
        return await self._places.workspaces(platform)

    async def stored(self, user_ids: Sequence[str]) -> StoredAmounts:
        """Return how much there is."""
        total = StoredAmounts()
        for user_id in user_ids:
            total += StoredAmounts(
                await self._sessions.turns_of_user(user_id),
                await self._inbox.of_user(user_id),
                await self._feedback.of_user(user_id),
                await self._requests.of_user(user_id) + await self._answers.of_user(user_id),
            )
        return total

    async def forget(self, user_ids: Sequence[str]) -> StoredAmounts:
        """Delete it all, answers under way included, and return how much it was."""
        direct = await self._places.direct_channels(user_ids)
        await self._forget_direct(direct)  # first: a second try would not know them any more
        total = StoredAmounts()
        for user_id in user_ids:
            waiting = await self._inbox.forget_user(user_id)  # first: nothing new is written
            total += StoredAmounts(
                await self._sessions.forget_user(user_id),
                waiting,
                await self._feedback.forget_user(user_id),
                await self._requests.forget_user(user_id)
                + await self._answers.forget_user(user_id),
            )
            await self._budgets.forget_user(user_id)
            await self._exchanges.forget_user(user_id)
            await self._hints.forget_user(user_id)
        await self._forget_direct(direct)  # what came meanwhile
        return total

    async def _forget_direct(self, channels: Iterable[Channel]) -> None:
        for direct in channels:
            place = Place(direct.platform, direct.workspace, direct.channel)
            await self._conversations.forget(place)
            await self._panels.forget_in(place)
            await self._rules.set(place, Rules())
            await self._places.forget_direct(direct)
