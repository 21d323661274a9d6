"""What the commands work with: the stores, models and stages of one process."""

import asyncio
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any, TypeVar

from bot.course_file import CourseFile
from bot.embedders import Embedders, load_stand_ins, whole_words
from bot.keys import Keys, Sealer
from bot.model_tables import NO_JUDGE
from bot.models import Models, chosen_generator, configured_generator, prices
from bot.settings import Settings
from core.domain import EXTRACTIVE, AgentConfiguration, Chunk, Course
from core.domain.errors import ConfigurationError
from core.domain.telemetry import NO_METER, Meter
from core.index.base import VectorIndex
from core.index.terms import Bm25Encoder
from core.storage.catalogue import Catalogue, Origins

if TYPE_CHECKING:
    from sqlalchemy import Connection
    from sqlalchemy.ext.asyncio import AsyncEngine

    from bot.embedders import Marks
    from core.answering.agent import Agent
    from core.answering.grounding.judge import Judge
    from core.answering.pipeline import Pipeline
    from core.answering.writers.base import Generator
    from core.answering.writers.extractive import ExtractiveGenerator
    from core.ingestion.pipeline import Ingestion
    from core.providers.base import ChatEnd
    from core.providers.embeddings.base import OfflineEmbedder
    from core.retrieval.retriever import Retriever
    from core.storage.channels import ChannelRules
    from core.storage.privacy import Holder
    from core.storage.sessions import SessionStore
    from core.teaching.early_stages import VerifiedStage
    from core.teaching.policy import Assignment
    from core.teaching.policy_stage import PolicyStage
    from core.teaching.policy_store import PolicyGate, PolicyStore
    from core.teaching.radar import Radar


HANDBOOK = Course(course_id="handbook", title="Glossator's handbook")
"""The course that every installation has: how the bot itself is used."""
DEMO = Course(course_id="tides", title="Tides: a first course")
"""The course that `glossator demo` asks, in a data folder of its own."""
Result = TypeVar("Result")


@dataclass(frozen=True)
class Services:
    """What the commands work with; open between entering and leaving `open_services`.

    What answers is imported when it is first asked for: ingestion does without.
    """

    settings: Settings
    course_file: CourseFile
    engine: "AsyncEngine"
    catalogue: Catalogue
    index: VectorIndex
    embedders: Embedders
    models: Models
    keys: Keys

    @property
    def local(self) -> "OfflineEmbedder":
        """The offline embedding model."""
        return self.embedders.local

    @cached_property
    def origins(self) -> Origins:
        """How the places of sources are stored."""
        return Origins.of(self.settings.data_dir)

    @cached_property
    def marks(self) -> "Marks":
        """What `glossator calibrate` fitted."""
        from bot.embedders import Marks

        return Marks(self.settings.data_dir)

    @cached_property
    def sessions(self) -> "SessionStore":
        """The conversations."""
        from core.storage.sessions import SessionStore

        return SessionStore(self.engine)

    @cached_property
    def rules(self) -> "ChannelRules":
        """What staff set for channels."""
        from core.storage.channels import ChannelRules

        return ChannelRules(self.engine)

    @cached_property
    def holders(self) -> "Sequence[Holder]":
        """Every store that holds anything of people or workspaces; the inbox is the first."""
        return holders(self.engine, self.sessions, self.rules, self.policies)

    @cached_property
    def policies(self) -> "PolicyStore":
        """What staff set in chats of how questions are answered."""
        from core.teaching.policy_store import PolicyStore

        sealer = Sealer(self.keys.sealing)
        return PolicyStore(self.engine, sealer, self.course_file.language)

    @cached_property
    def radar(self) -> "Radar":
        """What may be shown of a course's weeks."""
        from core.teaching.radar import Radar
        from core.teaching.radar_store import RadarStore, WeekReader

        return Radar(
            store=RadarStore(self.engine),
            reader=WeekReader(self.engine),
            embedder=self.local,
            words=self._book_words,
            zone_of=self.course_file.zone,
            least_of=self.course_file.radar_least_askers,
        )

    async def _book_words(self, course_id: str) -> Callable[[str], bool]:
        """Return which words stand in a course's book, or say nothing by themselves."""
        try:
            edition = await self.retriever.opened(course_id)
        except ConfigurationError:  # it has no text any more
            return lambda word: False
        return lambda word: edition.terms.knows(edition.encoder.terms(word))

    @cached_property
    def retriever(self) -> "Retriever":
        """The one retriever: what it has read of the editions stays in its memory."""
        from core.retrieval.retriever import Retriever

        return Retriever(
            self.catalogue,
            self.index,
            self.embedders.named,
            is_word=whole_words(self.settings),
            scale_of=self.marks.scale,
        )

    @cached_property
    def extractive(self) -> "ExtractiveGenerator":
        """The writer that needs no network."""
        from core.answering.writers.extractive import ExtractiveGenerator

        return ExtractiveGenerator(embedder=self.local)

    def generator(self, name: str | None = None) -> "Generator":
        """Return the writer of answers that is asked for, or configured.

        Raises:
            ConfigurationError: when it is a model that there is not, or that has no key.
        """
        if self.settings.stand_ins is not None:
            return load_stand_ins(self.settings.stand_ins).open_generator()
        chosen = self.chosen_generator(name)
        if chosen == EXTRACTIVE and name is None:  # where it was not asked for, courses may differ
            chosen = next(iter(self._of_courses()), EXTRACTIVE)
        return self.extractive if chosen == EXTRACTIVE else self.models.generator(chosen)

    def chosen_generator(self, name: str | None = None) -> str:
        """Return who writes where a course says nothing; see the function of that name."""
        return chosen_generator(self.settings, self.models.tables, name)

    def _of_courses(self) -> list[str]:
        """Return the models that single courses have chosen as their writers."""
        named = map(self.course_file.generator, self.course_file.tables)
        return [name for name in named if name is not None and name in self.models.tables]

    def configuration(self, course_id: str, *, generator: str | None = None) -> AgentConfiguration:
        """Return how a course answers.

        A generator that is asked for wins over what the course says of its writer: the course's
        `model` is one of the configured service, and asked of no other.
        """
        configured = self.course_file.configuration(course_id)
        own = self.course_file.generator(course_id)
        if generator is not None:
            is_other = own is not None or configured.model_name == EXTRACTIVE
            is_other = is_other or generator != configured_generator(self.settings)
            named = None if is_other and generator != EXTRACTIVE else configured.model_name
        elif own is not None:
            named = own
        elif self.settings.stand_ins is None and self.chosen_generator() == EXTRACTIVE:
            named = EXTRACTIVE
        else:
            named = configured.model_name
        return configured.model_copy(update={"model_name": named})

    def agent(self, generator: str | None = None, meter: Meter = NO_METER) -> "Agent":
        """Return an agent over these services; its memory is that of all others.

        Raises:
            ConfigurationError: when a model is to write that there is not, or has no key.
        """
        from core.answering.agent import Agent
        from core.answering.context import Spending
        from core.answering.pipeline import Pipeline
        from core.storage.budgets import TokenBudgets, TokenLimits
        from core.teaching.early_stages import CourtesyStage

        budget = self.settings.budget
        limits = TokenLimits(budget.user_tokens, budget.course_tokens, budget.total_tokens)
        writing: dict[str, Any] = {
            "retriever": self.retriever,
            "generator": self.generator(generator),
            "fallback": self.extractive,
            "judge_of": partial(self._judge_of_answer, generator=generator),
            "request_tokens": budget.request_tokens,
            "times": self.models.times,
        }
        budgets = TokenBudgets(self.engine, limits=limits)
        costs = prices(self.models.tables)
        aside = Pipeline(**writing, spending=Spending(budgets, costs), stages=())
        return Agent(
            **writing,
            budgets=budgets,
            prices=costs,
            sessions=self.sessions,
            configuration=partial(self.configuration, generator=generator),
            meter=meter,
            stages=[CourtesyStage(self.local), policy_stage(self, aside), self.verified_stage],
        )

    @cached_property
    def verified_stage(self) -> "VerifiedStage":
        """What answers by the words of a course's staff."""
        from core.storage.access_store import AccessStore
        from core.teaching.early_stages import VerifiedStage
        from core.teaching.matching import Matcher
        from core.teaching.verified_store import VerifiedAnswers

        return VerifiedStage(
            answers=VerifiedAnswers(self.engine),
            matcher=Matcher(self.local),
            retriever=self.retriever,
            access=AccessStore(self.engine, frozenset({HANDBOOK.course_id})),
            judge_of=self.judge,
        )

    def judge(self, course_id: str, generator: str | None = None) -> "Judge | None":
        """Return the model that judges a course's answers; None: the course has none.

        It is the one that the course names, else the one that writes.

        Args:
            generator: Who is asked to write; None: who is configured.

        Raises:
            ConfigurationError: when the key of its model cannot be sent.
        """
        return self._judge_of_answer(
            course_id,
            self.configuration(course_id, generator=generator).model_name,
            generator=generator,
        )

    def _judge_of_answer(
        self, course_id: str, writer: str | None, *, generator: str | None
    ) -> "Judge | None":
        """Return the judge of an answer by the model `writer`; None: whoever writes by default."""
        tables, named = self.models.tables, None
        name = self.course_file.judge(course_id) or self.settings.judge
        if name is None:
            name = self.chosen_generator(generator)
            if name == EXTRACTIVE:
                name = next(iter(self._of_courses()), EXTRACTIVE)
            if writer == EXTRACTIVE or name == EXTRACTIVE or self.settings.stand_ins is not None:
                return None
            name, named = (writer, None) if writer in tables else (name, writer)
        if name is None or name == NO_JUDGE:
            return None
        fitted = self.marks.judge(course_id, named or self.models.table(name).model)
        own = self.course_file.judge_mark(course_id)
        return self.models.judge(name, named, mark=own, fitted=fitted)

    async def warm_up(self, generator: str | None = None) -> None:
        """Load what the first answer would wait for, a provider's SDK above all: about a second.

        Raises:
            ConfigurationError: when a model is missing, or has no key.
            EmbeddingError: when the offline model cannot be run.
        """
        await self.local.warm_up()
        chosen = self.chosen_generator(generator)
        judges = {self.settings.judge, *map(self.course_file.judge, self.course_file.tables)}
        judges &= self.models.tables.keys()
        for name in {*self._of_courses(), chosen, *judges} - {EXTRACTIVE}:
            await self.models.chat(str(name)).open(_rules())

    async def load_writer(self, course_id: str, generator: str | None = None) -> None:
        """Load what is needed to ask the model that writes a course's answers, before it is asked.

        The seconds that a slow machine needs for it are none of the model's then; whose answers
        no model writes waits for nothing.
        """
        name = generator or self.course_file.generator(course_id) or self.chosen_generator()
        writer = self.configuration(course_id, generator=generator).model_name
        if writer != EXTRACTIVE and name in self.models.tables:
            loading = (self.local.warm_up(), self.models.chat(name).load())
            await asyncio.gather(*loading, return_exceptions=True)  # what fails, the answer tells

    def ingestion(self, course_id: str) -> "Ingestion":
        """Return a new ingestion with the embedding model that is meant for the course.

        Raises:
            ConfigurationError: when that model is not available.
        """
        from bot.database import check_room
        from core.ingestion.changes import CourseChanges
        from core.ingestion.pipeline import Ingestion
        from core.ingestion.plan import ingest_lock
        from core.storage.ingest_accounts import IngestAccounts

        return Ingestion(
            catalogue=self.catalogue,
            accounts=IngestAccounts(self.engine, self.origins),
            changes=CourseChanges(self.engine, self.origins),
            index=self.index,
            embedder=self.embedders.of_course(course_id),
            sentence_embedder=self.local,
            encode_sparse=lambda language, texts: Bm25Encoder(language).passages(texts),
            lock=partial(ingest_lock, self.engine, self.settings.data_dir),
            check_room=partial(check_room, self.settings),
            settle=_settle,
            foreign_language=_foreign_language,
        )


def holders(
    engine: "AsyncEngine", sessions: "SessionStore", rules: "ChannelRules", policies: "PolicyStore"
) -> "Sequence[Holder]":
    """Return every store that holds anything of people or workspaces; the inbox is the first."""
    from core.storage.access_store import AccessStore, StaffStore
    from core.storage.budgets import TokenBudgets, TokenLimits
    from core.storage.channels import Conversations, Exchanges, Panels
    from core.storage.inbox.queries import InboxHoldings
    from core.storage.leases import RateLimitWindows
    from core.storage.sessions import Feedback
    from core.teaching.help_requests import HelpRequests
    from core.teaching.policy_store import HintSteps
    from core.teaching.queue_cards import QueueCards
    from core.teaching.radar_store import RadarStore
    from core.teaching.verified_store import VerifiedAnswers

    return (
        InboxHoldings(engine),
        sessions,
        Feedback(engine),
        HelpRequests(engine),
        VerifiedAnswers(engine),
        TokenBudgets(engine, limits=TokenLimits()),
        Exchanges(engine),
        HintSteps(engine),
        QueueCards(engine),
        RadarStore(engine),
        policies,
        rules,
        Conversations(engine),
        Panels(engine),
        StaffStore(engine),
        AccessStore(engine),
        RateLimitWindows(engine),
    )


def _rules() -> str:
    """Return the instructions that every question begins with, for a server that keeps them."""
    from core.answering.writers.base import GenerationTask
    from core.answering.writers.prompt import render_system

    return render_system(GenerationTask(question="", evidence=()))


def _foreign_language(texts: Sequence[str], language: str) -> str | None:
    from core.answering.grounding.citations import foreign_language  # only where something was read

    return foreign_language(texts, language)


def _settle(
    course_id: str,
    unchanged: Collection[str],
    changed: Mapping[str, Sequence[Chunk]],
    db: "Connection",
) -> int:
    from core.teaching.verified_store import settle  # only where something changed

    return settle(course_id, unchanged, changed, db)


def missing_text(course_id: str) -> str:
    """Return what to do when the index does not hold a course's text."""
    return (
        f"The index does not hold {course_id}: run 'glossator ingest' for the course {course_id} "
        "again, or restore the index and the database from one backup."
    )


_MOST_TITLES = 200
"""Headings that an embedding model is measured on."""


def policy_stage(opened: "Services", pipeline: "Pipeline") -> "PolicyGate":
    """Return the stage that looks for the policy that holds for a question.

    Args:
        pipeline: Lets a model write the hints, where there is one.
    """
    from core.teaching.policy_store import PolicyGate

    return PolicyGate(
        described=opened.course_file.policies_of,
        store=opened.policies,
        build=partial(_stage, opened, pipeline),
    )


def _stage(opened: "Services", pipeline: "Pipeline") -> "PolicyStage":
    from core.teaching.belonging import Belonging
    from core.teaching.book_hints import BookHints
    from core.teaching.policy_stage import PolicyStage
    from core.teaching.policy_store import HintSteps, Steps

    async def titles(course_id: str) -> Sequence[str]:
        edition = await opened.catalogue.live(course_id)
        if edition is None:
            return ()
        sections = await opened.catalogue.sections(edition.generation)
        return [section.title for section in sections][:_MOST_TITLES]

    async def judged(
        course_id: str, question: str, assignment: "Assignment", calls: "list[ChatEnd]"
    ) -> float | None:
        judge = opened.judge(course_id)
        if judge is None:
            return None
        return await judge.belongs_to(question, assignment.text, calls.append)

    return PolicyStage(
        described=opened.course_file.policies_of,
        store=opened.policies,
        steps=Steps(HintSteps(opened.engine), opened.sessions, opened.local),
        retriever=opened.retriever,
        belonging=Belonging(titles, judged),
        hints=BookHints(opened.local),
        embedder=opened.local,
        zone_of=opened.course_file.zone,
        write=pipeline.answer,
    )
