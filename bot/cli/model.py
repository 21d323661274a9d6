"""`glossator model`: installs the offline embedding model."""

from pathlib import Path

from bot.cli.exits import BadInput, Exit
from bot.log import tell
from bot.providers.offline_model import install_folder, install_model
from bot.settings import load_settings


def install(source: Path | None) -> int:
    """Make the model ready to run in this environment, or else in the data folder.

    Raises:
        BadInput: when there is no such file.
        ConfigurationError: when it cannot be fetched, or is not the published one.
    """
    if source is not None and not source.exists():
        raise BadInput(f"There is no file {source}.")
    folder = install_folder(load_settings())
    install_model(folder, source, tell)
    print(f"The embedding model is ready in {folder}.")
    return Exit.OK
