"""What was shown of each frozen reply, next to what was written."""

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from adapters.console import footnote_lines, whole_text
from core.answering.grounding.certain import Flaw
from core.answering.grounding.judge import MARK, FittedMark, JudgedClaim, fitted_mark
from core.answering.writers.base import Claim, ClaimKind
from core.domain import EXTRACTIVE, AgentResponse, Outcome
from core.domain.i18n import text
from core.domain.links import without_markers
from core.teaching.evaluation.report import auroc
from tests.bench.replies.frozen import CHANGES, Falsehood, Question
from tests.bench.shares import line

_HEDGES = (
    "notice-near",
    "notice-near-within",
    "notice-left-out",
    "notice-nothing-held",
    "notice-no-answer-read",
    "notice-cut-short",
    "notice-model-failed",
)
"""Besides `notice-partly-covered`, which a reply may ask for itself."""


NO_ITEM = "nothing that it belongs to is shown"
_ITEM = re.compile(r"\s*(?:[-*•]|\d+\.)\s+(?P<text>.*)")


@dataclass(frozen=True, slots=True)
class Fate:
    """What became of one claim."""

    question: Question
    claim: Claim
    is_shown: bool
    why: str = ""
    """Why it is not shown, as its writer is told."""
    likely: float | None = None
    """What the judge said; None: it was not asked, or gave no verdict."""
    is_unjudged: bool = False
    """Whether it was asked, and gave no verdict."""

    @property
    def score(self) -> float:
        """The probability with which it is shown: 0 where code took it out, 1 if nobody judged."""
        if self.likely is not None:
            return self.likely
        return 1.0 if self.is_shown else 0.0


@dataclass(frozen=True, slots=True)
class Replayed:
    """A frozen reply on its way: its claims, and the answer that a student sees."""

    question: Question
    fates: tuple[Fate, ...]
    response: AgentResponse
    refused: bool
    """Whether the reply says that nothing, or not all, is in the passages."""
    drafts: int
    """How often the writer was asked to write."""
    lacking: int
    """Sentences that the prompt does not have any more."""
    tokens: tuple[int, int]
    """Of writing and of judging."""

    @property
    def faults(self) -> list[str]:
        """What keeps the answer from being as good as it was written; empty: nothing does."""
        found = []
        if not all(fate.is_shown for fate in self.fates):
            found.append("not all is shown")
        elif not self._is_in_order:
            found.append("order or layout differ")
        if self.response.outcome is not self._wanted:
            found.append(f"its outcome is {self.response.outcome}")
        if self._hedges:
            found.append(f"it says “{self._hedges[0]}”")
        return found

    @property
    def shown(self) -> str:
        """All that stands on the screen."""
        parts = [whole_text(self.response), "\n".join(footnote_lines(self.response))]
        return "\n\n".join(part for part in (*parts, *self.response.notices) if part)

    @property
    def _wanted(self) -> Outcome:
        return Outcome.PARTIAL if self.refused else Outcome.ANSWERED

    @property
    def _hedges(self) -> list[str]:
        wanted = text("notice-partly-covered") if self.refused else None
        known = {text(name, count=1) for name in _HEDGES} | {text("notice-partly-covered")}
        known |= {text("notice-left-out", count=n) for n in range(2, len(self.fates) + 2)}
        return [one for one in self.response.notices if one in known and one != wanted]

    @property
    def _is_in_order(self) -> bool:
        """Whether the claims stand in the answer one after another, each item on its own line."""
        said, place = without_markers(self.response.response_text), 0
        lines = [_ITEM.match(one) for one in said.splitlines()]
        items = [letters(one["text"]) for one in lines if one is not None]
        for fate in self.fates:
            found = letters(said).find(letters(fate.claim.text), place)
            if found < 0:
                return False
            place = found + 1
            if (fate.claim.lead or "").strip():
                first = letters(fate.claim.text.split("\n")[0])
                if not any(one.startswith(first) for one in items):
                    return False
        fences = sum(fate.claim.text.count("```") for fate in self.fates)
        return said.count("```") == fences


def letters(said: str) -> str:
    """Return the letters and digits of a text: escapes, emphasis and blanks are no difference."""
    return "".join(filter(str.isalnum, said))


def fates_of(
    question: Question,
    claims: Sequence[Claim],
    response: AgentResponse,
    fallen: Sequence[str],
    asked: Sequence[tuple[JudgedClaim, float | None]],
) -> tuple[Fate, ...]:
    """Return what became of each claim.

    Args:
        fallen: Why claims were taken out, in the order of the draft.
        asked: What the judge was asked, and what it said.
    """
    said = letters(without_markers(response.response_text))
    is_written = response.model_name != EXTRACTIVE
    whys, found = list(fallen), []
    for claim in claims:
        own = letters(claim.text)
        is_shown = is_written and own in said
        judged = [likely for one, likely in asked if letters(one.text).endswith(own)]
        why = ""
        if not is_shown:
            is_led = claim.kind is ClaimKind.LEAD and whys[:1] != [str(Flaw.FORM)]
            why = NO_ITEM if is_led or not whys else whys.pop(0)
        likely = judged[0] if judged else None
        unjudged = bool(judged) and likely is None
        found.append(Fate(question, claim, is_shown, why, likely, unjudged))
    return tuple(found)


def report(found: Sequence[Replayed]) -> Iterator[str]:
    """Yield the figures of all replies, a line each."""
    facts = [f for one in found for f in one.fates if f.claim.kind is ClaimKind.FACT]
    leads = [f for one in found for f in one.fates if f.claim.kind is ClaimKind.LEAD]
    others = [
        f
        for one in found
        for f in one.fates
        if f.claim.kind not in (ClaimKind.FACT, ClaimKind.LEAD)
    ]
    dropped = [f for f in facts if not f.is_shown]
    firsts = [next(f for f in one.fates if f.claim.kind is not ClaimKind.LEAD) for one in found]
    yield line("shown as good as written", sum(not one.faults for one in found), len(found))
    yield line("true facts dropped", len(dropped), len(facts))
    for why, count in Counter(f.why for f in dropped).most_common():
        yield line(f"  {why[:40]}", count, len(facts))
    yield line("first claim lost", sum(not f.is_shown for f in firsts), len(firsts))
    yield line("lead-ins kept", sum(f.is_shown for f in leads), len(leads))
    yield line("examples, questions, talk kept", sum(f.is_shown for f in others), len(others))
    yield line("asked to write again", sum(one.drafts > 1 for one in found), len(found))
    lacking = sum(one.lacking for one in found)
    if lacking:
        yield f"sentences named that the prompts do not have any more: {lacking}"
    writing, judging = (sum(one.tokens[n] for one in found) / len(found) for n in (0, 1))
    yield f"tokens an answer: writing {writing:.0f}, judging {judging:.0f}"


def faults(found: Sequence[Replayed]) -> Iterator[str]:
    """Yield each reply that is not shown as it was written, and each claim that is not shown."""
    for one in found:
        if one.faults:
            yield f"{one.question.id} ({one.question.kind}): {'; '.join(one.faults)}"
        for fate in one.fates:
            if not fate.is_shown:
                odds = "" if fate.likely is None else f" (p = {fate.likely:.2f})"
                yield f"  {fate.claim.kind}: {fate.claim.text!r}: {fate.why}{odds}"


@dataclass
class Trial:
    """True and false claims of one book, with what they score."""

    book: str
    unjudged: int = 0
    """Claims that the judge has said nothing of, which count nowhere."""
    true: list[Fate] = field(default_factory=list)
    false: list[tuple[Falsehood, Fate]] = field(default_factory=list)

    def take(self, fate: Fate, made: Falsehood | None = None) -> None:
        """Take up a claim, and what it is a false version of, if it is one."""
        if fate.is_unjudged:
            self.unjudged += 1
        elif made is not None:
            self.false.append((made, fate))
        else:
            self.true.append(fate)

    def fitted(self) -> FittedMark:
        """Return the mark with the fewest mistakes on these."""
        scores = [f.score for f in self.true] + [f.score for _, f in self.false]
        truths = [True] * len(self.true) + [False] * len(self.false)
        return fitted_mark(scores, truths, MARK)


def trial_report(trials: Sequence[Trial], marks: Mapping[str, float], name: str) -> Iterator[str]:
    """Yield what passes and what is dropped, each book at its mark."""
    true = [(one.book, f) for one in trials for f in one.true]
    false = [(one.book, made, f) for one in trials for made, f in one.false]
    at = ", ".join(f"{book} {mark:.3f}" for book, mark in marks.items())
    yield f"{name} ({at}):"
    yield line("  true facts dropped", sum(f.score < marks[b] for b, f in true), len(true))
    passed = [made.change for b, made, f in false if f.score >= marks[b]]
    yield line("  falsehoods passed", len(passed), len(false))
    for change in CHANGES:
        count = sum(made.change == change for _, made, _ in false)
        yield line(f"    {change}", passed.count(change), count)


def passed(trials: Sequence[Trial], marks: Mapping[str, float]) -> Iterator[str]:
    """Yield each falsehood that passes."""
    for one in trials:
        for made, fate in one.false:
            if fate.score >= marks[one.book]:
                yield f"  passed: {made.id} {made.change}: {made.text!r} ({fate.score:.2f})"


def apart(trials: Sequence[Trial]) -> Iterator[str]:
    """Yield how well the scores tell true from false, and what code alone takes out."""
    true = [f for one in trials for f in one.true]
    false = [f for one in trials for _, f in one.false]
    scores = [f.score for f in (*true, *false)]
    truths = [True] * len(true) + [False] * len(false)
    if left := sum(one.unjudged for one in trials):
        yield f"claims without a verdict, which count nowhere: {left}"
    yield f"AUC of the scores, true over false: {auroc(scores, truths):.3f}"
    by_code = [f for f in false if f.likely is None and not f.is_shown]
    yield line("falsehoods that code takes out", len(by_code), len(false))
    judged = [
        (f.score, t) for f, t in zip((*true, *false), truths, strict=True) if f.likely is not None
    ]
    if len({t for _, t in judged}) == 2:
        yield f"AUC of the judge's own: {auroc([s for s, _ in judged], [t for _, t in judged]):.3f}"
