"""The parts of Glossator that are installed only where they are wanted."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager

from core.errors import ConfigurationError

EXTRAS: Mapping[str, str] = {
    "gemini": "Gemini needs",
    "openai": "A model that speaks chat completions needs",
    "postgres": "A PostgreSQL database needs",
    "qdrant": "A Qdrant server needs",
    "office": "Word and PowerPoint files need",
}
"""What each is for, as its sentence begins."""


def how_to_add(extra: str) -> str:
    """Return the words that name an extra and the command that installs it."""
    return f"the extra '{extra}' of Glossator: run pip install 'glossator[{extra}]'"


@contextmanager
def needing(extra: str) -> Iterator[None]:
    """Say what to install when an import fails for want of a package.

    Raises:
        ConfigurationError: naming the extra.
    """
    try:
        yield
    except ModuleNotFoundError as error:
        raise ConfigurationError(f"{EXTRAS[extra]} {how_to_add(extra)}.") from error
