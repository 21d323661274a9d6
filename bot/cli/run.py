"""`glossator run`: starts the chat platforms."""

from bot.cli.exits import Exit
from bot.log import configure_logging, tell
from bot.settings import load_settings
from core.i18n import use_terms


async def run() -> int:
    """Answer on the chat platforms until the process is asked to stop."""
    from bot.process.runner import run_bot

    settings = load_settings()
    said = "log_level" in settings.model_fields_set
    level = settings.log_level if said else "INFO"
    configure_logging(level, settings.log_format, with_tracebacks=True)
    with use_terms(settings.commands.terms()):
        await run_bot(settings, tell)
    return Exit.OK
