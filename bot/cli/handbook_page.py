"""`glossator help`: prints the handbook's pages, which every installation has."""

import difflib
import re
import sys
from pathlib import Path

from bot.cli.exits import Exit, UsageError
from bot.handbook import handbook_folder

_TITLE = re.compile(r"^# (.+)$", re.MULTILINE)
_PICTURE = re.compile(r"!\[([^\]]*)\]\([^)]*\)")
_LINK = re.compile(r"\[([^\]]+)\]\(([\w-]*)(?:\.(md|yaml))?(?:#[\w-]*)?\)")


def help_page(name: str | None) -> int:
    """Print a page of the handbook, or which pages there are.

    Raises:
        UsageError: when there is no such page, with those that come near.
    """
    pages = {page.stem: page for page in sorted(handbook_folder().glob("*.md"))}
    if name is None:
        width = max(map(len, pages))
        print("Pages of the handbook; 'glossator help PAGE' prints one:\n")
        for stem, page in pages.items():
            print(f"  {stem:<{width}}  {_title(page)}")
        print(
            "\n'glossator --help' lists the commands, and 'glossator COMMAND --help' explains one."
        )
        return Exit.OK
    stem = name.lower().removesuffix(".md").rpartition("/")[2]
    if stem not in pages:
        near = difflib.get_close_matches(stem, pages, 1)
        hint = f"did you mean {near[0]}?" if near else "'glossator help' lists them."
        raise UsageError(
            f"The handbook has no page {name}; {hint} What a command takes, its own --help says."
        )
    _print(_in_the_terminal(pages[stem].read_text("utf-8"), set(pages)))
    return Exit.OK


def _title(page: Path) -> str:
    found = _TITLE.search(page.read_text("utf-8"))
    return found[1] if found else page.stem


def _in_the_terminal(text: str, pages: set[str]) -> str:
    """Return a page whose links name the commands that print what they lead to."""

    def said(link: re.Match[str]) -> str:
        words, stem, kind = link.groups()
        if kind == "yaml":
            return f"{words} ('glossator slack-manifest')"
        if stem and stem not in pages:
            return link[0]
        return f"{words} ('glossator help {stem}')" if stem else words

    return _LINK.sub(said, _PICTURE.sub(r"(picture: \1)", text))


def _print(text: str) -> None:
    if not sys.stdout.isatty():
        print(text, end="")
        return
    from rich.console import Console
    from rich.markdown import Markdown

    Console(width=min(Console().width, 100)).print(Markdown(text, hyperlinks=False))
