"""What the page suggests to somebody who does not know what to ask."""

from dataclasses import dataclass

PASSAGE = (
    "Glossator builds the next edition aside and makes it live in a single step, so a reader sees "
    "the old edition or the new one, never a mixture."
)
"""Stands in the handbook's page about ingesting, word for word."""


NEWS = "New in the reading list:"
READING_TITLE = "Reading of the week"
READING = (
    "Glossator finds the evidence first, then writes from the evidence alone, and then checks "
    "every sentence against the words that it cites."
)
"""Stands in the handbook's page about grounding, word for word."""


@dataclass(frozen=True)
class Examples:
    """Questions to try, and what this is."""

    mention: str
    ask: str
    private: str
    about: str


def examples(platform: str, *, own_courses: bool) -> Examples:
    """Return what to try on a platform, of the handbook or of any course."""
    about = f"This is the real bot on a small {platform} of its own, on your machine."
    if own_courses:
        return Examples(
            mention="What is this course about?",
            ask="Where should I begin?",
            private="Which words do I have to know first?",
            about=f"{about} It answers from your courses, with your settings.",
        )
    return Examples(
        mention="What is an edition?",
        ask="Does Glossator need the internet?",
        private="What happens when the book does not contain the answer?",
        about=(
            f"{about} It answers from its handbook, and nothing that you write leaves the machine."
        ),
    )
