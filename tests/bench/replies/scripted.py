"""A writer that says a frozen reply, and judges that cost nothing or are asked once."""

import json
import math
import re
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from core.answering.grounding.judge import Judge, JudgedClaim, Report, Setting, Verdict
from core.answering.writers.base import Claim, DraftPart, GenerationTask, ModelCall
from core.answering.writers.prompt import Prompt, render_prompt
from core.answering.writers.reader import AnswerReader
from core.domain.errors import GenerationError
from core.domain.sentences import reckon_tokens
from core.providers.base import (
    ChatEnd,
    ChatMessage,
    ChatRequest,
    Finish,
    OutputForm,
    TimeLimit,
    ignore,
)
from tests.bench.judge.claims import digest
from tests.bench.replies.frozen import FrozenReply, Sentences, as_written

WRITER = "frozen"
_MARK = "0123456789abcdef"
_NUMBERED_CLAIM = re.compile(r"^Claim \d+ \(", re.MULTILINE)
_TOKENS_A_LINE = 4


@dataclass
class FrozenWriter:
    """Says what was written to a question, through the reader that reads every model's reply."""

    name: str = WRITER
    reply: FrozenReply | None = None
    """None: nothing is said; the prompt is kept."""
    only: int | None = None
    """The position of the one claim that is said; None: all."""
    instead: Mapping[int, str] = field(default_factory=dict)
    """What claims say instead, by position."""
    prompts: list[tuple[GenerationTask, Prompt]] = field(default_factory=list)
    claims: list[Claim] = field(default_factory=list)
    """What was said last, as it was read."""
    lacking: int = 0
    """Sentences named that the prompt does not have any more."""
    tokens: int = 0
    """Read and written for the last question, as they are reckoned."""

    def say(
        self,
        reply: FrozenReply | None,
        only: int | None = None,
        instead: Mapping[int, str] | None = None,
    ) -> None:
        """Take the next question for that of a reply."""
        self.reply, self.only, self.instead = reply, only, instead or {}
        self.prompts, self.claims, self.lacking, self.tokens = [], [], 0, 0

    async def generate(self, task: GenerationTask) -> AsyncGenerator[DraftPart, None]:
        """Yield the claims of the reply; asked to write again, it says the same.

        Raises:
            GenerationError: when there is no reply.
        """
        prompt = render_prompt(task, delimiter=_MARK)
        self.prompts.append((task, prompt))
        if self.reply is None:
            raise GenerationError("there is no reply to this prompt")
        sentences = Sentences(task, prompt.numbering)
        written, self.lacking = as_written(self.reply, sentences, self.only, self.instead)
        said = json.dumps(written, ensure_ascii=False)
        reader = AnswerReader(prompt.numbering)
        parts = [*reader.feed(said), *reader.close()]
        self.claims = [part for part in parts if isinstance(part, Claim)]
        for part in parts:
            yield part
        tokens = reckon_tokens(said)
        self.tokens += prompt.tokens + tokens
        task.report(ModelCall(self.name, prompt.tokens, tokens, prompt.context))


class Memory:
    """What a judge said before, and the tokens it took, by what it was asked.

    What is new is kept at once.
    """

    def __init__(self, file: Path | None) -> None:
        """Keep it in `file`; None: nowhere."""
        self._file = file
        rows = [] if file is None or not file.exists() else file.read_text("utf-8").splitlines()
        self._said = {key: (likely, tokens) for key, likely, tokens in map(json.loads, rows)}

    def of(self, key: str) -> tuple[list[float | None], int] | None:
        """Return the probabilities and the tokens of a call; None: it was never made."""
        return self._said.get(key)

    def keep(self, key: str, likely: list[float | None], tokens: int) -> None:
        """Keep what it said."""
        self._said[key] = likely, tokens
        if self._file is not None:
            with self._file.open("a", encoding="utf-8") as file:
                file.write(json.dumps([key, likely, tokens]) + "\n")


@dataclass(eq=False)
class RememberingJudge(Judge):
    """A judge that is asked each thing once, and tells what it was asked."""

    memory: Memory = field(default_factory=lambda: Memory(None), kw_only=True)
    judges_whole: bool = field(default=True, kw_only=True)
    is_asked: bool = field(default=True, kw_only=True)
    """False: what it did not say before stays without a verdict."""
    asked: list[tuple[JudgedClaim, float | None]] = field(default_factory=list, kw_only=True)
    """The claims of the last answer, with their probabilities."""
    tokens: int = field(default=0, kw_only=True)
    """That its calls for the last answer took, when they were made."""

    def begin(self) -> None:
        """Forget the last answer."""
        self.asked, self.tokens = [], 0

    async def judge(
        self,
        statements: Sequence[JudgedClaim],
        setting: Setting,
        report: Report = ignore,
        until: float = math.inf,
    ) -> list[float | None]:
        """Return what the judge says, or said before to the same call."""
        asking = partial(super().judge, statements, setting)
        said = [(one.text, one.sentences, one.headings, one.kind) for one in statements]
        about = [said, setting.question, setting.given, setting.before]
        likely = await self._once(about, asking, len(statements))
        self.asked += zip(statements, likely, strict=True)
        return likely

    async def answers(
        self, answer: str, setting: Setting, report: Report = ignore, until: float = math.inf
    ) -> Verdict | None:
        """Return what the judge says of a whole answer, or said before."""
        if not self.judges_whole:
            return None

        async def asking(report: Report) -> list[float | None]:
            verdict = await super(RememberingJudge, self).answers(answer, setting, report)
            return [None if verdict is None else verdict.probability]

        [likely] = await self._once([answer, setting.question], asking, 1)
        return None if likely is None else Verdict(likely, likely >= self.relevance_mark)

    async def _once(
        self, about: object, asking: Callable[[Report], Awaitable[list[float | None]]], number: int
    ) -> list[float | None]:
        key, used = digest(json.dumps(about, default=str)), list[int]()
        known = self.memory.of(key)
        if known is None and not self.is_asked:
            return [None] * number
        if known is None:
            found = await asking(lambda end: used.append(end.query_tokens + end.response_tokens))
            known = found, sum(used)
            if None not in found:
                self.memory.keep(key, *known)
        self.tokens += known[1]
        return known[0]


class YesModel:
    """A model that says yes to whatever a judge is asked, with the odds of it."""

    name = "yes"
    context: int | None = None
    is_free = True
    has_logprobs = True
    speed = None

    def form(self) -> OutputForm:
        """Return that any form is fine."""
        return OutputForm.SCHEMA

    async def reply(
        self,
        request: ChatRequest,
        deadline: TimeLimit,
        report: Callable[[ChatEnd], None] = ignore,
    ) -> AsyncGenerator[str | ChatEnd, None]:
        """Yield a yes for each claim."""
        asked = request.messages[-1].text
        count = max(len(_NUMBERED_CLAIM.findall(asked)), 1)
        end = ChatEnd(
            self.name,
            Finish.STOP,
            ChatMessage("assistant", "yes"),
            query_tokens=reckon_tokens(request.system) + reckon_tokens(asked),
            response_tokens=count if count == 1 else _TOKENS_A_LINE * count,
            logprobs=[{"yes": 0.0}] * count,
        )
        report(end)
        yield end

    async def check(self) -> None:
        """There is nothing that could fail."""

    async def aclose(self) -> None:
        """There is nothing to close."""
