"""The channels in which staff have the questions shown that wait for them."""

import logging
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from uuid import UUID

from adapters.features.staff.desk import StaffDesk
from adapters.features.staff.review import Reviewer
from core.errors import BotError
from core.help_requests.base import CardDue, QueueCard, QueueChannel
from core.help_requests.cards import QueueCards
from core.i18n import text, use_locale
from core.storage.channels.store import Place

logger = logging.getLogger(__name__)

ShowCard = Callable[[CardDue, QueueCard], Awaitable[str]]
"""Shows a card as `ChatPlatform.show_card` does, and returns the message's id."""


@dataclass(slots=True)
class StandingCard:
    """The card of a request in a channel of the staff."""

    message: str | None = None
    """The platform's id of the message that shows how far the request has come; None: none does."""


class QueueBoard:
    """Chooses such channels; methods raise RequestError for who is not staff, and StoreError."""

    def __init__(self, staff: StaffDesk, cards: QueueCards) -> None:
        self._staff = staff
        self._review = staff.review
        self._cards = cards

    async def post_here(
        self, reviewer: Reviewer, place: Place, *, enterprise: str | None, locale: str | None
    ) -> str:
        """Have the questions about all courses of a reviewer posted into a channel.

        What waits already is posted as well. Return the reply to the reviewer.
        """
        courses = await self._review.courses_of(reviewer)
        await self._cards.choose(
            [
                QueueChannel(
                    course_id, place.platform, place.workspace, place.place, enterprise, locale
                )
                for course_id in courses
            ]
        )
        return text("queue-posting")

    async def stop(self, reviewer: Reviewer, place: Place) -> str:
        """Have them posted no more, and return the reply to the reviewer."""
        courses = await self._review.courses_of(reviewer)
        stopped = await self._cards.stop(courses, place.platform, place.workspace)
        return text("queue-posting-stopped") if stopped else text("queue-posting-none")

    @asynccontextmanager
    async def changing(
        self, help_id: UUID, reviewer: Reviewer, name: str, show: ShowCard
    ) -> AsyncIterator[StandingCard]:
        """Have the card of a request, if it has one, show what the block makes of the request.

        Where that cannot be shown at once, it is shown soon, without the name. Whoever may not
        change the request is refused before its card is claimed.

        Args:
            name: Of the reviewer who changes it; it is shown where they have taken it.
        """
        await self._staff.check(help_id, reviewer)
        due, standing = await self._cards.claim_of(help_id, reviewer.who.tenants), StandingCard()
        try:
            yield standing
        except BaseException:
            if due is not None:
                await self._cards.release(due, as_shown=True)
            raise
        if due is not None:
            standing.message = await self._show(due, name, show)

    async def _show(self, due: CardDue, name: str, show: ShowCard) -> str | None:
        try:
            with use_locale(due.channel.locale):
                card = await self._staff.card_for_all(due.help_id, name)
                if card is not None:
                    message = await show(due, card.shown)
                    await self._cards.shown(due, message, card.state)
                    return message
        except BotError as error:
            logger.info("the card of a question to the staff is changed later: %s", error)
        await self._cards.release(due, as_shown=False)
        return None
