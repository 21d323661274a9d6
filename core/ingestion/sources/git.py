"""Keeps the files of git repositories on this machine, and fetches what has changed."""

import asyncio
import json
import os
import re
import shutil
import time
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass
from hashlib import blake2b
from pathlib import Path
from tempfile import mkdtemp
from typing import NamedTuple
from urllib.parse import unquote

from core.domain.errors import SourceUnavailable, UnsupportedDocument
from core.ingestion.refusal import LeftOut, missed
from core.ingestion.sources.fetch import Fetcher
from core.ingestion.sources.git_program import GitProgram, find_git, pinned
from core.ingestion.sources.pinned import IPAddress, Target, parse_target

_SCHEMES = ("git+https://", "git+http://")
_FILE_SCHEME = "git+file:"
_REF = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.+/-]{0,199}")
_REF_FORBIDDEN = re.compile(r"\.\.|//|/\.|\.lock(/|$)|[./]$")
_OF_THIS_MACHINE = (
    "A repository on this machine is named by its folder, without git+: every file below it is "
    "read as it is there. By git+ it is fetched from a server: git+https://HOST/PATH@BRANCH#FOLDER."
)
_MALFORMED = (
    "A git source is written git+https://HOST/PATH@BRANCH#FOLDER; branch and folder may be left "
    "away, and the folder lies inside of the repository."
)


@dataclass(frozen=True, slots=True)
class GitAddress:
    """A folder on a branch of a repository."""

    url: str
    """Of the repository, http(s), in its one normal form, without a slash at the end."""
    ref: str | None
    """A branch or tag; None: the branch that the repository names as its own."""
    folder: str
    """Relative, with forward slashes; empty: the whole repository."""

    @property
    def title(self) -> str:
        """The last part of the folder, or of the repository's address."""
        path = self.folder or self.url
        return path.rpartition("/")[2].removesuffix(".git")


def parse_git_address(name: str) -> GitAddress:
    """Return what a source's name stands for.

    Raises:
        UnsupportedDocument: it is none of the form above, or carries a user name or password.
    """
    if name.lower().startswith(_FILE_SCHEME):
        raise UnsupportedDocument(user_message=_OF_THIS_MACHINE)
    if not name.lower().startswith(_SCHEMES):
        raise UnsupportedDocument(user_message=_MALFORMED)
    bare, _, fragment = name.removeprefix(name[:4]).partition("#")
    scheme, _, rest = bare.partition("://")
    authority, _, path = rest.partition("/")
    path, _, ref = path.rpartition("@") if "@" in path else (path, "", "")
    target = parse_target(f"{scheme}://{authority}/{path}")
    folder = unquote(fragment).strip("/")
    if "?" in path or not path.strip("/") or not _is_ref(ref) or not _is_inside(folder):
        raise UnsupportedDocument(user_message=_MALFORMED)
    return GitAddress(str(target.url).rstrip("/"), ref or None, folder)


def _is_ref(ref: str) -> bool:
    """Return whether it is empty, or a name that git takes for a branch or tag."""
    return not ref or (_REF.fullmatch(ref) is not None and _REF_FORBIDDEN.search(ref) is None)


def _is_inside(folder: str) -> bool:
    parts = folder.split("/") if folder else []
    return not any(part in {"", ".", ".."} or "\0" in part or ":" in part for part in parts)


SERVICE = "/info/refs?service=git-upload-pack"
MEDIA_TYPE = "application/x-git-upload-pack-advertisement"
_COMMIT = re.compile(rb"[0-9a-f]{40}(?:[0-9a-f]{24})?")
_HEAD = re.compile(rb"(?:^| )symref=HEAD:(\S+)")


class Tip(NamedTuple):
    """A branch or tag, and the commit that it is at."""

    ref: str
    """In full: `refs/heads/main`."""
    commit: str
    """In hexadecimal; of an annotated tag, the tag's own name."""


def tip_of(body: bytes, address: GitAddress) -> Tip:
    """Return where the address's branch, or the repository's own, is now.

    Source: gitprotocol-http(5) and gitprotocol-pack(5), version 0 of the protocol.

    Raises:
        SourceUnavailable: there is no such branch or tag.
        UnsupportedDocument: it is no advertisement of this protocol.
    """
    refs, capabilities = _advertised(body)
    if address.ref is not None:
        wanted = [f"refs/heads/{address.ref}", f"refs/tags/{address.ref}"]
        missing = f"The repository has no branch or tag called {address.ref}."
    else:
        head = _HEAD.search(capabilities)
        wanted = [head[1].decode(errors="replace")] if head else ["HEAD"]
        missing = "The repository names no branch as its own, or is empty: name one after @."
    for ref in wanted:
        if ref in refs:
            return Tip(ref, refs[ref])
    raise SourceUnavailable(user_message=missing)


def _advertised(body: bytes) -> tuple[dict[str, str], bytes]:
    """Return the commit of each ref, and the server's capabilities."""
    refs: dict[str, str] = {}
    capabilities = b""
    for line in _lines(body):
        bare, _, said = line.partition(b"\0")
        capabilities = capabilities or said.rstrip(b"\n")
        commit, _, ref = bare.rstrip(b"\n").partition(b" ")
        if _COMMIT.fullmatch(commit):
            refs.setdefault(ref.decode(errors="replace"), commit.decode())
    return refs, capabilities


def _lines(body: bytes) -> list[bytes]:
    """Return the lines of the packet format, each after four digits of its length."""
    lines, at = list[bytes](), 0
    while at < len(body):
        try:
            length = int(body[at : at + 4], 16)
        except ValueError as error:
            raise _no_repository() from error
        if length in {1, 2, 3} or at + max(length, 4) > len(body):
            raise _no_repository()
        if length > 4:
            lines.append(body[at + 4 : at + length])
        at += max(length, 4)
    return lines


def _no_repository() -> UnsupportedDocument:
    return UnsupportedDocument(
        user_message="There is no git repository at this address, or its server speaks only the "
        "old protocol, which cannot fetch a single edition."
    )


def check_is_repository(media_type: str) -> None:
    """Raise UnsupportedDocument unless a reply is of this protocol by its media type."""
    if media_type.partition(";")[0].strip().lower() != MEDIA_TYPE:
        raise _no_repository()


_MOST_FILES = 100_000
_DEEPEST = 60
_LONGEST_PART = 255
_PLAIN = frozenset({"100644", "100664", "100755"})
_LINK, _SUBMODULE = "120000", "160000"
_KEPT_ELSEWHERE = b"version https://git-lfs.github.com/spec/"


@dataclass(frozen=True, slots=True)
class _Entry:
    mode: str
    name: str
    """Of the object, in hexadecimal."""
    size: int
    path: str


async def write_tree(
    git: GitProgram, repository: Path, tree: str, folder: Path, max_bytes: int
) -> list[LeftOut]:
    """Write the files of a tree below `folder`, which is new, and return those that are not.

    Links, submodules, files that are kept by Git LFS and files of more than `max_bytes` are left
    out; nothing is written outside of `folder`, and nothing but plain files.

    Raises:
        SourceUnavailable: the tree cannot be read.
        UnsupportedDocument: it has too many files, or too much in them.
    """
    listing = await git.run("ls-tree", "-r", "-z", "-l", "--full-tree", tree, repository=repository)
    wanted, left_out = list[_Entry](), list[LeftOut]()
    for number, entry in enumerate(_entries(listing)):
        if number >= _MOST_FILES:
            raise UnsupportedDocument(user_message=f"It has more than {_MOST_FILES:,} files.")
        unfit = _unfit(entry, max_bytes)
        if unfit is None:
            wanted.append(entry)
        else:
            left_out.append(unfit)
    if sum(entry.size for entry in wanted) > git.max_bytes:
        raise UnsupportedDocument(
            user_message=f"Its files have more than {git.max_bytes / 1e6:,.0f} MB together."
        )
    names = repository / "glossator-names"
    names.write_text("".join(f"{entry.name}\n" for entry in wanted))
    await asyncio.to_thread(folder.mkdir, parents=True)
    async with git.blobs(names, repository=repository) as stream:
        for entry in wanted:
            reason = await asyncio.to_thread(_write, folder, entry, await _blob(stream, entry))
            if reason is not None:
                left_out.append(missed(entry.path, reason))
    return left_out


def _entries(listing: Path) -> Iterator[_Entry]:
    """Yield what `git ls-tree -z -l` lists."""
    for line in listing.read_bytes().split(b"\0"):
        facts, _, path = line.partition(b"\t")
        parts = facts.split()
        if len(parts) == 4:
            mode, _, name, size = (part.decode("ascii", "replace") for part in parts)
            yield _Entry(mode, name, int(size) if size.isdigit() else 0, os.fsdecode(path))


def _unfit(entry: _Entry, max_bytes: int) -> LeftOut | None:
    """Return why an entry is not written, or none."""
    path = entry.path
    if entry.mode == _SUBMODULE:
        return LeftOut(path, "is a repository of its own (a submodule)", True)
    if entry.mode == _LINK:
        return missed(path, "is a link, which is not followed in a repository")
    parts = path.split("/")
    if entry.mode not in _PLAIN or len(parts) > _DEEPEST or not all(map(_is_plain, parts)):
        return missed(path, "has a name that is not written to the disk")
    if entry.size > max_bytes:
        return missed(path, f"is larger than {max_bytes / 1e6:.0f} MB")
    return None


def _is_plain(part: str) -> bool:
    is_control = part in {"", ".", ".."} or part.lower().rstrip(". ") == ".git"
    foreign_marks = "\\:" if os.name == "nt" else "\0"
    is_odd = any(mark in part for mark in foreign_marks) or len(os.fsencode(part)) > _LONGEST_PART
    return not is_control and not is_odd


async def _blob(stream: asyncio.StreamReader, entry: _Entry) -> bytes:
    try:
        header = (await stream.readuntil(b"\n")).split()
        if header != [entry.name.encode(), b"blob", str(entry.size).encode()]:
            raise SourceUnavailable(user_message="The repository is damaged.")
        data = await stream.readexactly(entry.size)
        await stream.readexactly(1)
    except (asyncio.IncompleteReadError, asyncio.LimitOverrunError) as error:
        raise SourceUnavailable(user_message="The repository is damaged.") from error
    return data


def _write(folder: Path, entry: _Entry, data: bytes) -> str | None:
    """Write a file, and return why it was not written, or none."""
    if data.startswith(_KEPT_ELSEWHERE) and len(data) < 1_024:
        return "is kept by Git LFS, from which nothing is fetched"
    place = folder.joinpath(*entry.path.split("/"))
    # Two entries may claim one name, on some disks also in other letters: the first one has it.
    with suppress(FileExistsError, NotADirectoryError, IsADirectoryError):
        place.parent.mkdir(parents=True, exist_ok=True)
        with open(place, "xb") as file:
            file.write(data)
        return None
    return "has the name of another file of the repository"


_ADVERTISED_BYTES = 20_000_000
_HEADERS = {"User-Agent": "git/2.37 (Glossator)"}
_FETCHING = "fetching-"
_ABANDONED = 3_600.0
"""Seconds after which no fetch is under way any more."""
_EDITIONS_KEPT = 2
"""Another process may still read the one before."""


@dataclass(frozen=True, slots=True)
class Checkout:
    """The files of a commit on this machine."""

    folder: Path
    commit: str
    left_out: Sequence[LeftOut]
    """What of the commit is not there."""


class Repositories:
    """Repositories below one folder; what is there already is not fetched again.

    git is started once the server's address was checked, and bound to that address: it follows
    no redirect, runs no hook, fetches no submodule and asks for no password.
    """

    def __init__(
        self, folder: Path, fetcher: Fetcher, *, max_bytes: int, max_document_bytes: int
    ) -> None:
        """`max_bytes` is for one repository, and `max_document_bytes` for a file of it."""
        self._folder = folder
        self._fetcher = fetcher
        self._max_bytes = max_bytes
        self._max_document_bytes = max_document_bytes

    async def checkout(self, address: GitAddress) -> Checkout:
        """Return the files that the address stands for now.

        Raises:
            UnsupportedDocument: it may not be fetched, is no repository, or is too large.
            SourceUnavailable: a later try may succeed.
            ServiceError: there is no git on this machine, or it is too old.
        """
        git = await find_git(self._max_bytes)
        target, addresses, tip = await self._look_up(address)
        own = self._folder / _key(address)
        held = own / f"{tip.commit}-{self._max_document_bytes}"
        if not held.is_dir():
            await asyncio.to_thread(own.mkdir, parents=True, exist_ok=True)
            work = Path(await asyncio.to_thread(mkdtemp, prefix=_FETCHING, dir=own))
            try:
                await self._fetch(git, target, addresses, tip, address, work)
                await asyncio.to_thread(_put_in_place, work / "edition", held)
            finally:
                await asyncio.to_thread(shutil.rmtree, work, ignore_errors=True)
            await asyncio.to_thread(_drop_old, own, held)
        left_out = json.loads((held / "left-out.json").read_text("utf-8"))
        return Checkout(held / "tree", tip.commit, [LeftOut(**each) for each in left_out])

    async def _look_up(self, address: GitAddress) -> tuple[Target, Sequence[IPAddress], Tip]:
        """Return where the repository is, redirects followed, and the commit to fetch."""
        asked = parse_target(f"{address.url}{SERVICE}")
        self._check_is_encrypted(asked)
        found, reply = await self._fetcher.reach(asked, _HEADERS, max_bytes=_ADVERTISED_BYTES)
        self._check_is_encrypted(found)
        check_is_repository(reply.headers.get("Content-Type", ""))
        url = str(found.url)
        if not url.endswith(SERVICE):
            raise UnsupportedDocument(user_message="The address redirects to no repository.")
        addresses = await self._fetcher.checked_addresses(found)
        return parse_target(url.removesuffix(SERVICE)), addresses, tip_of(reply.body, address)

    def _check_is_encrypted(self, target: Target) -> None:
        """Raise UnsupportedDocument for http, but to a host that is trusted by name."""
        if target.url.scheme != "https" and not self._fetcher.trusts(target):
            raise UnsupportedDocument(
                user_message="A git repository is fetched by https alone: write git+https://."
            )

    async def _fetch(
        self,
        git: GitProgram,
        target: Target,
        addresses: Sequence[IPAddress],
        tip: Tip,
        address: GitAddress,
        work: Path,
    ) -> None:
        """Fetch a commit, and write its files and the list of what is not among them."""
        repository, edition = work / "repository", work / "edition"
        repository.mkdir()
        await git.run("init", "--bare", "--quiet", "--template=", ".", repository=repository)
        options = ["--depth=1", "--no-tags", "--quiet", "--no-write-fetch-head"]
        await git.run(
            "fetch",
            *options,
            "--",
            str(target.url),
            f"+{tip.ref}:refs/glossator/tip",
            repository=repository,
            protocol=target.url.scheme,
            port=target.port,
            settings=pinned(target.host, target.port, [*map(_bracketed, addresses)]),
        )
        tree = "refs/glossator/tip^{tree}"
        if address.folder:
            tree = f"refs/glossator/tip:{address.folder}"
        try:
            await git.run("cat-file", "-e", tree, repository=repository)
        except SourceUnavailable as error:
            raise SourceUnavailable(
                user_message=f"The repository has no folder {address.folder}."
            ) from error
        limit = self._max_document_bytes
        left_out = await write_tree(git, repository, tree, edition / "tree", limit)
        listed = json.dumps([asdict(each) for each in left_out])
        (edition / "left-out.json").write_text(listed, "utf-8", errors="backslashreplace")


def sweep(folder: Path, addresses: Sequence[GitAddress]) -> None:
    """Delete the files of all repositories below `folder` but those of `addresses`."""
    kept = {_key(address) for address in addresses}
    with suppress(FileNotFoundError):
        for own in folder.iterdir():
            if own.name not in kept:
                shutil.rmtree(own, ignore_errors=True)


def _key(address: GitAddress) -> str:
    facts = "\x1f".join((address.url, address.ref or "", address.folder))
    return blake2b(facts.encode(errors="surrogateescape"), digest_size=12).hexdigest()


def _bracketed(address: IPAddress) -> str:
    return f"[{address}]" if address.version == 6 else str(address)


def _put_in_place(edition: Path, held: Path) -> None:
    """Give a whole edition its name, unless another process has fetched it meanwhile."""
    try:
        edition.rename(held)
    except OSError:
        if not held.is_dir():
            raise


def _drop_old(own: Path, held: Path) -> None:
    """Delete all editions of a repository but the latest ones, and what killed fetches left."""
    editions = list[Path]()
    for each in own.iterdir():
        if not each.name.startswith(_FETCHING):
            editions.append(each)
        elif each.stat().st_mtime < time.time() - _ABANDONED:
            shutil.rmtree(each, ignore_errors=True)
    editions.sort(key=lambda each: (each == held, each.stat().st_mtime), reverse=True)
    for old in editions[_EDITIONS_KEPT:]:
        shutil.rmtree(old, ignore_errors=True)
