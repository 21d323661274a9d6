"""The people and places of the two platforms, before the bot is started the first time."""

from adapters.slack.oauth import EVENTS, SCOPES
from tests.upgrade.worlds import Worlds
from tests.wire import discord, slack
from tests.wire.slack_bot import COMMANDS

ROOMS = ("arden-questions", "mill-questions", "lounge", "office")
"""Of the first guild and workspace, each next to one channel in which nothing is set."""
UNSET = "unset"


def populate(worlds: Worlds) -> None:
    """Add two guilds and two workspaces with people, channels and invented secrets."""
    _populate_discord(worlds.discord)
    _populate_slack(worlds.slack)


def _populate_discord(world: discord.World) -> None:
    for name in (*ROOMS, UNSET):
        world.add_channel(world.guild, name)
    for name in ("ann", "ben", "cleo", "dan"):
        world.add_user(name, world.guild)
    olga = world.add_user("olga")
    second = world.add_guild("Second", olga)
    world.add_user("pia", second)
    world.install(world.application, second)
    for name in ("wharf", "quay"):
        world.add_channel(second, name)


def _populate_slack(world: slack.World) -> None:
    app = world.app
    app.commands, app.events, app.scopes = COMMANDS, EVENTS, SCOPES
    app.client_id, app.client_secret = "1000.2000", "invented-client-secret"
    app.app_token, app.signing_secret = "xapp-1-invented", "invented-signing-secret"
    app.redirect_urls = ("http://127.0.0.1/slack/oauth_redirect",)
    second = world.add_workspace("Second")
    everyone = [world.add_user(name, world.workspace) for name in ("ann", "ben", "emma")]
    for name in (*ROOMS, UNSET):
        world.add_channel(world.workspace, name, members=(world.owner, world.bot, *everyone))
    there = world.install(app, second)
    pia = world.add_user("pia", second)
    for name in ("wharf", "quay"):
        world.add_channel(second, name, members=(world.owner_of(second), there.bot, pia))
    for number, installation in enumerate(world.installations, 1):
        installation.scopes = SCOPES
        installation.token = f"xoxb-invented-{number}"
