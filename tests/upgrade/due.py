"""What an operator has to do after an upgrade, and the sentence that says so.

A change that renames a setting or a key, or that needs a course to be ingested again, adds a
row here; the upgrade is tested to say that sentence, and to work once it has been followed.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from tests.command_line import CommandLine


@dataclass(frozen=True)
class Renamed:
    """A line of `.env` or `glossator.toml` that has to be written in another way."""

    file: str
    old: str
    """As it stands there now."""
    new: str
    """What stands there instead; empty: nothing."""
    sentence: str
    """What every command says until then."""


RENAMED: tuple[Renamed, ...] = ()
"""In the order in which they are found."""
INGEST_AGAIN: Mapping[str, str] = {}
"""What `glossator doctor` fails with for a course that has to be ingested again, by its id."""
WARNED_BEFORE: Collection[str] = (
    "sqlite, its tables are those of an earlier version: make a backup, run "
    "'glossator db upgrade', then 'glossator doctor' again for what is to be done after that",
)
"""What `glossator doctor` warns of before the tables are upgraded."""
NOT_ACCOUNTED: Mapping[str, str] = {
    course: f"{course}: which files were left out is not known, since an earlier version ingested "
    "it: run 'glossator ingest' for it again."
    for course in ("arden", "mill")
}
"""What it warns of after that until a course is ingested again, by its id."""
OLDER_FORMAT = {
    course: f"{course}: {chunks} chunks, embedded with all-MiniLM-L6-v2, in an older format of the "
    f"index: run 'glossator ingest' for the course {course} again"
    for course, chunks in (("arden", 6), ("mill", 4))
}
"""What it warns of until the index has all that this version keeps of a book."""
UNNAMED = (
    "{tenants}: channels are set up there, and no staff are named, so that only the admins may "
    "change them: an admin names staff with '/course staff add', or you in the course file."
)
"""What it warns of after that until staff are named, who were staff by their permissions."""
WARNED: Collection[str] = (
    *OLDER_FORMAT.values(),
    *NOT_ACCOUNTED.values(),
    UNNAMED.format(
        tenants="discord:1574480019223216130, discord:1574480019244187650, slack:T0000000001, "
        "slack:T0000000008"
    ),
)
"""All that it warns of after that."""


def rewrite(shell: CommandLine, rows: Sequence[Renamed] = RENAMED) -> None:
    """Follow one sentence after the other, each said by a command until it is followed."""
    for row in rows:
        refused = shell.run("courses")
        assert (refused.code, refused.sentence) == (78, row.sentence)
        file = shell.folder / row.file
        lines = file.read_text(encoding="utf-8").splitlines()
        lines[lines.index(row.old)] = row.new
        file.write_text("\n".join(lines) + "\n", encoding="utf-8")
