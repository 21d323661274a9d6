"""Builds the Slack adapter from the settings."""

import re
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from functools import partial
from typing import TYPE_CHECKING

from adapters.intake.read_cursor import ReadCursor
from adapters.intake.reconcile import MOST_QUESTIONS
from adapters.slack.inbound import PLATFORM
from bot.keyring.sealing import Sealer
from bot.platforms.services import ChatServices
from bot.settings import SlackSettings
from core.access.tenants import Tenant
from core.errors import ConfigurationError
from core.i18n import Message
from core.inbox.places import InboxPlaces, PlacedQuestion
from core.inbox.store import Inbox
from core.privacy.workspace_data import WorkspaceData
from core.storage.channels.panels import Panels
from core.storage.installations.states import InstallStates
from core.storage.installations.store import InstallationStore
from core.storage.rate_limit_windows import RateLimitWindows

if TYPE_CHECKING:
    from pydantic import SecretStr

    from adapters.intake.acceptor import Acceptor
    from adapters.intake.deadline import BackgroundWork
    from adapters.intake.unreadable import Unreadable
    from adapters.slack.adapter import SlackAdapter, Transport
    from adapters.slack.api.client import ClosedMethods
    from adapters.slack.commands.staff import Staff
    from adapters.slack.gateway.acknowledging import Dispatcher
    from adapters.slack.gateway.app import Listeners
    from adapters.slack.installs.greeter import Greeter
    from adapters.slack.installs.installations import Installations, ManyInstallations
    from adapters.slack.installs.tenants import InstalledTenants
    from adapters.slack.installs.workspaces import Workspaces
    from adapters.slack.people import People

NO_APP_TOKEN = (
    "Slack's Socket Mode needs an app-level token: set GLOSSATOR_SLACK__APP_TOKEN, "
    "or GLOSSATOR_SLACK__TRANSPORT=http."
)
NO_SIGNING_SECRET = (
    "Slack over HTTP needs the app's signing secret, without which anybody could send events: "
    "set GLOSSATOR_SLACK__SIGNING_SECRET."
)
NO_CLIENT_SECRET = "Installing the Slack app needs GLOSSATOR_SLACK__CLIENT_SECRET."
ONE_OR_MANY = (
    "Slack answers in one workspace, by GLOSSATOR_SLACK__BOT_TOKEN, or in those that install "
    "the app, by GLOSSATOR_SLACK__CLIENT_ID: set one of them."
)


ONE_WORKSPACE = (
    "GLOSSATOR_SLACK__WORKSPACES says which workspaces may install the app; with "
    "GLOSSATOR_SLACK__BOT_TOKEN there is one workspace: unset one of them."
)


def is_set_up(settings: SlackSettings) -> bool:
    """Return whether the settings name a Slack app at all."""
    return settings.bot_token is not None or settings.client_id is not None


def slack_adapter(chats: ChatServices) -> "SlackAdapter":
    """Return the adapter; nothing is connected yet.

    Raises:
        ConfigurationError: when a setting is missing.
    """
    from adapters.intake.acceptor import Acceptor
    from adapters.intake.unreadable import Unreadable
    from adapters.slack.adapter import SlackAdapter, Transport
    from adapters.slack.api.client import ClosedMethods, SlackClient
    from adapters.slack.api.lookups import Lookups
    from adapters.slack.catch_up import CatchUp
    from adapters.slack.gateway.acknowledging import EVENTS, Dispatcher
    from adapters.slack.gateway.app import bolt_app
    from adapters.slack.installs.greeter import Greeter
    from adapters.slack.installs.installations import InstalledClients, OneInstallation
    from adapters.slack.installs.tenants import InstalledTenants
    from adapters.slack.installs.workspaces import Workspaces
    from adapters.slack.markup.dialect import as_written
    from adapters.slack.people import People
    from adapters.slack.permalinks import Permalinks
    from adapters.slack.question_surroundings import ThreadReader
    from adapters.slack.roles import Roles

    settings = chats.opened.settings.slack
    check(settings)
    closed = ClosedMethods(RateLimitWindows(chats.opened.engine), chats.clocks[PLATFORM])
    one, many = None, None
    if settings.bot_token is not None:
        token = _word(settings.bot_token)
        one = OneInstallation(SlackClient(settings.api_url, token, closed=closed, is_patient=True))
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
    greeter = Greeter(chats.greeting(as_written), clients, listeners.unhurried)
    transports += _transports(chats, dispatcher, many, tenants, closed, greeter, catch_up.begin)
    return SlackAdapter(
        workspaces=workspaces,
        events=listeners.events,
        intake=intake,
        unhurried=listeners.unhurried,
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


def check(settings: SlackSettings) -> None:
    """Raise ConfigurationError when a setting is missing, or two exclude one another."""
    if settings.bot_token is not None and settings.client_id is not None:
        raise ConfigurationError(ONE_OR_MANY)
    if settings.bot_token is not None and settings.workspaces:
        raise ConfigurationError(ONE_WORKSPACE)
    if settings.client_id is not None and settings.client_secret is None:
        raise ConfigurationError(NO_CLIENT_SECRET)
    if settings.transport == "socket" and settings.app_token is None:
        raise ConfigurationError(NO_APP_TOKEN)
    if settings.transport == "http" and settings.signing_secret is None:
        raise ConfigurationError(NO_SIGNING_SECRET)


def _many(chats: ChatServices, closed: "ClosedMethods") -> "ManyInstallations":
    from adapters.slack.installs.installations import ManyInstallations

    settings = chats.opened.settings.slack
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
    from adapters.intake.deadline import BackgroundWork
    from adapters.slack.commands.about import About
    from adapters.slack.commands.actions import ButtonActions
    from adapters.slack.commands.assistant import Assistant
    from adapters.slack.commands.home import Home
    from adapters.slack.commands.my_data import MyData
    from adapters.slack.commands.questions import Questions
    from adapters.slack.gateway.app import Listeners
    from adapters.slack.gateway.events import Events
    from adapters.slack.installs.uninstall import Uninstalls
    from adapters.slack.markup.dialect import as_written

    desk, personal, facts = chats.desk, chats.personal(), chats.facts(as_written)
    questions = Questions(desk, intake, people)
    unhurried = BackgroundWork()
    places = chats.places()
    clicks = ButtonActions(
        desk, chats.actions(), personal, people, installations, unhurried, places
    )
    my_data = MyData(personal, chats.own_data(), clicks, people, unhurried)
    home = Home(
        desk=desk,
        directory=chats.directory,
        facts=facts,
        personal=personal,
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
        departures=Uninstalls(
            installations,
            WorkspaceData(chats.opened.engine),
            lambda team, enterprise: _forget(chats, workspaces, team, enterprise),
        ),
        stop=clicks.session_stopped,
    )
    return Listeners(
        events=events,
        questions=questions,
        commands=About(
            desk=desk,
            facts=facts,
            my_data=my_data,
            questions=questions,
            unhurried=unhurried,
        ),
        names=chats.opened.settings.commands,
        my_data=my_data,
        staff=_staff(chats, people, unhurried),
        clicks=clicks,
        home=home,
        unhurried=unhurried,
    )


def _staff(chats: ChatServices, people: "People", unhurried: "BackgroundWork") -> "Staff":
    """Return what `/course` does."""
    from adapters.features.staff_settings import PlatformTerms
    from adapters.slack.commands.staff import Staff
    from adapters.slack.commands.staff_commands import Names, StaffCommands

    names = {
        "auto_answer": Message("settings-name-auto-answer"),
        "outsiders": Message("settings-name-outsiders"),
    }
    settings = chats.channel_settings(names)
    staff = chats.staff_settings(
        settings, PlatformTerms(Message("tenant-workspace"), Names(people).shown)
    )
    return Staff(settings, staff, StaffCommands(staff, people), people, unhurried)


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
    from adapters.slack.api.client import SlackClient
    from adapters.slack.gateway.http import Server
    from adapters.slack.gateway.signing import Signatures
    from adapters.slack.gateway.sockets import Sockets
    from adapters.slack.installs.oauth import STATE_LIFE, oauth_flow

    settings = chats.opened.settings.slack
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
        signatures = Signatures(_word(settings.signing_secret))
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
    client = SlackClient(settings.api_url, closed=closed, is_patient=True)
    sockets = Sockets(dispatcher, _word(settings.app_token), client, begun)
    if flow is None:
        return [sockets]
    return [sockets, Server(settings.host, settings.port, flow=flow)]


def _word(secret: "SecretStr | None") -> str:
    return secret.get_secret_value() if secret is not None else ""


class SlackCursors(ReadCursor):
    """Keeps how far Slack was heard, and where something may have been said since."""

    def __init__(self, inbox: Inbox, places: InboxPlaces) -> None:
        super().__init__(inbox, PLATFORM)
        self._places = places

    async def positions(self) -> Mapping[str, int]:
        """Return the position of the latest question by channel."""
        return await self._inbox.cursors(PLATFORM)

    async def threads(self, workspace: str, since: datetime) -> Sequence[tuple[str, str]]:
        """Return the channel and first message of the threads somebody asked in since then."""
        found = await self._places.threads(PLATFORM, workspace, since)
        return [(channel, thread) for channel, thread in found if _TS.fullmatch(thread)]

    async def questions(self, since: datetime) -> Sequence[PlacedQuestion]:
        """Return the latest questions in messages since a moment, oldest first."""
        return await self._places.asked_since(PLATFORM, since, MOST_QUESTIONS)


_TS = re.compile(r"\d+\.\d+")


async def _are_listening(transports: "Sequence[Transport]") -> bool:
    return all([await transport.is_listening() for transport in transports])
