"""What `glossator doctor` checks of tenants: who let the bot in and may read nothing."""

from collections.abc import AsyncIterator

from sqlalchemy.ext.asyncio import AsyncEngine

from bot.cli.access import line_of, standings
from bot.course_file import CourseFile
from bot.doctor.findings import Finding, failed, warning
from core.access.store import AccessStore
from core.errors import BotError
from core.storage.catalogue import Catalogue


async def check_access(engine: AsyncEngine, course_file: CourseFile) -> AsyncIterator[Finding]:
    """Report what each tenant may read; one that waits is a warning. Without tenants, nothing."""
    try:
        found = await standings(AccessStore(engine), Catalogue(engine), course_file)
    except BotError as error:
        yield failed("tenants", error)
        return
    for one in found:
        yield warning("tenants", line_of(one)) if one.waits else Finding("tenants", line_of(one))
