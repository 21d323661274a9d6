"""What people do with an agent besides writing to it: look elsewhere, and stop it."""

from typing import TYPE_CHECKING

from tests.wire.slack.entities import AgentSession, App, Channel, Message, User
from tests.wire.slack.errors import Json

if TYPE_CHECKING:
    from tests.wire.slack.world import World


class Agents:
    """Changes what people look at, and tells agents."""

    def __init__(self, world: "World") -> None:
        self._world = world

    async def look_at(
        self,
        user: User,
        channel: Channel | None,
        message: Message | None = None,
        app: App | None = None,
    ) -> None:
        """Look at a channel, or a message in it, while an agent is open."""
        self.look(user, channel, message)
        installation = self._world.installation_for(app or self._world.app, user)
        self._world.events.context_changed(installation, user, self._world.dm(user, app))

    async def stop(self, user: User, session: AgentSession) -> None:
        """Press the stop button of an agent's session; Slack ends its streams at once.

        Raises:
            LookupError: Slack shows no such button.
        """
        installation = session.installation
        is_heard = "agent_session_stopped" in installation.app.events
        if session.status != "processing" or not is_heard:
            raise LookupError("the session shows no stop button")
        thread = self._world.transcript(session.channel, thread=session.thread_ts)
        streams = [m for m in thread if m.stream and m.installation is installation]
        for message in streams:
            self._world.streams.stop(message, [])
        self._world.events.session_stopped(session, user, [message.ts for message in streams])

    async def rename(self, user: User, session: AgentSession, title: str) -> None:
        """Give an agent's session another title."""
        before, session.title = session.title, title
        self._world.changed("session", session, title)
        self._world.events.session_renamed(session, user, before)

    def look(self, user: User, channel: Channel | None, message: Message | None = None) -> None:
        """Note what somebody looks at, the most relevant first, and tell nobody."""
        found: list[Json] = []
        if message is not None:
            where = {"channel_id": message.channel.id, "message_ts": message.ts}
            found.append({"type": "slack#/types/message_context", "value": where})
        if channel is not None:
            found.append({"type": "slack#/types/channel_id", "value": channel.id})
        self._world.looking[user.id] = [{**one, "team_id": user.workspace.id} for one in found]
