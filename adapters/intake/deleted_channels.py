"""Forgets what was asked in a channel or thread that is there no more."""

from adapters.intake.front_desk import FrontDesk, Received
from core.inbox.places import InboxPlaces
from core.storage.channels.store import Conversations, Place


class DeletedChannels:
    """Has all questions of a place forgotten, as if each had been deleted."""

    def __init__(self, desk: FrontDesk, places: InboxPlaces, conversations: Conversations) -> None:
        self._desk = desk
        self._places = places
        self._conversations = conversations

    async def forget(self, platform: str, place: str, position: int) -> Received | None:
        """Forget what was asked in a channel or thread; return the last receipt, if any.

        A question whose answer stands in the channel outlives the thread below it.

        Args:
            place: Its id, which the platform gives to one place only.
            position: As `Arrival.position`.

        Raises:
            StoreError: when the database fails; what was accepted by then stays accepted, and
                doing it again does the rest.
        """
        received: Received | None = None
        for asked in await self._places.asked_in(platform, place):
            if asked.is_gone:
                key = asked.key
                again = await self._desk.forget(key, key=f"{key}:delete", position=position)
                received = again or received
            await self._conversations.forget(Place(platform, asked.workspace, place))
        return received
