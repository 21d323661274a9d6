"""Keeps the files of git repositories on this machine, and fetches what has changed."""

import asyncio
import json
import shutil
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass
from hashlib import blake2b
from pathlib import Path
from tempfile import mkdtemp

from core.errors import SourceUnavailable, UnsupportedDocument
from core.ingestion.account.left_out import LeftOut
from core.ingestion.git.address import GitAddress
from core.ingestion.git.advertisement import SERVICE, Tip, check_is_repository, tip_of
from core.ingestion.git.program import GitProgram, find_git, pinned
from core.ingestion.git.tree import write_tree
from core.ingestion.web.addresses import IPAddress
from core.ingestion.web.fetch import Fetcher
from core.ingestion.web.targets import Target, parse_target

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
