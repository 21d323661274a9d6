"""Slack as a chat platform: lets events in, and opens the way back for their answers."""

import asyncio
import logging
from collections.abc import Sequence
from typing import Protocol

from adapters.base import PlatformReply, PostKeeper
from adapters.context.question_context import QuestionContext
from adapters.intake.acceptor import Acceptor
from adapters.intake.deadline import BackgroundWork
from adapters.nearest_sections import Nearest
from adapters.slack import reactions
from adapters.slack.api.rest import Rest
from adapters.slack.api.retry import patiently
from adapters.slack.catch_up import CatchUp
from adapters.slack.gateway.events import Events
from adapters.slack.inbound import PLATFORM
from adapters.slack.installs.installations import OneInstallation
from adapters.slack.installs.tenants import InstalledTenants
from adapters.slack.installs.workspaces import Workspaces
from adapters.slack.people import People
from adapters.slack.permalinks import Permalinks
from adapters.slack.question_surroundings import QuestionSurroundings, ThreadReader
from adapters.slack.replies import queue_cards
from adapters.slack.replies.address import Address
from adapters.slack.replies.agent_sessions import AgentSessions
from adapters.slack.replies.announcing import announce
from adapters.slack.replies.reply import SlackReply, abandon, notify, retract, tell, tidy
from adapters.slack.roles import Roles
from core.access.tenants import Tenant
from core.errors import ConfigurationError, DeliveryError
from core.help_requests.base import CardDue, QueueCard
from core.inbox.base import Job, Twin
from core.models import AgentRequest
from core.radar.post import RadarChannel, RadarPost
from core.storage.installations.store import Installed

logger = logging.getLogger(__name__)

BAD_TOKEN = (
    "Slack refuses the bot token: copy it again from the app's page, OAuth & Permissions, "
    "into GLOSSATOR_SLACK__BOT_TOKEN."
)


class Transport(Protocol):
    """A way by which Slack tells us something."""

    async def run(self) -> None:
        """Let events in until `close`; raises ConfigurationError when that is impossible."""
        ...

    async def close(self) -> None:
        """Let nothing in any more."""
        ...

    async def is_listening(self) -> bool:
        """Return whether Slack could tell us something right now."""
        ...


class SlackAdapter:
    """One Slack app, in one workspace or many."""

    platform = PLATFORM

    def __init__(
        self,
        *,
        workspaces: Workspaces,
        events: Events,
        intake: Acceptor,
        unhurried: BackgroundWork,
        transports: Sequence[Transport],
        one: OneInstallation | None,
        tenants: InstalledTenants,
        catch_up: CatchUp,
        permalinks: Permalinks,
        threads: ThreadReader,
        context: QuestionContext,
        roles: Roles,
        people: People,
    ) -> None:
        """Put the parts together; nothing is connected yet.

        Args:
            one: The workspace of the operator's bot token; none: workspaces install the app.
        """
        self._workspaces = workspaces
        self._events = events
        self._intake = intake
        self._unhurried = unhurried
        self._transports = transports
        self._one = one
        self._tenants = tenants
        self._catch_up = catch_up
        self._permalinks = permalinks
        self._threads = threads
        self._context = context
        self._roles = roles
        self._people = people
        self._sessions = AgentSessions(workspaces)
        self._looking: asyncio.Task[None] | None = None

    async def run(self) -> None:
        """Stay connected until `close`.

        Raises:
            ConfigurationError: when Slack refuses a token.
        """
        if self._one is not None:
            await self._tenants.note(await _until_known(self._one))
        looking = self._looking = asyncio.create_task(self._catch_up.run())
        running = [asyncio.ensure_future(transport.run()) for transport in self._transports]
        try:
            await asyncio.gather(*running, _ended(looking))
        finally:  # one that fails leaves none of the others going on alone
            for part in (*running, looking):
                part.cancel()
            await asyncio.wait([*running, looking])

    async def close(self) -> None:
        """Disconnect; what Slack has sent by then is taken in and acknowledged.

        A look through the history ends first: it would take a closed connection for an event's
        fault. The next start looks again.
        """
        self._events.end()
        if self._looking is not None:
            self._looking.cancel()
        try:
            for transport in self._transports:
                await transport.close()
            await self._intake.close()
            await self._events.close()
            await self._unhurried.close()
        finally:
            await self._workspaces.clients.close()

    @property
    def is_ready(self) -> bool:
        """Whether Slack has said who the bot is; of many workspaces the database knows it."""
        return self._one is None or self._one.is_known

    async def is_connected(self) -> bool:
        """Return whether Slack could tell us something by every way there is."""
        listening = [await transport.is_listening() for transport in self._transports]
        return self.is_ready and all(listening)

    async def is_member(self, tenant: Tenant, user: str) -> bool:
        """Return False: on Slack a tenant stands around every place, and no one asks."""
        return False

    async def places_of(self, workspace: str, channel: str) -> Sequence[str]:
        """Return a channel and its workspace: nothing lies in between."""
        return channel, workspace

    async def announce(self, channel: RadarChannel, post: RadarPost, key: str) -> None:
        """Post into a channel, unless a post with this key stands there already."""
        place = (channel.workspace, channel.enterprise)
        rest = await Rest.of(self._workspaces, place, lambda: None)
        client = await self._workspaces.clients.of(*place)
        await announce(rest, client, channel, post, key)

    async def show_card(self, due: CardDue, card: QueueCard) -> str:
        """Show a request in a channel of the staff, as `ChatPlatform.show_card` does."""
        return await queue_cards.show_card(self._workspaces, due, card)

    async def remove_card(self, due: CardDue) -> None:
        """Delete the message that shows a request, as `ChatPlatform.remove_card` does."""
        await queue_cards.remove_card(self._workspaces, due)

    async def open(self, job: Job, keeper: PostKeeper) -> PlatformReply:
        """Return the way to the reader, with the placeholder in place."""
        session = self._sessions.of(job)
        asker = await self._asker(job)
        return await SlackReply.open(self._workspaces, job, keeper, session, asker=asker)

    async def tell(
        self,
        job: Job,
        keeper: PostKeeper,
        sentence: str,
        link: str | None = None,
        nearest: Nearest | None = None,
    ) -> None:
        """Send the asker a sentence, alone but where Slack shows nothing to one reader."""
        await tell(self._workspaces, job, keeper, sentence, link, nearest)

    async def notify(self, job: Job, sentence: str) -> None:
        """Send the asker a notice while the question waits, as `tell` does."""
        await notify(self._workspaces, job, sentence)

    async def complete(self, job: Job, request: AgentRequest) -> AgentRequest:
        """Return a request with its asker's role, the message it links to and what it points at."""
        address = Address.of(job)
        if address.has_thread:  # else a question that is refused would open one
            self._sessions.of(job).begin(address.root)
        known = await self._roles.complete(address, request)
        quoted = await self._permalinks.complete(address, known)
        around = QuestionSurroundings(self._workspaces, self._threads, address)
        return await self._context.complete(job, quoted, around)

    async def ended(self, job: Job) -> None:
        """Show that nothing is being done for a job any more, whatever came of it."""
        await self._sessions.end(job)

    async def retract(self, job: Job) -> None:
        """Remove what was posted for a job."""
        await retract(self._workspaces, job)

    async def abandon(self, job: Job, error: DeliveryError) -> None:
        """Remove what stands where no answer can be shown, and tell the asker directly."""
        await abandon(self._workspaces, job, error)

    async def react(self, job: Job) -> None:
        """Show a reaction on a job's message."""
        await reactions.react(self._workspaces, job)

    async def unreact(self, job: Job) -> None:
        """Remove the reaction of an offer."""
        await reactions.unreact(self._workspaces, job)

    async def link(self, job: Job, twin: Twin) -> str | None:
        """Return a link to an answer."""
        return await reactions.link(self._workspaces, job, twin)

    async def tidy(self, job: Job) -> None:
        """Remove the bot's messages that answer a job's question and that the job does not name."""
        await tidy(self._workspaces, job)

    async def _asker(self, job: Job) -> str | None:
        """Return the name of who asked by a command, for the question that the bot posts."""
        address = Address.of(job)
        if not address.posts_question or address.root is not None:
            return None
        member = await self._people.member(address.team, address.enterprise, address.asker)
        return member.name if member is not None else None


async def _ended(looking: "asyncio.Task[None]") -> None:
    """Return when a look was ended by `close`; raises what it failed with."""
    await asyncio.wait({looking})
    if not looking.cancelled():
        looking.result()


async def _until_known(one: OneInstallation) -> Installed:
    """Return who we are, as soon as Slack can be reached.

    Raises:
        ConfigurationError: when Slack refuses the bot token.
    """
    try:
        installed = await patiently(one.find)
    except DeliveryError as error:
        raise ConfigurationError(BAD_TOKEN) from error
    logger.info("the bot is %s in %s", installed.bot_user, installed.place)
    return installed
