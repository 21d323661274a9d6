"""Users, guilds, channels and applications as the wire shows them."""

from tests.wire.discord.clock import timestamp
from tests.wire.discord.entities import (
    Application,
    Channel,
    ChannelType,
    Guild,
    Member,
    Overwrite,
    Role,
    User,
)
from tests.wire.discord.errors import Json
from tests.wire.discord.permissions import Permission, in_channel, in_view

HIDDEN = 1 << 17
"""The flag of a channel whose reader may not view it."""


def user_payload(user: User) -> Json:
    """Return a user object."""
    return {
        "id": str(user.id),
        "username": user.name,
        "global_name": None if user.bot else user.name.title(),
        "discriminator": "0000" if user.bot else "0",
        "avatar": None,
        "public_flags": 0,
        "flags": 0,
        "primary_guild": None,
        "bot": user.bot,
    }


def own_user_payload(user: User) -> Json:
    """Return what a bot sees of itself."""
    return user_payload(user) | {"mfa_enabled": True, "locale": "en-US", "verified": True}


def member_payload(member: Member) -> Json:
    """Return a member object without its user, as messages carry it."""
    return {
        "nick": member.nick,
        "avatar": None,
        "banner": None,
        "roles": [str(role) for role in member.roles],
        "joined_at": timestamp(member.joined_at),
        "premium_since": None,
        "communication_disabled_until": None,
        "flags": 0,
        "pending": False,
        "mute": False,
        "deaf": False,
    }


def full_member_payload(member: Member) -> Json:
    """Return a member object with its user."""
    return member_payload(member) | {"user": user_payload(member.user)}


def role_payload(role: Role) -> Json:
    """Return a role object."""
    made_for = {"tags": {"bot_id": str(role.bot_id)}} if role.bot_id else {}
    return {
        "id": str(role.id),
        "name": role.name,
        "permissions": str(int(role.permissions)),
        "position": role.position,
        "color": 0,
        "colors": {"primary_color": 0, "secondary_color": None, "tertiary_color": None},
        "hoist": False,
        "managed": role.bot_id is not None,
        "mentionable": role.mentionable,
        "icon": None,
        "unicode_emoji": None,
        "flags": 0,
    } | made_for


def channel_payload(channel: Channel) -> Json:
    """Return a channel object of any type, thread and DM included."""
    if channel.kind is ChannelType.DM:
        return _direct_payload(channel)
    assert channel.guild is not None
    shared: Json = {
        "id": str(channel.id),
        "type": int(channel.kind),
        "guild_id": str(channel.guild.id),
        "name": channel.name,
        "flags": 0,
        "parent_id": str(channel.parent.id) if channel.parent else None,
    }
    if channel.kind is not ChannelType.CATEGORY:
        shared["last_message_id"] = _last_message_id(channel)
        shared["rate_limit_per_user"] = 0
    return shared | (_thread_payload(channel) if channel.thread else _guild_payload(channel))


def hidden_payload(channel: Channel) -> Json:
    """Return a channel as the gateway shows it, since 2026-11-16, to who may not view it."""
    assert channel.guild is not None
    whole = channel_payload(channel)
    kept = {name: whole[name] for name in ("id", "type", "guild_id", "position")}
    everyone = Overwrite(channel.guild.id, 0, deny=Permission.VIEW_CHANNEL)
    return dict.fromkeys(whole.keys() - _VOICE.keys()) | {
        **kept,
        "name": "___hidden___",
        "flags": HIDDEN,
        "permission_overwrites": [_overwrite(everyone)],
    }


_VOICE: Json = {"bitrate": 64_000, "user_limit": 0, "rtc_region": None}


def _direct_payload(channel: Channel) -> Json:
    return {
        "id": str(channel.id),
        "type": 1,
        "flags": 0,
        "last_message_id": _last_message_id(channel),
        "recipients": [user_payload(user) for user in channel.recipients.values() if not user.bot],
    }


def _guild_payload(channel: Channel) -> Json:
    payload: Json = {
        "position": channel.position,
        "nsfw": channel.nsfw,
        "permission_overwrites": [_overwrite(rule) for rule in channel.overwrites.values()],
    }
    if channel.kind is not ChannelType.CATEGORY:
        payload["topic"] = channel.topic
    if channel.kind is ChannelType.VOICE:
        payload |= _VOICE
    if channel.kind is ChannelType.FORUM:
        payload["available_tags"] = [
            {
                "id": str(tag.id),
                "name": tag.name,
                "moderated": False,
                "emoji_id": None,
                "emoji_name": None,
            }
            for tag in channel.tags
        ]
    return payload


def _thread_payload(channel: Channel) -> Json:
    state = channel.thread
    assert state is not None
    payload: Json = {
        "owner_id": str(state.owner_id),
        "message_count": len(channel.messages),
        "member_count": min(len(state.members), 50),
        "total_message_sent": state.messages_sent,
        "thread_metadata": {
            "archived": state.archived,
            "archive_timestamp": timestamp(state.archive_timestamp),
            "auto_archive_duration": state.auto_archive_duration,
            "locked": state.locked,
            "create_timestamp": timestamp(state.created_at),
        },
    }
    if channel.parent and channel.parent.kind is ChannelType.FORUM:
        payload["applied_tags"] = [str(tag) for tag in state.applied_tags]
    return payload


def thread_member_payload(channel: Channel, user_id: int) -> Json:
    """Return a user's membership of a thread."""
    assert channel.thread is not None
    return {
        "id": str(channel.id),
        "user_id": str(user_id),
        "join_timestamp": timestamp(channel.thread.members[user_id]),
        "flags": 0,
    }


def thread_payload(channel: Channel, reader_id: int) -> Json:
    """Return a thread as one user gets it: with the own membership, if any."""
    payload = channel_payload(channel)
    if channel.thread and reader_id in channel.thread.members:
        payload["member"] = thread_member_payload(channel, reader_id)
    return payload


def guild_payload(guild: Guild) -> Json:
    """Return a guild object as REST shows it."""
    return {
        "id": str(guild.id),
        "name": guild.name,
        "icon": None,
        "description": None,
        "home_header": None,
        "splash": None,
        "discovery_splash": None,
        "features": [],
        "banner": None,
        "owner_id": str(guild.owner_id),
        "application_id": None,
        "region": "deprecated",
        "afk_channel_id": None,
        "afk_timeout": 300,
        "system_channel_id": str(guild.system_channel) if guild.system_channel else None,
        "system_channel_flags": 0,
        "widget_enabled": False,
        "widget_channel_id": None,
        "verification_level": 0,
        "roles": [role_payload(role) for role in guild.roles.values()],
        "default_message_notifications": 0,
        "mfa_level": 0,
        "explicit_content_filter": 0,
        "max_presences": None,
        "max_members": 500_000,
        "max_stage_video_channel_users": 50,
        "max_video_channel_users": 25,
        "vanity_url_code": None,
        "premium_tier": 0,
        "premium_subscription_count": 0,
        "preferred_locale": guild.locale,
        "rules_channel_id": None,
        "safety_alerts_channel_id": None,
        "public_updates_channel_id": None,
        "premium_progress_bar_enabled": False,
        "nsfw": False,
        "nsfw_level": 0,
        "emojis": [],
        "stickers": [],
        "incidents_data": None,
    }


def guild_create_payload(guild: Guild, channels: list[Channel], reader: User, large: bool) -> Json:
    """Return the first sight of a guild, with its channels and the threads the reader may see.

    A `large` one comes with the reader as its only member.
    """
    seen = [c for c in channels if in_channel(c, reader.id) & 1 << 10]
    members = [] if large else [guild.members[reader.id]]
    own = guild.members[reader.id]
    return guild_payload(guild) | {
        "joined_at": timestamp(own.joined_at),
        "large": False,
        "unavailable": False,
        "member_count": len(guild.members),
        "members": [full_member_payload(member) for member in members or guild.members.values()],
        "channels": [
            channel_payload(one) if in_view(one, reader.id, channels) else hidden_payload(one)
            for one in channels
            if not one.thread
        ],
        "threads": [
            thread_payload(channel, reader.id)
            for channel in seen
            if channel.thread and not channel.thread.archived
        ],
        "voice_states": [],
        "presences": [],
        "stage_instances": [],
        "guild_scheduled_events": [],
        "soundboard_sounds": [],
    }


def application_flags(application: Application) -> int:
    """Return the flags that tell which privileged intents are switched on."""
    content = 1 << 18 if application.is_reviewed else 1 << 19
    flags = content if application.message_content else 0
    flags |= 1 << 15 if application.server_members else 0
    return flags | (1 << 13 if application.presences else 0)


def application_payload(application: Application, guilds: int) -> Json:
    """Return the application as its own bot sees it."""
    flags = application_flags(application)
    return {
        "id": str(application.id),
        "name": application.user.name,
        "icon": None,
        "description": "",
        "type": None,
        "bot": user_payload(application.user),
        "bot_public": True,
        "bot_require_code_grant": False,
        "verify_key": "0" * 64,
        "flags": flags,
        "flags_new": str(flags),
        "redirect_uris": [],
        "interactions_endpoint_url": None,
        "role_connections_verification_url": None,
        "owner": user_payload(application.owner),
        "approximate_guild_count": guilds,
        "approximate_user_install_count": 0,
        "approximate_user_authorization_count": 0,
        "explicit_content_filter": 0,
        "team": None,
        "eligible_oauth2_scopes": ["bot", "applications.commands"],
        "integration_types_config": {"0": {}, "1": {}},
    }


def _overwrite(rule: Overwrite) -> Json:
    return {
        "id": str(rule.id),
        "type": rule.kind,
        "allow": str(int(rule.allow)),
        "deny": str(int(rule.deny)),
    }


def _last_message_id(channel: Channel) -> str | None:
    last = next(reversed(channel.messages), None)
    if channel.kind is ChannelType.FORUM or last is None:
        return None
    return str(last)
