"""One answer on its way to a reader on Slack."""

import asyncio
import logging
from collections.abc import Iterator, Sequence
from contextlib import suppress
from typing import Any, Self

from adapters.chat.access import choice_of
from adapters.chat.base import EarlierThread, Nearest, PostKeeper
from adapters.chat.delivery.streaming_reply import StreamingReply, Unfinished
from adapters.chat.markdown.footnotes import Exhibit, Paragraph, Stretch, exhibits
from adapters.chat.markdown.layout import shortened, utf16_length
from adapters.slack import answer_messages as removing
from adapters.slack import notices as ephemeral_reply
from adapters.slack import outbound
from adapters.slack.answer_messages import AnswerMessages
from adapters.slack.installations import Workspaces
from adapters.slack.mrkdwn import Element, inline_code, preformatted, quote, unlinked, words_in
from adapters.slack.notices import NOTICE_PART, EphemeralReply, metadata
from adapters.slack.outbound import Address, Growing, Post
from adapters.slack.refusals import CHANNEL_IS_CLOSED, Refused
from adapters.slack.rest import Rest
from adapters.slack.streaming import Session
from core.answering.grounding import citations as wording
from core.domain import AgentRequest, AgentResponse
from core.domain.errors import BotError, DeliveryError
from core.domain.i18n import text
from core.domain.markdown import CodeKind, outside_code
from core.storage.inbox.base import Job, Kind, Posted

logger = logging.getLogger(__name__)


INTERVAL = 1.0
"""Seconds between two looks at what there is to add to a growing answer."""


class SlackReply(StreamingReply[Post]):
    """Shows an answer while it grows, then as it is: in one message or several."""

    def __init__(
        self, job: Job, messages: AnswerMessages | EphemeralReply, *, interval: float = INTERVAL
    ) -> None:
        super().__init__(job, messages, longest=outbound.LONGEST_GROWING, interval=interval)
        self._shown = messages
        self._address = Address.of(job)

    @classmethod
    async def open(
        cls,
        workspaces: Workspaces,
        job: Job,
        keeper: PostKeeper,
        session: Session | None = None,
        *,
        asker: str | None = None,
        interval: float = INTERVAL,
    ) -> Self:
        """Return the way to the reader, as `ChatAdapter.open` does.

        Args:
            workspaces: What all answers share; one for the whole process.
            session: What Slack shows of the question meanwhile.
            asker: The name of who asked, for a question that the bot posts.
            interval: Seconds between two changes while the answer grows.
        """
        address = Address.of(job)
        rest = await Rest.of(workspaces, (address.team, address.enterprise), keeper.check)
        request = job.arrival.request
        assert request is not None, "only what is asked is answered"
        pings = address.asker if address.pings else None
        post = outbound.announcing(outbound.placeholder(request.request_id), pings)
        if not address.ephemeral:
            messages = AnswerMessages(rest, job, keeper, session, asker=asker)
            try:
                await messages.open(post, renew=job.arrival.kind is Kind.REDO)
            except BotError as error:
                messages.close()
                if address.response is None or not _is_closed(error):
                    raise
            else:
                return cls(job, messages, interval=interval)
        return cls(job, EphemeralReply(rest, job, keeper), interval=interval)

    @property
    def _asked(self) -> str | None:
        """The question, unless readers see it anyway: it is above, or the reader's own."""
        request, address = self._job.arrival.request, self._address
        is_seen = address.question is not None or address.posts_question
        return None if request is None or is_seen or self._is_private else request.query_text

    @property
    def _is_private(self) -> bool:
        return isinstance(self._shown, EphemeralReply)

    def _answer(self, response: AgentResponse, earlier: EarlierThread | None) -> Sequence[Post]:
        request = self._job.arrival.request
        first, *rest = outbound.answer(
            response,
            quoted=request is not None and request.selected_text is not None,
            asked=self._asked,
            private=self._is_private,
            one_message=self._shown.is_one_message,
            looked_at=self._address.looked_at,
            earlier=earlier,
        )
        pings = self._address.asker if self._address.pings else None
        return [outbound.announcing(first, pings), *rest]

    async def _grow(self, unfinished: Unfinished) -> None:
        request = self._job.arrival.request
        assert request is not None, "only an answer to a request grows"
        growing = await asyncio.to_thread(_growing, unfinished, request, self._asked)
        await self._shown.grow(growing)


async def tell(
    workspaces: Workspaces,
    job: Job,
    keeper: PostKeeper,
    sentence: str,
    link: str | None = None,
    nearest: Nearest | None = None,
) -> None:
    """Send the asker a sentence, as `ChatAdapter.tell` does.

    In a direct message it is a message like any other, which no one else reads.
    """
    address = Address.of(job)
    rest = await Rest.of(workspaces, (address.team, address.enterprise), keeper.check)
    post = outbound.sentence(sentence, choice_of(job.arrival), link, nearest)
    if address.is_private and address.question is not None:
        messages = AnswerMessages(rest, job, keeper)
        try:
            await messages.open(post, renew=True)
            await messages.cut(1)
        finally:
            messages.close()
        return
    await removing.retract(rest, job)
    if job.posted != Posted():
        await keeper.keep(Posted())
    await keeper.send_once(lambda: ephemeral_reply.tell(rest, job, post))


async def abandon(workspaces: Workspaces, job: Job, error: DeliveryError) -> None:
    """Remove what stands where no answer can be shown, and tell the asker directly.

    Raises:
        DeliveryError: when Slack does not take that either.
    """
    rest, address = await _rest_for(workspaces, job), Address.of(job)
    try:
        await removing.retract(rest, job)
    except DeliveryError as left:
        logger.info("a placeholder is left for now: %s", left)
    if not _is_closed(error) or address.channel.startswith("D"):
        return
    link = None
    if address.question is not None:
        with suppress(DeliveryError):
            link = await rest.permalink(address.channel, address.question)
    post = outbound.sentence(text("slack-closed-to-me"), link=link)
    # Slack takes a user for the channel of their direct messages.
    await rest.post(address.asker, None, post, metadata(job.arrival.key, NOTICE_PART))


async def notify(workspaces: Workspaces, job: Job, sentence: str) -> None:
    """Send the asker a notice while the question waits, as `ChatAdapter.notify` does."""
    rest = await _rest_for(workspaces, job)
    await ephemeral_reply.tell(rest, job, outbound.sentence(sentence), NOTICE_PART)


async def retract(workspaces: Workspaces, job: Job) -> None:
    """Delete the messages posted for a job, as `ChatAdapter.retract` does."""
    await removing.retract(await _rest_for(workspaces, job), job)


async def tidy(workspaces: Workspaces, job: Job) -> None:
    """Delete messages that no worker knows to have posted, as `ChatAdapter.tidy` does."""
    await removing.tidy(await _rest_for(workspaces, job), job)


async def _rest_for(workspaces: Workspaces, job: Job) -> Rest:
    address = Address.of(job)
    return await Rest.of(workspaces, (address.team, address.enterprise), _hold_nothing_back)


def _hold_nothing_back() -> None:
    """Let every call pass: deleting needs no lease."""


def _is_closed(error: BotError) -> bool:
    """Return whether the bot may not write where it was asked."""
    return isinstance(error, Refused) and error.word in CHANNEL_IS_CLOSED


def _growing(unfinished: Unfinished, request: AgentRequest, asked: str | None) -> Growing:
    written, headings = unfinished.text, unfinished.headings
    return Growing(
        post=outbound.growing(written, request.request_id, asked=asked, headings=headings),
        settled=outbound.settled(written, asked=asked),
        reads=outbound.task(wording.reading(headings)) if headings else None,
    )


Block = dict[str, Any]

_MOST_PLACES = 90
_LONGEST_TITLE = 300
_LONGEST_WORDS = 2_900
_BOLD = ("bold",)


def evidence(response: AgentResponse) -> list[Block]:
    """Return a block for each place cited, which shows every character as it is."""
    return blocks_of(exhibits(response))


def blocks_of(found: Sequence[Exhibit]) -> list[Block]:
    """Return a block for each place."""
    return [
        {"type": "rich_text", "elements": [_place(one), *_paragraphs(one)]}
        for one in found[:_MOST_PLACES]
    ]


def _place(exhibit: Exhibit) -> Element:
    place = exhibit.place
    title = shortened(outside_code(place.title, unlinked), _LONGEST_TITLE) or "…"
    shown: Element = {"type": "text", "text": title}
    if place.url:
        shown = {"type": "link", "url": place.url, "text": title}
    parts: list[Element] = [{"type": "text", "text": f"{place.numbers} "}, shown]
    if more := " · ".join(filter(None, [place.locator, place.file])):
        parts.append({"type": "text", "text": f" · {unlinked(more)}"})
    return {"type": "rich_text_section", "elements": parts}


def _paragraphs(exhibit: Exhibit) -> Iterator[Element]:
    room = _LONGEST_WORDS
    for paragraph in exhibit.paragraphs:
        if room > 0:
            yield from _paragraph(_cut(paragraph, room))
        room -= sum(utf16_length(one.text) for one in paragraph.stretches)


def _cut(paragraph: Paragraph, room: int) -> Paragraph:
    """Return the beginning of a paragraph that is longer than there is room."""
    kept = list[Stretch]()
    for stretch in paragraph.stretches:
        if room <= 0:
            break
        text = shortened(stretch.text, room, count=utf16_length) if stretch.code is None else None
        kept.append(stretch if text is None else Stretch(text, cited=stretch.cited))
        room -= utf16_length(stretch.text)
    return Paragraph(tuple(kept))


def _paragraph(paragraph: Paragraph) -> Iterator[Element]:
    """Yield quotes, and the blocks of code among them."""
    inline = list[Element]()
    for stretch in paragraph.stretches:
        styles = _BOLD if stretch.cited else ()
        if stretch.code is None:
            inline += words_in(stretch.text, styles)
        elif stretch.code.kind is CodeKind.SPAN:
            inline.append(inline_code(stretch.text, styles))
        else:
            yield from quote(inline)
            yield preformatted(stretch.text)
            inline = []
    yield from quote(inline)
