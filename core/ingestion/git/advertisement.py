"""Reads which branches a repository has from what its server says before a fetch."""

import re
from typing import NamedTuple

from core.errors import SourceUnavailable, UnsupportedDocument
from core.ingestion.git.address import GitAddress

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
