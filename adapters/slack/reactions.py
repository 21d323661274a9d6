"""Reactions on Slack: the bot's own, and links to answers."""

import logging

from adapters.payloads import text
from adapters.slack.api.refusals import Refused
from adapters.slack.api.rest import Rest
from adapters.slack.installs.workspaces import Workspaces
from adapters.slack.replies.address import Address
from adapters.slack.replies.dedupe import timestamp
from core.errors import DeliveryError
from core.inbox.base import Job, Kind, Twin

logger = logging.getLogger(__name__)

OFFER, THANKS = "raising_hand", "+1"
_DONE = frozenset({"already_reacted", "missing_scope"})
"""An app that was installed before it asked for reactions shows none."""
_GONE = frozenset(
    {"no_reaction", "message_not_found", "channel_not_found", "is_archived", "missing_scope"}
)


async def react(workspaces: Workspaces, job: Job) -> None:
    """Show a reaction on a job's message, as `ChatAdapter.react` does."""
    name = OFFER if job.arrival.kind is Kind.OFFER else THANKS
    await _change(workspaces, job, "reactions.add", name, passes=_DONE)


async def unreact(workspaces: Workspaces, job: Job) -> None:
    """Remove the reaction of an offer, as `ChatAdapter.unreact` does."""
    await _change(workspaces, job, "reactions.remove", OFFER, passes=_GONE)


async def link(workspaces: Workspaces, job: Job, twin: Twin) -> str | None:
    """Return where an answer stands; None: Slack does not tell now."""
    rest = await _rest_for(workspaces, job)
    channel = str(twin.address.get("channel") or twin.channel)
    try:
        return await rest.permalink(channel, timestamp(twin.messages[0]))
    except DeliveryError as error:
        logger.info("a link to an answer cannot be had: %s", error)
        return None


async def _change(
    workspaces: Workspaces, job: Job, method: str, name: str, *, passes: frozenset[str]
) -> None:
    rest, address = await _rest_for(workspaces, job), Address.of(job)
    try:
        await rest.change_reaction(method, address.channel, text(address.question), name)
    except Refused as refusal:
        if refusal.word not in passes:
            raise


async def _rest_for(workspaces: Workspaces, job: Job) -> Rest:
    address = Address.of(job)
    return await Rest.of(workspaces, (address.team, address.enterprise), _hold_nothing_back)


def _hold_nothing_back() -> None:
    """Let every call pass: a reaction shown twice is shown once."""
