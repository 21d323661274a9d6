"""`glossator run`: starts the chat platforms."""

from pathlib import Path

from adapters.markdown.printable import on_one_line, printable
from bot.cli.exits import Exit
from bot.cli.init import ENV_FILE
from bot.log import configure_logging, tell
from bot.platforms.registry import PLATFORMS
from bot.settings import Settings, load_settings
from core.i18n import use_terms

_NOTHING_TO_RUN = """\
glossator: No chat platform is set up, so that there is nobody to answer.

What to do next, in {folder}:

  glossator init                    asks for a course, a platform and a model, and writes
                                    glossator.toml and .env
  glossator ingest                  reads the course's book
  glossator doctor                  says what is still missing
  glossator run                     answers in the chat

Found there: {found}.
A platform is set up by:
{platforms}

Without any of it: 'glossator ingest FOLDER', then 'glossator chat' answers at the terminal, and
'glossator demo' shows what answers look like."""


async def run() -> int:
    """Answer on the chat platforms until the process is asked to stop."""
    settings = load_settings()
    if not settings.platforms():
        tell(printable(_nothing_to_run(settings)), "ERROR")
        return Exit.CONFIGURATION
    from bot.process.runner import run_bot

    said = "log_level" in settings.model_fields_set
    level = settings.log_level if said else "INFO"
    configure_logging(level, settings.log_format, with_tracebacks=True)
    with use_terms(settings.commands.terms()):
        await run_bot(settings, tell)
    return Exit.OK


def _nothing_to_run(settings: Settings) -> str:
    """Return the screen for who has set up no platform yet."""
    found = [str(path) for path in (ENV_FILE, settings.config) if path.is_file()]
    return _NOTHING_TO_RUN.format(
        folder=on_one_line(str(Path.cwd())),
        found=" and ".join(found) or f"neither {ENV_FILE} nor {settings.config}",
        platforms="\n".join(f"  {one.set_up_by}" for one in PLATFORMS.values()),
    )
