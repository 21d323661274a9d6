"""What the jobs of all platforms have in common, and the answers to them."""

from collections.abc import Awaitable, Callable
from dataclasses import replace
from datetime import timedelta
from typing import Any
from uuid import uuid4

from adapters.chat.delivery.job_lease import send_until_taken
from core.domain import AgentRequest, AgentResponse, now
from core.storage.inbox.base import Arrival, Job, Kind, LeaseLost, Posted
from tests.samples import request, response_to

QUESTION = "What is a heap?"
_SENTENCE = "A heap is a complete binary tree. "


class Killed(Exception):
    """The process ends between its last word to the inbox and the one to the asker."""


class Kept:
    """The keeper of one job: what it was told, until its lease is lost."""

    def __init__(self, posted: Posted | None = None) -> None:
        self.posted = posted or Posted()
        self.is_lost = False
        self.is_lost_before_keeping = False
        self.is_in_doubt = False
        self.settled = False
        self.dies = False
        """Whether the process ends before the inbox is done with the job and its asker told."""

    async def keep(self, posted: Posted) -> None:
        self.is_lost = self.is_lost or self.is_lost_before_keeping
        self.check()
        self.posted = posted

    def mark_ambiguous(self) -> None:
        self.is_in_doubt = True

    async def send_once(self, send: Callable[[], Awaitable[object]]) -> None:
        """Send after the inbox is done with the job, unless the process ends right there."""
        self.settled = True
        if self.dies:
            raise Killed
        await send_until_taken(send, within=10.0)

    def check(self) -> None:
        if self.is_lost:
            raise LeaseLost


def job_of(
    platform: str,
    key: str,
    address: dict[str, Any],
    asked: AgentRequest | None,
    *,
    fence: int = 1,
    posted: Posted | None = None,
    kind: Kind = Kind.ASK,
    refusal: str | None = None,
    workspace: str = "",
    **fields: Any,
) -> Job:
    """Return the job of a question that arrived from an address; of a refusal, if there is one."""
    if asked is None and refusal is None:
        asked = request(query_text=QUESTION)
    arrival = Arrival(
        key=key,
        platform=platform,
        workspace=workspace,
        channel=str(address["channel"]),
        lane=key,
        position=1,
        user_id="reader-1",
        address=address,
        kind=kind,
        request=asked,
        refusal=refusal,
        **fields,
    )
    return Job(arrival, fence, now() + timedelta(seconds=15), now(), posted=posted or Posted())


def again(job: Job, kept: Kept) -> Job:
    """Return the job as the next worker claims it."""
    return replace(job, fence=job.fence + 1, posted=kept.posted)


def finished(job: Job, text: str = "A tree [1].", **changes: Any) -> AgentResponse:
    """Return the answer to a job's question."""
    assert job.arrival.request is not None
    return response_to(job.arrival.request, uuid4(), response_text=text, **changes)


def long_text(paragraphs: int, *, sentences: int = 20) -> str:
    """Return an answer with a cited end, whose paragraphs have this many sentences."""
    paragraph = _SENTENCE * sentences
    return "\n\n".join(f"{number}. {paragraph}" for number in range(paragraphs)) + " [1]"
