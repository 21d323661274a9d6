"""Builds the Slack adapter from the settings."""

from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING

from adapters.slack.inbound import PLATFORM
from bot.build_discord import ChatServices
from bot.keys import Sealer
from bot.platforms import SlackSettings
from core.domain.i18n import Message
from core.storage.access import Tenant
from core.storage.channels import Panels
from core.storage.installations import InstallationStore, InstallStates
from core.storage.leases import RateLimitWindows
from core.storage.privacy import WorkspaceData

if TYPE_CHECKING:
    from pydantic import SecretStr

    from adapters.chat.acceptor import Acceptor, Unreadable
    from adapters.slack.adapter import Listeners, SlackAdapter, Transport
    from adapters.slack.client import ClosedMethods
    from adapters.slack.installations import (
        Installations,
        InstalledTenants,
        ManyInstallations,
        Workspaces,
    )
    from adapters.slack.oauth import Greeter
    from adapters.slack.people import People
    from adapters.slack.sockets import Dispatcher


def slack_adapter(chats: ChatServices) -> "SlackAdapter":
    """Return the adapter; nothing is connected yet.

    Raises:
        ConfigurationError: when a setting is missing.
    """
    from adapters.chat.acceptor import Acceptor, Unreadable
    from adapters.slack.adapter import Roles, SlackAdapter, Transport, bolt_app
    from adapters.slack.catch_up import CatchUp, SlackCursors
    from adapters.slack.client import ClosedMethods, SlackClient
    from adapters.slack.installations import (
        InstalledClients,
        InstalledTenants,
        OneInstallation,
        Workspaces,
    )
    from adapters.slack.mrkdwn import as_written
    from adapters.slack.oauth import Greeter
    from adapters.slack.people import People
    from adapters.slack.rest import Lookups
    from adapters.slack.sockets import EVENTS, Dispatcher
    from adapters.slack.surroundings import Permalinks, ThreadReader

    settings = chats.opened.settings.group(SlackSettings)
    settings.check()
    closed = ClosedMethods(RateLimitWindows(chats.opened.engine), chats.clocks[PLATFORM])
    one, many = None, None
    if settings.bot_token is not None:
        token = _word(settings.bot_token)
        one = OneInstallation(
            SlackClient(settings.api_url, token, closed=closed, waits_when_limited=True)
        )
    else:
        many = _many(chats, closed)
    installations = one or many
    assert installations is not None
    clients = InstalledClients(installations, settings.api_url, closed)
    workspaces = Workspaces(clients, escape_code=settings.escape_code)
    intake, lookups = Acceptor(chats.wake, chats.meter), Lookups(workspaces)
    people = People(clients, installations)
    unreadable = Unreadable(PLATFORM, EVENTS, chats.meter)
    listeners = _listeners(chats, installations, workspaces, intake, people, unreadable)
    transports = list[Transport]()
    catch_up = CatchUp(
        workspaces=workspaces,
        installations=installations,
        events=listeners.events,
        intake=intake,
        unreadable=unreadable,
        cursors=SlackCursors(chats.inbox, chats.places()),
        is_listening=partial(_are_listening, transports),
        clock=chats.clocks[PLATFORM],
    )
    tenants = InstalledTenants(chats.readers, of_operator=one is not None)
    app = bolt_app(listeners, installations, clients, tenants)
    dispatcher = Dispatcher(app, unreadable, people.locale_of)
    greeter = Greeter(chats.greeting(as_written), clients, listeners.background)
    transports += _transports(chats, dispatcher, many, tenants, closed, greeter, catch_up.begin)
    return SlackAdapter(
        workspaces=workspaces,
        events=listeners.events,
        intake=intake,
        background=listeners.background,
        transports=transports,
        one=one,
        tenants=tenants,
        permalinks=Permalinks(lookups),
        catch_up=catch_up,
        threads=ThreadReader(lookups),
        context=chats.question_context(),
        roles=Roles(chats.roster, people),
        people=people,
    )


def _many(chats: ChatServices, closed: "ClosedMethods") -> "ManyInstallations":
    from adapters.slack.installations import ManyInstallations

    settings = chats.opened.settings.group(SlackSettings)
    sealer = Sealer(chats.opened.keys.sealing)
    store = InstallationStore(chats.opened.engine, PLATFORM, seal=sealer.seal, unseal=sealer.unseal)
    return ManyInstallations(
        store,
        settings.api_url,
        closed,
        client_id=settings.client_id or "",
        client_secret=_word(settings.client_secret),
        admitted=settings.workspaces,
    )


def _listeners(
    chats: ChatServices,
    installations: "Installations",
    workspaces: "Workspaces",
    intake: "Acceptor",
    people: "People",
    unreadable: "Unreadable",
) -> "Listeners":
    """Return everything that hears something."""
    from adapters.actions.settings import PlatformTerms
    from adapters.actions.text_commands import TextCommands
    from adapters.chat.acceptor import BackgroundWork
    from adapters.slack.adapter import Listeners, show_card
    from adapters.slack.commands import (
        TERMS,
        WIDE,
        Assistant,
        Names,
        Questions,
        SlashCommands,
        named,
    )
    from adapters.slack.events import Events
    from adapters.slack.home import Home
    from adapters.slack.installations import Uninstalls
    from adapters.slack.mrkdwn import as_written
    from adapters.slack.presses import SlackClicks, UseContext

    desk, background = chats.desk, BackgroundWork()
    terms = PlatformTerms(Message("tenant-workspace"), Names(people).shown)
    does = chats.doing(
        PLATFORM,
        as_written,
        terms,
        {
            "auto_answer": Message("settings-name-auto-answer"),
            "outsiders": Message("settings-name-outsiders"),
        },
    )
    around = UseContext(people, installations, partial(show_card, workspaces), TERMS)
    questions = Questions(desk, intake, people)
    clicks = SlackClicks(does.presses, around, background, chats.places())
    home = Home(
        desk=desk,
        directory=chats.directory,
        facts=does.facts,
        own_data=does.own_data,
        clicks=clicks,
        inbox=chats.inbox,
        sessions=chats.opened.sessions,
    )
    events = Events(
        desk=desk,
        intake=intake,
        unreadable=unreadable,
        questions=questions,
        assistant=Assistant(
            desk, chats.directory, Panels(chats.opened.engine), chats.suggestions()
        ),
        home=home,
        uninstalls=Uninstalls(
            installations,
            WorkspaceData(chats.opened.engine, chats.opened.holders),
            chats.inbox,
            lambda team, enterprise: _forget(chats, workspaces, team, enterprise),
        ),
        stop=clicks.session_stopped,
    )
    text = TextCommands(does.commands, wide=WIDE, whom=named, platform=PLATFORM)
    return Listeners(
        events=events,
        questions=questions,
        commands=SlashCommands(text, questions, clicks, background),
        names=chats.opened.settings.commands,
        clicks=clicks,
        home=home,
        background=background,
    )


def _forget(
    chats: ChatServices, workspaces: "Workspaces", team: str, enterprise: str | None
) -> None:
    """Drop what is known in memory about a workspace."""
    workspaces.forget(team, enterprise)
    chats.readers.depart(Tenant(PLATFORM, team))


def _transports(
    chats: ChatServices,
    dispatcher: "Dispatcher",
    many: "ManyInstallations | None",
    tenants: "InstalledTenants",
    closed: "ClosedMethods",
    greeter: "Greeter",
    begun: Callable[[], None],
) -> "list[Transport]":
    """Return the ways by which Slack, and people who install the app, come to us."""
    from adapters.slack.client import SlackClient, ask_time
    from adapters.slack.http import Server, Signatures
    from adapters.slack.oauth import STATE_LIFE, oauth_flow
    from adapters.slack.sockets import Sockets

    settings = chats.opened.settings.group(SlackSettings)
    flow = None
    if many is not None and settings.client_id is not None:
        flow = oauth_flow(
            many,
            InstallStates(chats.opened.keys.sealing, STATE_LIFE),
            tenants,
            SlackClient(settings.api_url, closed=closed),
            greeter,
            client_id=settings.client_id,
            client_secret=_word(settings.client_secret),
        )
    if settings.transport == "http":
        asking = SlackClient(settings.api_url, closed=closed)
        secret = _word(settings.signing_secret)
        signatures = Signatures(secret, closed.clock, partial(ask_time, asking))
        return [
            Server(
                settings.host,
                settings.port,
                dispatcher=dispatcher,
                signatures=signatures,
                flow=flow,
                begun=begun,
            )
        ]
    client = SlackClient(settings.api_url, closed=closed, waits_when_limited=True)
    sockets = Sockets(dispatcher, _word(settings.app_token), client, begun)
    if flow is None:
        return [sockets]
    return [sockets, Server(settings.host, settings.port, flow=flow)]


def _word(secret: "SecretStr | None") -> str:
    return secret.get_secret_value() if secret is not None else ""


async def _are_listening(transports: "Sequence[Transport]") -> bool:
    return all([await transport.is_listening() for transport in transports])
