"""Folders with files of all kinds, made by chance, to ingest whatever is in them."""

import os
import random
from collections.abc import Mapping
from pathlib import Path

from tests.books import write_files

_PAGE = "# Tides {0}\n\nThe tide of harbour {0} rises twice a day, {0} feet at most.\n"
_CONTENTS: tuple[bytes, ...] = (
    b"",
    b" \n",
    b"\x00\x01\x02" * 400,
    b"%PDF-1.7 broken",
    b'{"cells": 3}',
    b"PK\x03\x04 broken",
    "La marée monte très vite.".encode("latin-1"),
    b"<html><body><p>A page of the web.</p></body></html>",
    b"<!-- nothing to be seen -->",
    b"All the tides of a year. " * 50_000,
)
_SUFFIXES = (
    *(".md", ".markdown", ".mdx", ".MD", ".qmd", ".Rmd", ".rst", ".txt", ".adoc", ".tex", ".html"),
    *(".ipynb", ".pdf", ".docx", ".pptx", ".png", ".py", ".css", ".csv", ".woff", "", ".org"),
)
_FOLDERS = (
    *("", "docs", "src", "docs/part", "src/01-start", "_2019", "_posts", "_site", "site", "book"),
    *("build", "_build", "node_modules/x", ".git/objects", ".hidden", "__pycache__", "env/lib"),
    *(
        "versioned_docs/version-1",
        "i18n/de",
        "docs/_partials",
        "a folder/of words",
        "книга",
        "_book",
    ),
)
_NAMES = ("index", "README", "_part", "intro", ".secret", "SUMMARY", "odd name & #1?", "naïve", "2")
SITES: Mapping[str, Mapping[str, str]] = {
    "a plain folder": {},
    "an mdBook": {
        "book.toml": '[book]\nsrc = "src"\n',
        "src/SUMMARY.md": "- [One](one.md)\n- [Draft]()\n- [Gone](gone.md)\n",
        "src/one.md": _PAGE.format(1) + "\n{{#include part.txt}}\n",
        "src/part.txt": "A part of the page.",
    },
    "a MkDocs site with navigation": {
        "mkdocs.yml": "nav:\n  - index.md\n  - gone.md\n  - https://a.example\n",
        "docs/index.md": _PAGE.format(2),
    },
    "a MkDocs site": {"mkdocs.yml": "site_name: Tides\n", "docs/index.md": _PAGE.format(3)},
    "a Docusaurus site": {
        "docusaurus.config.js": "module.exports = {url: 'https://a.example', baseUrl: '/'};",
        "docs/intro.mdx": "import Part from './_part.mdx'\n\n" + _PAGE.format(4) + "\n<Part />\n",
        "docs/_part.mdx": "A part of the page.",
        "docs/draft.md": "---\ndraft: true\n---\n" + _PAGE.format(5),
    },
    "a Jekyll site": {"_config.yml": "title: Tides\n", "_2019/one.md": _PAGE.format(6)},
    "a Quarto book": {
        "_quarto.yml": "project:\n  type: book\n  output-dir: docs\n",
        "one.qmd": _PAGE.format(7) + "\n{{< include _part.qmd >}}\n",
        "_part.qmd": "A part of the page.",
    },
}


def grow(root: Path, site: str, seed: int) -> Path:
    """Fill the folder `root` with a site and some dozens of files, links and odd things."""
    chance = random.Random(f"{site} {seed}")
    files: dict[str, str | bytes] = {}
    for number in range(chance.randint(5, 45)):
        folder, name, suffix = map(chance.choice, (_FOLDERS, _NAMES, _SUFFIXES))
        content = _PAGE.format(number).encode()
        path = f"{folder}/{name}{suffix}".lstrip("/")
        files[path] = chance.choice(_CONTENTS) if chance.random() < 0.3 else content
    if chance.random() < 0.5:
        files["env/pyvenv.cfg"] = "home = /usr/bin\n"
    write_files(root, {**files, **SITES[site]})
    _add_links(root, chance)
    return root


def _add_links(root: Path, chance: random.Random) -> None:
    outside = write_files(root.parent / "outside", {"secret.md": "# Secret\n", "more/a.md": "x"})
    links = {
        "dangling.md": Path("nowhere.md"),
        "out.md": outside / "secret.md",
        "elsewhere": outside / "more",
        "again": root,
        "loop.md": Path("loop.md"),
    }
    for name, target in links.items():
        if chance.random() < 0.6:
            (root / name).symlink_to(target)
    if chance.random() < 0.5:
        os.mkfifo(root / "pipe.md")
    if chance.random() < 0.5:
        (root / os.fsdecode(b"mar\xe9e.md")).write_text(_PAGE.format(8))
        (root / os.fsdecode(b"mar\xe8e.md")).write_text(_PAGE.format(9))


def on_disk(root: Path) -> list[str]:
    """Return every file below `root`, and every link, by its path as it is on disk, but git's."""
    return [
        Path(parent, name).relative_to(root).as_posix()
        for parent, folders, files in os.walk(root)
        if ".git" not in Path(parent).parts
        for name in (*files, *(name for name in folders if Path(parent, name).is_symlink()))
    ]
