"""What an operator has to do after an upgrade, and the sentence that says so.

A change that renames a setting or a key, or that needs a course to be ingested again, adds a
row here; the upgrade is tested to say that sentence, and to work once it has been followed.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from tests.command_line import CommandLine
from tests.upgrade.worlds import Worlds


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
WARNED_BEFORE: Collection[str] = ()
"""What `glossator doctor` warns of before the tables are upgraded, and no longer after that."""


def warned(worlds: Worlds) -> list[str]:
    """Return all that it warns of after that: staff by their permissions are not named."""
    return [
        f"{', '.join(worlds.tenants)}: channels are set up there, and no staff are named, so "
        "that only the admins may change them: an admin names staff with '/course staff add', or "
        "you in the course file."
    ]


def rewrite(shell: CommandLine, rows: Sequence[Renamed] = RENAMED) -> None:
    """Follow one sentence after the other, each said by a command until it is followed."""
    for row in rows:
        refused = shell.run("courses")
        assert (refused.code, refused.sentence) == (78, row.sentence)
        file = shell.folder / row.file
        lines = file.read_text(encoding="utf-8").splitlines()
        lines[lines.index(row.old)] = row.new
        file.write_text("\n".join(lines) + "\n", encoding="utf-8")
