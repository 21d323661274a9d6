"""Making the people and places of a local Discord."""

from tests.wire.discord.entities import (
    Application,
    Channel,
    ChannelType,
    Guild,
    Member,
    Overwrite,
    Role,
    Tag,
    User,
)
from tests.wire.discord.payloads import channel_payload, role_payload
from tests.wire.discord.permissions import EVERYONE, NONE, Permission
from tests.wire.discord.state import Event, State


class Setup(State):
    """Adds users, applications, guilds, roles and channels."""

    def add_user(self, name: str, *guilds: Guild, bot: bool = False) -> User:
        """Make an account, a member of the given guilds."""
        user = User(self.snowflakes.next(), name, bot)
        self.users[user.id] = user
        for guild in guilds:
            self.join(user, guild)
        return user

    def add_application(self, name: str, token: str = "") -> Application:
        """Make a bot; without a token of its own it gets `<name>-token`."""
        user = self.add_user(name, bot=True)
        owner = next(iter(self.users.values()))
        application = Application(user, token or f"{name}-token", owner)
        self.applications[user.id] = application
        return application

    def add_guild(self, name: str, owner: User) -> Guild:
        """Make a guild whose everyone may do what a new guild allows."""
        guild = Guild(self.snowflakes.next(), name, owner.id, self.clock.wall())
        guild.roles[guild.id] = Role(guild.id, "@everyone", EVERYONE)
        self.guilds[guild.id] = guild
        self.join(owner, guild)
        return guild

    def install(
        self,
        application: Application,
        guild: Guild,
        permissions: Permission = Permission.MANAGE_THREADS | Permission.MANAGE_MESSAGES,
    ) -> None:
        """Let a bot into a guild, with a role of its own."""
        role = self.add_role(guild, application.user.name, permissions)
        role.bot_id = application.id
        self.join(application.user, guild, role)
        only_to = frozenset({application.id})
        self.tell(Event("GUILD_CREATE", {"joined": True}, guild, only_to=only_to))

    def uninstall(self, application: Application, guild: Guild) -> None:
        """Throw a bot out of a guild."""
        del guild.members[application.id]
        data = {"id": str(guild.id)}
        self.tell(Event("GUILD_DELETE", data, guild, only_to=frozenset({application.id})))

    def hide(self, guild: Guild) -> None:
        """Begin an outage: the gateway tells nothing more of a guild."""
        data = {"id": str(guild.id), "unavailable": True}
        self.tell(Event("GUILD_DELETE", data, guild, only_to=frozenset(guild.members)))
        self.hidden.add(guild.id)

    def show(self, guild: Guild) -> None:
        """End an outage."""
        self.hidden.discard(guild.id)
        self.tell(Event("GUILD_CREATE", {}, guild, only_to=frozenset(guild.members)))

    def join(self, user: User, guild: Guild, *roles: Role) -> Member:
        """Make a user a member of a guild, or give a member more roles."""
        member = guild.members.setdefault(user.id, Member(user, self.clock.wall()))
        member.roles += [role.id for role in roles]
        return member

    def add_role(
        self,
        guild: Guild,
        name: str,
        permissions: Permission = NONE,
        *,
        mentionable: bool = False,
    ) -> Role:
        """Make a role, and tell the bots that are there already."""
        position = len(guild.roles)
        role = Role(self.snowflakes.next(), name, permissions, position, mentionable)
        guild.roles[role.id] = role
        data = {"guild_id": str(guild.id), "role": role_payload(role)}
        self.tell(Event("GUILD_ROLE_CREATE", data, guild, only_to=frozenset(guild.members)))
        return role

    def add_channel(
        self,
        guild: Guild,
        name: str,
        kind: ChannelType = ChannelType.TEXT,
        *,
        category: Channel | None = None,
        tags: tuple[str, ...] = (),
    ) -> Channel:
        """Make a text channel, category or forum; tell bots that are there already."""
        channel = Channel(self.snowflakes.next(), kind, name, guild, category)
        channel.position = sum(1 for other in self.channels_of(guild) if not other.thread)
        channel.tags = [Tag(self.snowflakes.next(), tag) for tag in tags]
        self.channels[channel.id] = channel
        self.tell(Event("CHANNEL_CREATE", {}, guild, channel))
        return channel

    def remove_channel(self, channel: Channel) -> None:
        """Delete a channel with all that is in it, as a moderator would."""
        for thread in self.threads_of(channel):
            del self.channels[thread.id]
        del self.channels[channel.id]
        self.tell(Event("CHANNEL_DELETE", channel_payload(channel), channel.guild, channel))

    def restrict(
        self,
        channel: Channel,
        whom: Role | User,
        *,
        allow: Permission = NONE,
        deny: Permission = NONE,
    ) -> None:
        """Set a channel's exception for a role or a member."""
        kind = 0 if isinstance(whom, Role) else 1
        assert channel.guild is not None
        before = self._viewers(channel)
        channel.overwrites[whom.id] = Overwrite(whom.id, kind, allow, deny)
        self.tell(Event("CHANNEL_UPDATE", {}, channel.guild, channel))
        after = self._viewers(channel)
        threads = [
            one for one in self.threads_of(channel) if one.thread and not one.thread.archived
        ]
        data = {
            "guild_id": str(channel.guild.id),
            "channel_ids": [str(channel.id)],
            "threads": [channel_payload(one) for one in threads],
            "members": [],
        }
        gained = after - before
        self.tell(Event("THREAD_LIST_SYNC", data, channel.guild, channel, only_to=gained))

    def _viewers(self, channel: Channel) -> frozenset[int]:
        assert channel.guild is not None
        members = channel.guild.members.values()
        return frozenset(one.user.id for one in members if self.views(channel, one.user))

    def show_command(self, guild: Guild, command: str, whom: Role | User) -> None:
        """Show a command to a role or a member, as admins do in *Integrations*."""
        guild.commands_shown_to.setdefault(command, set()).add(whom.id)

    def everyone(self, guild: Guild) -> Role:
        """Return the role that every member has."""
        return guild.roles[guild.id]
