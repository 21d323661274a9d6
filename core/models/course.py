"""What questions are answered from, and where it is published."""

from urllib.parse import SplitResult, urlsplit

from core.models.fields import CourseId, Model, NonBlank, TenantName, WebUrl


class Course(Model):
    """One book (or site, or set of slides) that questions are answered from."""

    course_id: CourseId
    title: NonBlank
    base_url: WebUrl | None = None
    """Where the book is published; a document's URL is this plus its path."""
    language: str = "en"
    """BCP 47 tag of the book's language."""
    tenant: TenantName | None = None
    """Who owns it; none: the operator."""


def is_on_site(url: str, base_url: str | None) -> bool:
    """Return whether `url` lies on the course's own site: same host, port and path prefix."""
    if base_url is None:
        return False
    mine, site = urlsplit(url), urlsplit(base_url)
    folder = site.path if site.path.endswith("/") else site.path.rpartition("/")[0] + "/"
    return _place(mine) == _place(site) and (mine.path or "/").startswith(folder)


def _place(parts: SplitResult) -> str:
    """Return the host and port that count as one site: with or without TLS and `www.`."""
    return parts.netloc.lower().removeprefix("www.").removesuffix(":80").removesuffix(":443")
