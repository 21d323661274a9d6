"""`glossator db`: prepares the database, checks it, or lets go of a lost key."""

from bot.cli.exits import Exit, UsageError
from bot.database import WHAT_TO_DO, SchemaState, make_current
from bot.database import check as check_schema
from bot.database import upgrade as upgrade_schema
from bot.keyring.keys import NAMES
from bot.settings import load_settings
from bot.wiring import make_data_dir
from core.errors import ConfigurationError
from core.storage.database import create_engine, dispose
from core.storage.key_ids import KeyIds


async def upgrade() -> int:
    """Bring the tables up to date."""
    settings = load_settings()
    make_data_dir(settings)
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
    make_data_dir(settings)
    engine = create_engine(settings.database_url)
    try:
        state = await check_schema(engine)
    finally:
        await dispose(engine)
    if state is not SchemaState.CURRENT:
        raise ConfigurationError(WHAT_TO_DO[state])
    print("The database is up to date.")
    return Exit.OK


async def forget_key(name: str) -> int:
    """Forget which key the database was used with.

    Raises:
        UsageError: when there is no such kind of key.
    """
    if name not in NAMES:
        raise UsageError(f"There is no key called {name}; there is: {', '.join(NAMES)}.")
    engine = create_engine(load_settings().database_url)
    try:
        await make_current(engine)
        was_noted = await KeyIds(engine).forget(name)
    finally:
        await dispose(engine)
    print(f"Forgotten: {name}." if was_noted else "There was nothing to forget.")
    return Exit.OK
