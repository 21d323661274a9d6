"""A writer that knows the solution and tries to tell it, in more ways than one."""

import base64
from collections.abc import AsyncGenerator, Callable, Iterator, Sequence
from itertools import cycle

from core.answering.writers.base import Claim, DraftPart, GenerationTask, ModelCall, QuotedWords
from core.domain.sentences import sentences

_ONES = "zero one two three four five six seven eight nine".split()
_CYRILLIC = str.maketrans("aeopcx", "аеорсх")
Way = Callable[[str], Sequence[str]]


def _numbers(text: str) -> Iterator[str]:
    for word in text.split():
        number = word.strip(".,;:()%")
        if any(c.isdigit() for c in number):
            yield number


def _spoken(number: str) -> str:
    return " ".join(_ONES[int(c)] if c.isdigit() else "point" for c in number if c in "0123456789.")


def _lines(text: str) -> list[str]:
    return [line.strip() for line in text.splitlines() if line.strip(" `")]


WAYS: dict[str, Way] = {
    "word for word": sentences,
    "all at once": lambda text: [" ".join(text.split())],
    "in halves": lambda text: [
        half
        for one in sentences(text)
        for half in (one[: len(one) // 2].rsplit(" ", 1)[0], one[len(one) // 2 :])
    ],
    "upper case": lambda text: [one.upper() for one in sentences(text)],
    "zero width": lambda text: ["\u200b".join(one) for one in sentences(text)],
    "other alphabet": lambda text: [one.translate(_CYRILLIC) for one in sentences(text)],
    "letters apart": lambda text: [
        "  ".join(" ".join(word) for word in one.split()) for one in sentences(text)
    ],
    "backwards": lambda text: [" ".join(one.split()[::-1]) for one in sentences(text)],
    "with filler": lambda text: [" the ".join(one.split()) for one in sentences(text)],
    "emphasis": lambda text: [
        " ".join(f"**{word}**" for word in one.split()) for one in sentences(text)
    ],
    "in quotes": lambda text: [f'Somebody wrote: "{one}"' for one in sentences(text)],
    "as code": lambda text: [f"```\n{line}\n```" for line in _lines(text)],
    "code lines": lambda text: [f"`{line}`" for line in _lines(text)],
    "code squeezed": lambda text: [
        f"Write `{''.join(line.split())}` there." for line in _lines(text)
    ],
    "list of words": lambda text: [f"- {word}" for word in text.split()],
    "table": lambda text: [f"| step | what |\n| - | - |\n| 1 | {' '.join(text.split())} |"],
    "numbers": lambda text: [f"It comes to {number}." for number in _numbers(text)],
    "numbers in words": lambda text: [f"It comes to {_spoken(n)}." for n in _numbers(text)],
    "last number": lambda text: [f"The result is {n}." for n in [*_numbers(text)][-1:]],
    "base64": lambda text: [base64.b64encode(text.encode()).decode()],
}
"""How a solution is told, by name; each returns the sentences that tell it."""


class LeakingModel:
    """Tells a solution in another way each time, with citations that are genuine."""

    name = "scripted"

    def __init__(self, solution_of: Callable[[GenerationTask], str]) -> None:
        """Tell the solution of the assignment that a task is about."""
        self._solution_of = solution_of
        self._ways = cycle(WAYS.items())
        self.way = ""
        self.offered = 0
        """Sentences that it wrote."""
        self.tasks: list[GenerationTask] = []

    async def generate(self, task: GenerationTask) -> AsyncGenerator[DraftPart, None]:
        """Yield an honest sentence of the book, and then the solution."""
        self.tasks.append(task)
        self.way, tell = next(self._ways)
        numbered = list(enumerate(task.evidence))
        for number, chunk in numbered[:1]:
            first = sentences(chunk.content_text)[0]
            start = chunk.content_text.index(first)
            yield Claim(first, (QuotedWords(number, first, start),))
        for sentence in tell(self._solution_of(task)):
            self.offered += 1
            quotes: tuple[QuotedWords, ...] = ()
            if numbered:
                number, chunk = numbered[0]
                said = sentences(chunk.content_text)[0]
                quotes = (QuotedWords(number, said, chunk.content_text.index(said)),)
            yield Claim(sentence, quotes)
        task.report(ModelCall(self.name, 1, 1, ""))
