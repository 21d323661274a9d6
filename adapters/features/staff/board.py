"""The channels in which staff have the questions shown that wait for them."""

from adapters.features.staff.review import Reviewer, StaffReview
from core.help_requests.base import QueueChannel
from core.help_requests.cards import QueueCards
from core.i18n import text
from core.storage.channels.store import Place


class QueueBoard:
    """Chooses such channels; methods raise RequestError for who is not staff, and StoreError."""

    def __init__(self, review: StaffReview, cards: QueueCards) -> None:
        self._review = review
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
