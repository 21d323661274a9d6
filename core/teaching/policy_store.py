"""The SQL side of policies: what staff set in chats, and how far hints have gone."""

import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from functools import cached_property
from typing import Any, Protocol
from uuid import UUID, uuid4

from sqlalchemy import JSON, Connection, ForeignKey, LargeBinary, Text, delete, func, select
from sqlalchemy.ext.asyncio import AsyncEngine
from sqlalchemy.orm import Mapped, mapped_column

from core.answering.context import AnswerContext, EarlyStage
from core.domain import AgentResponse, ConversationTurn, PolicyMode, now
from core.domain.errors import EmbeddingError, RequestError
from core.domain.i18n import Message
from core.providers.embeddings.base import Embedder
from core.retrieval.retrieval import Retrieval
from core.storage.database import Base, UtcDateTime, insert_into, reading, write
from core.storage.privacy import ForgottenWorkspace, Holder, Work, deleting, parts
from core.storage.sessions import SessionStore
from core.teaching.policy import AnswerPolicy, Assignment

MOST_POLICIES = 50
"""Policies that the staff of a tenant may set for a course."""
STEPS = 3
"""Hints to one question, before the last one is given again."""
_KNOWN_FOR = 2.0
"""Seconds for which what was read is taken to hold, though another process may change it."""


class PolicyRow(Base):
    """How questions are answered somewhere, as staff set it in a chat."""

    __tablename__ = "answer_policies"

    policy_id: Mapped[str] = mapped_column(Text, primary_key=True)
    course_id: Mapped[str] = mapped_column(
        ForeignKey("courses.course_id", ondelete="CASCADE"), index=True
    )
    platform: Mapped[str] = mapped_column(Text)
    workspace: Mapped[str] = mapped_column(Text)
    place: Mapped[str | None] = mapped_column(Text)
    section: Mapped[str | None] = mapped_column(Text)
    mode: Mapped[str] = mapped_column(Text)
    valid_from: Mapped[datetime | None] = mapped_column(UtcDateTime)
    valid_until: Mapped[datetime | None] = mapped_column(UtcDateTime)
    name: Mapped[str | None] = mapped_column(Text)
    text: Mapped[str | None] = mapped_column(Text)
    sections: Mapped[list[str]] = mapped_column(JSON)
    solution: Mapped[bytes | None] = mapped_column(LargeBinary)
    """Sealed with the encryption key."""
    set_at: Mapped[datetime] = mapped_column(UtcDateTime)


class HintStepRow(Base):
    """A hint that a person was given."""

    __tablename__ = "hint_steps"

    request_id: Mapped[UUID] = mapped_column(primary_key=True)
    user_id: Mapped[str] = mapped_column(Text, index=True)
    """A pseudonym."""
    course_id: Mapped[str] = mapped_column(Text)
    topic: Mapped[UUID]
    """The request that asked the same question first."""
    step: Mapped[int]
    taken_at: Mapped[datetime] = mapped_column(UtcDateTime, index=True)


class Sealing(Protocol):
    """Encrypts what is read by no one else, with this installation's key."""

    def seal(self, secret: str) -> bytes:
        """Return the secret encrypted and signed."""
        ...

    def unseal(self, sealed: bytes) -> str:
        """Return the secret; raises StoreError where the key is not known."""
        ...


@dataclass(frozen=True, slots=True)
class NewPolicy:
    """What staff set."""

    course_id: str
    platform: str
    workspace: str
    mode: PolicyMode
    place: str | None = None
    section: str | None = None
    valid_from: datetime | None = None
    valid_until: datetime | None = None
    name: str | None = None
    """Of an assignment."""
    text: str | None = None
    sections: tuple[str, ...] = ()
    solution: str | None = field(default=None, repr=False)


LanguageOf = Callable[[str], str]


def _english(course_id: str) -> str:
    return "en"


class PolicyStore(Holder):
    """What staff set in chats, by course; safe for any number of processes at once.

    What is changed here holds here at once; other processes follow within two seconds.
    Every method raises StoreError when the database fails.
    """

    TABLES = (PolicyRow,)

    def __init__(
        self, engine: AsyncEngine, sealing: Sealing, language_of: LanguageOf = _english
    ) -> None:
        """Read and write; `language_of` returns the language of a course's assignments."""
        self._engine = engine
        self._sealing = sealing
        self._language_of = language_of
        self._known = dict[str, tuple[float, tuple[AnswerPolicy, ...]]]()
        self._read = dict[str, AnswerPolicy]()
        """Policies that were unsealed once, by id: rows never change."""
        self._changes = 0

    async def of(self, course_id: str) -> tuple[AnswerPolicy, ...]:
        """Return what was set for a course, oldest first, what is over included."""
        until, policies = self._known.get(course_id, (0.0, ()))
        if time.monotonic() < until:
            return policies
        until, changes = time.monotonic() + _KNOWN_FOR, self._changes
        query = select(PolicyRow).where(PolicyRow.course_id == course_id)
        async with reading(self._engine) as db:
            rows = await db.scalars(query.order_by(PolicyRow.set_at, PolicyRow.policy_id))
            policies = tuple(map(self._policy, rows))
        if changes == self._changes:
            self._known[course_id] = until, policies
        return policies

    async def add(self, policy: NewPolicy) -> str:
        """Keep a policy, and return its id.

        Raises:
            RequestError: when so many are set that no more may be.
        """
        policy_id = uuid4().hex[:8]
        values = self._values(policy, policy_id)
        insert = insert_into(self._engine, PolicyRow).values(**values)
        row = PolicyRow
        here = (
            row.course_id == policy.course_id,
            row.platform == policy.platform,
            row.workspace == policy.workspace,
        )
        count = select(func.count()).select_from(row).where(*here)

        def added(db: Connection) -> None:
            if (db.scalar(count) or 0) >= MOST_POLICIES:
                raise RequestError(user_message=Message("policy-too-many", {"most": MOST_POLICIES}))
            db.execute(insert)

        await write(self._engine, added, urgent=True)
        self._changed(policy.course_id)
        return policy_id

    async def remove(self, course_id: str, tenant: str, policy_id: str) -> bool:
        """Delete a policy that a tenant's staff set, and return whether there was one."""
        platform, _, workspace = tenant.partition(":")
        row = PolicyRow
        its = (row.policy_id == policy_id, row.course_id == course_id)
        where = (*its, row.platform == platform, row.workspace == workspace)
        gone = delete(row).where(*where).returning(row.policy_id)
        found = await write(self._engine, lambda db: db.scalar(gone), urgent=True)
        self._changed(course_id)
        return found is not None

    def _changed(self, course_id: str) -> None:
        self._changes += 1
        self._known.pop(course_id, None)

    def _values(self, policy: NewPolicy, policy_id: str) -> dict[str, Any]:
        sealed = None if policy.solution is None else self._sealing.seal(policy.solution)
        return {
            "policy_id": policy_id,
            "course_id": policy.course_id,
            "platform": policy.platform,
            "workspace": policy.workspace,
            "place": policy.place,
            "section": policy.section,
            "mode": policy.mode.value,
            "valid_from": policy.valid_from,
            "valid_until": policy.valid_until,
            "name": policy.name,
            "text": policy.text,
            "sections": list(policy.sections),
            "solution": sealed,
            "set_at": now(),
        }

    def _policy(self, row: PolicyRow) -> AnswerPolicy:
        if (known := self._read.get(row.policy_id)) is None:
            self._read[row.policy_id] = known = AnswerPolicy(
                key=row.policy_id,
                course_id=row.course_id,
                mode=PolicyMode(row.mode),
                place=row.place,
                section=row.section,
                valid_from=row.valid_from,
                valid_until=row.valid_until,
                assignment=self._assignment(row),
                tenant=f"{row.platform}:{row.workspace}",
            )
        return known

    def _assignment(self, row: PolicyRow) -> Assignment | None:
        if row.name is None or row.text is None:
            return None
        solution = None
        if row.solution is not None:
            from core.teaching.policy import WithheldSolution  # it reads words

            language = self._language_of(row.course_id)
            solution = WithheldSolution(self._sealing.unseal(row.solution), row.text, language)
        return Assignment(row.name, row.text, tuple(row.sections), solution)


@dataclass(frozen=True, slots=True)
class HintStep:
    """A hint that a person was given."""

    request_id: UUID
    topic: UUID
    step: int


class HintSteps(Holder):
    """How far each person's hints have gone; every method raises StoreError."""

    TABLES = (HintStepRow,)

    def __init__(self, engine: AsyncEngine) -> None:
        self._engine = engine

    async def of_request(self, request_id: UUID) -> HintStep | None:
        """Return the hint that a request was given before, or None."""
        async with reading(self._engine) as db:
            row = await db.get(HintStepRow, request_id)
        return None if row is None else _step(row)

    async def latest(self, user_id: str, course_id: str, most: int = 10) -> Sequence[HintStep]:
        """Return the latest hints that a person was given, newest first."""
        row = HintStepRow
        query = select(row).where(row.user_id == user_id, row.course_id == course_id)
        async with reading(self._engine) as db:
            rows = await db.scalars(query.order_by(row.taken_at.desc()).limit(most))
            return [_step(one) for one in rows]

    async def take(
        self, request_id: UUID, user_id: str, course_id: str, before: HintStep | None
    ) -> HintStep:
        """Keep that a person gets the next hint to a question, and return it.

        A request that was given one before gets that one.

        Args:
            before: The latest hint to the same question; None: this is the first.
        """
        topic = request_id if before is None else before.topic
        step = 1 if before is None else min(before.step + 1, STEPS)
        insert = insert_into(self._engine, HintStepRow).values(
            request_id=request_id,
            user_id=user_id,
            course_id=course_id,
            topic=topic,
            step=step,
            taken_at=now(),
        )
        once = insert.on_conflict_do_nothing(index_elements=["request_id"])
        stored = select(HintStepRow.topic, HintStepRow.step)
        stored = stored.where(HintStepRow.request_id == request_id)

        def taken(db: Connection) -> HintStep:
            db.execute(once)
            return HintStep(request_id, *db.execute(stored).one())

        return await write(self._engine, taken, urgent=True)

    async def forget_user(self, user_id: str) -> int:
        """Delete a person's steps, and return how many there were."""
        gone = delete(HintStepRow).where(HintStepRow.user_id == user_id)
        deleted = gone.returning(HintStepRow.request_id)
        return await write(self._engine, lambda db: len(db.scalars(deleted).all()))

    def forget_workspace(self, db: Connection, workspace: ForgottenWorkspace) -> None:
        """Delete the steps of a workspace's people."""
        for users in parts(workspace.people):
            db.execute(delete(HintStepRow).where(HintStepRow.user_id.in_(users)))

    def expired(self, moment: datetime, kept_for: timedelta | None) -> Iterable[Work]:
        """Delete old steps."""
        if kept_for is not None:
            yield deleting(HintStepRow, HintStepRow.taken_at < moment - kept_for)


def _step(row: HintStepRow) -> HintStep:
    return HintStep(row.request_id, row.topic, row.step)


class PolicyGate:
    """Asks another stage where a course has policies; most have none, and wait for nothing."""

    def __init__(
        self,
        *,
        described: Callable[[str], Sequence[AnswerPolicy]],
        store: PolicyStore,
        build: Callable[[], EarlyStage],
    ) -> None:
        """Build nothing yet.

        Args:
            described: Returns what the operator's file says of a course.
            build: Returns the stage that answers by policies; called once, at its first use.
        """
        self._described = described
        self._store = store
        self._build = build

    async def run(self, context: AnswerContext) -> AgentResponse | None:
        """Return the answer that a policy allows; None: the question is answered in full."""
        course_id = context.request.course_id
        if not self._described(course_id) and not await self._store.of(course_id):
            return None
        return await self._stage.run(context)

    @cached_property
    def _stage(self) -> EarlyStage:
        return self._build()


SAME = 0.7
"""Cosine from which two questions of a person are taken for the same."""


class Steps:
    """Says which hint a person gets next."""

    def __init__(self, store: HintSteps, sessions: SessionStore, embedder: Embedder) -> None:
        """Compare questions by `embedder`, the built-in model."""
        self._store = store
        self._sessions = sessions
        self._embedder = embedder

    async def next(self, context: AnswerContext, retrieval: Retrieval) -> int:
        """Return the number of the hint, from 1; the same request gets the same again.

        Raises:
            StoreError: when the database fails.
        """
        request = context.request
        known = await self._store.of_request(request.request_id)
        if known is not None:
            return known.step
        latest = await self._store.latest(request.user_id, request.course_id)
        before = _in_conversation(latest, context.turns) if retrieval.leans else None
        before = before or await self._same(request.query_text, latest, context.turns)
        taken = await self._store.take(
            request.request_id, request.user_id, request.course_id, before
        )
        return taken.step

    async def _same(
        self, question: str, latest: Sequence[HintStep], turns: Sequence[ConversationTurn]
    ) -> HintStep | None:
        """Return the latest hint to the same question in other words, wherever it was asked."""
        asked = {turn.request_id: turn.user_input for turn in turns}
        texts = [await self._question(one.request_id, asked) for one in latest]
        pairs = [(one, said) for one, said in zip(latest, texts, strict=True) if said]
        if not pairs:
            return None
        try:
            vectors = await self._embedder.embed_queries([question, *(said for _, said in pairs)])
        except EmbeddingError:
            return pairs[0][0]
        alike = vectors[1:] @ vectors[0]
        return next((pair[0] for pair, a in zip(pairs, alike, strict=True) if a >= SAME), None)

    async def _question(self, request_id: UUID, asked: dict[UUID, str]) -> str:
        if request_id in asked:
            return asked[request_id]
        turn = await self._sessions.turn_of(request_id)
        return "" if turn is None else turn.user_input


def _in_conversation(
    latest: Sequence[HintStep], turns: Sequence[ConversationTurn]
) -> HintStep | None:
    """Return the latest hint that was given in a conversation."""
    here = {turn.request_id for turn in turns}
    return next((one for one in latest if one.request_id in here), None)
