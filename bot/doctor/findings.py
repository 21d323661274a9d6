"""What `glossator doctor` finds: a subject, a sentence, and how bad it is."""

from dataclasses import dataclass

from adapters.markdown.printable import on_one_line
from bot.cli.exits import Exit, exit_code, sentence_for
from core.errors import (
    BotError,
    ConfigurationError,
    EmbeddingError,
    GenerationError,
    ServiceError,
)


@dataclass(frozen=True, slots=True)
class Finding:
    """One line of the doctor's."""

    subject: str
    text: str
    exit_code: Exit = Exit.OK
    is_warning: bool = False
    """Whether it works, and yet something is to be done about it."""

    @property
    def line(self) -> str:
        """What is printed."""
        mark = "FAIL" if self.exit_code is not Exit.OK else "WARN" if self.is_warning else "ok  "
        return on_one_line(f"{mark}  {self.subject:<9} {self.text}")


def warning(subject: str, text: str) -> Finding:
    """Return what should be looked after, though nothing fails."""
    return Finding(subject, text, is_warning=True)


def failed(subject: str, error: BotError) -> Finding:
    """Return what does not work; of a model, what it said itself and what to look at."""
    is_passing = isinstance(error, ServiceError)
    of_model = isinstance(error, GenerationError | EmbeddingError)
    text = str(error) if of_model else sentence_for(error)
    return Finding(subject, text, exit_code(error) if is_passing else Exit.CONFIGURATION)


def misconfigured(subject: str, text: str) -> Finding:
    """Return what cannot work before the operator has changed something."""
    return failed(subject, ConfigurationError(text))
