"""What people learn about the bot and its courses, in the same words everywhere."""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass

from adapters.access.course_directory import CourseDirectory, ListedCourse
from adapters.access.whereabouts import Here
from adapters.intake.front_desk import FrontDesk
from core.access.reading import Reader
from core.i18n import Message, text
from core.models import MAX_QUESTION
from core.privacy.personal_data import StoredAmounts

_LONGEST = 1_900
"""Characters of a list, so that what stands around it fits as well."""


class Facts:
    """Describes what answers in a place, in Markdown; raises StoreError when the database fails."""

    def __init__(
        self,
        *,
        desk: FrontDesk,
        directory: CourseDirectory,
        handbook: str,
        version: str,
        writer: Message | str,
        escape: Callable[[str], str],
    ) -> None:
        """Put together what is said.

        Args:
            handbook: The id of the course that questions about the bot are answered from.
            version: Of Glossator.
            writer: The model that writes answers, or `extractive`.
            escape: Makes a text one that the platform shows letter by letter.
        """
        self.handbook = handbook
        self._desk = desk
        self._directory = directory
        self._version = version
        self._writer = writer
        self._escape = escape

    async def sources(self, here: Here) -> str:
        """Return the titles of the course that is answered from in a place."""
        mark = await self._mark(here)
        if mark is None:
            return text("course-none-set")
        titles = await self._directory.titles(here.reader, mark.course.course_id)
        head = text(
            "about-sources",
            title=self._escape(mark.course.title),
            created=mark.edition.created_at,
        )
        return "\n".join([head, *self._shortened(titles)])

    async def about(self, here: Here) -> str:
        """Return the version, the model, and the edition of the course."""
        mark = await self._mark(here)
        lines = [f"Glossator {self._version}", text("about-writer", writer=self._writer)]
        if mark is not None:
            lines.append(
                text(
                    "about-course",
                    title=self._escape(mark.course.title),
                    created=mark.edition.created_at,
                    documents=text("about-documents", count=mark.edition.documents),
                    passages=text("about-passages", count=mark.edition.chunks),
                )
            )
        return "\n".join(lines)

    async def courses(self, reader: Reader) -> list[str]:
        """Return a line for each course that the reader may read; without any, the handbook's."""
        courses = await self._directory.own(reader) or await self._directory.courses(reader)
        return [
            f"{self._escape(mark.course.title)} (`{course_id}`)"
            for course_id, mark in sorted(courses.items())
        ]

    async def _mark(self, here: Here) -> ListedCourse | None:
        return await self._directory.mark(here.reader, await self._desk.course_of(here))

    def _shortened(self, titles: list[str]) -> list[str]:
        """Return the titles as a list, as many as fit, and how many more there are."""
        lines, length = list[str](), 0
        for number, title in enumerate(titles):
            line = f"- {self._escape(title)}"
            length += len(line) + 1
            if length > _LONGEST:
                return [*lines, text("about-sources-more", more=len(titles) - number)]
            lines.append(line)
        return lines


@dataclass(frozen=True, slots=True)
class AboutCommand:
    """A command about the bot, `/glossator NAME` on every platform; the asker alone sees it."""

    name: str
    description: Message
    answer: Callable[[Facts, Here], Awaitable[str]]
    """Returns what it says in a place, in Markdown."""


ABOUT_COMMANDS: Mapping[str, AboutCommand] = {
    command.name: command
    for command in (
        AboutCommand("sources", Message("describe-sources"), Facts.sources),
        AboutCommand("about", Message("describe-about"), Facts.about),
    )
}
"""By name, in the order in which they are listed; `help` and `data` are each platform's own."""


def asked_here(question: str, platform: str) -> str:
    """Return a question about the bot as one about the bot on this platform.

    The handbook tells of several platforms and of the terminal, and the asker means this one.
    """
    here = f"{platform}: {question}"
    return question if platform.casefold() in question.casefold() else here[:MAX_QUESTION]


def in_words(stored: StoredAmounts, platform: str) -> str:
    """Return what is stored about a user, for them."""
    if not stored.anything:
        return text("privacy-nothing-stored")
    return text(
        "privacy-stored",
        questions=text("privacy-questions", count=stored.questions),
        records=text("privacy-records", count=stored.waiting),
        votes=text("privacy-votes", count=stored.votes),
        platform=platform,
    )
