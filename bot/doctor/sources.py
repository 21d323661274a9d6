"""What `glossator doctor` says of sources: are they there, and what can be read here."""

from collections.abc import AsyncIterator

from bot.cli.exits import sentence_for
from bot.course_file import CourseFile
from bot.doctor.findings import Finding, failed, warning
from core.errors import BotError
from core.ingestion.sources.opening import is_git, is_gone

_UNREAD = "scanned pages{whose} are named, and not read: {why}"
_LANGUAGES_NAMED = 12


async def check_sources(course_file: CourseFile) -> AsyncIterator[Finding]:
    """Check that the sources of the described courses are there, and git for those it fetches."""
    for name in course_file.tables:
        sources = course_file.sources(name)
        if not sources:
            yield warning(
                "course", f"{name} has no sources in the course file: nothing can be read again"
            )
        for source in sources:
            if is_gone(source):
                yield warning("course", f"The source {source} of {name} is not there.")
    named = [source for name in course_file.tables for source in course_file.sources(name)]
    yield await _check_git([source for source in named if is_git(source)])


async def check_scans(course_file: CourseFile, most_pages: int) -> AsyncIterator[Finding]:
    """Check what recognises scanned pages, which a course can do without.

    A warning says where only the data of a course's language is missing.

    Args:
        most_pages: of one document; 0: none are recognised.
    """
    from core.ingestion.recognition.recognition import recognition_with
    from core.ingestion.recognition.tesseract import find_tesseract

    tesseract = await find_tesseract()
    courses: dict[str, list[str]] = {}
    for name in course_file.tables:
        courses.setdefault(course_file.language(name), []).append(name)
    missing = {
        language: recognition_with(tesseract, language, most_pages).missing
        for language in courses or ["en"]
    }
    if tesseract is None or not most_pages:
        yield Finding("scans", _UNREAD.format(whose="", why=next(iter(missing.values()))))
        return
    named = ", ".join(tesseract.languages[:_LANGUAGES_NAMED])
    more = ", …" if len(tesseract.languages) > _LANGUAGES_NAMED else ""
    yield Finding("scans", f"tesseract {tesseract.version} recognises pages in {named}{more}")
    for language, why in missing.items():
        if why:
            whose = f" of {', '.join(courses[language])}" if courses else ""
            yield warning("scans", _UNREAD.format(whose=whose, why=why))


async def check_pandoc() -> Finding:
    """Return which pandoc reads the formats that need it, which a course can do without."""
    from core.ingestion.formats.pandoc.program import find_pandoc
    from core.ingestion.formats.registry import FORMATS, OLDEST_PANDOC
    from core.system_packages import how_to_install_pandoc

    found = await find_pandoc()
    wanted = [each for each in FORMATS if each.pandoc]
    missing = [one for one in wanted if found is None or one.pandoc not in found.formats]
    said = "there is no pandoc"
    if found is not None:
        names = ", ".join(one.title for one in wanted if one not in missing)
        said = f"version {found.version} reads {names}"
    if missing:
        newest = any(one.pandoc_since != OLDEST_PANDOC for one in missing)
        names = ", ".join(one.title for one in missing)
        said += f"; {names} are named, and not read: {how_to_install_pandoc(newest=newest)}"
    return Finding("pandoc", said)


async def _check_git(repositories: list[str]) -> Finding:
    """Check the git of this machine, whose absence fails only where a source needs it."""
    from core.ingestion.git.address import parse_git_address
    from core.ingestion.git.program import find_git

    try:
        for source in repositories:
            parse_git_address(source)
        git = await find_git(0)
    except BotError as error:
        return failed("git", error) if repositories else Finding("git", sentence_for(error))
    needed = f", for {len(repositories)} of the sources" if repositories else ""
    return Finding("git", f"version {git.version}{needed}")
