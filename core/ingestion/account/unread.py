"""Says of every file of a site's folder that is no page why it is none."""

from collections.abc import Iterator
from pathlib import PurePosixPath

from core.ingestion.account.included import included_files
from core.ingestion.account.left_out import LeftOut, foreign, missed
from core.ingestion.account.survey import Survey
from core.ingestion.formats.registry import is_readable, unread_format
from core.ingestion.sites.site import Site


def unread_files(site: Site, survey: Survey) -> tuple[LeftOut, ...]:
    """Return each file of `survey` that is no page of `site`, with the reason, in order."""
    pages = {page.path for page in site.pages}
    others = [path for path in survey.files if path not in pages]
    included = included_files(site.folder, pages, others, site.include_roots)
    elsewhere = _read_elsewhere(site, pages) if others else {}
    reasons = [_reason(path, site, included, elsewhere) for path in others]
    return (*reasons, *(left for left in survey.left_out if left.path not in pages))


def _read_elsewhere(site: Site, pages: set[str]) -> dict[str, str]:
    """Return the pages that are links to files of the folder, by the path of the file."""
    real = ((page, (site.folder / page).resolve()) for page in pages)
    inside = ((page, path) for page, path in real if path.is_relative_to(site.folder))
    return {path.relative_to(site.folder).as_posix(): page for page, path in inside}


def _reason(path: str, site: Site, included: frozenset[str], elsewhere: dict[str, str]) -> LeftOut:
    if why := next((site.foreign[part] for part in _parts(path) if part in site.foreign), None):
        return foreign(path, why)
    if path in elsewhere:
        return foreign(path, f"is read as {elsewhere[path]}")
    if path in included:
        return foreign(path, "is read with the pages that include it")
    if path in site.unpublished:
        return missed(path, site.unpublished[path])
    if not is_readable(path):
        return missed(path, unread_format(path))
    if site.docs == "." or path.startswith(f"{site.docs}/"):
        return missed(path, site.unlisted)
    return missed(path, f"lies outside of {site.docs}, where the site has its pages")


def _parts(path: str) -> Iterator[str]:
    """Yield the path and every folder that it lies in."""
    yield path
    yield from (parent.as_posix() for parent in PurePosixPath(path).parents)
