"""The SQL side of the inbox: events wait there, are claimed, and leave answered."""

import asyncio
from collections.abc import Callable, Sequence
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from sqlalchemy import (
    Connection,
    Row,
    Select,
    and_,
    bindparam,
    delete,
    insert,
    literal,
    select,
    update,
)
from sqlalchemy.ext.asyncio import AsyncEngine
from sqlalchemy.orm import aliased

from core.domain import AgentRequest, now
from core.domain.errors import RateLimited
from core.domain.telemetry import ACCEPTED, NO_METER, Meter
from core.storage.database import OfTenant, of_tenants, reading
from core.storage.database import write as store_write
from core.storage.inbox import accepting as crowds
from core.storage.inbox import claiming
from core.storage.inbox import claiming as forgetting
from core.storage.inbox import rows as offers
from core.storage.inbox.accepting import Accepting
from core.storage.inbox.base import (
    WAITS,
    WINDOW,
    Acceptance,
    Accepted,
    Arrival,
    CountRow,
    DeletedEvent,
    IntakeLimits,
    Job,
    Kind,
    LeaseLost,
    Posted,
    Settlement,
    State,
    count_one_more,
    minute_of,
    waits_subject,
)
from core.storage.inbox.queries import InboxQueries
from core.storage.inbox.rows import (
    CLOSED,
    FORGOTTEN_USER,
    InboxRow,
    PostRow,
    is_waiting,
    moved_to,
    posts_of,
)


def keep(db: Connection, job: Job, posted: Posted) -> None:
    """Keep what was posted for a job in place of what was known, and move it to its thread."""
    root, arrival = root_key(job), job.arrival
    moved = moved_to(arrival, posted.thread)
    write_held(db, job, InboxRow.key, **moved)
    if posted.thread is not None:
        changes = (InboxRow.about == root, is_waiting())
        db.execute(update(InboxRow).where(*changes).values(lane=moved["lane"]))
    db.execute(delete(PostRow).where(PostRow.key == root))
    if posted.messages:
        db.execute(insert(PostRow), posts_of(root, arrival.platform, posted.messages))


def root_key(job: Job) -> str:
    """Return the key of the event that asked the question."""
    return job.arrival.about or job.arrival.key


def write_held(db: Connection, job: Job, returned: Any, **values: Any) -> Any:
    """Change a job's event as its holder, and return what was asked for."""
    held = (InboxRow.key == job.arrival.key, InboxRow.fence == job.fence, is_waiting())
    found = db.execute(update(InboxRow).where(*held).values(**values).returning(returned)).first()
    if found is None:
        raise LeaseLost(f"{job.arrival.key} is not held with fence {job.fence} any more")
    return found[0]


LONG = timedelta(seconds=10)
"""How long a question may wait before its asker is notified."""
_PLATFORMS: Any = bindparam("platforms", expanding=True)


class Waiting:
    """Finds who is to be notified that they wait; its statements are built once."""

    def __init__(self, engine: AsyncEngine) -> None:
        self._candidate = _candidate()
        self._one_more = count_one_more(engine)

    def candidate(
        self, platforms: Sequence[str], moment: datetime
    ) -> tuple[Select[str], dict[str, Any]]:
        """Return the query for the key of a question whose asker is to be notified."""
        recently = minute_of(moment) - WINDOW
        given = {"since": moment - LONG, "recently": recently, "platforms": [*platforms]}
        return self._candidate, given

    def take(
        self, db: Connection, platforms: Sequence[str], moment: datetime
    ) -> Row[InboxRow] | None:
        """Note that an asker is notified, and return their question; None: no one is to be.

        It is none as well when the question was begun meanwhile, or another process notifies.
        """
        query, given = self.candidate(platforms, moment)
        key = db.scalar(query, given)
        row = None if key is None else db.execute(_note(key)).one_or_none()
        if row is not None:
            subject = waits_subject(row.user_id, row.platform, row.channel)
            told = {"subject": subject, "minute": minute_of(moment), "questions": 1}
            db.execute(self._one_more, told)
        return row


def _candidate() -> Select[str]:
    """Return the query for the key of a question that no one has begun since `since`.

    A user who waits with several questions in one channel is notified of the first alone. One who
    was notified in it in the minute of `recently` or later is not again, whatever became of that
    question.
    """
    row, other, count = InboxRow, aliased(InboxRow), CountRow
    beside = (
        select(other.key)
        .where(
            is_waiting(other),
            other.told_to_wait,
            other.user_id == row.user_id,
            other.platform == row.platform,
            other.channel == row.channel,
        )
        .exists()
    )
    subject = literal(WAITS) + row.user_id + ":" + row.platform + ":" + row.channel
    told = select(count.subject).where(
        count.subject == subject, count.minute >= bindparam("recently")
    )
    query = select(row.key).where(
        _is_unanswered(),
        row.kind == Kind.ASK.value,
        row.refusal.is_(None),
        row.user_id != FORGOTTEN_USER,
        row.accepted_at <= bindparam("since"),
        row.platform.in_(_PLATFORMS),
        ~beside,
        ~told.exists(),
    )
    return query.order_by(row.accepted_at, row.key).limit(1)


def _note(key: str) -> Any:
    """Return the statement that notes that an asker is notified, and returns their question."""
    note = update(InboxRow).where(InboxRow.key == key, _is_unanswered())
    return note.values(told_to_wait=True).returning(InboxRow)


def _is_unanswered() -> Any:
    row = InboxRow
    return and_(is_waiting(), row.fence == 0, ~row.told_to_wait)


class Inbox(InboxQueries):
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
        limits: IntakeLimits,
        healed_after: timedelta = timedelta(seconds=10),
        holding: AsyncEngine | None = None,
        meter: Meter = NO_METER,
    ) -> None:
        """Prepare to use the tables.

        Args:
            seal: Encrypts a token for as long as it is kept.
            unseal: Decrypts it; raises StoreError when it cannot.
            healed_after: How long after an event's end the janitor looks for messages that
                are not known.
            holding: For claims and renewals, which then wait for no accepted event.
        """
        super().__init__(engine)
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
        self._waiting = Waiting(engine)

    async def accept(self, arrival: Arrival, moment: datetime | None = None) -> Accepted:
        """Store an arrival, once and for good, and return its receipt.

        Only then may it be acknowledged to the platform. The same key again stores nothing.

        Raises:
            RateLimited: when it was pressed beyond its user's limit: nothing was written, and the
                same press is accepted later.
        """
        token = self._seal(arrival.token) if arrival.token is not None else None
        self._being_accepted += 1
        self._quiet.clear()
        try:
            accepted = await store_write(
                self._engine,
                lambda db: self._accepting.accept(db, arrival, token, moment or now()),
                urgent=True,
            )
        except RateLimited:
            self._meter.count(ACCEPTED, arrival.platform, Acceptance.LIMITED)
            raise
        finally:
            self._being_accepted -= 1
            if not self._being_accepted:
                self._quiet.set()
        self._meter.count(ACCEPTED, arrival.platform, accepted.acceptance)
        return accepted

    async def accept_reply(
        self, arrival: Arrival, original: str, settle: Callable[[Connection], bool]
    ) -> bool | None:
        """Store a reply to a question in the transaction in which it is settled what it says.

        Return whether it is on its way; False: the question was taken back meanwhile, and what
        was settled stays. None: `settle` has returned that it is not to be, and nothing was
        written.

        Args:
            original: The key of the event that asked the question.
            settle: Writes what belongs to it.
        """

        def accept(db: Connection) -> bool | None:
            is_wanted = self._accepting.is_wanted(db, original)
            if not settle(db):
                return None
            if is_wanted:
                self._accepting.accept(db, arrival, None, now())
            return is_wanted

        return await store_write(self._engine, accept, urgent=True)

    async def tombstone(self, unheard: DeletedEvent, moment: datetime | None = None) -> bool:
        """Have a deleted message count as known, should its event come; False: it came before.

        Whichever of the two is stored first, the other one finds it: they have one key.
        """
        when = moment or now()
        buried = store_write(
            self._engine, lambda db: self._accepting.tombstone(db, unheard, when), urgent=True
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
        """Take an event that has ended, and may have left messages that are not known.

        Nothing else happens in its lane meanwhile; `recovered` ends that.
        """
        return await self._claim(self._to_heal, lease, platforms, moment or now())

    async def tell_of_wait(
        self, platforms: Sequence[str], moment: datetime | None = None
    ) -> Job | None:
        """Note that a question's asker is notified that it waits; return it; None: none waits.

        A question is returned once, by whichever process asks first, and one of each person's
        that wait in a channel; another one a minute later at the earliest. It is held by no worker.
        """
        at = moment or now()

        def take(db: Connection) -> claiming.Taken | None:
            row = self._waiting.take(db, platforms, at)
            return None if row is None else claiming.Taken(row, Posted(), ())

        query, given = self._waiting.candidate(platforms, at)
        async with reading(self._engine) as db:
            if await db.scalar(query, given) is None:
                return None
        taken = await store_write(self._engine, take)
        return None if taken is None else claiming.job_from(taken, self._unseal)

    async def renew(self, job: Job, lease: timedelta, moment: datetime | None = None) -> bool:
        """Hold the job for another lease, and return whether its asker stopped it."""
        until = (moment or now()) + lease
        stopped = InboxRow.stopped
        renewed = store_write(
            self._holding,
            lambda db: write_held(db, job, stopped, lease_until=until),
            urgent=True,
        )
        return bool(await renewed)

    async def keep(self, job: Job, posted: Posted) -> None:
        """Store what the platform has of the answer now.

        With a thread, the event and all changes of it move to the thread's lane.
        """
        await store_write(self._engine, lambda db: keep(db, job, posted))

    async def finish(
        self,
        job: Job,
        settlement: Settlement = Settlement.ANSWERED,
        *,
        doubtful: bool = False,
        linked_to: str | None = None,
        moment: datetime | None = None,
    ) -> None:
        """End a settled event; what was asked lives on in the turn alone.

        Args:
            settlement: What became of it.
            doubtful: A post may have been applied unseen: the janitor is to look for it.
            linked_to: The key of the question to whose answer the asker is shown a link: the
                janitor is to look whether it stands.
        """
        await self._end(job, State.DONE, settlement, doubtful, moment or now(), linked_to)

    async def give_up(self, job: Job, moment: datetime | None = None) -> None:
        """End an event that cannot be answered on its platform."""
        await self._end(job, State.UNDELIVERABLE, None, True, moment or now())

    async def note_unsent(self, job: Job) -> None:
        """Count an event as undeliverable that ended before its platform took nothing."""
        own = (InboxRow.key == job.arrival.key, InboxRow.state == State.DONE.value)
        unsent = (
            update(InboxRow).where(*own).values(state=State.UNDELIVERABLE.value, settlement=None)
        )
        await store_write(self._engine, lambda db: db.execute(unsent))

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

    async def recovered(
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

        await store_write(self._engine, heal)

    async def mark_ambiguous(self, job: Job, moment: datetime | None = None) -> bool:
        """Have the janitor look for messages of a job that was lost, held or not.

        Return whether its user is to be forgotten: then the turn must not stay either.
        """
        look = update(InboxRow).where(InboxRow.key == job.arrival.key)
        look = look.values(heal_at=(moment or now()) + self._healed_after)
        asker = look.returning(InboxRow.user_id)
        return await store_write(self._engine, lambda db: db.scalar(asker)) == FORGOTTEN_USER

    async def stop(self, key: str, tenants: Sequence[OfTenant]) -> bool:
        """Mark an event as not wanted any more; return whether it was still waiting.

        Args:
            tenants: Those whose events may be stopped.
        """
        this = (InboxRow.key == key, of_tenants(InboxRow, tenants), is_waiting())
        stopped = update(InboxRow).where(*this).values(stopped=True).returning(InboxRow.key)
        return (
            await store_write(self._engine, lambda db: db.scalar(stopped), urgent=True) is not None
        )

    async def take_up(
        self, key: str, request: AgentRequest | None = None, moment: datetime | None = None
    ) -> Acceptance | None:
        """Have a question answered that was offered to be, within the limits of any question.

        None when the offer has vanished. PASSED_OVER: its author asked too much, and was notified
        in this minute; the offer stands.

        Args:
            request: What is asked now, where the message was edited.
        """
        taken_up = store_write(
            self._engine,
            lambda db: self._accepting.take_up(db, key, request, moment or now()),
            urgent=True,
        )
        return await taken_up

    async def withdraw(self, key: str, moment: datetime | None = None) -> None:
        """Have an offer vanish at once, as its message was edited or deleted."""
        gone = offers.withdraw(key, moment or now())
        await store_write(self._engine, lambda db: db.execute(gone), urgent=True)

    async def drop_pending(self, request_id: UUID, tenants: Sequence[OfTenant]) -> None:
        """Keep a question no longer that waited for its course.

        Args:
            tenants: Those of the place in which it was chosen.
        """
        dropping = store_write(
            self._engine,
            lambda db: forgetting.drop_pending(db, request_id, tenants),
            urgent=True,
        )
        await dropping

    async def advance_cursor(self, platform: str, channel: str, position: int) -> None:
        """Move a channel's cursor to what was looked at without a question in it."""
        await store_write(
            self._engine, lambda db: self._accepting.advance(db, platform, channel, position)
        )

    async def _claim(
        self, query: Any, lease: timedelta, platforms: Sequence[str], moment: datetime
    ) -> Job | None:
        taken = await store_write(
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
        linked_to: str | None = None,
    ) -> None:
        """End a job; one that changed hands has always to be looked at again."""
        doubtful = doubtful or job.taken_over
        look = doubtful or linked_to is not None
        ended = {
            **CLOSED,
            "state": state.value,
            "settlement": settlement.value if settlement is not None else None,
            "heal_at": moment + self._healed_after if look else None,
        }
        if linked_to is not None:
            address = job.arrival.address
            ended["address"] = crowds.with_link(address, linked_to, doubtful=doubtful)
        if job.arrival.pending is not None and state is State.DONE:
            del ended["request"]  # it waits until its course is chosen
        if settlement is Settlement.OFFERED:
            del ended["request"]  # it waits until it is taken up, or vanishes
            ended["heal_at"] = moment + offers.LASTS

        def end(db: Connection) -> None:
            if write_held(db, job, InboxRow.kind, **ended) == Kind.FORGET:
                db.execute(delete(PostRow).where(PostRow.key == root_key(job)))

        await store_write(self._engine, end)

    async def _write(self, job: Job, returned: Any, **values: Any) -> Any:
        return await store_write(self._engine, lambda db: write_held(db, job, returned, **values))
