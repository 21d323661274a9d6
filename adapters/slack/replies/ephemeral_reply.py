"""What only its asker sees: an answer in one message, shown when finished, or a sentence."""

import asyncio
import logging

from adapters.base import PostKeeper
from adapters.slack.api.refusals import Failed, Refused
from adapters.slack.api.rest import Rest
from adapters.slack.markup.text import link as link_in_mrkdwn
from adapters.slack.replies.address import Address, Response
from adapters.slack.replies.dedupe import metadata
from adapters.slack.replies.outbound import Growing, Post
from core.errors import DeliveryError, Unclear
from core.i18n import text
from core.inbox.base import Job

logger = logging.getLogger(__name__)

_PAUSES = (0.5, 2.0, None)
"""Seconds before a response is sent again that Slack may not have; then another way is taken."""


class EphemeralReply:
    """The one ephemeral message of an answer.

    It goes to the address that came with the command, which also works where the bot is no
    member; else, and when that is dead, into the channel. Slack tells no one which ephemeral
    messages there are: the job is settled before one is sent, and no other process sends it.
    """

    is_one_message = True

    def __init__(self, rest: Rest, job: Job, keeper: PostKeeper) -> None:
        self._rest = rest
        self._job = job
        self._keeper = keeper
        self.posted = job.posted

    async def open(self, post: Post, *, renew: bool) -> None:
        """Show nothing: the acknowledgement of the command says that it is being worked on."""

    async def grow(self, growing: Growing) -> None:
        """Show nothing until the answer is finished: the address may be used five times."""

    async def show(self, part: int, post: Post) -> None:
        """Show the post in place of the acknowledgement.

        Raises:
            DeliveryError: when Slack does not take it.
        """
        await self._keeper.send_once(lambda: _alone(self._rest, self._job, post))

    async def cut(self, parts: int) -> None:
        """Delete nothing: there is one message."""

    def close(self) -> None:
        """Give nothing back: no calls are kept for it."""


async def tell(rest: Rest, job: Job, post: Post, part: int = 0) -> None:
    """Show a sentence to the asker alone.

    Where Slack shows nothing to one reader alone, it is a reply to the message that asked.

    Raises:
        DeliveryError: when Slack does not take it.
    """
    address = Address.of(job)
    try:
        await _alone(rest, job, post)
    except Refused as refusal:
        if not refusal.permanent or address.question is None:
            raise
        ours = metadata(job.arrival.key, part)
        await rest.post(address.channel, address.root, post, ours)


async def link_to_thread(rest: Rest, job: Job, root: str) -> None:
    """Show who asked by a command where the answer will stand; what fails is left out."""
    address = Address.of(job)
    try:
        link = await rest.permalink(address.channel, root)
        shown = link_in_mrkdwn(text("slack-answer-link"), link)
        post = Post(text("slack-answered-in-thread"), notes=shown)
        await _alone(rest, job, post)
    except DeliveryError as error:
        logger.info("the asker got no link to the thread: %s", error)


async def _alone(rest: Rest, job: Job, post: Post) -> None:
    """Show a post to the asker alone: by the command's address, or else in the channel.

    A failure of Slack's is tried again, and so is a broken connection where a second response
    takes the place of the first. In the channel nothing takes the place of anything: what may
    have been shown there is not sent again.

    Raises:
        Unclear: when it may have been shown.
        DeliveryError: when it was not, for now or for good.
    """
    address, response = Address.of(job), Address.of(job).response
    failure = None
    if response is not None and not response.is_over:
        try:
            await _respond(rest, response, post)
        except Refused as refusal:  # it was not shown, for sure
            if response.replaces and not refusal.permanent:
                raise
            logger.info("a command is answered in its channel: %s", refusal)
        except Unclear as error:
            if not _may_come_again(response, error):
                raise
            logger.warning("a command is answered in its channel: %s", error)
            failure = error
        else:
            return
    try:
        await rest.whisper(address.channel, address.thread, address.asker, post)
    except Failed as error:
        raise DeliveryError(str(error)) from error
    except Refused as refusal:
        if failure is None or not refusal.permanent:
            raise
        raise DeliveryError(str(failure)) from refusal  # there is no other way than the address


async def _respond(rest: Rest, response: Response, post: Post) -> None:
    """Send a response until Slack has it; raises what the last try came to."""
    for pause in _PAUSES:
        try:
            await rest.respond(response.url, post, replaces=response.replaces)
        except Unclear as error:
            if pause is None or not _may_come_again(response, error):
                raise
            logger.info("a command is answered again in %.1f s: %s", pause, error)
            await asyncio.sleep(pause)
        else:
            return


def _may_come_again(response: Response, error: Unclear) -> bool:
    """Return whether sending a response again shows nothing twice, as far as can be known."""
    return response.replaces or isinstance(error, Failed)
