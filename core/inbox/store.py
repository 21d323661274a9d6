"""The SQL side of the inbox: events wait there, are claimed, and leave answered."""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from sqlalchemy import Connection, delete, exists, func, or_, select, update
from sqlalchemy.ext.asyncio import AsyncEngine

from core.database import reading, write
from core.inbox import claiming, crowds, forgetting, holding, offers, waiting
from core.inbox.accepting import Accepting
from core.inbox.audience import Settlement
from core.inbox.base import (
    Acceptance,
    Accepted,
    Answered,
    Arrival,
    Backlog,
    Job,
    Kind,
    Posted,
    State,
    Unheard,
)
from core.inbox.limits import Limits
from core.inbox.rows import (
    CLOSED,
    FORGOTTEN_USER,
    CursorRow,
    InboxRow,
    PostRow,
    answered_from,
    arrival_from,
    is_waiting,
)
from core.metering import ACCEPTED, NO_METER, Meter
from core.models import STORED, AgentRequest, now


class Inbox:
    """Events by key, safe for any number of processes at once.

    Every method raises StoreError when the database fails. Those that are given a job raise
    LeaseLost when it is not held any more: nothing was written then.
    """

    def __init__(
        self,
        engine: AsyncEngine,
        *,
        seal: Callable[[str], bytes],
        unseal: Callable[[bytes], str],
        limits: Limits,
        healed_after: timedelta = timedelta(seconds=10),
        holding: AsyncEngine | None = None,
        meter: Meter = NO_METER,
    ) -> None:
        """Prepare to use the tables.

        Args:
            seal: Encrypts a token for as long as it is kept.
            unseal: Decrypts it; raises StoreError when it cannot.
            healed_after: How long after an event's end the janitor looks for messages that
                nobody knows of.
            holding: For claims and renewals, which then wait behind no accepted event.
        """
        self._engine = engine
        self._holding = holding or engine
        self._meter = meter
        self._seal = seal
        self._unseal = unseal
        self._healed_after = healed_after
        # Built once: it takes longer than one of them is executed.
        self._accepting = Accepting(engine, limits)
        self._being_accepted = 0
        self._quiet = asyncio.Event()
        self._quiet.set()
        self._candidate = claiming.candidate(limits)
        self._to_heal = claiming.to_heal()
        self._waiting = waiting.Waiting(engine)

    async def accept(self, arrival: Arrival, moment: datetime | None = None) -> Accepted:
        """Store an arrival, once and for good, and return its receipt.

        Only then may the platform be told that we have it. The same key again stores nothing.
        """
        token = self._seal(arrival.token) if arrival.token is not None else None
        self._being_accepted += 1
        self._quiet.clear()
        try:
            accepted = await write(
                self._engine,
                lambda db: self._accepting.accept(db, arrival, token, moment or now()),
                urgent=True,
            )
        finally:
            self._being_accepted -= 1
            if not self._being_accepted:
                self._quiet.set()
        self._meter.count(ACCEPTED, arrival.platform, accepted.acceptance)
        return accepted

    async def bury(self, unheard: Unheard, moment: datetime | None = None) -> bool:
        """Have a deleted message count as known, should its event come; False: it came before.

        Whichever of the two is stored first, the other one finds it: they have one key.
        """
        when = moment or now()
        buried = write(
            self._engine, lambda db: self._accepting.bury(db, unheard, when), urgent=True
        )
        return await buried

    async def quiet(self) -> None:
        """Wait until nothing is being accepted here."""
        await self._quiet.wait()

    async def claim(
        self, lease: timedelta, platforms: Sequence[str], moment: datetime | None = None
    ) -> Job | None:
        """Take the event of these platforms whose turn it is; None: there is no room, or none.

        The limits of what is in flight may be exceeded by as many processes as claim at the
        same instant; a lane's order and the fence are kept all the same.
        """
        return await self._claim(self._candidate, lease, platforms, moment or now())

    async def claim_healing(
        self, lease: timedelta, platforms: Sequence[str], moment: datetime | None = None
    ) -> Job | None:
        """Take an event that has ended, and may have left messages that nobody knows of.

        Nothing else happens in its lane meanwhile; `healed` ends that.
        """
        return await self._claim(self._to_heal, lease, platforms, moment or now())

    async def tell_of_wait(
        self, platforms: Sequence[str], moment: datetime | None = None
    ) -> Job | None:
        """Note that the asker of a question is told that it waits, and return it; None: none waits.

        A question is returned once, by whichever process asks first, and one of each person's
        that wait in a channel; another one a minute later at the earliest. It is held by nobody.
        """
        at = moment or now()

        def take(db: Connection) -> claiming.Taken | None:
            row = self._waiting.take(db, platforms, at)
            return None if row is None else claiming.Taken(row, Posted(), ())

        query, given = self._waiting.candidate(platforms, at)
        async with reading(self._engine) as db:
            if await db.scalar(query, given) is None:
                return None
        taken = await write(self._engine, take)
        return None if taken is None else claiming.job_from(taken, self._unseal)

    async def renew(self, job: Job, lease: timedelta, moment: datetime | None = None) -> bool:
        """Hold the job for another lease, and return whether its asker stopped it."""
        until = (moment or now()) + lease
        stopped = InboxRow.stopped
        renewed = write(
            self._holding,
            lambda db: holding.write(db, job, stopped, lease_until=until),
            urgent=True,
        )
        return bool(await renewed)

    async def keep(self, job: Job, posted: Posted) -> None:
        """Store what the platform has of the answer now.

        With a thread, the event and all changes of it move to the thread's lane.
        """
        await write(self._engine, lambda db: holding.keep(db, job, posted))

    async def finish(
        self,
        job: Job,
        settlement: Settlement = Settlement.ANSWERED,
        *,
        doubtful: bool = False,
        moment: datetime | None = None,
    ) -> None:
        """End a settled event; what was asked lives on in the turn alone.

        Args:
            settlement: What became of it.
            doubtful: A post may have been applied unseen: the janitor is to look for it.
        """
        await self._end(job, State.DONE, settlement, doubtful, moment or now())

    async def give_up(self, job: Job, moment: datetime | None = None) -> None:
        """End an event that cannot be answered on its platform."""
        await self._end(job, State.UNDELIVERABLE, None, True, moment or now())

    async def note_unsent(self, job: Job) -> None:
        """Count an event as undeliverable that ended before its platform took nothing."""
        own = (InboxRow.key == job.arrival.key, InboxRow.state == State.DONE.value)
        unsent = (
            update(InboxRow).where(*own).values(state=State.UNDELIVERABLE.value, settlement=None)
        )
        await write(self._engine, lambda db: db.execute(unsent))

    async def release(
        self,
        job: Job,
        retry_in: timedelta = timedelta(),
        *,
        failed: bool = False,
        moment: datetime | None = None,
    ) -> None:
        """Let go of a job, to be claimed again after a while, by anybody.

        Args:
            failed: Count it as a delivery that failed.
        """
        await self._write(
            job,
            InboxRow.key,
            lease_until=None,
            not_before=(moment or now()) + retry_in,
            attempts=InboxRow.attempts + int(failed),
        )

    async def healed(
        self, job: Job, again_in: timedelta | None = None, moment: datetime | None = None
    ) -> None:
        """End a healing, or put the next one off for a while."""
        heal_at = None if again_in is None else (moment or now()) + again_in
        own = (InboxRow.key == job.arrival.key, InboxRow.fence == job.fence)

        def heal(db: Connection) -> None:
            ended = update(InboxRow).where(*own).values(heal_at=heal_at, lease_until=None)
            db.execute(ended)
            if heal_at is None:
                db.execute(offers.vanish(job))
                forgotten = (*own, InboxRow.user_id == FORGOTTEN_USER)
                db.execute(update(InboxRow).where(*forgotten).values(address={}))

        await write(self._engine, heal)

    async def doubt(self, job: Job, moment: datetime | None = None) -> bool:
        """Have the janitor look for messages of a job that was lost, held or not.

        Return whether its user is to be forgotten: then the turn must not stay either.
        """
        look = update(InboxRow).where(InboxRow.key == job.arrival.key)
        look = look.values(heal_at=(moment or now()) + self._healed_after)
        asker = look.returning(InboxRow.user_id)
        return await write(self._engine, lambda db: db.scalar(asker)) == FORGOTTEN_USER

    async def is_overtaken(self, job: Job) -> bool:
        """Return whether a deletion, or a later edit, of a job's question was begun.

        Then its turn must not stay either: the one of an edit has taken its place.
        """
        async with reading(self._engine) as db:
            return await db.scalar(claiming.overtaking(job)) is not None

    async def stop(self, key: str) -> bool:
        """Mark an event as not wanted any more; return whether it was still waiting."""
        stop = update(InboxRow).where(InboxRow.key == key, is_waiting()).values(stopped=True)
        stopped = stop.returning(InboxRow.key)
        return await write(self._engine, lambda db: db.scalar(stopped), urgent=True) is not None

    async def of_key(self, key: str) -> Arrival | None:
        """Return an event as it arrived, without its token, and once ended without its text."""
        async with reading(self._engine) as db:
            row = await db.get(InboxRow, key)
            return arrival_from(row) if row is not None else None

    async def all_of_request(self, request_id: UUID) -> list[Answered]:
        """Return the events that asked a request, then those that showed its answer once more."""
        async with reading(self._engine) as db:
            asking = select(InboxRow).where(InboxRow.request_id == request_id)
            rows = await db.scalars(asking.order_by(InboxRow.accepted_at, InboxRow.key))
            return [answered_from(row) for row in rows]

    async def take_up(
        self, key: str, request: AgentRequest | None = None, moment: datetime | None = None
    ) -> Acceptance | None:
        """Have a question answered that was offered to be, within the limits of any question.

        None when the offer has vanished. PASSED_OVER: its author asked too much, and was told so
        in this minute; the offer stands.

        Args:
            request: What is asked now, where the message was edited.
        """
        taken_up = write(
            self._engine,
            lambda db: self._accepting.take_up(db, key, request, moment or now()),
            urgent=True,
        )
        return await taken_up

    async def withdraw(self, key: str, moment: datetime | None = None) -> None:
        """Have an offer vanish at once, as its message was edited or deleted."""
        gone = offers.withdraw(key, moment or now())
        await write(self._engine, lambda db: db.execute(gone), urgent=True)

    async def first_of_crowd(self, job: Job) -> crowds.Twin | None:
        """Return the event that asked the same question just before; None: there is none."""
        if job.arrival.gist is None:
            return None
        async with reading(self._engine) as db:
            row = (await db.execute(crowds.first_of(job))).one_or_none()
            if row is None:
                return None
            posts = await db.scalars(crowds.posts_of(row.key))
            return crowds.twin_from(row, tuple(posts))

    async def linked_to(self, key: str) -> list[Arrival]:
        """Return the events that ended with a link to this one's answer, as they arrived.

        An event links to the first of the minute before it, so a later one has another.
        """
        async with reading(self._engine) as db:
            asked_at = await db.scalar(select(InboxRow.accepted_at).where(InboxRow.key == key))
            if asked_at is None:
                return []
            rows = await db.scalars(crowds.linked_to(key, asked_at))
            return [arrival_from(row) for row in rows]

    async def pending_request(self, request_id: UUID) -> AgentRequest | None:
        """Return a question that waits for its course; None: it does not wait."""
        async with reading(self._engine) as db:
            kept = await db.scalar(forgetting.pending_query(request_id))
            return AgentRequest.model_validate(kept, context=STORED) if kept else None

    async def drop_pending(self, request_id: UUID) -> None:
        """Keep a question no longer that waited for its course."""
        await write(self._engine, lambda db: forgetting.drop_pending(db, request_id), urgent=True)

    async def by_message(self, platform: str, message_id: str) -> Answered | None:
        """Return the latest event that a message of ours answers."""
        post = (PostRow.platform == platform, PostRow.message_id == message_id)
        root = select(PostRow.key).where(*post).scalar_subquery()
        events = select(InboxRow).where(
            or_(InboxRow.key == root, InboxRow.about == root), InboxRow.kind != Kind.FORGET.value
        )
        async with reading(self._engine) as db:
            latest = events.order_by(InboxRow.accepted_at.desc(), InboxRow.about.is_(None))
            row = await db.scalar(latest.limit(1))
            return answered_from(row) if row is not None else None

    async def latest_of(self, user_ids: Sequence[str], limit: int) -> list[Answered]:
        """Return the questions that a person asked last, by their pseudonyms, latest first."""
        asked = select(InboxRow).where(
            InboxRow.user_id.in_(user_ids), InboxRow.kind == Kind.ASK.value
        )
        async with reading(self._engine) as db:
            rows = await db.scalars(asked.order_by(InboxRow.accepted_at.desc()).limit(limit))
            return [answered_from(row) for row in rows]

    async def has_lane(self, lane: str, *, before: int | None = None) -> bool:
        """Return whether there ever was an event in a lane, at all or before a position."""
        reactions = [kind.value for kind in Kind if kind.is_reaction]
        there = [InboxRow.lane == lane, InboxRow.kind.not_in(reactions)]
        if before is not None:
            there.append(InboxRow.position < before)
        async with reading(self._engine) as db:
            return bool(await db.scalar(select(exists().where(*there))))

    async def backlog(self, moment: datetime | None = None) -> Backlog:
        """Return how much there is to do."""
        held = InboxRow.lease_until > (moment or now())
        query = select(
            func.count(), func.count().filter(held), func.min(InboxRow.accepted_at)
        ).where(is_waiting())
        async with reading(self._engine) as db:
            open_events, in_flight, oldest = (await db.execute(query)).one()
        return Backlog(open_events - in_flight, in_flight, oldest)

    async def cursors(self, platform: str) -> Mapping[str, int]:
        """Return the latest position that was accepted or seen, by channel."""
        query = select(CursorRow.channel, CursorRow.position)
        async with reading(self._engine) as db:
            rows = await db.execute(query.where(CursorRow.platform == platform))
            return dict(rows.all())

    async def saw(self, platform: str, channel: str, position: int) -> None:
        """Move a channel's cursor to what was looked at without a question in it."""
        await write(
            self._engine, lambda db: self._accepting.advance(db, platform, channel, position)
        )

    async def active_channels(
        self, platform: str, workspace: str, since: datetime
    ) -> frozenset[str]:
        """Return the channels of a workspace in which something was accepted since then."""
        row = InboxRow
        query = select(row.channel).where(
            row.platform == platform, row.workspace == workspace, row.accepted_at >= since
        )
        async with reading(self._engine) as db:
            return frozenset(await db.scalars(query.distinct()))

    async def of_user(self, user_id: str) -> int:
        """Return how many events of a user are kept."""
        count = select(func.count()).select_from(InboxRow).where(InboxRow.user_id == user_id)
        async with reading(self._engine) as db:
            return await db.scalar(count) or 0

    async def forget_user(self, user_id: str) -> int:
        """Blank all events of a user, and return how many there were.

        Their keys stay, so that none of them is answered when it is delivered again. What is
        under way is taken from its holder, and becomes the order to remove what was posted.
        """
        return await write(self._engine, lambda db: forgetting.forget_user(db, user_id))

    async def _claim(
        self, query: Any, lease: timedelta, platforms: Sequence[str], moment: datetime
    ) -> Job | None:
        taken = await write(
            self._holding, lambda db: claiming.take(db, query, platforms, moment, lease)
        )
        return None if taken is None else claiming.job_from(taken, self._unseal)

    async def _end(
        self,
        job: Job,
        state: State,
        settlement: Settlement | None,
        doubtful: bool,
        moment: datetime,
    ) -> None:
        """End a job; one that changed hands has always to be looked at again."""
        look = doubtful or job.taken_over
        ended = {
            **CLOSED,
            "state": state.value,
            "settlement": settlement.value if settlement is not None else None,
            "heal_at": moment + self._healed_after if look else None,
        }
        if job.arrival.pending is not None and state is State.DONE:
            del ended["request"]  # it waits until its course is chosen
        if settlement is Settlement.OFFERED:
            del ended["request"]  # it waits until it is taken up, or vanishes
            ended["heal_at"] = moment + offers.LASTS

        def end(db: Connection) -> None:
            if holding.write(db, job, InboxRow.kind, **ended) == Kind.FORGET:
                db.execute(delete(PostRow).where(PostRow.key == holding.root_key(job)))

        await write(self._engine, end)

    async def _write(self, job: Job, returned: Any, **values: Any) -> Any:
        return await write(self._engine, lambda db: holding.write(db, job, returned, **values))
