"""Slack as a chat platform: lets events in, and opens the way back for their answers."""

import asyncio
import logging
import re
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, Protocol, cast

from slack_bolt.async_app import AsyncApp
from slack_bolt.authorization import AuthorizeResult
from slack_bolt.context.ack.async_ack import AsyncAck
from slack_bolt.context.async_context import AsyncBoltContext
from slack_bolt.context.respond.async_respond import AsyncRespond
from slack_bolt.response import BoltResponse
from slack_sdk.web.async_client import AsyncWebClient

from adapters.actions.command_names import CommandNames
from adapters.chat.acceptor import Acceptor, BackgroundWork
from adapters.chat.base import Nearest, PlatformReply, PostKeeper
from adapters.chat.buttons import ON_CARD
from adapters.chat.question_context import QuestionContext
from adapters.slack import notices as reactions
from adapters.slack.answer_messages import delete
from adapters.slack.catch_up import CatchUp
from adapters.slack.client import retry_forever
from adapters.slack.commands import Questions, SlashCommands
from adapters.slack.events import Events
from adapters.slack.home import Home
from adapters.slack.inbound import PLATFORM, Spot, spot_of_interaction
from adapters.slack.installations import (
    Installations,
    InstalledClients,
    InstalledTenants,
    OneInstallation,
    Workspaces,
)
from adapters.slack.modals import EXPLAIN, FORM
from adapters.slack.mrkdwn import as_written, words
from adapters.slack.notices import announce
from adapters.slack.outbound import Address, Post
from adapters.slack.people import People
from adapters.slack.presses import VERIFY, SlackClicks
from adapters.slack.reply import SlackReply, abandon, notify, retract, tell, tidy
from adapters.slack.rest import Rest
from adapters.slack.streaming import AgentSessions
from adapters.slack.surroundings import Permalinks, QuestionSurroundings, ThreadReader
from core.domain import AgentRequest
from core.domain.errors import ConfigurationError, DeliveryError, StoreError
from core.domain.i18n import text
from core.storage.access import Tenant, role_of
from core.storage.access_store import Roster
from core.storage.inbox.base import Job, Twin
from core.storage.installations import Installed
from core.teaching.help_requests import CardDue, QueueCard
from core.teaching.radar_store import RadarChannel, RadarPost

logger = logging.getLogger(__name__)


_EVENT_TYPE = "glossator_queue"
_CLOCKS = timedelta(minutes=5)
"""How far our clock and Slack's may differ."""


async def show_card(workspaces: Workspaces, due: CardDue, card: QueueCard) -> str:
    """Show a request, as `ChatPlatform.show_card` does, and return the message's timestamp."""
    rest, channel, post = await _rest_of(workspaces, due), due.channel.channel, _post(card)
    metadata = {"event_type": _EVENT_TYPE, "event_payload": {"key": str(card.help_id)}}
    if (ts := due.message or await _standing(rest, due)) is None:
        return await rest.post(channel, None, post, metadata)
    await rest.update(channel, ts, post, metadata)
    return ts


async def remove_card(workspaces: Workspaces, due: CardDue) -> None:
    """Delete the message of a request, as `ChatPlatform.remove_card` does."""
    rest = await _rest_of(workspaces, due)
    if (ts := due.message or await _standing(rest, due)) is not None:
        await delete(rest, due.channel.channel, ts)


async def _rest_of(workspaces: Workspaces, due: CardDue) -> Rest:
    place = (due.channel.workspace, due.channel.enterprise)
    return await Rest.of(workspaces, place, lambda: None)


def _post(card: QueueCard) -> Post:
    notes = "\n".join(words(line) for line in (card.status, card.said) if line)
    buttons = ON_CARD if card.is_open else ()
    question = f"**{as_written(card.question)}**"
    return Post(question, notes=notes, buttons=buttons, request_id=card.help_id)


async def _standing(rest: Rest, due: CardDue) -> str | None:
    """Return the message that another process posted; None: there is none."""
    if due.posted_since is None:
        return None
    since = (due.posted_since - _CLOCKS).timestamp()
    me, key = await rest.me(), str(due.help_id)
    for message in await rest.messages(due.channel.channel, f"{since:.6f}"):
        metadata = message.get("metadata") or {}
        payload = metadata.get("event_payload") or {}
        is_it = metadata.get("event_type") == _EVENT_TYPE and payload.get("key") == key
        if is_it and message.get("user") == me:
            return str(message["ts"])
    return None


class Roles:
    """Asks Slack who asked, which takes too long to be done before a question is accepted."""

    def __init__(self, roster: Roster, people: People) -> None:
        self._roster = roster
        self._people = people

    async def complete(self, address: Address, request: AgentRequest) -> AgentRequest:
        """Return a request with its asker's role, unless that is known already."""
        if request.user_context.role is not None:
            return request
        spot = Spot(address.team, address.enterprise, address.channel, address.asker)
        who = self._people.presence_of(spot)
        try:
            included = await self._roster.includes(who.tenants, who.member, request.course_id)
        except StoreError as error:
            logger.warning("it cannot be told who is staff: %s", error)
            return request
        context = request.user_context.model_copy(update={"role": role_of(included)})
        return request.model_copy(update={"user_context": context})


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
        background: BackgroundWork,
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
        self._background = background
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
            await self._background.close()
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
        return await show_card(self._workspaces, due, card)

    async def remove_card(self, due: CardDue) -> None:
        """Delete the message that shows a request, as `ChatPlatform.remove_card` does."""
        await remove_card(self._workspaces, due)

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
        installed = await retry_forever(one.find)
    except DeliveryError as error:
        raise ConfigurationError(BAD_TOKEN) from error
    logger.info("the bot is %s in %s", installed.bot_user, installed.place)
    return installed


@dataclass(frozen=True, slots=True)
class Listeners:
    """Every object with listeners to register."""

    events: Events
    questions: Questions
    names: CommandNames
    commands: SlashCommands
    clicks: SlackClicks
    home: Home
    background: BackgroundWork


def bolt_app(
    listeners: Listeners,
    installations: Installations,
    clients: InstalledClients,
    tenants: InstalledTenants,
) -> AsyncApp:
    """Return the app, which acknowledges nothing before our method has returned.

    Signatures are checked where the raw body is at hand, not here.
    """

    async def authorize(enterprise_id: str | None, team_id: str | None) -> AuthorizeResult | None:
        installed = await installations.find(team_id, enterprise_id)
        if installed is None:
            return None
        await tenants.note(installed, team_id)
        return AuthorizeResult(
            enterprise_id=enterprise_id,
            team_id=team_id,
            bot_user_id=installed.bot_user,
            bot_id=installed.bot,
            bot_token=installed.token,
        )

    async def turn_away(
        context: AsyncBoltContext, next_: Callable[[], Awaitable[BoltResponse]]
    ) -> BoltResponse:
        """Answer a workspace that the operator does not admit any more."""
        if not await installations.turns_away(context.team_id, context.enterprise_id):
            return await next_()
        if context.response_url is not None and context.respond is not None:
            await context.respond(text("asking-not-admitted"))
        return BoltResponse(status=200, body="")

    app = AsyncApp(
        logger=logging.getLogger("slack_bolt"),
        name="glossator",
        client=clients.with_token(None),
        before_authorize=turn_away,
        authorize=cast("Callable[..., Awaitable[AuthorizeResult]]", authorize),
        process_before_response=True,
        request_verification_enabled=False,
        raise_error_for_unhandled_request=True,  # else bolt logs what a user wrote
        user_facing_authorize_error_message=text("slack-not-installed"),
        attaching_conversation_kwargs_enabled=False,
    )

    async def use_ours(
        context: AsyncBoltContext, next_: Callable[[], Awaitable[BoltResponse]]
    ) -> BoltResponse:
        """Replace bolt's own client: it would call what Slack has closed."""
        context["client"] = clients.with_token(context.bot_token)
        return await next_()

    app.middleware(use_ours)
    listeners.events.register(app)
    _hear_commands(app, listeners)
    _hear_clicks(app, listeners)
    return app


def _hear_commands(app: AsyncApp, listeners: Listeners) -> None:
    for group, name in listeners.names:
        app.command(f"/{name}")(_liveness(listeners.commands, group))
    app.message_shortcut(EXPLAIN)(listeners.questions.explain)
    app.view(EXPLAIN)(listeners.questions.explain_submitted)
    app.message_shortcut(VERIFY)(listeners.clicks.verify)
    app.view(FORM)(listeners.clicks.submitted)


def _liveness(commands: SlashCommands, group: str) -> Callable[..., Awaitable[None]]:
    async def given(
        body: dict[str, Any], ack: AsyncAck, respond: AsyncRespond, client: AsyncWebClient
    ) -> None:
        await commands.given(group, body, ack, respond, client)

    return given


def _hear_clicks(app: AsyncApp, listeners: Listeners) -> None:
    async def show_home(body: dict[str, Any], client: AsyncWebClient) -> None:
        """Show the Home tab as it is now, where something was pressed on it."""
        if (body.get("view") or {}).get("type") == "home":
            await listeners.home.show(spot_of_interaction(body), client)

    async def clicked(
        body: dict[str, Any], ack: AsyncAck, respond: AsyncRespond, client: AsyncWebClient
    ) -> None:
        await listeners.clicks.clicked(body, ack, respond, client)
        await listeners.background.in_time(show_home(body, client))

    app.action(re.compile("gl:.*"))(clicked)
    for hear in (app.action, app.options, app.shortcut, app.view_submission, app.view_closed):
        hear(re.compile(".*"))(_passed_over)


async def _passed_over(ack: AsyncAck) -> None:
    """Acknowledge what is done with what is not ours, such as a link that looks like a button.

    Of what nothing hears, bolt would log what was typed.
    """
    await ack()
