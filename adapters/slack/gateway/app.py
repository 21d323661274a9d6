"""The bolt app: its token in each workspace, and the listener of each event and action."""

import logging
import re
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any, cast

from slack_bolt.async_app import AsyncApp
from slack_bolt.authorization import AuthorizeResult
from slack_bolt.context.ack.async_ack import AsyncAck
from slack_bolt.context.async_context import AsyncBoltContext
from slack_bolt.context.respond.async_respond import AsyncRespond
from slack_bolt.response import BoltResponse
from slack_sdk.web.async_client import AsyncWebClient

from adapters.features.command_names import CommandNames
from adapters.intake.deadline import BackgroundWork
from adapters.slack.commands.about import About
from adapters.slack.commands.actions import ButtonActions
from adapters.slack.commands.home import Home
from adapters.slack.commands.modals import EXPLAIN, EXPORT, FORGET_ME, MEANT, REASON
from adapters.slack.commands.my_data import MyData
from adapters.slack.commands.policies import HINTS, PolicyCommands
from adapters.slack.commands.questions import Questions
from adapters.slack.commands.staff import Staff
from adapters.slack.commands.staff_queue import VERIFY
from adapters.slack.gateway.events import Events
from adapters.slack.inbound import spot_of_interaction
from adapters.slack.installs.installations import Installations, InstalledClients
from adapters.slack.installs.tenants import InstalledTenants
from adapters.slack.staff_views import STAFF_FORM
from core.i18n import text

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Listeners:
    """Every object with listeners to register."""

    events: Events
    questions: Questions
    names: CommandNames
    commands: About
    my_data: MyData
    staff: Staff
    policies: PolicyCommands
    clicks: ButtonActions
    home: Home
    unhurried: BackgroundWork


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
    names = listeners.names
    app.command(f"/{names.ask}")(listeners.questions.ask)
    app.command(f"/{names.glossator}")(listeners.commands.glossator)
    app.command(f"/{names.course}")(listeners.staff.course)
    app.message_shortcut(EXPLAIN)(listeners.questions.explain)
    app.view(EXPLAIN)(listeners.questions.explain_submitted)
    app.view(REASON)(listeners.clicks.reason_given)
    app.view(MEANT)(listeners.clicks.meant)
    app.message_shortcut(VERIFY)(listeners.clicks.staff.shortcut)
    app.view(STAFF_FORM)(listeners.clicks.staff.submitted)
    app.view(HINTS)(listeners.policies.form_sent)


def _hear_clicks(app: AsyncApp, listeners: Listeners) -> None:
    async def show_home(body: dict[str, Any], client: AsyncWebClient) -> None:
        """Show the Home tab as it is now, where something was pressed on it."""
        if (body.get("view") or {}).get("type") == "home":
            await listeners.home.show(spot_of_interaction(body), client)

    async def clicked(
        body: dict[str, Any], ack: AsyncAck, respond: AsyncRespond, client: AsyncWebClient
    ) -> None:
        await listeners.clicks.clicked(body, ack, respond, client)
        await listeners.unhurried.in_time(show_home(body, client))

    async def forget(
        body: dict[str, Any], ack: AsyncAck, respond: AsyncRespond, client: AsyncWebClient
    ) -> None:
        async def forgetting() -> None:
            await listeners.clicks.forget(body, respond)
            await show_home(body, client)

        await listeners.unhurried.in_time(forgetting())
        await ack()

    app.action(FORGET_ME)(forget)
    app.action(EXPORT)(listeners.my_data.export_pressed)
    app.action(re.compile("gl:.*"))(clicked)
    for hear in (app.action, app.options, app.shortcut, app.view_submission, app.view_closed):
        hear(re.compile(".*"))(_passed_over)


async def _passed_over(ack: AsyncAck) -> None:
    """Acknowledge what is done with what is not ours, such as a link that looks like a button.

    Of what nothing hears, bolt would log what was typed.
    """
    await ack()
