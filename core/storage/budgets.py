"""Counts the tokens of language models by UTC day, and says when a budget is spent."""

from collections import deque
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, timedelta
from enum import StrEnum
from typing import TYPE_CHECKING

from sqlalchemy import (
    BigInteger,
    ColumnElement,
    Connection,
    Text,
    and_,
    case,
    delete,
    literal,
    or_,
    select,
    update,
)
from sqlalchemy.ext.asyncio import AsyncEngine
from sqlalchemy.orm import Mapped, mapped_column

from core.domain import now
from core.storage.database import Base, insert_into, reading, write
from core.storage.privacy import (
    Channel,
    ForgottenWorkspace,
    Holder,
    PersonRows,
    Work,
    deleting,
    parts,
)

if TYPE_CHECKING:
    from sqlalchemy.dialects import postgresql, sqlite


_EXPECTED = 10_000
"""Tokens that a request is expected to use before any has been counted here."""
_REMEMBERED = 100
"""Requests of which the dearest tells what the next one is expected to use."""


@dataclass(frozen=True, slots=True, eq=False)
class Reservation:
    """Tokens that one request is expected to use."""

    user_id: str
    course_id: str
    tokens: int


class Reservations:
    """The reservations of one process; others' are known when they are counted."""

    def __init__(self) -> None:
        self._open = set[Reservation]()
        self._used = deque[int](maxlen=_REMEMBERED)

    def make(self, user_id: str, course_id: str) -> Reservation:
        """Reserve what the dearest of the latest requests used."""
        tokens = max(self._used, default=_EXPECTED)
        reservation = Reservation(user_id, course_id, tokens)
        self._open.add(reservation)
        return reservation

    def drop(self, reservation: Reservation) -> None:
        """Have a reservation count no more."""
        self._open.discard(reservation)

    def note(self, tokens: int) -> None:
        """Learn what a request used."""
        self._used.append(tokens)

    def held(
        self,
        but: Reservation | None = None,
        *,
        user_id: str | None = None,
        course_id: str | None = None,
    ) -> int:
        """Return the tokens that are reserved, without `but`, for a user, a course, or all."""
        return sum(
            one.tokens
            for one in self._open
            if one is not but
            and user_id in (None, one.user_id)
            and course_id in (None, one.course_id)
        )


_USERS_ARE_KEPT = timedelta(days=90)
"""How long it is known what a single user used; courses and totals are kept for good."""
_CACHED = "cached"
"""The scope of what services had kept of the tokens that a course's models read."""
_JUDGING = "judging"
"""The scope of what judging what was written used of a course's tokens."""
_EVERYBODY = ""
"""The subject of the total."""
_FORGOTTEN = 0
"""The calls of a user who was forgotten on that day; none is added to it."""


class Scope(StrEnum):
    """Whose tokens a budget limits, narrowest first."""

    USER = "user"
    """One user in all courses."""
    COURSE = "course"
    """All users of one course."""
    TOTAL = "total"


@dataclass(frozen=True, slots=True)
class TokenLimits:
    """Tokens that may be used on a UTC day, read and written together; None: any number."""

    user_tokens: int | None = None
    course_tokens: int | None = None
    total_tokens: int | None = None


@dataclass(frozen=True, slots=True)
class Tokens:
    """What calls of models used together."""

    query: int = 0
    response: int = 0
    calls: int = 0

    def __add__(self, other: "Tokens") -> "Tokens":
        return Tokens(
            self.query + other.query, self.response + other.response, self.calls + other.calls
        )


@dataclass(frozen=True, slots=True)
class Usage:
    """Calls of models on one UTC day, and what they used, for one course or for all."""

    day: date
    course_id: str | None
    """None: all courses together."""
    query_tokens: int
    response_tokens: int
    calls: int
    cached_tokens: int = 0
    """Those of `query_tokens` that services had kept from earlier calls."""
    judging: Tokens = Tokens()
    """What of it went into judging what was written."""


class TokenUsageRow(Base):
    """What a user, a course or everybody used on a UTC day."""

    __tablename__ = "token_usage"

    day: Mapped[date] = mapped_column(primary_key=True)
    scope: Mapped[str] = mapped_column(Text, primary_key=True)
    subject: Mapped[str] = mapped_column(Text, primary_key=True)
    query_tokens: Mapped[int] = mapped_column(BigInteger)
    response_tokens: Mapped[int] = mapped_column(BigInteger)
    calls: Mapped[int]


class TokenBudgets(Holder):
    """Tokens used a day and what is allowed, safe for any number of processes at once.

    Every method raises StoreError when the database fails.
    """

    TABLES = (TokenUsageRow,)

    def __init__(self, engine: AsyncEngine, *, limits: TokenLimits) -> None:
        self._engine = engine
        limit_of = {
            Scope.USER: limits.user_tokens,
            Scope.COURSE: limits.course_tokens,
            Scope.TOTAL: limits.total_tokens,
        }
        self._limits = {scope: limit for scope, limit in limit_of.items() if limit is not None}
        self._adding = _adding(insert_into(engine, TokenUsageRow))
        self._reservations = Reservations()

    async def reserve(
        self, user_id: str, course_id: str, moment: datetime | None = None
    ) -> Reservation | Scope:
        """Return room for one request, or the narrowest budget that has none.

        The room counts as spent until it is settled. So the requests of this object exceed
        a budget by one at most, unless they are dearer than those before them.
        """
        reservation, spent = self._reservations.make(user_id, course_id), None
        has_room = False
        try:
            spent = await self.exhausted(user_id, course_id, moment, but=reservation)
            has_room = spent is None
        finally:
            if not has_room:
                self._reservations.drop(reservation)
        return spent or reservation

    def settle(self, reservation: Reservation, tokens: int) -> None:
        """End a reservation, once what was used is added.

        Args:
            tokens: What was used; 0: no model was asked after all.
        """
        self._reservations.drop(reservation)
        if tokens:
            self._reservations.note(tokens)

    async def exhausted(
        self,
        user_id: str,
        course_id: str,
        moment: datetime | None = None,
        *,
        but: Reservation | None = None,
    ) -> Scope | None:
        """Return the narrowest budget without room on the moment's day, or None.

        Finished calls are counted, and what is reserved here but for `but`. One indexed read,
        and none where nothing is limited.
        """
        if not self._limits:
            return None
        held = self._held(user_id, course_id, but)  # now: what is settled meanwhile is read below
        row, day, subjects = TokenUsageRow, _day(moment), _subjects(user_id, course_id)
        limited = (
            and_(row.day == day, row.scope == scope, row.subject == subjects[scope])
            for scope in self._limits
        )
        query = select(row.scope, row.query_tokens + row.response_tokens).where(or_(*limited))
        async with reading(self._engine) as db:
            used = dict((await db.execute(query)).all())
        limits = self._limits.items()
        return next((s for s, limit in limits if used.get(s, 0) + held[s] >= limit), None)

    async def add(
        self,
        user_id: str,
        course_id: str,
        *,
        query_tokens: int,
        response_tokens: int,
        cached_tokens: int = 0,
        calls: int = 1,
        judging: Tokens | None = None,
        moment: datetime | None = None,
    ) -> None:
        """Count what `calls` calls of a model used together, on the moment's day.

        `cached_tokens` are those of `query_tokens` that services had kept, and `judging` is what
        of all this went into judging.

        Who was forgotten on that day stays so: of theirs only the tokens are counted.
        """
        day = _day(moment)
        used = {"query_tokens": query_tokens, "response_tokens": response_tokens, "calls": calls}
        rows = [
            {"day": day, "scope": scope, "subject": subject, **used}
            for scope, subject in _subjects(user_id, course_id).items()
        ]
        if cached_tokens:
            kept = {"query_tokens": cached_tokens, "response_tokens": 0, "calls": 0}
            rows.append({"day": day, "scope": _CACHED, "subject": course_id, **kept})
        if judging is not None and judging.calls:
            part = {"query_tokens": judging.query, "response_tokens": judging.response}
            of_judge = {"scope": _JUDGING, "subject": course_id, "calls": judging.calls}
            rows.append({"day": day, **of_judge, **part})
        await write(self._engine, lambda db: db.execute(self._adding, rows).rowcount)

    async def used(self, day: date, until: date | None = None) -> list[Usage]:
        """Return what was used on a UTC day, or on each up to and including `until`.

        By day, and within a day the courses by id and then all together. Days and courses
        without a model call are left out.
        """
        row = TokenUsageRow
        query = select(row).where(row.day.between(day, until or day), row.scope != Scope.USER)
        async with reading(self._engine) as db:
            rows = (await db.scalars(query)).all()
        apart = {
            (r.scope, r.day, r.subject): Tokens(r.query_tokens, r.response_tokens, r.calls)
            for r in rows
            if r.scope in (_CACHED, _JUDGING)
        }
        usage = [_usage(row, apart) for row in rows if row.scope not in (_CACHED, _JUDGING)]
        return sorted(usage, key=lambda u: (u.day, u.course_id is None, u.course_id or ""))

    async def forget_user(self, user_id: str, moment: datetime | None = None) -> int:
        """Delete what is known of a user's use on the days before the moment's.

        The tokens of the day itself stay, or forgetting would be a way round the budget, and
        nothing else of that day: not how often the user asked. It is marked as forgotten; where
        anybody's tokens are counted that day, also if none of this user were yet: an answer
        under way may still use some. Courses and totals name no one. Return how many days there
        were before it.
        """
        row, day, own = TokenUsageRow, _day(moment), _of_user(user_id)
        counted = select(row.day).where(row.day == day, row.scope == Scope.TOTAL).exists()
        unused = select(
            literal(day, row.day.type),
            literal(Scope.USER.value, Text),
            literal(user_id, Text),
            literal(0),
            literal(0),
            literal(_FORGOTTEN),
        )
        columns = [
            row.day,
            row.scope,
            row.subject,
            row.query_tokens,
            row.response_tokens,
            row.calls,
        ]
        mark = insert_into(self._engine, row).from_select(columns, unused.where(counted))

        def forget(db: Connection) -> int:
            count = db.execute(delete(TokenUsageRow).where(own, TokenUsageRow.day < day)).rowcount
            db.execute(mark.on_conflict_do_nothing())
            db.execute(update(TokenUsageRow).where(own).values(calls=_FORGOTTEN))
            return count

        return await write(self._engine, forget)

    async def delete_user(self, user_id: str) -> None:
        """Delete all that is known of a user's use, as no one can ask by that name any more."""
        gone = delete(TokenUsageRow).where(_of_user(user_id))
        await write(self._engine, lambda db: db.execute(gone).rowcount)

    def rows_of(self, user_ids: Sequence[str], direct: Iterable[Channel]) -> Iterable[PersonRows]:
        """Return what a person used, by day."""
        return [PersonRows(TokenUsageRow, _of_users(user_ids))]

    def forget_workspace(self, db: Connection, workspace: ForgottenWorkspace) -> None:
        """Delete how much a workspace's people used."""
        for users in parts(workspace.people):
            db.execute(delete(TokenUsageRow).where(_of_users(users)))

    def expired(self, moment: datetime, kept_for: timedelta | None) -> Iterable[Work]:
        """Delete what users used, when it is old or they are forgotten; the sums name no one."""
        yield deleting(TokenUsageRow, _has_expired(moment))

    def _held(self, user_id: str, course_id: str, but: Reservation | None) -> Mapping[Scope, int]:
        """Return what is reserved of each budget of a call."""
        held = self._reservations.held
        return {
            Scope.USER: held(but, user_id=user_id),
            Scope.COURSE: held(but, course_id=course_id),
            Scope.TOTAL: held(but),
        }


def _day(moment: datetime | None) -> date:
    return (moment or now()).astimezone(UTC).date()


def _subjects(user_id: str, course_id: str) -> Mapping[Scope, str]:
    """Return whose counters a call moves.

    Always in this order, so that no two writers wait for each other, and the counter that
    all of them share is held for the shortest time.
    """
    return {Scope.USER: user_id, Scope.COURSE: course_id, Scope.TOTAL: _EVERYBODY}


def _has_expired(moment: datetime) -> ColumnElement[bool]:
    """Return the condition that a row tells of a user what is not kept any more.

    That is what was used more than 90 days before the moment's day, and on any day before it
    by those who were forgotten.
    """
    row, day = TokenUsageRow, _day(moment)
    forgotten = and_(row.day < day, row.calls == _FORGOTTEN)
    return and_(row.scope == Scope.USER, or_(row.day < day - _USERS_ARE_KEPT, forgotten))


def _of_user(user_id: str) -> ColumnElement[bool]:
    return _of_users([user_id])


def _of_users(user_ids: Sequence[str]) -> ColumnElement[bool]:
    return and_(TokenUsageRow.scope == Scope.USER.value, TokenUsageRow.subject.in_(user_ids))


def _adding(insert: "sqlite.Insert | postgresql.Insert") -> "sqlite.Insert | postgresql.Insert":
    """Return the insertion of rows that adds to those that are there already."""
    row, new = TokenUsageRow, insert.excluded
    forgotten = row.calls == _FORGOTTEN
    return insert.on_conflict_do_update(
        index_elements=[row.day, row.scope, row.subject],
        set_={
            "query_tokens": row.query_tokens + new.query_tokens,
            "response_tokens": row.response_tokens + new.response_tokens,
            "calls": case((forgotten, _FORGOTTEN), else_=row.calls + new.calls),
        },
    )


def _usage(row: TokenUsageRow, apart: Mapping[tuple[str, date, str], Tokens]) -> Usage:
    """Return a row as it is shown, with what was counted apart of it by scope, day and course."""

    def part(scope: str) -> Tokens:
        found = (
            tokens
            for (kind, day, course), tokens in apart.items()
            if kind == scope and day == row.day and row.subject in (course, _EVERYBODY)
        )
        return sum(found, Tokens())

    return Usage(
        day=row.day,
        course_id=row.subject if row.scope == Scope.COURSE else None,
        query_tokens=row.query_tokens,
        response_tokens=row.response_tokens,
        calls=row.calls,
        cached_tokens=part(_CACHED).query,
        judging=part(_JUDGING),
    )


_MILLION = 1_000_000


@dataclass(frozen=True, slots=True)
class Prices:
    """What a million tokens cost, in any one currency; None: not known."""

    input_price: float | None = None
    output_price: float | None = None
    of_models: Mapping[str, tuple[float, float]] = field(default_factory=dict)
    """Both prices of each model that has its own; they replace the two above."""
    of_services: Mapping[str, "Prices"] = field(default_factory=dict)
    """All prices of each service that has its own; they replace all of the above."""

    def cost(
        self, model: str, query_tokens: int, response_tokens: int, service: str = ""
    ) -> float | None:
        """Return what the tokens cost, or None unless both prices are known.

        Args:
            model: As it is named to its service.
            query_tokens: Read.
            response_tokens: Written, thinking included.
            service: The name of the table of models whose service was asked; empty: of none.
        """
        if service in self.of_services:
            return self.of_services[service].cost(model, query_tokens, response_tokens)
        query, response = self.of_models.get(model, (self.input_price, self.output_price))
        if query is None or response is None:
            return None
        return (query_tokens * query + response_tokens * response) / _MILLION

    def most(
        self, models: Iterable[tuple[str, str]], query_tokens: int, response_tokens: int
    ) -> float | None:
        """Return what the tokens cost at the dearest of the models that may have used them.

        None unless the prices of all of them are known. Each model stands after its service.
        """
        costs = [
            self.cost(model, query_tokens, response_tokens, service) for service, model in models
        ]
        known = [cost for cost in costs if cost is not None]
        return max(known) if known and len(known) == len(costs) else None
