"""Looks into an Office file or e-book before a parser opens it, and refuses bombs."""

import zipfile
from io import BytesIO
from xml.etree.ElementTree import ParseError

from core.errors import UnsupportedDocument

MAX_MEMBERS = 5_000
MAX_UNPACKED_BYTES = 200_000_000
MAX_RATIO = 200
_SMALL_BYTES = 1_000_000
"""A small member may compress well: a blank XML part is mostly repetition."""


def check_container(data: bytes) -> None:
    """Raise `UnsupportedDocument` unless the zip is small, honest and free of DTDs.

    Sizes are those the archive declares; the reading side stops at them, so a part that
    declares too little is cut off and fails its checksum instead of filling the memory.
    """
    try:
        with zipfile.ZipFile(BytesIO(data)) as archive:
            members = archive.infolist()
            check_sizes(members)
            for member in members:
                if member.filename.endswith((".xml", ".rels", ".vml")):
                    _check_prolog(archive, member)
    except (zipfile.BadZipFile, EOFError, NotImplementedError, RuntimeError) as error:
        raise UnsupportedDocument("is a damaged Office file") from error


def check_sizes(members: list[zipfile.ZipInfo]) -> None:
    """Raise `UnsupportedDocument` where the parts of an archive are too many or too large."""
    if len(members) > MAX_MEMBERS:
        raise UnsupportedDocument(f"has more than {MAX_MEMBERS:,} parts")
    if sum(member.file_size for member in members) > MAX_UNPACKED_BYTES:
        raise UnsupportedDocument(
            f"unpacks to more than {MAX_UNPACKED_BYTES // 1_000_000} MB (a zip bomb)"
        )
    for member in members:
        packed = max(member.compress_size, 1)
        if member.file_size > _SMALL_BYTES and member.file_size > MAX_RATIO * packed:
            raise UnsupportedDocument(f"has a part packed more than {MAX_RATIO} to 1 (a zip bomb)")


def _check_prolog(archive: zipfile.ZipFile, member: zipfile.ZipInfo) -> None:
    """Read an XML part up to its first element: a DTD can stand nowhere else."""
    from defusedxml.common import DefusedXmlException
    from defusedxml.ElementTree import iterparse

    try:
        with archive.open(member) as part:
            next(iter(iterparse(part, events=("start",), forbid_dtd=True)), None)
    except DefusedXmlException as error:
        raise UnsupportedDocument("declares XML entities (a DTD), which is refused") from error
    except ParseError as error:
        raise UnsupportedDocument("has a part that is not well-formed XML") from error
