"""Reads the address of a course in a git repository: `git+https://host/path@branch#folder`."""

import re
from dataclasses import dataclass
from urllib.parse import unquote

from core.errors import UnsupportedDocument
from core.ingestion.web.targets import parse_target

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
