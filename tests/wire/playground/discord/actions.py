"""Does in the world what the page asks for, as far as the person may."""

from typing import Any

from tests.wire.discord.commands import CHAT_INPUT, MESSAGE_MENU
from tests.wire.discord.entities import Channel, User
from tests.wire.discord.errors import ApiError, Json
from tests.wire.discord.interactions import Callback, Interaction
from tests.wire.discord.permissions import Permission
from tests.wire.playground.discord import requests
from tests.wire.playground.discord.sending import Sending
from tests.wire.playground.discord.stage import Stage
from tests.wire.playground.side import NO_RESPONSE, Action, Refused, checked, perform

_USER_OPTION, _CHANNEL_OPTION, _ROLE_OPTION = 6, 7, 8


class Actions:
    """Takes requests by name."""

    def __init__(self, stage: Stage) -> None:
        self._stage = stage
        self._world = stage.world
        self._known: dict[str, Action] = {
            **Sending(stage).actions,
            "edit": checked(requests.Edit, self._edit),
            "delete": checked(requests.Delete, self._delete),
            "commands": checked(requests.ListCommands, self._commands),
            "command": checked(requests.UseCommand, self._use_command),
            "complete": checked(requests.Complete, self._complete),
            "menu": checked(requests.UseMenu, self._use_menu),
            "click": checked(requests.Click, self._click),
            "submit": checked(requests.Submit, self._submit),
        }

    async def do(self, name: str, body: Any) -> Json:
        """Do what is asked for and return what the page needs to know.

        Raises:
            Refused: saying why it cannot be done.
        """
        try:
            return await perform(self._known, name, body)
        except ApiError as error:
            raise Refused(f"{error.body['message']} ({error.code})") from error

    async def _edit(self, asked: requests.Edit) -> Json:
        person = self._stage.person(asked.user)
        message = self._stage.message(asked.message, person)
        if message.author is not person:
            raise Refused("Only the author can edit a message.")
        await self._world.edit(message, asked.content)
        return {}

    async def _delete(self, asked: requests.Delete) -> Json:
        person = self._stage.person(asked.user)
        message = self._stage.message(asked.message, person)
        if message.author is not person and not self._stage.moderates(message.channel, person):
            raise Refused("Only the author or staff can delete a message.")
        await self._world.delete(message)
        return {}

    async def _commands(self, asked: requests.ListCommands) -> Json:
        person, channel = self._placed(asked)
        registered = self._world.application.commands.values()
        offered = [c for c in registered if self._offered(c, person, channel)]
        return {
            "slash": [c for c in offered if c["type"] == CHAT_INPUT],
            "menu": [c for c in offered if c["type"] == MESSAGE_MENU],
        }

    def _offered(self, command: Json, person: User, channel: Channel) -> bool:
        """Tell whether Discord's client would list a command for a person."""
        needed = Permission(int(command["default_member_permissions"] or 0))
        contexts = command.get("contexts")
        here = contexts is None or (0 if channel.guild else 1) in contexts
        return here and (not channel.guild or self._world.may(channel, person, needed))

    async def _use_command(self, asked: requests.UseCommand) -> Json:
        person, channel = self._placed(asked)
        options = self._values(asked)
        return await self._outcome(
            await self._world.slash(person, channel, asked.command, **options)
        )

    async def _complete(self, asked: requests.Complete) -> Json:
        person, channel = self._placed(asked)
        options = self._values(asked)
        try:
            choices = await self._world.autocomplete(
                person, channel, asked.command, asked.focused, **options
            )
        except TimeoutError:
            choices = []
        return {"choices": choices}

    async def _use_menu(self, asked: requests.UseMenu) -> Json:
        person = self._stage.person(asked.user)
        message = self._stage.message(asked.message, person)
        return await self._outcome(await self._world.context_menu(person, message, asked.command))

    async def _click(self, asked: requests.Click) -> Json:
        person = self._stage.person(asked.user)
        message = self._stage.message(asked.message, person)
        clicked = await self._world.click(person, message, asked.custom_id, asked.values)
        return await self._outcome(clicked)

    async def _submit(self, asked: requests.Submit) -> Json:
        person = self._stage.person(asked.user)
        opened = self._world.interactions.all.get(int(asked.interaction))
        if opened is None or opened.user is not person:
            raise Refused("There is no such form.")
        return await self._outcome(await self._world.submit_modal(opened, **asked.fields))

    async def _outcome(self, interaction: Interaction) -> Json:
        """Wait for the bot's first response; only a form has to be shown by the page."""
        try:
            callback = await interaction.response(self._world.limits.first_response)
        except TimeoutError:
            raise Refused(NO_RESPONSE) from None
        if callback is Callback.MODAL:
            return {"interaction": str(interaction.id), "modal": interaction.modal}
        return {}

    def _values(self, asked: requests.UseCommand) -> Json:
        """Return the options, those that name a channel, a person or a role as that."""
        declared = self._declared(asked.command)
        return {name: self._meant(declared.get(name), v) for name, v in asked.options.items()}

    def _meant(self, kind: int | None, value: Any) -> Any:
        """Return an option's value; people and roles are written by their names."""
        name, guild = str(value).strip().lstrip("@").lower(), self._world.guild
        if kind == _CHANNEL_OPTION:
            return self._world.find_channel(value)
        known: dict[str, Any] = {}
        if kind == _USER_OPTION:
            known = {member.user.name.lower(): member.user for member in guild.members.values()}
        elif kind == _ROLE_OPTION:
            known = {role.name.lower(): role for role in guild.roles.values()}
        else:
            return value
        if name not in known:
            raise Refused(f"There is no person or role called {value}.")
        return known[name]

    def _declared(self, path: str) -> dict[str, int]:
        name, *rest = path.split()
        named = [c for c in self._world.application.commands.values() if c["name"] == name]
        options = named[0].get("options") or [] if named else []
        for part in rest:
            group: Json = next((o for o in options if o["name"] == part), {})
            options = group.get("options") or []
        return {option["name"]: option["type"] for option in options}

    def _placed(self, asked: requests.ListCommands | requests.UseCommand) -> tuple[User, Channel]:
        person = self._stage.person(asked.user)
        return person, self._stage.place(asked.channel, person)
