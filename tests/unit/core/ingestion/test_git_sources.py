"""A course out of a git repository: fetched by the real git, over real HTTP, and no more."""

import ssl
from collections.abc import AsyncIterator, Sequence
from dataclasses import replace
from pathlib import Path

import httpx
import pytest
from aiohttp import web

from core.domain.errors import IngestionError, SourceUnavailable, UnsupportedDocument
from core.ingestion.coverage import IngestReport
from core.ingestion.sources.fetch import Fetcher
from core.ingestion.sources.git import Checkout, GitAddress, Repositories, parse_git_address
from core.ingestion.sources.git_program import find_git, pinned, size_of
from core.ingestion.sources.sources import open_sources
from tests.git_server import GitServer, Repository, git_server
from tests.library import BOOK, COURSE, Library
from tests.wire.certificates import Authority

POINTER = "version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 12345\n"


@pytest.fixture
async def server(tmp_path: Path) -> AsyncIterator[GitServer]:
    async with git_server(tmp_path / "served") as running:
        yield running


@pytest.fixture
def tides(server: GitServer) -> Repository:
    repository = Repository.new(server.folder / "tides.git")
    repository.commit(*repository.files(BOOK))
    return repository


def fetcher(server: GitServer, **others: object) -> Fetcher:
    trusted = frozenset({server.authority})
    return Fetcher(**{"allowed_hosts": trusted, "delay": 0.0, **others})  # type: ignore[arg-type]


async def checkout(
    server: GitServer, folder: Path, name: str, *, max_bytes: int = 10_000_000, **others: object
) -> Checkout:
    async with fetcher(server, **others) as opened:
        held = Repositories(folder, opened, max_bytes=max_bytes, max_document_bytes=100_000)
        return await held.checkout(parse_git_address(name))


async def ingest(
    library: Library, server: GitServer, *names: str, listed: Sequence[str] | None = None
) -> IngestReport:
    async with open_sources(
        names,
        base_url=None,
        allowed_hosts=frozenset({server.authority}),
        max_bytes=1_000_000,
        user_agent="tests",
        repositories=library.folder / "repositories",
    ) as readable:
        return await library.ingestion.run(COURSE, readable.sources, listed=listed)


def everything_below(folder: Path) -> list[Path]:
    return sorted(folder.rglob("*"))


def files_below(folder: Path) -> list[str]:
    found = everything_below(folder)
    return [path.relative_to(folder).as_posix() for path in found if not path.is_dir()]


# --- what an address says ------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("git+https://h.example/a/b.git", GitAddress("https://h.example/a/b.git", None, "")),
        ("git+https://h.example/a@main", GitAddress("https://h.example/a", "main", "")),
        (
            "git+https://h.example/a@v/1#docs/en",
            GitAddress("https://h.example/a", "v/1", "docs/en"),
        ),
        (
            "git+https://H.example/a#two%20words/",
            GitAddress("https://h.example/a", None, "two words"),
        ),
    ],
)
def test_an_address_names_a_repository_a_branch_and_a_folder(
    name: str, expected: GitAddress
) -> None:
    assert parse_git_address(name) == expected


@pytest.mark.parametrize(
    "name",
    [
        "git+ssh://h.example/a",
        "git+file:///etc",
        "git+https://user:secret@h.example/a",
        "git+https://h.example/",
        "git+https://h.example/a@--upload-pack=x",
        "git+https://h.example/a@x..y",
        "git+https://h.example/a@x.lock",
        "git+https://h.example/a#../b",
        "git+https://h.example/a#b:c",
        "git+https://h.example/a?service=x",
        "git+https://h.example/a b",
    ],
)
def test_an_address_that_may_mean_something_else_is_refused(name: str) -> None:
    with pytest.raises(UnsupportedDocument) as refused:
        parse_git_address(name)
    assert "secret" not in refused.value.user_message


def test_a_repository_on_this_machine_is_named_by_its_folder() -> None:
    with pytest.raises(UnsupportedDocument) as refused:
        parse_git_address("git+file:///home/ann/book")
    assert "is named by its folder, without git+" in refused.value.user_message


# --- what is fetched -----------------------------------------------------------------------


@pytest.mark.costly
async def test_a_repository_is_a_source_and_unchanged_it_is_not_fetched_again(
    server: GitServer, tides: Repository, library: Library
) -> None:
    source = server.source("tides.git")
    first = await ingest(library, server, source)
    assert sorted(first.added) == sorted(BOOK)
    fetched = server.fetches
    assert fetched > 0
    second = await ingest(library, server, source)
    assert (sorted(second.unchanged), second.embedded) == (sorted(BOOK), 0)
    assert server.fetches == fetched
    tides.commit(*tides.files(BOOK | {"moon.md": "# The moon\n\nIt has phases.\n"}))
    third = await ingest(library, server, source)
    assert (third.changed, sorted(third.unchanged)) == (["moon.md"], ["charts.md", "gauges.md"])
    assert third.sections.changed == (("The moon",),)
    assert third.sections.removed == (("The moon", "Spring tides"),)
    documents = await library.catalogue.documents((await library.edition()).generation)
    assert {document.origin for document in documents} == {source}


@pytest.mark.costly
async def test_a_branch_and_a_folder_are_all_that_is_taken(
    server: GitServer, tides: Repository, tmp_path: Path
) -> None:
    deep: dict[str, bytes | str] = {
        "docs/en/a.md": "# A\n\nText.\n",
        "docs/en/img/a.png": b"\x89PNG",
        "code/x.md": "# X\n",
    }
    tides.commit(*tides.files(deep), branch="next/year")
    found = await checkout(
        server, tmp_path / "held", server.source("tides.git", "@next/year#docs/en")
    )
    assert files_below(found.folder) == ["a.md", "img/a.png"]
    with pytest.raises(SourceUnavailable, match="no branch or tag called gone"):
        await checkout(server, tmp_path / "held", server.source("tides.git", "@gone"))
    with pytest.raises(SourceUnavailable, match="no folder docs/fr"):
        await checkout(server, tmp_path / "held", server.source("tides.git", "@next/year#docs/fr"))


@pytest.mark.costly
async def test_only_plain_files_are_written(
    server: GitServer, tides: Repository, tmp_path: Path
) -> None:
    secret = tmp_path / "secret.md"
    secret.write_text("# Secret\n")
    evil = tides.blob(b"#!/bin/sh\ntouch ran\n")
    hooks = tides.tree(("100755", "post-checkout", evil))
    up = tides.tree(("100644", "escaped.md", tides.blob(b"# Escaped\n")))
    lines = '[filter "x"]\n\tsmudge = touch ran\n\tprocess = touch ran\n'
    tides.commit(
        *tides.files(
            {
                "good.md": "# Good\n\nText.\n",
                ".gitattributes": "* filter=x\n*.md filter=lfs ident\n",
                ".gitmodules": '[submodule "m"]\n\tpath = m\n\turl = http://127.0.0.1:1/m\n',
                ".lfsconfig": "[lfs]\n\turl = http://127.0.0.1:1/\n",
                ".gitconfig": lines,
                "kept.pdf": POINTER,
                "huge.md": b"x" * 100_001,
            }
        ),
        ("120000", "link.md", tides.blob(str(secret).encode())),
        ("120000", "folder", tides.blob(b"/etc")),
        ("160000", "m", "1" * 40),
        ("40000", "..", up),
        ("40000", ".git", tides.tree(("40000", "hooks", hooks))),
        ("40000", "hooks", hooks),
        ("100644", "same.md", tides.blob(b"# First\n")),
        ("40000", "same.md", up),
    )
    found = await checkout(server, tmp_path / "held", server.source("tides.git"))
    written = files_below(found.folder)
    assert {"good.md", "hooks/post-checkout", "same.md"} <= set(written)
    reasons = {left.path: left.reason for left in found.left_out}
    assert reasons == {
        "kept.pdf": "is kept by Git LFS, from which nothing is fetched",
        "huge.md": "is larger than 0 MB",
        "link.md": "is a link, which is not followed in a repository",
        "folder": "is a link, which is not followed in a repository",
        "m": "is a repository of its own (a submodule)",
        "../escaped.md": "has a name that is not written to the disk",
        ".git/hooks/post-checkout": "has a name that is not written to the disk",
        "same.md/escaped.md": "has the name of another file of the repository",
    }
    assert not [path for path in everything_below(tmp_path) if path.name in {"ran", "escaped.md"}]
    assert not any(path.is_symlink() for path in everything_below(found.folder))
    assert (found.folder / "good.md").read_text() == "# Good\n\nText.\n"


@pytest.mark.costly
async def test_a_repository_that_is_too_large_is_refused_while_it_arrives(
    server: GitServer, tides: Repository, tmp_path: Path, random_bytes: bytes
) -> None:
    tides.commit(*tides.files({"noise.bin": random_bytes}))
    with pytest.raises(IngestionError, match="MAX_REPOSITORY_MEGABYTES"):
        await checkout(server, tmp_path / "held", server.source("tides.git"), max_bytes=1_000_000)
    assert size_of(tmp_path / "held") == 0


@pytest.mark.costly
async def test_files_that_grow_beyond_the_limit_once_unpacked_are_refused(
    server: GitServer, tides: Repository, tmp_path: Path
) -> None:
    tides.commit(*tides.files({f"{n}.txt": b"%d" % n + b" " * 90_000 for n in range(12)}))
    with pytest.raises(UnsupportedDocument, match="more than 1 MB together"):
        await checkout(server, tmp_path / "held", server.source("tides.git"), max_bytes=1_000_000)
    assert size_of(tmp_path / "held") == 0


@pytest.fixture
def random_bytes() -> bytes:
    import random

    return random.Random(7).randbytes(3_000_000)


# --- where it is fetched from --------------------------------------------------------------


@pytest.mark.costly
async def test_a_private_address_is_refused_unless_the_operator_names_it(
    server: GitServer, tides: Repository, tmp_path: Path
) -> None:
    for name in (
        server.source("tides.git"),
        "git+https://127.0.0.1/tides.git",
        "git+https://169.254.169.254/tides.git",
        "git+https://localhost/tides.git",
    ):
        with pytest.raises(UnsupportedDocument):
            await checkout(server, tmp_path, name, allowed_hosts=frozenset())
    assert server.requests == []


async def test_http_is_refused_but_to_a_host_that_is_trusted(
    server: GitServer, tides: Repository, tmp_path: Path
) -> None:
    with pytest.raises(UnsupportedDocument, match="https alone"):
        await checkout(server, tmp_path, "git+http://repo.example/tides.git")


@pytest.mark.costly
async def test_git_connects_to_the_address_that_was_checked(
    server: GitServer, tides: Repository, tmp_path: Path
) -> None:
    async def resolve(host: str, port: int) -> Sequence[str]:
        return ["127.0.0.1"]

    host = f"repository.glossator-test.example:{server.port}"
    found = await checkout(
        server,
        tmp_path / "held",
        server.source("tides.git", host=host),
        allowed_hosts=frozenset({host}),
        resolver=resolve,
    )
    assert sorted(files_below(found.folder)) == sorted(BOOK)


async def test_a_redirect_is_checked_like_the_first_address(
    server: GitServer, tides: Repository, tmp_path: Path
) -> None:
    location = "http://127.0.0.1:1/tides.git/info/refs?service=git-upload-pack"
    server.instead["GET refs"] = web.Response(status=302, headers={"Location": location})
    with pytest.raises(UnsupportedDocument, match="web ports"):
        await checkout(server, tmp_path, server.source("tides.git"))
    assert server.fetches == 0


@pytest.mark.costly
async def test_a_repository_that_moved_is_fetched_from_its_new_address(
    server: GitServer, tides: Repository, tmp_path: Path
) -> None:
    async with git_server(server.folder) as old:
        location = f"http://{server.authority}/tides.git/info/refs?service=git-upload-pack"
        old.instead["GET refs"] = web.Response(status=301, headers={"Location": location})
        hosts = frozenset({server.authority, old.authority})
        found = await checkout(
            server, tmp_path / "held", old.source("tides.git"), allowed_hosts=hosts
        )
        assert sorted(files_below(found.folder)) == sorted(BOOK)
        assert old.fetches == 0


async def test_git_itself_follows_no_redirect(
    server: GitServer, tides: Repository, tmp_path: Path
) -> None:
    async with git_server(server.folder) as other:
        location = f"http://{other.authority}/tides.git/git-upload-pack"
        server.instead["POST git-upload-pack"] = web.Response(
            status=307, headers={"Location": location}
        )
        hosts = frozenset({server.authority, other.authority})
        with pytest.raises(SourceUnavailable):
            await checkout(server, tmp_path, server.source("tides.git"), allowed_hosts=hosts)
        assert other.requests == []


async def test_a_server_that_wants_a_password_gets_none(
    server: GitServer, tides: Repository, tmp_path: Path
) -> None:
    headers = {"WWW-Authenticate": 'Basic realm="x"'}
    server.instead["POST git-upload-pack"] = web.Response(status=401, headers=headers)
    with pytest.raises(SourceUnavailable):
        await checkout(server, tmp_path, server.source("tides.git"))


async def test_git_verifies_certificates_by_itself(tmp_path: Path) -> None:
    authority = Authority(tmp_path, "authority")
    async with git_server(tmp_path / "served", authority.server()) as server:
        repository = Repository.new(server.folder / "tides.git")
        repository.commit(*repository.files(BOOK))
        known = ssl.create_default_context(cafile=str(authority.file))
        with pytest.raises(SourceUnavailable) as refused:
            await checkout(
                server,
                tmp_path / "held",
                server.source("tides.git"),
                transport=httpx.AsyncHTTPTransport(verify=known),
            )
        assert "certificate" in str(refused.value)
        assert server.fetches == 0


async def test_what_is_no_repository_is_said_to_be_none(server: GitServer, tmp_path: Path) -> None:
    server.instead["GET refs"] = web.Response(text="<html>", content_type="text/html")
    with pytest.raises(UnsupportedDocument, match="no git repository"):
        await checkout(server, tmp_path, server.source("tides.git"))
    media = "application/x-git-upload-pack-advertisement"
    for body in (b"zzzz", b"0003", b"ffff", b"0008\xff\xff\xff\xff0000", b""):
        server.instead["GET refs"] = web.Response(body=body, content_type=media)
        with pytest.raises(IngestionError):
            await checkout(server, tmp_path, server.source("tides.git"))


async def test_a_server_that_falls_silent_is_given_up(
    server: GitServer, tides: Repository, tmp_path: Path
) -> None:
    server.hanging.add("git-upload-pack")
    git = replace(await find_git(10_000_000), seconds=1.0)
    await git.run("init", "--bare", "--quiet", "--template=", ".", repository=tmp_path)
    with pytest.raises(SourceUnavailable, match="in time"):
        await git.run(
            "fetch",
            f"http://{server.authority}/tides.git",
            "main",
            repository=tmp_path,
            protocol="http",
            port=server.port,
            settings=pinned("127.0.0.1", server.port, ["127.0.0.1"]),
        )


# --- what a failure leaves -----------------------------------------------------------------


@pytest.mark.costly
async def test_a_fetch_that_fails_leaves_the_course_as_it_is(
    server: GitServer, tides: Repository, library: Library
) -> None:
    source = server.source("tides.git")
    await ingest(library, server, source)
    before = await library.edition()
    server.instead["GET refs"] = web.Response(status=503)
    with pytest.raises(SourceUnavailable):
        await ingest(library, server, source, listed=())
    tides.commit(*tides.files({"new.md": "# New\n\nText.\n"}))
    server.instead = {"POST git-upload-pack": web.Response(status=500)}
    with pytest.raises(SourceUnavailable):
        await ingest(library, server, source, listed=())
    assert await library.edition() == before


@pytest.mark.costly
async def test_a_repository_that_was_emptied_does_not_empty_the_course(
    server: GitServer, tides: Repository, library: Library
) -> None:
    library.write({"waves.md": "# Waves\n\nWind makes waves.\n"}, "second")
    source = server.source("tides.git")
    await ingest(library, server, source, str(library.folder / "second"))
    tides.commit(*tides.files({"LICENSE": "Do as you like.\n"}))
    async with open_sources(
        [source, str(library.folder / "second")],
        base_url=None,
        allowed_hosts=frozenset({server.authority}),
        max_bytes=1_000_000,
        user_agent="tests",
        repositories=library.folder / "repositories",
    ) as readable:
        with pytest.raises(IngestionError, match="has no document any more, and had 3"):
            await library.ingestion.run(COURSE, readable.sources, listed=(), least_share=0.5)
    assert len(await library.files()) == 4
