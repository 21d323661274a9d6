"""Checks again, when a question is answered, what was checked when it was accepted."""

from dataclasses import replace

from adapters.access.course_directory import CourseDirectory
from adapters.access.location import location_of
from adapters.access.membership import MembershipUnknown
from adapters.access.readers import Readers
from core.errors import DeliveryError
from core.i18n import text
from core.inbox.audience import Settlement
from core.inbox.base import Arrival, Job


class Admission:
    """Lets no answer out from a course that may not be read any more.

    Raises StoreError when the database fails, and DeliveryError when the platform does not tell
    now who shares which tenant.
    """

    def __init__(self, directory: CourseDirectory, readers: Readers) -> None:
        self._directory = directory
        self._readers = readers

    async def checked(self, job: Job) -> Job:
        """Return a job as it may be answered now: with a refusal where its course is gone."""
        arrival = job.arrival
        if arrival.request is None and arrival.pending is None:
            return job
        try:
            reader = await self._readers.of(location_of(arrival))
        except MembershipUnknown as error:
            raise DeliveryError(str(error)) from error
        if arrival.request is not None:
            is_readable = await self._directory.mark(reader, arrival.request.course_id) is not None
            return job if is_readable else replace(job, arrival=_refused(arrival))
        known = await self._directory.own(reader)
        choices = [choice for choice in arrival.address["choices"] if choice[0] in known]
        if not choices:
            return replace(job, arrival=_refused(arrival))
        address = {**arrival.address, "choices": choices}
        return replace(job, arrival=replace(arrival, address=address))


def _refused(arrival: Arrival) -> Arrival:
    return replace(
        arrival,
        request=None,
        pending=None,
        refusal=text("course-gone"),
        settles=Settlement.REFUSED,
    )
