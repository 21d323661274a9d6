"""Gives headings the fragments under which their publisher links them."""

import re
import unicodedata
from collections import Counter
from collections.abc import Callable

from core.ingestion.formats.flavours.flavour import MarkdownFlavour

_NUMBERED = re.compile(r"(.*)_([0-9]{1,9})", re.DOTALL)
_GITHUB_KEEPS = frozenset({"Lu", "Ll", "Lt", "Lm", "Lo", "Mn", "Mc", "Me", "Nd", "Nl", "Pc"})


class AnchorSlugs:
    """The anchors of one page; ask for its headings in order, each once."""

    def __init__(self, slug: Callable[[str], str], number: Callable[[str], str]) -> None:
        self._slug, self._number = slug, number

    def anchor(self, heading: str, explicit: str | None = None) -> str:
        """Return the fragment of a heading, without `#`; an id its author gave wins."""
        return self._number(explicit) if explicit else self._number(self._slug(heading))


def anchor_slugs(dialect: MarkdownFlavour) -> AnchorSlugs:
    """Return the rule by which `dialect` names the headings of one page."""
    match dialect:
        case MarkdownFlavour.MDBOOK:
            return AnchorSlugs(mdbook_slug, _CountedAnchors().unique)
        case MarkdownFlavour.MKDOCS:
            return AnchorSlugs(python_markdown_slug, _UnderscoredAnchors().unique)
        case MarkdownFlavour.QUARTO:
            return AnchorSlugs(pandoc_slug, _FreeAnchors().unique)
        case MarkdownFlavour.MYST:
            return AnchorSlugs(docutils_slug, _NumberedAnchors().unique)
        case _:
            return AnchorSlugs(github_slug, _FreeAnchors().unique)


def mdbook_slug(heading: str) -> str:
    """Return the id mdBook makes of a heading. Source: mdBook, `normalize_id`."""
    kept = (_mdbook_character(character) for character in heading.strip())
    return "".join(kept)


def _mdbook_character(character: str) -> str:
    if character.isalnum() or character in "_-":
        return character.lower() if character.isascii() else character
    return "-" if character.isspace() else ""


def python_markdown_slug(heading: str) -> str:
    """Return the id Python-Markdown makes. Source: its toc extension, `slugify`."""
    plain = unicodedata.normalize("NFKD", heading).encode("ascii", "ignore").decode("ascii")
    return re.sub(r"[-\s]+", "-", re.sub(r"[^\w\s-]", "", plain).strip().lower())


def github_slug(heading: str) -> str:
    """Return the id GitHub and Docusaurus make. Source: github-slugger."""
    kept = (
        character
        for character in heading.strip().lower()
        if character in "- " or unicodedata.category(character) in _GITHUB_KEEPS
    )
    return "".join(kept).replace(" ", "-")


def pandoc_slug(heading: str) -> str:
    """Return the id Pandoc makes. Source: its extension `auto_identifiers`."""
    spaced = re.sub(r"\s+", "-", heading.strip().lower())
    kept = "".join(character for character in spaced if character.isalnum() or character in "_-.")
    begins = next((n for n, character in enumerate(kept) if character.isalpha()), len(kept))
    return kept[begins:] or "section"


def docutils_slug(heading: str) -> str:
    """Return the id docutils makes, empty where no letter is ASCII. Source: its `make_id`."""
    plain = unicodedata.normalize("NFKD", heading.lower()).encode("ascii", "ignore").decode("ascii")
    spaced = re.sub(r"[^a-z0-9]+", "-", " ".join(plain.split()))
    return re.sub(r"\A[-0-9]+|-+\Z", "", spaced)


class _NumberedAnchors:
    """docutils under Sphinx: what has no name of its own, or one that is taken, is `id1`, `id2`."""

    def __init__(self) -> None:
        self._used: set[str] = set()
        self._next = 1

    def unique(self, slug: str) -> str:
        while not slug or slug in self._used:
            slug = f"id{self._next}"
            self._next += 1
        self._used.add(slug)
        return slug


class _CountedAnchors:
    """mdBook: the n-th repetition of an id gets `-n`, even where that is taken."""

    def __init__(self) -> None:
        self._seen: Counter[str] = Counter()

    def unique(self, slug: str) -> str:
        repetition = self._seen[slug]
        self._seen[slug] += 1
        return f"{slug}-{repetition}" if repetition else slug


class _FreeAnchors:
    """GitHub: the first `-n` that is free."""

    def __init__(self) -> None:
        self._repetitions: dict[str, int] = {}

    def unique(self, slug: str) -> str:
        result = slug
        while result in self._repetitions:
            self._repetitions[slug] += 1
            result = f"{slug}-{self._repetitions[slug]}"
        self._repetitions[result] = 0
        return result


class _UnderscoredAnchors:
    """Python-Markdown: counts on from the number an id ends in; an empty one becomes `_1`."""

    def __init__(self) -> None:
        self._used: set[str] = set()
        self._next: dict[str, int] = {}

    def unique(self, slug: str) -> str:
        if slug and slug not in self._used:
            self._used.add(slug)
            return slug
        numbered = _NUMBERED.fullmatch(slug)
        stem, number = (numbered[1], int(numbered[2]) + 1) if numbered else (slug, 1)
        number = max(number, self._next.get(stem, 0))
        while f"{stem}_{number}" in self._used:
            number += 1
        self._next[stem] = number + 1
        self._used.add(f"{stem}_{number}")
        return f"{stem}_{number}"
