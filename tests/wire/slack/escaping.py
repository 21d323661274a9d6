"""What a command with *Escape channels, users, and links* on gets in place of what was typed."""

import html
import re
from collections.abc import Iterator

from tests.wire.slack.entities import Channel, User, Workspace

_NAME = re.compile(r"(?<![\w@])([@#])([\w.-]*\w)")


def escaped(text: str, workspace: Workspace, users: list[User], channels: list[Channel]) -> str:
    """Return a command's text with its controls, mentions and channels as on the wire."""
    known = dict(_entities(workspace, users, channels))
    quoted = html.escape(text, quote=False)
    return _NAME.sub(lambda name: known.get(name.group(), name.group()), quoted)


def _entities(
    workspace: Workspace, users: list[User], channels: list[Channel]
) -> Iterator[tuple[str, str]]:
    for channel in channels:
        yield f"#{channel.name}", f"<#{channel.id}|{channel.name}>"
    for user in users:
        yield f"@{user.name}", f"<@{user.id}|{user.name}>"
    for subteam in workspace.subteams.values():
        yield f"@{subteam.handle}", f"<!subteam^{subteam.id}|@{subteam.handle}>"
