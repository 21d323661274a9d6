"""How questions about small documents are answered without a model.

`python -m tests.bench.small` asks the questions of `questions.jsonl`, each of the course that its
document is, and prints how many answers show what is asked, first or at all, and how they are
marked. Half of them are there to fit on, the other half is untouched. `--show` prints the answers.
"""

import asyncio
import json
import tempfile
from argparse import ArgumentParser, Namespace
from collections.abc import AsyncIterator, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from core.domain import AgentRequest, AgentResponse, Outcome
from core.domain.links import without_markers
from tests.bench.books import opened
from tests.bench.corpora import Corpus, ingest
from tests.bench.shares import line

FOLDER = Path(__file__).parent
QUESTIONS = FOLDER / "questions.jsonl"
SPLITS = ("fit", "untouched")


@dataclass(frozen=True, slots=True)
class Notice:
    """A question with its answer."""

    split: str
    question: str
    holds: Sequence[str]
    """What the answer shows, each with its alternatives between bars; empty: there is none."""
    response: AgentResponse

    @property
    def is_shown_first(self) -> bool:
        """Whether the sentence, row or item that stands first is the answer."""
        return self._holds(self.response.response_text.partition("[")[0])

    @property
    def is_shown(self) -> bool:
        """Whether the answer stands in what is shown."""
        return self._holds(without_markers(self.response.response_text))

    @property
    def is_refused(self) -> bool:
        """Whether nothing of the document is shown."""
        return self.response.outcome is Outcome.ABSTAINED

    @property
    def is_plain(self) -> bool:
        """Whether it is told without a remark."""
        return self.response.outcome is Outcome.ANSWERED

    def _holds(self, shown: str) -> bool:
        plain = shown.replace("*", "").replace("\\", "")
        found = (any(one in plain for one in words.split("|")) for words in self.holds)
        return bool(self.holds) and not self.is_refused and all(found)


async def told(data: Path) -> AsyncIterator[Notice]:
    """Yield all answers, in the order of the questions."""
    rows = [json.loads(one) for one in QUESTIONS.read_text("utf-8").splitlines()]
    async with opened(data) as services:
        await services.local.warm_up()
        for name in dict.fromkeys(row["course"] for row in rows):
            await ingest(services, Corpus(name, FOLDER / name, ()))
        agent = services.agent("extractive")
        for row in rows:
            asked = AgentRequest(
                course_id=row["course"], query_text=row["question"], user_id="bench"
            )
            _, response = await agent.rehearse(asked, [])
            yield Notice(row["split"], row["question"], row["holds"], response)


def report(answers: Sequence[Notice]) -> Iterator[str]:
    """Yield the figures of each split."""
    for split in SPLITS:
        own = [one for one in answers if one.split == split]
        known = [one for one in own if one.holds]
        unknown = [one for one in own if not one.holds]
        yield f"{split}: {len(known)} questions that the documents answer"
        yield line("  the answer is shown", sum(one.is_shown for one in known), len(known))
        yield line("  it stands first", sum(one.is_shown_first for one in known), len(known))
        hedged = sum(one.is_shown and not one.is_plain for one in known)
        yield line("  shown, but with a remark", hedged, len(known))
        wrong = sum(one.is_plain and not one.is_shown for one in known)
        yield line("  not shown, and plain", wrong, len(known))
        yield line("  refused", sum(one.is_refused for one in known), len(known))
        plain = sum(one.is_plain for one in unknown)
        yield line("  no answer there, and plain", plain, len(unknown))


def shown(answers: Sequence[Notice]) -> Iterator[str]:
    """Yield each question with its answer, for a reader."""
    for one in answers:
        figures = f"{one.response.confidence:.2f}, located {one.response.located:.2f}"
        found = "first" if one.is_shown_first else "shown" if one.is_shown else "NOT SHOWN"
        yield f"## {one.question} ({one.response.outcome}, {figures}; {found})"
        yield one.response.response_text
        yield from one.response.notices
        if one.response.nearest_sections:
            yield f"nearest: {'; '.join(one.response.nearest_sections)}"


async def main(options: Namespace) -> None:
    """Ask, and print the figures."""
    with tempfile.TemporaryDirectory(prefix="glossator-small-") as folder:
        answers = [one async for one in told(Path(folder))]
    if options.show:
        print("\n".join(shown([one for one in answers if one.split == options.show])))
    print("\n".join(report(answers)))


if __name__ == "__main__":
    parser = ArgumentParser(prog="python -m tests.bench.small", description=__doc__)
    parser.add_argument("--show", choices=SPLITS, help="print its answers, to read")
    asyncio.run(main(parser.parse_args()))
