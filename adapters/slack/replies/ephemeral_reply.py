"""What only its asker sees: an answer in one message, shown when finished, or a sentence."""

import logging

from adapters.base import PostKeeper
from adapters.slack.api.refusals import Refused
from adapters.slack.api.rest import Rest
from adapters.slack.markup.text import link as link_in_mrkdwn
from adapters.slack.replies.address import Address
from adapters.slack.replies.dedupe import metadata
from adapters.slack.replies.outbound import Growing, Post
from core.errors import DeliveryError
from core.i18n import text
from core.inbox.base import Job

logger = logging.getLogger(__name__)


class EphemeralReply:
    """The one ephemeral message of an answer.

    It goes to the address that came with the command, which also works where the bot is no
    member; else, and when that is dead, into the channel. Slack tells no one which ephemeral
    messages there are: the job is settled before one is sent, which is never sent again.
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
        """Show the post once, or not at all when its sending is in doubt.

        Raises:
            DeliveryError: when Slack does not take it.
        """
        await self._keeper.send_once(lambda: _alone(self._rest, self._job, post))

    async def cut(self, parts: int) -> None:
        """Delete nothing: there is one message."""

    def close(self) -> None:
        """Give nothing back: no calls are kept for it."""


async def tell(rest: Rest, job: Job, post: Post, part: int = 0) -> None:
    """Show a sentence once, or not at all when its sending is in doubt.

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
    address = Address.of(job)
    if not await _responded(rest, job, post):
        await rest.whisper(address.channel, address.thread, address.asker, post)


async def _responded(rest: Rest, job: Job, post: Post) -> bool:
    """Answer by the command's address; return whether it took the answer."""
    response = Address.of(job).response
    if response is None or response.is_over:
        return False
    try:
        await rest.respond(response.url, post)
    except Refused as refusal:  # it was not shown, for sure
        logger.info("a command is answered in its channel: %s", refusal)
        return False
    return True
