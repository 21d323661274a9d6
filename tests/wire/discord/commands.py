"""Application commands: registered with Discord's limits, found again when used."""

import re
from typing import Any

from tests.wire.discord.entities import Application
from tests.wire.discord.errors import FormErrors, Json, invalid, refusal, units
from tests.wire.discord.state import State

CHAT_INPUT, USER_MENU, MESSAGE_MENU = 1, 2, 3
_NAME = re.compile(r"[-_'\w]{1,32}")
_MOST = {CHAT_INPUT: 100, USER_MENU: 15, MESSAGE_MENU: 15}
_GROUPS = (1, 2)


class Commands:
    """The registry of all applications' commands."""

    def __init__(self, state: State) -> None:
        self._state = state

    def listed(self, application: Application, guild_id: int | None) -> list[Json]:
        """Return the global commands, or those of one guild."""
        return [c for c in application.commands.values() if _place(c) == guild_id]

    def replace(
        self, application: Application, guild_id: int | None, bodies: list[Json]
    ) -> list[Json]:
        """Make these the only commands of a place; a known name keeps its id."""
        known = {(c["type"], c["name"]): c for c in self.listed(application, guild_id)}
        keys = [(body.get("type", 1), body.get("name")) for body in bodies]
        for number, key in enumerate(keys):
            if keys.index(key) != number:
                message = "Application command names must be unique"
                raise invalid(str(number), "APPLICATION_COMMANDS_DUPLICATE_NAME", message)
        made = [self._made(application, guild_id, body, known) for body in bodies]
        self._check_number(made)
        for command in known.values():
            del application.commands[int(command["id"])]
        for command in made:
            application.commands[int(command["id"])] = command
        return made

    def create(self, application: Application, guild_id: int | None, body: Json) -> Json:
        """Register one command, in place of one with its name."""
        known = {(c["type"], c["name"]): c for c in self.listed(application, guild_id)}
        command = self._made(application, guild_id, body, known)
        others = [c for c in known.values() if c["id"] != command["id"]]
        self._check_number([*others, command])
        application.commands[int(command["id"])] = command
        return command

    def change(self, application: Application, command_id: Any, body: Json) -> Json:
        """Change some fields of a command."""
        old = self.find(application, command_id)
        _check({**old, **body})
        old.update(body)
        old["version"] = str(self._state.snowflakes.next())
        return old

    def delete(self, application: Application, command_id: Any) -> None:
        """Forget a command."""
        del application.commands[int(self.find(application, command_id)["id"])]

    def find(self, application: Application, command_id: Any) -> Json:
        """Return a command by id or refuse with 10063."""
        command = application.commands.get(int(command_id))
        if command is None:
            raise refusal(10063)
        return command

    def named(self, application: Application, kind: int, name: str, guild_id: int | None) -> Json:
        """Return the command a user would pick; a guild's own goes before a global one."""
        for place in (guild_id, None):
            for command in self.listed(application, place):
                if command["type"] == kind and command["name"] == name:
                    return command
        names = sorted(c["name"] for c in application.commands.values())
        raise LookupError(f"no command {name!r} is registered here, only {names}")

    def _made(
        self,
        application: Application,
        guild_id: int | None,
        body: Json,
        known: dict[tuple[int, str], Json],
    ) -> Json:
        _check(body)
        kind = body.get("type") or CHAT_INPUT
        old = known.get((kind, body["name"]))
        command: Json = {
            "default_member_permissions": None,
            "description": "",
            "nsfw": False,
            "integration_types": [0],
            "contexts": None,
            **{key: value for key, value in body.items() if value is not None},
            "id": old["id"] if old else str(self._state.snowflakes.next()),
            "application_id": str(application.id),
            "version": str(self._state.snowflakes.next()),
            "type": kind,
            "name_localizations": body.get("name_localizations"),
            "description_localizations": body.get("description_localizations"),
        }
        permissions = command["default_member_permissions"]
        if permissions is not None:
            command["default_member_permissions"] = str(permissions)
        if guild_id is None:
            command.setdefault("dm_permission", True)
        else:
            command |= {"guild_id": str(guild_id)}
            command.pop("contexts")
        return command

    def _check_number(self, commands: list[Json]) -> None:
        for kind, most in _MOST.items():
            if sum(1 for c in commands if c["type"] == kind) > most:
                message = f"Maximum number of application commands reached ({most})."
                raise invalid("commands", "APPLICATION_COMMANDS_LIMIT", message)


def _place(command: Json) -> int | None:
    return int(command["guild_id"]) if "guild_id" in command else None


def _check(body: Json) -> None:
    errors = FormErrors()
    kind = body.get("type") or CHAT_INPUT
    if kind not in _MOST:
        errors.choice("type", tuple(_MOST))
    _check_name(body.get("name"), "name", errors, plain=kind != CHAT_INPUT)
    if kind == CHAT_INPUT:
        errors.text("description", body.get("description"), 100, 1)
    elif body.get("description"):
        message = "Context menu commands cannot have description"
        errors.add("description", "APPLICATION_COMMAND_INVALID_DESCRIPTION", message)
    elif body.get("options"):
        message = "Context menu commands cannot have options"
        errors.add("options", "APPLICATION_COMMAND_INVALID_OPTIONS", message)
    for key, most in (("contexts", 2), ("integration_types", 1)):
        for value in body.get(key) or []:
            if value not in range(most + 1):
                errors.choice(key, tuple(range(most + 1)))
    _check_options(body.get("options") or [], "options", errors)
    if _weight(body) > 8000:
        message = "Command exceeds maximum size (8000)"
        errors.add("options", "APPLICATION_COMMAND_TOO_LARGE", message)
    errors.check()


def _check_name(name: Any, path: str, errors: FormErrors, *, plain: bool = False) -> None:
    errors.text(path, name, 32, 1)
    if plain or not isinstance(name, str):
        return
    if not _NAME.fullmatch(name) or name != name.lower():
        message = "Command name is invalid"
        errors.add(path, "APPLICATION_COMMAND_INVALID_NAME", message)


def _check_options(options: list[Json], path: str, errors: FormErrors) -> None:
    errors.count(path, options, 25)
    optional_seen = False
    for number, option in enumerate(options):
        where = f"{path}.{number}"
        _check_name(option.get("name"), f"{where}.name", errors)
        errors.text(f"{where}.description", option.get("description"), 100, 1)
        if option.get("type") not in range(1, 12):
            errors.choice(f"{where}.type", tuple(range(1, 12)))
        if option.get("required") and optional_seen:
            message = "Required options must be placed before non-required options"
            errors.add(where, "APPLICATION_COMMAND_OPTIONS_REQUIRED_INVALID", message)
        optional_seen |= not option.get("required") and option.get("type") not in _GROUPS
        if option.get("autocomplete") and option.get("choices"):
            message = "Options with autocomplete cannot have choices"
            errors.add(where, "APPLICATION_COMMAND_OPTIONS_CHOICES_AUTOCOMPLETE", message)
        check_choices(option.get("choices") or [], f"{where}.choices", errors)
        _check_options(option.get("options") or [], f"{where}.options", errors)
    names = [option.get("name") for option in options]
    if len(set(names)) < len(names):
        message = "Option names must be unique"
        errors.add(path, "APPLICATION_COMMAND_OPTIONS_NAME_DUPLICATE", message)


def check_choices(choices: list[Json], path: str, errors: FormErrors) -> None:
    """Record what is wrong with an option's choices or an autocomplete's answer."""
    errors.count(path, choices, 25)
    for number, choice in enumerate(choices):
        errors.text(f"{path}.{number}.name", choice.get("name"), 100, 1)
        value = choice.get("value")
        if isinstance(value, str):
            errors.text(f"{path}.{number}.value", value, 100)
        elif not isinstance(value, int | float):
            errors.required(f"{path}.{number}.value")


def _weight(entry: Json) -> int:
    """Return the characters that count against a command's 8,000."""
    own = sum(units(str(entry.get(key) or "")) for key in ("name", "description"))
    choices = entry.get("choices") or []
    own += sum(units(str(c.get("name"))) + units(str(c.get("value"))) for c in choices)
    return own + sum(_weight(option) for option in entry.get("options") or [])
