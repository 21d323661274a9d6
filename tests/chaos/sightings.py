"""Looks on while messages come, change and go, so that what stood for a while is known as well."""

import time
from collections.abc import Iterable, Iterator, Mapping
from uuid import UUID

from tests.chaos.ground import Ground
from tests.chaos.history import Asked, Life, Look
from tests.chaos.shown import Message, is_gone, is_unfinished, key_of
from tests.wire.discord.state import Event
from tests.wire.slack import Message as SlackMessage
from tests.wire.slack.state import Change


class Sightings:
    """Notes from now on how each message of the bot's looks, and since when."""

    def __init__(self, ground: Ground) -> None:
        self._there, self._here = ground.discord.world, ground.slack.world
        self._looks = dict[Message, list[Look]]()
        self._there.watch(self._on_discord)
        self._here.watch(self._on_slack)

    def lives(self, requests: Mapping[UUID, str], asked: Iterable[Asked]) -> Iterator[Life]:
        """Yield what was seen of each message, deleted ones included."""
        for message, looks in self._looks.items():
            key = key_of(message, requests, asked)
            yield Life(key, f"{message.channel.id}", tuple(looks))

    def _on_discord(self, event: Event) -> None:
        message = event.message
        if event.name == "MESSAGE_DELETE":
            message = self._there.messages[int(event.data["id"])]
        if message is not None and message.author is self._there.bot and message.text:
            self._note(message)

    def _on_slack(self, change: Change) -> None:
        message = change.subject
        if (
            isinstance(message, SlackMessage)
            and message.author is self._here.bot
            and not message.ephemeral
        ):
            self._note(message)

    def _note(self, message: Message) -> None:
        looks = self._looks.setdefault(message, [])
        unfinished = None if is_gone(message) else is_unfinished(message)
        if not looks or looks[-1].unfinished is not unfinished:
            looks.append(Look(time.monotonic(), unfinished))
