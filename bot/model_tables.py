"""The language and embedding models that there are: `[models.NAME]`, variables, or a key alone."""

import difflib
from collections.abc import Collection, Mapping
from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    SecretStr,
    TypeAdapter,
    ValidationError,
    model_validator,
)

from core.domain import EXTRACTIVE, NonBlank, WebUrl
from core.domain.errors import ConfigurationError
from core.domain.telemetry import check_url
from core.providers.capabilities import SettingNames
from core.providers.services import PROVIDERS, Provider

if TYPE_CHECKING:
    from bot.settings import Settings

LOCAL = "local"
"""The embedding model of this machine, and no table's name."""
NO_JUDGE = "none"
"""Says that no model judges claims, and is no table's name."""
GEMINI = "gemini"
"""The model that writes where a key of Google's is set and nothing else."""
GEMINI_EMBEDDING = "gemini_embedding"
"""The model that embeds with such a key, where a course asks for it."""
FOREIGN_KEYS = ("GEMINI_API_KEY", "GOOGLE_API_KEY")
"""The names that other programs give to such a key, in order of preference."""
KEY_SETTING = "GLOSSATOR_MODELS__GEMINI__API_KEY"
HOW_TO_SET_A_KEY = f"set {KEY_SETTING} (or {' or '.join(FOREIGN_KEYS)})"
_NOT_SENT = "none"


def _none_if_not_sent(value: object) -> object:
    return None if value in ("", _NOT_SENT) else value


def _not_taken(name: str) -> str:
    if name in (EXTRACTIVE, LOCAL, NO_JUDGE):
        raise ValueError(f"{name} already means what works without any provider")
    return name


def _known_kind(written: object) -> object:
    """Return a kind as the table has it, or say which there are and which one speaks to all."""
    kind = written.lower() if isinstance(written, str) else written
    if kind not in PROVIDERS:
        *own, any_other = PROVIDERS
        raise ValueError(
            f"must be {', '.join(map(repr, own))}, or {any_other!r} for every service that speaks "
            "chat completions, with its address as base_url"
        )
    return kind


Seconds = Annotated[float, Field(gt=0.0, allow_inf_nan=False)]
Probability = Annotated[float, Field(ge=0.0, le=1.0)]
Price = Annotated[float, Field(ge=0.0, allow_inf_nan=False)]
ServiceUrl = Annotated[WebUrl, AfterValidator(check_url)]
"""Of what is connected to, unlike that of a link."""
ThinkingLevel = Annotated[
    Literal["minimal", "low", "medium", "high"] | None, BeforeValidator(_none_if_not_sent)
]
ModelName = Annotated[
    str, Field(pattern=r"^[a-z][a-z0-9]*(_[a-z0-9]+)*$", max_length=32), AfterValidator(_not_taken)
]
_MODEL_NAME: TypeAdapter[str] = TypeAdapter(ModelName)


class ModelTable(BaseModel):
    """A `[models.NAME]` table: one model of one provider, and how it is reached."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    kind: Annotated[str, BeforeValidator(_known_kind)]
    """Also written `ollama`: an `openai` service at its usual address, or at its `base_url`."""
    model: NonBlank
    """As the service calls it."""
    base_url: ServiceUrl | None = None
    """Of an `openai` service up to `/v1`; None: the maker's own."""
    api_key: SecretStr | None = None
    """None: none is sent, or to Google's API that of the model `gemini`."""
    api_version: Literal["v1beta", "v1"] = "v1beta"
    """Of Google's API."""
    project: NonBlank | None = None
    """`vertex` only: the project of Google Cloud."""
    location: NonBlank | None = None
    """`vertex` only: the region, such as `europe-west4`."""
    stream: bool = True
    thinking: ThinkingLevel = None
    """How much it thinks; None: not sent."""
    context: Annotated[int, Field(ge=1_024)] | None = None
    """Tokens that it reads and writes at most in one call; None: no limit is kept."""
    concurrency: Annotated[int, Field(ge=1)] | None = None
    """Calls at the same time; None: any number."""
    first_token_timeout: Seconds | None = None
    silence_timeout: Seconds | None = None
    judge_wait: Seconds | None = None
    """How long a call of it may take when it judges; None: 6 s."""
    judge_mark: Probability | None = None
    """From which probability a claim holds, of a model that judges; None: 0.5."""
    relevance_mark: Probability | None = None
    """From which probability an answer answers its question; None: 0.5."""
    input_price: Price | None = None
    """Of a million tokens read, in any currency."""
    output_price: Price | None = None
    dimensions: Annotated[int, Field(ge=64, le=4_096)] | None = None
    """Length of the vectors, of a model that embeds."""

    @property
    def provider(self) -> Provider:
        """The entry of its kind."""
        return PROVIDERS[self.kind]

    @model_validator(mode="before")
    @classmethod
    def _take_for_what_it_speaks(cls, written: Any) -> Any:
        kind = str(written.get("kind")).lower() if isinstance(written, dict) else ""
        return PROVIDERS[kind].rewritten(written) if kind in PROVIDERS else written


BY_KEY: Mapping[str, ModelTable] = {
    GEMINI: ModelTable(kind="gemini", model="gemini-3.8-flash", thinking="low"),
    GEMINI_EMBEDDING: ModelTable(kind="gemini", model="gemini-embedding-2", dimensions=768),
}
"""What a key of Google's alone sets up; tables and variables change or replace them."""


def read_tables(
    settings: "Settings", described: Mapping[str, ModelTable]
) -> Mapping[str, ModelTable]:
    """Return every model by its name: variables win over the file, and both over `BY_KEY`.

    Raises:
        ConfigurationError: naming what is wrong with a model, or missing.
    """
    key = settings.google_key
    tables = {} if key is None else dict(BY_KEY)
    tables |= described
    for variable, variables in settings.models.items():
        name = _named_by(variable)
        written = {field.lower(): value.get_secret_value() for field, value in variables.items()}
        tables[name] = _joined(name, tables.get(name, BY_KEY.get(name)), written)
    return {name: _complete(name, table, key) for name, table in tables.items()}


def check_named(
    name: str, tables: Collection[str], place: str, *others: str, how: str = ""
) -> None:
    """Make sure that a name is a model's, or one of `others`.

    Raises:
        ConfigurationError: naming the place, and what there is.
    """
    known = [*others, *sorted(tables)]
    if name in known:
        return
    near = difflib.get_close_matches(name, known, 1)
    hint = f"did you mean {near[0]}?" if near else f"there is: {', '.join(known)}."
    raise ConfigurationError(f"{place} names {name!r}, and there is no such model; {hint}{how}")


def names_of(name: str, table: ModelTable) -> SettingNames:
    """Return how the operator knows the settings of a model."""
    return table.provider.names(f"models.{name}", f"GLOSSATOR_MODELS__{name.upper()}")


def _named_by(variable: str) -> str:
    """Return the model whose name stands in variables."""
    try:
        return _MODEL_NAME.validate_python(variable.lower())
    except ValidationError as error:
        problem = error.errors(include_url=False, include_input=False)[0]
        message = (
            "a model's name is lower-case letters and digits in words with _ between them, "
            "at most 32, and a letter first"
            if problem["type"].startswith("string_")
            else problem["msg"].removeprefix("Value error, ")
        )
        place = f"GLOSSATOR_MODELS__{variable.upper()}__…"
        raise ConfigurationError(f"{place} cannot be set: {message}.") from error


def _joined(name: str, known: ModelTable | None, written: Mapping[str, str]) -> ModelTable:
    fields = {} if known is None else known.model_dump(exclude_unset=True)
    try:
        return ModelTable.model_validate({**fields, **written})
    except ValidationError as error:
        problem = error.errors(include_url=False, include_input=False)[0]
        key = str(problem["loc"][0])
        place = f"GLOSSATOR_MODELS__{name.upper()}__{key.upper()}"
        if key not in written:
            place = f"models.{name}.{key} ({place})"
        message = problem["msg"].removeprefix("Value error, ")
        raise ConfigurationError(f"{place} is not valid: {message}.") from error


def _complete(name: str, table: ModelTable, key: SecretStr | None) -> ModelTable:
    """Return a table that can be used, with the key of `gemini` where it needs one."""
    place, provider = f"models.{name}", table.provider
    if not all(getattr(table, field) for field in provider.required):
        missing = " and ".join(f"{place}.{field}" for field in provider.required)
        raise ConfigurationError(f"{place} is of the kind {provider.kind}: set {missing}.")
    if provider.shares_key and table.api_key is None:
        table = table.model_copy(update={"api_key": key})
    if provider.needs_key(table.base_url) and table.api_key is None:
        more = f", or {place}.{provider.instead_of_key}" if provider.instead_of_key else ""
        raise ConfigurationError(
            f"{place} needs a key: set GLOSSATOR_MODELS__{name.upper()}__API_KEY{more}."
        )
    return table


def usable_key(name: str, table: ModelTable, how: str) -> str | None:
    """Return the key of a model as it is sent, or none where none is.

    Args:
        name: Of the model.
        table: The model's.
        how: Which variable holds the key.

    Raises:
        ConfigurationError: when it cannot be sent.
    """
    if table.api_key is None:
        return None
    key = table.api_key.get_secret_value().strip()
    if not key or not key.isascii() or not key.isprintable():
        raise ConfigurationError(f"The key of {name} has characters that no key has: {how} again.")
    return key
