"""REST: the gateway's address, the bot itself, its guilds, members, commands."""

from typing import Any

from tests.wire.discord.entities import Application
from tests.wire.discord.errors import ApiError, Json, refusal
from tests.wire.discord.payloads import (
    application_payload,
    channel_payload,
    full_member_payload,
    guild_payload,
    own_user_payload,
    role_payload,
    user_payload,
)
from tests.wire.discord.permissions import in_guild
from tests.wire.discord.requests import Answer, Request, Table


def own_user(request: Request) -> Answer:
    """Serve the bot's account."""
    return Answer(200, own_user_payload(request.user))


def user(request: Request) -> Answer:
    """Serve an account."""
    found = request.world.users.get(int(request.params["user_id"]))
    if found is None:
        raise refusal(10013)
    return Answer(200, user_payload(found))


def application(request: Request) -> Answer:
    """Serve the bot's application."""
    guilds = sum(request.user.id in guild.members for guild in request.world.guilds.values())
    return Answer(200, application_payload(request.application, guilds))


def own_guilds(request: Request) -> Answer:
    """List the guilds the bot is in."""
    found = [g for g in request.world.guilds.values() if request.user.id in g.members]
    listed: list[Json] = [
        {
            "id": str(guild.id),
            "name": guild.name,
            "icon": None,
            "banner": None,
            "owner": guild.owner_id == request.user.id,
            "permissions": str(int(in_guild(guild, request.user.id))),
            "features": [],
        }
        for guild in found
    ]
    return Answer(200, listed)


def open_direct(request: Request) -> Answer:
    """Open the conversation with a user."""
    recipient = request.world.users.get(int(request.form.get("recipient_id") or 0))
    if recipient is None or recipient.bot:
        raise refusal(50033)
    channel = request.world.direct_channel(request.user, recipient)
    return Answer(200, channel_payload(channel))


def guild(request: Request) -> Answer:
    """Serve a guild."""
    return Answer(200, guild_payload(request.guild()))


def guild_channels(request: Request) -> Answer:
    """List a guild's channels, without threads."""
    channels = [c for c in request.world.channels_of(request.guild()) if not c.thread]
    seen = [c for c in channels if request.world.views(c, request.user)]
    return Answer(200, [channel_payload(channel) for channel in seen])


def guild_roles(request: Request) -> Answer:
    """List a guild's roles."""
    return Answer(200, [role_payload(role) for role in request.guild().roles.values()])


def guild_member(request: Request) -> Answer:
    """Serve a member."""
    member = request.guild().members.get(int(request.params["user_id"]))
    if member is None:
        raise refusal(10007)
    return Answer(200, full_member_payload(member))


def guild_members(request: Request) -> Answer:
    """List members, for bots with the privileged intent."""
    if not request.application.server_members:
        raise refusal(50001)
    after = int(request.query.get("after", 0))
    members = sorted(request.guild().members.values(), key=lambda member: member.user.id)
    page = [member for member in members if member.user.id > after]
    limit = int(request.query.get("limit", 1))
    return Answer(200, [full_member_payload(member) for member in page[:limit]])


def list_commands(request: Request) -> Answer:
    """List the commands of a place; translations are left out unless they are asked for."""
    listed = request.world.commands.listed(_own(request), _place(request))
    if request.query.get("with_localizations") != "true":
        listed = [_untranslated(command) for command in listed]
    return Answer(200, listed)


def _untranslated(value: Any) -> Any:
    if isinstance(value, dict):
        kept = {k: v for k, v in value.items() if not k.endswith("_localizations")}
        return {name: _untranslated(inner) for name, inner in kept.items()}
    return [_untranslated(inner) for inner in value] if isinstance(value, list) else value


def replace_commands(request: Request) -> Answer:
    """Replace the commands of a place."""
    if not isinstance(request.body, list):
        raise ApiError(400, 50109, "The request body contains invalid JSON.")
    made = request.world.commands.replace(_own(request), _place(request), request.body)
    return Answer(200, made)


def create_command(request: Request) -> Answer:
    """Register a command."""
    registry, place = request.world.commands, _place(request)
    known = {(c["type"], c["name"]) for c in registry.listed(_own(request), place)}
    made = registry.create(_own(request), place, request.form)
    return Answer(200 if (made["type"], made["name"]) in known else 201, made)


def command(request: Request) -> Answer:
    """Serve a command."""
    found = request.world.commands.find(_own(request), request.params["command_id"])
    return Answer(200, found)


def change_command(request: Request) -> Answer:
    """Change a command."""
    command_id = request.params["command_id"]
    changed = request.world.commands.change(_own(request), command_id, request.form)
    return Answer(200, changed)


def delete_command(request: Request) -> Answer:
    """Forget a command."""
    request.world.commands.delete(_own(request), request.params["command_id"])
    return Answer()


def _own(request: Request) -> Application:
    if request.params["application_id"] != str(request.application.id):
        raise ApiError(403, 20012, "You are not authorized to perform this action")
    return request.application


def _place(request: Request) -> int | None:
    return request.guild().id if "guild_id" in request.params else None


ROUTES: Table = {
    "GET /users/@me": own_user,
    "GET /users/@me/guilds": own_guilds,
    "POST /users/@me/channels": open_direct,
    "GET /users/{user_id}": user,
    "GET /applications/@me": application,
    "GET /oauth2/applications/@me": application,
    "GET /guilds/{guild_id}": guild,
    "GET /guilds/{guild_id}/channels": guild_channels,
    "GET /guilds/{guild_id}/roles": guild_roles,
    "GET /guilds/{guild_id}/members": guild_members,
    "GET /guilds/{guild_id}/members/{user_id}": guild_member,
}
for place in ("/applications/{application_id}", "/applications/{application_id}/guilds/{guild_id}"):
    ROUTES |= {
        f"GET {place}/commands": list_commands,
        f"PUT {place}/commands": replace_commands,
        f"POST {place}/commands": create_command,
        f"GET {place}/commands/{{command_id}}": command,
        f"PATCH {place}/commands/{{command_id}}": change_command,
        f"DELETE {place}/commands/{{command_id}}": delete_command,
    }
