"""Who may do what where: the permission bits that a bot of this kind meets."""

from collections.abc import Iterable
from enum import IntFlag

from tests.wire.discord.entities import Channel, ChannelType, Guild, Member


class Permission(IntFlag):
    """Discord's permission bits."""

    ADMINISTRATOR = 1 << 3
    MANAGE_CHANNELS = 1 << 4
    MANAGE_GUILD = 1 << 5
    ADD_REACTIONS = 1 << 6
    VIEW_CHANNEL = 1 << 10
    SEND_MESSAGES = 1 << 11
    MANAGE_MESSAGES = 1 << 13
    EMBED_LINKS = 1 << 14
    ATTACH_FILES = 1 << 15
    READ_MESSAGE_HISTORY = 1 << 16
    MENTION_EVERYONE = 1 << 17
    MANAGE_ROLES = 1 << 28
    USE_APPLICATION_COMMANDS = 1 << 31
    MANAGE_THREADS = 1 << 34
    CREATE_PUBLIC_THREADS = 1 << 35
    CREATE_PRIVATE_THREADS = 1 << 36
    SEND_MESSAGES_IN_THREADS = 1 << 38


NONE = Permission(0)
ALL = Permission((1 << 53) - 1)
EVERYONE = (
    Permission.ADD_REACTIONS
    | Permission.VIEW_CHANNEL
    | Permission.SEND_MESSAGES
    | Permission.EMBED_LINKS
    | Permission.ATTACH_FILES
    | Permission.READ_MESSAGE_HISTORY
    | Permission.MENTION_EVERYONE
    | Permission.USE_APPLICATION_COMMANDS
    | Permission.CREATE_PUBLIC_THREADS
    | Permission.CREATE_PRIVATE_THREADS
    | Permission.SEND_MESSAGES_IN_THREADS
)
"""What a new guild lets everyone do."""
_IN_DIRECT_MESSAGES = EVERYONE & ~Permission.CREATE_PUBLIC_THREADS & ~Permission.MENTION_EVERYONE


def in_guild(guild: Guild, user_id: int) -> Permission:
    """Return what a member may do where no channel says otherwise."""
    member = guild.members.get(user_id)
    if member is None:
        return Permission(0)
    granted = guild.roles[guild.id].permissions
    for role_id in member.roles:
        granted |= guild.roles[role_id].permissions
    if user_id == guild.owner_id or granted & Permission.ADMINISTRATOR:
        return ALL
    return Permission(granted)


def in_channel(channel: Channel, user_id: int) -> Permission:
    """Return what a user may do in a channel; a thread takes its channel's rules."""
    if channel.guild is None:
        return _IN_DIRECT_MESSAGES if user_id in channel.recipients else Permission(0)
    if _closed(channel, user_id):
        return NONE
    ruling = channel.parent if channel.thread and channel.parent else channel
    granted = in_guild(channel.guild, user_id)
    member = channel.guild.members.get(user_id)
    if member is None or granted == ALL:
        return granted
    return _overwritten(granted, ruling, channel.guild, member)


def in_view(channel: Channel, user_id: int, channels: Iterable[Channel]) -> bool:
    """Tell whether a user may view a channel, or a category with one that they may view.

    Args:
        channels: All of its guild.
    """
    is_category = channel.kind is ChannelType.CATEGORY
    found = [channel, *(one for one in channels if is_category and one.parent is channel)]
    return any(in_channel(one, user_id) & Permission.VIEW_CHANNEL for one in found)


def _closed(channel: Channel, user_id: int) -> bool:
    """Tell whether a private thread is hidden from a user."""
    assert channel.guild is not None
    if channel.kind is not ChannelType.PRIVATE_THREAD or channel.thread is None:
        return False
    moderator = in_guild(channel.guild, user_id) & Permission.MANAGE_THREADS
    return user_id not in channel.thread.members and not moderator


def _overwritten(granted: int, channel: Channel, guild: Guild, member: Member) -> Permission:
    rules = channel.overwrites
    if everyone := rules.get(guild.id):
        granted = granted & ~everyone.deny | everyone.allow
    of_roles = [rules[role] for role in member.roles if role in rules]
    for rule in of_roles:
        granted &= ~rule.deny
    for rule in of_roles:
        granted |= rule.allow
    if own := rules.get(member.user.id):
        granted = granted & ~own.deny | own.allow
    if not granted & Permission.VIEW_CHANNEL:
        return Permission(0)
    return Permission(granted)
