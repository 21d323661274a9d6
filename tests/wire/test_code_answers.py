"""Code of a book that is asked for: whole at the terminal, on Discord and on Slack."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from core.domain import AgentResponse, Outcome
from core.domain.markdown import code_in
from tests.answered import code_on_slack, discord_messages, slack_blocks, slack_calls, terminal
from tests.unit.adapters.chat.discord_client import code_shown
from tests.wire.answering import House, asking, open_house
from tests.wire.gemini_server import GeminiServer

pytestmark = pytest.mark.costly

CLONE = "git clone https://github.com/example/course.git"
USERS = "curl https://api.example.org/v1/users?active=true"
PATH = "sqlite:///path"
LISTING = "```python\nprint('<!channel>')\n```"
GENERIC = "std::vector<int>& rows = a && b < c ? one : two;"
NOTEBOOK = "wget https://files.example.org/notebook.ipynb\nopen <@U0123ABC> && echo `date`"
BOOK = {
    "setup.md": f"""\
# Setting up the course

## Fetching the repository

To fetch the repository of the course, run `{CLONE}` in a terminal.

## Listing the active users

The active users are listed by this command:

```sh
{USERS}
```

## The address of the database

The address of the database is `{PATH}`, or `` `{PATH}` `` with its backticks.

## Writing a listing

A listing of the handbook is written like this:

````markdown
{LISTING}
````

## Rows in memory

The rows are held in memory by this declaration:

```cpp
{GENERIC}
```

## Downloading the notebook

The notebook is downloaded by these commands:

~~~sh
{NOTEBOOK}
~~~
""",
}
ASKED = [
    ("How do I fetch the repository of the course?", CLONE),
    ("Which command lists the active users?", USERS),
    ("What is the address of the database?", PATH),
    ("How is a listing of the handbook written?", LISTING),
    ("Which declaration holds the rows in memory?", GENERIC),
    ("Which commands download the notebook?", NOTEBOOK),
]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("code")


@pytest.fixture
async def house(folder: Path, models: Path) -> AsyncIterator[House]:
    async with GeminiServer() as server, open_house(folder, models, server, BOOK) as house:
        yield house


@pytest.mark.parametrize(("question", "code"), ASKED)
async def test_code_that_is_asked_for_is_shown_byte_for_byte(
    house: House, question: str, code: str
) -> None:
    _, answer = await house.services.agent("extractive").rehearse(asking(question))
    assert answer.outcome in {Outcome.ANSWERED, Outcome.PARTIAL}
    assert code in [one.content for one in code_in(answer.response_text)], answer.response_text
    assert all(one.content in BOOK["setup.md"] for one in code_in(answer.response_text))
    await shows(answer, code)


async def shows(answer: AgentResponse, code: str) -> None:
    """Check what the readers see of the code in an answer."""
    assert code in await terminal(answer)
    on_discord = [one for message in discord_messages(answer) for one in code_shown(message)]
    assert code in "\n".join(on_discord)
    assert "\u200b" not in "".join(on_discord)
    for escape_code in (False, True):
        assert not slack_calls(answer, escape_code=escape_code)
    assert code in [one for shown in slack_blocks(answer) for one in code_on_slack(shown)]
