"""The parts of Glossator that are installed only where they are wanted."""

from collections.abc import Mapping
from importlib.util import find_spec

from core.errors import ConfigurationError

EXTRAS: Mapping[str, tuple[str, str]] = {
    "gemini": ("google.genai", "Gemini needs"),
    "openai": ("openai", "A model that speaks chat completions needs"),
    "postgres": ("asyncpg", "A PostgreSQL database needs"),
    "qdrant": ("qdrant_client", "A Qdrant server needs"),
    "ocr": ("pypdfium2", "Scanned pages need"),
    "office": ("docx", "Word and PowerPoint files need"),
}
"""A package that each brings, and what it is for, as its sentence begins."""


def is_installed(extra: str) -> bool:
    """Return whether an extra's packages are there."""
    package, _ = EXTRAS[extra]
    try:
        return find_spec(package) is not None
    except ModuleNotFoundError:  # the package that it lies in
        return False


def how_to_add(extra: str) -> str:
    """Return the words that name an extra and the command that installs it."""
    return f"the extra '{extra}' of Glossator: run pip install 'glossator[{extra}]'"


def require(extra: str) -> None:
    """Check that an extra's packages are there.

    Raises:
        ConfigurationError: naming the extra, and how to install it.
    """
    if not is_installed(extra):
        _, needs = EXTRAS[extra]
        raise ConfigurationError(f"{needs} {how_to_add(extra)}.")
