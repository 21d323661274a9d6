"""What the bot says to a place that has just let it in: what it is, and the next step."""

from collections.abc import Callable

from adapters.access.course_directory import CourseDirectory
from adapters.access.location import Location
from adapters.intake.front_desk import FrontDesk
from core.errors import RequestError
from core.i18n import text


class Greeting:
    """Writes greetings, in Markdown; raises StoreError when the database fails."""

    def __init__(
        self, desk: FrontDesk, directory: CourseDirectory, escape: Callable[[str], str]
    ) -> None:
        """Prepare to write.

        Args:
            escape: Makes a text one that the platform shows letter by letter.
        """
        self._desk = desk
        self._directory = directory
        self._escape = escape

    async def words(self, location: Location) -> str:
        """Return the greeting of a whole tenant, which names no course that it may not read."""
        hello = text("greeting-hello")
        try:
            here = await self._desk.here(location)
        except RequestError:
            return f"{hello}\n{text('greeting-not-admitted')}"
        own = await self._directory.own(here.reader)
        if len(own) > 1:
            step = text("greeting-courses", count=len(own))
        elif own:
            (mark,) = own.values()
            step = text("greeting-one-course", title=self._escape(mark.course.title))
        elif await self._directory.only(here.reader) is not None:  # the handbook, at the operator's
            step = text("greeting-no-book")
        else:
            step = text("greeting-no-course")
        return f"{hello}\n{step}\n{text('greeting-help')}"
