"""`glossator run`: starts the chat platforms."""

from bot.settings import load_settings
from core.errors import ConfigurationError


def run() -> int:
    """Refuse plainly: this version answers at the terminal only."""
    load_settings()
    raise ConfigurationError(
        "This version has no chat platform to start yet; ask at the terminal with 'glossator chat'."
    )
