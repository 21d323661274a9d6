"""Shows what waits for the staff in the channels that they chose: each once, whatever is killed."""

import asyncio
import logging
from collections.abc import Mapping

from adapters.access.channel_access import ChannelAccess
from adapters.base import ChatPlatform
from adapters.delivery.heartbeat import Pulse
from adapters.features.staff.cards import HelpCard
from core.errors import BotError, DeliveryError, StoreError
from core.help_requests.base import CardDue
from core.help_requests.cards import QueueCards
from core.i18n import use_locale
from core.models import now
from core.storage.sessions.store import SessionStore

logger = logging.getLogger(__name__)

_EVERY = 2.0
"""Seconds between two looks."""


class QueuePosts:
    """Looks for cards that do not show how far their requests have come.

    Any number of processes may: a card is claimed in the database first. Where a process died
    after it posted, the next one finds the message, and changes that.
    """

    def __init__(
        self,
        cards: QueueCards,
        sessions: SessionStore,
        access: ChannelAccess,
        platforms: Mapping[str, ChatPlatform],
        every: float = _EVERY,
    ) -> None:
        self._cards = cards
        self._sessions = sessions
        self._access = access
        self._platforms = platforms
        self._every = every
        self.pulse = Pulse()
        """Beats with every look."""

    async def run(self) -> None:
        """Look again and again, until cancelled."""
        while True:
            try:
                while await self.show_one():
                    pass
            except StoreError as error:
                logger.warning("what waits for the staff cannot be read: %s", error)
            await asyncio.sleep(self._every)

    async def show_one(self) -> bool:
        """See to a card, and return whether there was one to see to.

        Raises:
            StoreError: when the database fails.
        """
        self.pulse.beat()
        ready = [name for name, platform in self._platforms.items() if platform.is_ready]
        due = await self._cards.claim(ready)
        if due is None:
            return False
        try:
            with use_locale(due.channel.locale):
                await self._show(due)
        except StoreError:
            raise
        except DeliveryError as error:
            logger.warning("a question to the staff of %s: %s", due.channel.course_id, error)
            if error.permanent:
                await self._give_up(due)
        except BotError as error:
            logger.warning("a question to the staff of %s: %s", due.channel.course_id, error)
        return True

    async def _show(self, due: CardDue) -> None:
        platform, request = self._platforms[due.channel.platform], due.request
        if request is None or (due.message is None and request.at(now()).is_over):
            await platform.remove_card(due)
            await self._cards.drop(due)
            return
        if not await self._access.may_read(due.channel):
            return  # claimed for a while, and then looked at again
        card = HelpCard.of(request, await self._sessions.turn_of(request.request_id))
        message = await platform.show_card(due, card.shown)
        await self._cards.shown(due, message, card.state)

    async def _give_up(self, due: CardDue) -> None:
        """Leave a card alone that its platform does not take, or choose its channel no more."""
        place = due.channel
        if due.request is None:
            await self._cards.drop(due)
        elif due.message is not None:
            await self._cards.lose(due)
        else:
            await self._cards.drop(due)
            await self._cards.stop([place.course_id], place.platform, place.workspace)
