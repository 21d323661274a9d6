"""`glossator db`: prepares the database, or checks it."""

from bot.cli.exits import Exit
from bot.database import SchemaState
from bot.database import check as check_schema
from bot.database import upgrade as upgrade_schema
from bot.settings import load_settings
from bot.wiring import make_data_dir
from core.database import create_engine, dispose
from core.errors import ConfigurationError


async def upgrade() -> int:
    """Bring the tables up to date."""
    settings = load_settings()
    make_data_dir(settings.data_dir)
    engine = create_engine(settings.database_url)
    try:
        await upgrade_schema(engine)
    finally:
        await dispose(engine)
    print("The database is up to date.")
    return Exit.OK


async def check() -> int:
    """Say whether the tables are up to date; exit code 78 when they are not.

    Raises:
        ConfigurationError: saying what to do.
    """
    settings = load_settings()
    make_data_dir(settings.data_dir)
    engine = create_engine(settings.database_url)
    try:
        state = await check_schema(engine)
    finally:
        await dispose(engine)
    if state is not SchemaState.CURRENT:
        raise ConfigurationError(WHAT_TO_DO[state])
    print("The database is up to date.")
    return Exit.OK


WHAT_TO_DO = {
    SchemaState.BEHIND: "The database is not up to date: run 'glossator db upgrade'.",
    SchemaState.AHEAD: (
        "The database was made by a newer version of Glossator: install that version."
    ),
    SchemaState.UNKNOWN: (
        "The database belongs to another application: set GLOSSATOR_DATABASE__URL to one of "
        "Glossator's own."
    ),
}
