"""Does in the local Slack what the page asks for, as far as the person may."""

from typing import Any

from tests.wire.playground.side import NO_RESPONSE, Action, Refused, checked, perform
from tests.wire.playground.slack import requests
from tests.wire.playground.slack.agent import Agent
from tests.wire.playground.slack.sending import Sending
from tests.wire.playground.slack.stage import Stage
from tests.wire.slack.entities import User, View
from tests.wire.slack.errors import Json
from tests.wire.slack.interactions import Interaction

_PATIENCE = 4.0
"""Seconds; the platform itself waits for three."""


class Actions:
    """Takes requests by name."""

    def __init__(self, stage: Stage) -> None:
        self._stage = stage
        self._world = stage.world
        self._known: dict[str, Action] = {
            **Sending(stage).actions,
            **Agent(stage).actions,
            "edit": checked(requests.Edit, self._edit),
            "delete": checked(requests.Delete, self._delete),
            "command": checked(requests.UseCommand, self._use_command),
            "shortcut": checked(requests.UseShortcut, self._use_shortcut),
            "click": checked(requests.Click, self._click),
            "press": checked(requests.Press, self._press),
            "submit": checked(requests.Submit, self._submit),
            "close": checked(requests.Close, self._close),
        }

    async def do(self, name: str, body: Any) -> Json:
        """Do what is asked for and return what the page needs to know.

        Raises:
            Refused: saying why it cannot be done.
        """
        return await perform(self._known, name, body)

    async def _edit(self, asked: requests.Edit) -> Json:
        person = self._stage.person(asked.user)
        message = self._stage.message(asked.message, person)
        if message.author is not person:
            raise Refused("Only the author can edit a message.")
        await self._world.edit(message, asked.text)
        return {}

    async def _delete(self, asked: requests.Delete) -> Json:
        person = self._stage.person(asked.user)
        message = self._stage.message(asked.message, person)
        if message.author is not person and not person.admin:
            raise Refused("Only the author or staff can delete a message.")
        await self._world.delete(message)
        return {}

    async def _use_command(self, asked: requests.UseCommand) -> Json:
        person = self._stage.person(asked.user)
        channel = self._stage.place(asked.channel, person)
        return await _acknowledged(
            await self._world.slash(person, channel, asked.command, asked.text)
        )

    async def _use_shortcut(self, asked: requests.UseShortcut) -> Json:
        person = self._stage.person(asked.user)
        message = self._stage.message(asked.message, person)
        return await _acknowledged(await self._world.shortcut(person, asked.callback, message))

    async def _click(self, asked: requests.Click) -> Json:
        person = self._stage.person(asked.user)
        message = self._stage.message(asked.message, person)
        return await _acknowledged(
            await self._world.click(person, message, asked.action, asked.choice)
        )

    async def _press(self, asked: requests.Press) -> Json:
        person = self._stage.person(asked.user)
        view = self._view(asked.view, person)
        return await _acknowledged(
            await self._world.click(person, view, asked.action, asked.choice)
        )

    async def _submit(self, asked: requests.Submit) -> Json:
        person = self._stage.person(asked.user)
        view = self._view(asked.view, person)
        return await _acknowledged(await self._world.submit_view(person, view, **asked.fields))

    async def _close(self, asked: requests.Close) -> Json:
        person = self._stage.person(asked.user)
        await self._world.close_view(person, self._view(asked.view, person))
        return {}

    def _view(self, view_id: str, person: User) -> View:
        view = self._world.views.get(view_id)
        if view is None or view.user is not person:
            raise Refused("There is no such view.")
        return view


async def _acknowledged(interaction: Interaction) -> Json:
    """Wait until the bot has taken it; what comes of it is shown when it happens."""
    try:
        await interaction.ack(_PATIENCE)
    except (TimeoutError, AssertionError):
        raise Refused(NO_RESPONSE) from None
    return {}
