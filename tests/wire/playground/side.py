"""What a platform offers to the playground, whatever it is."""

from collections.abc import Awaitable, Callable, Mapping
from typing import Any, Protocol, TypeVar

from pydantic import BaseModel, ConfigDict, ValidationError

Json = dict[str, Any]
View = tuple[str, Json | None]
"""The name of an event of the page, and its data."""
Action = Callable[[Json], Awaitable[Json]]

Picture = tuple[bytes, str]
"""The bytes of a picture and its media type."""

NO_RESPONSE = "The bot did not respond within three seconds."


class Refused(Exception):
    """A request that cannot be fulfilled; the text is for the person at the page."""


class Side(Protocol):
    """One platform: its people, what each of them sees, and what they do."""

    def people(self) -> list[Json]:
        """Return whom the page can act as."""

    def snapshot(self, person_id: str) -> Json:
        """Return everything that a person sees now; raises Refused for a stranger."""

    def follow(self, person_id: str, tell: Callable[[View], None]) -> Callable[[], None]:
        """Tell whatever changes for a person; return what ends that."""

    async def do(self, action: str, body: Any) -> Json:
        """Do what is asked for and return what the page needs to know.

        Raises:
            Refused: saying why it cannot be done.
        """

    def picture(self, file_id: str) -> Picture | None:
        """Return an attached picture."""


class Request(BaseModel):
    """Something that a person does; checked before anything is done."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)

    user: str


R = TypeVar("R", bound=BaseModel)


def checked(model: type[R], action: Callable[[R], Awaitable[Json]]) -> Action:
    """Return an action that takes what the page sent."""

    async def run(body: Json) -> Json:
        return await action(model.model_validate(body))

    return run


async def perform(actions: Mapping[str, Action], name: str, body: Any) -> Json:
    """Do one of the actions.

    Raises:
        Refused: There is none, or the body is not what it takes.
    """
    if name not in actions or not isinstance(body, dict):
        raise Refused("There is no such action.")
    try:
        return await actions[name](body)
    except ValidationError as error:
        raise Refused(_first_problem(error)) from error
    except (LookupError, ValueError) as error:
        raise Refused(str(error)) from error


def _first_problem(error: ValidationError) -> str:
    problem = error.errors()[0]
    return f"{'.'.join(map(str, problem['loc']))}: {problem['msg']}"
