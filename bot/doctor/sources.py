"""What `glossator doctor` says of sources: whether they are there, and can be read here."""

from collections.abc import AsyncIterator

from bot.course_file import CourseFile
from bot.doctor.findings import Finding, failed, warning
from core.errors import BotError
from core.ingestion.sources.opening import is_git, is_gone


async def check_sources(course_file: CourseFile) -> AsyncIterator[Finding]:
    """Check that the sources of the described courses are there, and git for those it fetches."""
    for name in course_file.tables:
        sources = course_file.sources(name)
        if not sources:
            yield warning(
                "course", f"{name} has no sources in the course file: nothing can be read anew"
            )
        for source in sources:
            if is_gone(source):
                yield warning("course", f"The source {source} of {name} is not there.")
    named = [source for name in course_file.tables for source in course_file.sources(name)]
    if repositories := [source for source in named if is_git(source)]:
        yield await _check_git(repositories)


async def _check_git(repositories: list[str]) -> Finding:
    from core.ingestion.git.address import parse_git_address
    from core.ingestion.git.program import find_git

    try:
        for source in repositories:
            parse_git_address(source)
        git = await find_git(0)
    except BotError as error:
        return failed("git", error)
    return Finding("git", f"version {git.version}, for {len(repositories)} of the sources")
