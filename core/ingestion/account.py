"""Sees every file of a folder: those that may be pages, and why the others are not."""

import os
import posixpath
import re
import stat
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from urllib.parse import urlsplit

from core.domain import now
from core.ingestion.formats.registry import is_readable, is_text_like, suffix_of, unread_format
from core.ingestion.refusal import LeftOut, foreign, missed, outputs_of, why_foreign
from core.ingestion.sites.site import read_inside, reading_order
from core.ingestion.sites.site_settings import Site
from core.storage.ingest_accounts import AccountRecord, LeftOutGroup

_OF_VERSION_CONTROL = frozenset({".git", ".hg", ".svn"})
"""Folders; in a work tree or a submodule of git, `.git` is a file that leads to one."""
_OF_OUR_DATA = ("glossator.db", "pseudonym.key")
"""Files of which a data folder of ours has one, whatever it is called."""


@dataclass(frozen=True, slots=True)
class Survey:
    """Every file below a folder, once; paths are relative, with forward slashes."""

    folder: Path
    """Absolute, without symbolic links."""
    files: tuple[str, ...]
    """What may be a page, or a part of one, in natural order."""
    left_out: tuple[LeftOut, ...]


def survey(folder: Path) -> Survey:
    """Return all files below `folder`; symbolic links to folders are not followed.

    What a version control keeps there for itself is no file of the source, and neither is our data.
    """
    seen = _Walk(folder.resolve())
    seen.go()
    left_out = sorted(seen.left_out, key=lambda left: reading_order(left.path))
    return Survey(seen.root, tuple(sorted(seen.files, key=reading_order)), tuple(left_out))


def page_files(folder: Path, suffixes: Iterable[str]) -> list[str]:
    """Return the files below `folder` that may be pages and have one of `suffixes`, in order."""
    wanted = frozenset(suffixes)
    return [path for path in survey(folder).files if suffix_of(path) in wanted]


def files_below(root: Path) -> Iterator[Path]:
    """Yield the files below `root` that may be pages or parts of them."""
    return (root / path for path in survey(root).files)


@dataclass(slots=True)
class _Walk:
    root: Path
    files: list[str] = field(default_factory=list)
    left_out: list[LeftOut] = field(default_factory=list)
    foreign_folders: dict[str, str] = field(default_factory=dict)
    """Folders that hold no text of the course, with the reason."""

    def go(self) -> None:
        for parent, folders, files in os.walk(self.root, onerror=self._closed):
            at = Path(parent).relative_to(self.root).as_posix()
            at = "" if at == "." else at
            folders[:] = [name for name in folders if not _is_kept_by_tools(Path(parent, name))]
            files = [name for name in files if name not in _OF_VERSION_CONTROL]
            reason = self.foreign_folders.get(at)
            if reason is None:
                self.foreign_folders.update(outputs_of(self.root, at, files))
            for name in folders:
                self._see_folder(f"{at}/{name}" if at else name, reason)
            for name in files:
                self._see_file(f"{at}/{name}" if at else name, reason)

    def _closed(self, error: OSError) -> None:
        path = Path(str(error.filename)).relative_to(self.root).as_posix()
        # What a folder holds that cannot be opened is not known: it counts as one text.
        self.left_out.append(
            LeftOut(path, f"is a folder that cannot be opened: {error.strerror}", True)
        )

    def _see_folder(self, path: str, reason: str | None) -> None:
        place = self.root / path
        if os.path.islink(place):
            self._see_link(path, is_foreign=reason is not None)
            return
        reason = reason or self.foreign_folders.get(path) or why_foreign(place)
        if reason is not None:
            self.foreign_folders[path] = reason

    def _see_link(self, path: str, *, is_foreign: bool) -> None:
        if (self.root / path).resolve().is_relative_to(self.root):
            self.left_out.append(foreign(path, "is a link to a folder of this source"))
            return
        # What it leads to is not read and may be most of the course: it counts as one text.
        is_missed = not is_foreign and not path.rpartition("/")[2].startswith(".")
        self.left_out.append(LeftOut(path, "is a link to a folder elsewhere", is_missed))

    def _see_file(self, path: str, reason: str | None) -> None:
        if reason is not None:
            self.left_out.append(foreign(path, reason))
        elif path.rpartition("/")[2].startswith("."):
            self.left_out.append(foreign(path, "is a hidden file"))
        elif unfit := _unfit(self.root, self.root / path):
            self.left_out.append(missed(path, unfit))
        else:
            self.files.append(path)


def _is_kept_by_tools(folder: Path) -> bool:
    """Return whether a version control or we ourselves keep a folder next to the course."""
    is_ours = any(os.path.isfile(folder / name) for name in _OF_OUR_DATA)
    return is_ours or folder.name in _OF_VERSION_CONTROL


def _unfit(root: Path, path: Path) -> str | None:
    """Return why what has the name of a file cannot be read as one, or none."""
    try:
        status = path.stat()
        real = path.resolve() if path.is_symlink() else path
    except PermissionError as error:
        return f"cannot be opened: {error.strerror}"
    except (OSError, RuntimeError):  # also links that lead to each other
        return "is a link that leads nowhere"
    if not real.is_relative_to(root):
        return "is a link that leads out of the folder"
    return None if stat.S_ISREG(status.st_mode) else "is no regular file"


_ROWS_A_REASON = 8
ALL = "*"
"""In place of a folder or suffix: there are several."""


def grouped(left_out: Iterable[LeftOut], most: int) -> list[LeftOutGroup]:
    """Return at most `most` groups, those with the most missed files first.

    The files of a reason that lie in many folders, or have many suffixes, share rows.
    """
    by_reason: dict[str, list[LeftOut]] = {}
    for left in left_out:
        by_reason.setdefault(left.reason, []).append(left)
    groups = [group for same in by_reason.values() for group in _rows(same)]
    groups.sort(key=lambda group: (-group.missed, -group.files, group.reason, group.folder))
    if len(groups) <= most:
        return groups
    return [*groups[: most - 1], _rest(groups[most - 1 :])]


def _rest(groups: Sequence[LeftOutGroup]) -> LeftOutGroup:
    return LeftOutGroup(
        "has another reason",
        ALL,
        ALL,
        sum(group.files for group in groups),
        sum(group.missed for group in groups),
        groups[0].example,
    )


def _rows(same: Sequence[LeftOut]) -> list[LeftOutGroup]:
    """Return the groups of one reason: as fine as few rows allow."""
    rows: dict[tuple[str, str], list[LeftOut]] = {}
    for place in _PLACES:
        rows = {}
        for left in same:
            rows.setdefault(place(left.path), []).append(left)
        if len(rows) <= _ROWS_A_REASON:
            break
    return [
        LeftOutGroup(
            members[0].reason,
            folder,
            suffix,
            len(members),
            sum(left.is_missed for left in members),
            members[0].path,
        )
        for (folder, suffix), members in rows.items()
    ]


def _folder(path: str, depth: int) -> str:
    if "://" in path:
        return urlsplit(path).netloc
    return "/".join(posixpath.dirname(path).split("/")[:depth])


_PLACES: Sequence[Callable[[str], tuple[str, str]]] = (
    lambda path: (_folder(path, 99), _suffix(path)),
    lambda path: (_folder(path, 2), _suffix(path)),
    lambda path: (_folder(path, 1), _suffix(path)),
    lambda path: (ALL, _suffix(path)),
    lambda path: (_folder(path, 1), ALL),
    lambda path: (ALL, ALL),
)
"""From the finest to the coarsest."""


def _suffix(path: str) -> str:
    return "" if "://" in path else suffix_of(path)


_INCLUDE = re.compile(
    r"\{\{\s{0,20}#(?:rustdoc_)?(?:include|playground|playpen)\s{1,20}(?P<mdbook>[^\s{}:]+)"
    r"|\{\{<\s{0,20}include\s{1,20}(?P<quarto>[^\s<>{}]+)"
    r"|^[ \t]*-{1,8}8<-{1,8}[ \t]+[\"'](?P<snippet>[^\"'\n:]+)"
    r"|^[ \t]*(?:`{3,}|:{3,})\{(?:literal)?include\}[ \t]+(?P<myst>[^\s]+)"
    r"|^[ \t]*\.\.[ \t]+(?:literal)?include::[ \t]+(?P<rst>[^\s]+)"
    r"|^(?:[^%\n]|\\%){0,200}?\\(?:input|include|subfile)[ \t]*\{(?P<tex>[^{}\n]+)\}"
    r"|^import\s[^\n;]{0,200}?from\s{1,20}[\"'](?P<mdx>[^\"'\n]+)",
    re.MULTILINE,
)
_MARKS = ("{{", "8<", "import", "include::", "include}", "\\in", "\\subfile")
"""One of them is in every text that includes a file."""
_SNIPPETS = re.compile(
    r"^[ \t]*-{1,8}8<-{1,8}[ \t]*\n((?:(?![ \t]*-{1,8}8<-)[^\n]*\n)*)", re.MULTILINE
)


def included_files(
    folder: Path, pages: Collection[str], others: Collection[str], roots: Sequence[str]
) -> frozenset[str]:
    """Return which of `others` the pages include, directly or through another file.

    Args:
        folder: the site's; all paths are relative to it.
        pages: the files that are read as documents.
        others: those that are not.
        roots: folders in which included files are looked for, next to the page's own.
    """
    candidates, found = frozenset(others), set[str]()
    waiting = list(pages) if candidates else []
    while waiting:
        page = waiting.pop()
        for name in _named(read_inside(folder, page) or ""):
            for place in _places(name, page, roots):
                if place in candidates and place not in found:
                    found.add(place)
                    waiting.append(place)
    return frozenset(found)


def _named(text: str) -> Iterator[str]:
    if not any(
        mark in text
        for mark in ("{{", "8<", "import", "include::", "include}", "\\in", "\\subfile")
    ):
        return
    for match in _INCLUDE.finditer(text):
        yield match[match.lastgroup or 0]
    for block in _SNIPPETS.finditer(text):
        yield from (line.strip().partition(":")[0] for line in block[1].split("\n") if line.strip())


def _places(name: str, page: str, roots: Sequence[str]) -> Iterator[str]:
    if name.startswith("@site/"):
        yield posixpath.normpath(name.removeprefix("@site/"))
        return
    for root in (posixpath.dirname(page), *roots):
        path = posixpath.normpath(posixpath.join(root, name.lstrip("/")))
        yield path
        yield f"{path}.tex"


_GROUPS_KEPT = 60


@dataclass(slots=True)
class SourceAccount:
    """What became of the files of one source."""

    source: str
    left_out: list[LeftOut]
    read: list[str] = field(default_factory=list)
    """Documents that go in, or are in already and unchanged."""
    failed: list[LeftOut] = field(default_factory=list)
    """Documents that could not be read, or not be taken in."""

    def fail(self, document: str, reason: str) -> None:
        """Note a document that could not be read."""
        is_missed = "://" in document or is_text_like(document)
        self.failed.append(LeftOut(document, reason, is_missed))

    @property
    def missed(self) -> int:
        """How many text-like files the course lacks."""
        return sum(left.is_missed for left in (*self.failed, *self.left_out))


@dataclass(frozen=True, slots=True)
class ReadShare:
    """How many of the text-like files were read."""

    read: int
    of: int

    def is_below(self, least: float) -> bool:
        """Return whether it is less than `least`, from 0 to 1; 0 is never more."""
        return self.read < least * self.of


def share_read(accounts: Iterable[SourceAccount]) -> ReadShare:
    """Return the share over all sources; every document that was read counts as text-like."""
    pairs = [(len(account.read), account.missed) for account in accounts]
    read = sum(read for read, _ in pairs)
    return ReadShare(read, read + sum(missed for _, missed in pairs))


def record_of(account: SourceAccount, *, is_refused: bool) -> AccountRecord:
    """Return what is kept of an account: counts, and files in groups."""
    return AccountRecord(
        account.source,
        now(),
        is_refused,
        len(account.read),
        len(account.failed),
        len(account.left_out),
        account.missed,
        tuple(grouped((*account.failed, *account.left_out), _GROUPS_KEPT)),
    )


def unread_matches(
    matches: Iterable[Path], files: Collection[Path], folder: Path
) -> tuple[LeftOut, ...]:
    """Return each match that is not read, with the reason, in order.

    Args:
        matches: what the glob matched, as it was matched.
        files: those that are read, links followed.
        folder: what the paths of the result are relative to.
    """
    return tuple(_unread(matches, files, folder))


def _unread(matches: Iterable[Path], files: Collection[Path], folder: Path) -> Iterator[LeftOut]:
    holding = {parent for file in files for parent in file.parents}
    seen = set[Path]()
    for match in matches:
        real = Path(os.path.realpath(match))
        name = _name(match, folder)
        if os.path.isdir(match):
            if real not in holding:
                yield LeftOut(name, "is a folder of which the glob matches no file", True)
        elif not os.path.exists(match):
            yield missed(name, "is a link that leads nowhere")
        elif not os.path.isfile(match):
            yield missed(name, "is no regular file")
        elif os.path.islink(match) or real in seen:
            yield foreign(name, f"is read as {_name(real, folder)}")
        else:
            seen.add(real)


def _name(match: Path, folder: Path) -> str:
    """Return the match relative to `folder`, links before its last part followed."""
    path = Path(os.path.realpath(match.parent), match.name)
    return path.relative_to(folder).as_posix() if path.is_relative_to(folder) else str(path)


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
