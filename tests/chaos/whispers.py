"""Which question a message settles that its asker alone sees, or that came with a command."""

from collections.abc import Iterable, Mapping, Sequence

from core.storage.inbox.base import Audience, Settlement
from tests.chaos.book import names_in
from tests.chaos.history import Asked
from tests.chaos.sentences import Said, is_meanwhile, said
from tests.chaos.shown import Message
from tests.wire import discord, slack

_SETTLES: Mapping[Said | None, str] = {
    Said.REFUSAL: Settlement.REFUSED.value,
    Said.POINTER: Settlement.POINTED.value,
    Said.BACK: Settlement.POINTED_BACK.value,
    Said.NOTICE: Settlement.NOTICED.value,
    Said.APOLOGY: Settlement.APOLOGISED.value,
}
"""What the inbox says of a question by what its asker is shown."""


def keys_of_whispers(
    asked: Iterable[Asked], ephemerals: Sequence[slack.Message]
) -> dict[Message, str]:
    """Return the questions of messages that came with a command, and of Slack's ephemeral ones.

    An ephemeral message of Slack names no question: it is of the latest one that its reader
    asked before it where it stands, and that no other one settles; those come first that the
    message answers, then those that the inbox has it were settled so that their asker alone reads
    it, and of these the ones that it says were settled as the message does. One that says that
    others come first is of a question whose asker the inbox says was told so.

    Args:
        ephemerals: The bot's, in the order of their posting.
    """
    asked = list(asked)
    found = {message: one.key for one in asked for message in messages_of(one.deed)}
    settled = {key for message, key in found.items() if not is_meanwhile(message_text(message))}
    for message in ephemerals:
        if message in found:
            continue
        fitting = [one for one in asked if _fits(message, one)]
        if is_meanwhile(message_text(message)):
            found.update((message, one.key) for one in _meant(message, fitting)[-1:])
            continue
        unsettled = [one for one in fitting if one.key not in settled]
        expected = [one for one in unsettled if _is_for_the_asker(one)]
        settles = _SETTLES.get(said(message_text(message)))
        agreeing = [one for one in expected if one.inbox_says == settles]
        named = _named_in(message_text(message), unsettled)
        for one in (named or agreeing or expected or unsettled or fitting)[-1:]:
            found[message] = one.key
            settled.add(one.key)
    return found


def was_refused_by_platform(deed: object) -> bool:
    """Return whether the platform told who gave a command that the bot does not respond."""
    if isinstance(deed, discord.Interaction):
        return deed.callback is None
    return isinstance(deed, slack.Interaction) and deed.failure is not None


def was_told_to_ask_again(deed: object) -> bool:
    """Return whether who gave a command was told to ask again if no answer comes in a minute."""
    return any(said(message_text(message)) is Said.SLOW for message in messages_of(deed))


def message_text(message: Message) -> str:
    """Return all that a message shows."""
    return message.text if isinstance(message, discord.Message) else message.shown


def _meant(message: slack.Message, fitting: Sequence[Asked]) -> Sequence[Asked]:
    """Return the questions that a message can be about that settles none."""
    if said(message_text(message)) is Said.WAITING:
        return [one for one in fitting if one.told_to_wait] or fitting
    return [one for one in fitting if one.inbox_says != Settlement.NOTICED.value] or fitting


def _named_in(text: str, candidates: Sequence[Asked]) -> Sequence[Asked]:
    """Return those questions of which a message says the answer."""
    names = names_in(text)
    return [one for one in candidates if one.name in names]


def _is_for_the_asker(one: Asked) -> bool:
    """Return whether the inbox says that something was sent for its asker alone."""
    if one.inbox_says is None or one.inbox_says == Settlement.PASSED_OVER.value:
        return False
    return one.is_private or Settlement(one.inbox_says).audience is Audience.ASKER


def messages_of(deed: object) -> list[Message]:
    """Return what a command or a press led to, for its user alone or for all."""
    if isinstance(deed, discord.Interaction):
        original = [deed.original] if deed.original is not None else []
        return [*original, *deed.follow_ups]
    return [*deed.messages] if isinstance(deed, slack.Interaction) else []


def _fits(message: slack.Message, one: Asked) -> bool:
    spot = one.spot
    if (message.visible_to, message.channel.id) != (spot.user, spot.channel):
        return False
    is_before = spot.message < message.ts
    if isinstance(one.deed, slack.Interaction):
        is_before = one.deed.started <= message.at
    return is_before and message.thread_ts in (None, spot.message or None, spot.thread or None)
