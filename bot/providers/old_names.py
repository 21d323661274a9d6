"""The variables that named the one model of earlier versions; they go on working."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, SecretStr, model_validator

from bot.providers.tables import ModelTable, Price, Seconds, ServiceUrl, ThinkingLevel
from core.models import NonBlank
from core.storage.budgets.pricing import Prices

if TYPE_CHECKING:
    from bot.settings import Settings

OLD = "gemini"
"""The name of the model that they describe."""
OLD_PREFIX = "GLOSSATOR_GEMINI__"
FOREIGN_KEYS = ("GEMINI_API_KEY", "GOOGLE_API_KEY")
"""The names that other programs give to its key, in order of preference."""
HOW_TO_SET_A_KEY = f"set {OLD_PREFIX}API_KEY (or {' or '.join(FOREIGN_KEYS)})"
OLD_NAMES = (
    f"{OLD_PREFIX}* goes on working; the new names are GLOSSATOR_MODELS__{OLD.upper()}__*, or a "
    f"table [models.{OLD}] in glossator.toml"
)
"""What the log and the doctor say where they are set."""
_RETIRED = {"repair_model": "no sentence is written a second time"}
RETIRED: Mapping[str, str] = {
    f"{OLD_PREFIX}{name.upper()}": f"{why}; delete the line" for name, why in _RETIRED.items()
}
"""Variables of still earlier versions, and why there is nothing to set; each is reported once."""


class OldModelSettings(BaseModel):
    """How the model is reached, and what is asked of it."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    @model_validator(mode="before")
    @classmethod
    def _without_what_is_retired(cls, given: Mapping[str, Any]) -> dict[str, Any]:
        """Return the settings without those of earlier versions, which the start reports."""
        return {name: value for name, value in given.items() if name not in _RETIRED}

    api_key: SecretStr | None = None
    """Without it, one of the `FOREIGN_KEYS`; none at all: there is no such model."""
    base_url: ServiceUrl | None = None
    """None: the maker's own."""
    api_version: Literal["v1beta", "v1"] = "v1beta"
    model: NonBlank = "gemini-3.8-flash"
    stream: bool = True
    thinking_level: ThinkingLevel = "low"
    """`none`: not sent, for models that know no such level."""
    first_token_timeout: Seconds | None = None
    """How long the first words may take; None: three quarters of the first sentence's time."""
    silence_timeout: Seconds | None = None
    """How long a stream may pause; None: three eighths of the first sentence's time."""
    input_price: Price | None = None
    """Of a million tokens read, in any currency; None: costs are not estimated."""
    output_price: Price | None = None
    """Of a million tokens written, thinking included."""
    prices: Mapping[NonBlank, tuple[Price, Price]] = Field(default_factory=dict)
    """Both prices of each model that has its own, which replace the two above."""
    embedding_model: NonBlank = "gemini-embedding-2"
    embedding_dimensions: Annotated[int, Field(ge=128, le=3_072)] = 768


def old_table(settings: "Settings") -> ModelTable:
    """Return the model that the variables describe."""
    old = settings.gemini
    return ModelTable(
        kind="gemini",
        model=old.model,
        base_url=old.base_url,
        api_key=old.api_key,
        api_version=old.api_version,
        stream=old.stream,
        thinking=old.thinking_level,
        first_token_timeout=old.first_token_timeout,
        silence_timeout=old.silence_timeout,
        input_price=old.input_price,
        output_price=old.output_price,
    )


def old_key(settings: "Settings") -> SecretStr | None:
    """Return the key that they, or other programs, give; None: there is none."""
    return settings.gemini.api_key


def old_embedding(settings: "Settings") -> tuple[str, int]:
    """Return the embedding model, and the length of its vectors."""
    return settings.gemini.embedding_model, settings.gemini.embedding_dimensions


def old_prices(settings: "Settings") -> Prices:
    """Return the prices that they set."""
    old = settings.gemini
    return Prices(old.input_price, old.output_price, old.prices)


def with_foreign_key(settings: "Settings", key: str) -> "Settings":
    """Return the settings with the key of another program."""
    own = settings.gemini.model_copy(update={"api_key": SecretStr(key)})
    own.model_fields_set.discard("api_key")  # no variable of Glossator's names it
    return settings.model_copy(update={"gemini": own})


def is_of_old_names(settings: "Settings", name: str) -> bool:
    """Return whether a model is described by these variables alone."""
    return name == OLD and not settings.describes(OLD)
