"""The handbook is built as a site in which no link is broken, and which fetches nothing."""

import subprocess
import sys
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path

import pytest

from tests.command_line import ROOT

_FETCHED = {"img": "src", "script": "src", "link": "href", "iframe": "src", "source": "src"}


class Fetched(HTMLParser):
    """Collects what a browser fetches for a page by itself."""

    def __init__(self) -> None:
        super().__init__()
        self.urls = list[str]()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        url = dict(attrs).get(_FETCHED.get(tag, ""))
        if url is not None:
            self.urls.append(url)


def outside_of(site: Path) -> Iterator[str]:
    """Yield what the site's pages and styles fetch from elsewhere."""
    for page in site.rglob("*.html"):
        fetched = Fetched()
        fetched.feed(page.read_text("utf-8"))
        yield from (url for url in fetched.urls if "//" in url)
    for style in site.rglob("*.css"):
        text = style.read_text("utf-8")
        yield from (part for part in text.split("url(")[1:] if part.lstrip("'\"").startswith("//"))
        yield from (
            part for part in text.split("url(")[1:] if part.lstrip("'\"").startswith("http")
        )


@pytest.mark.costly
def test_the_site_is_built_without_a_warning_and_fetches_nothing(tmp_path: Path) -> None:
    site = tmp_path / "site"
    command = Path(sys.executable).with_name("properdocs")
    built = subprocess.run(
        [command, "build", "--strict", "--site-dir", site],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=240,
        check=False,
    )
    assert built.returncode == 0, built.stderr
    pages = {page.stem for page in (ROOT / "docs").glob("*.md")}
    assert pages <= {page.stem for page in site.glob("*.html")}
    assert list(outside_of(site)) == []
