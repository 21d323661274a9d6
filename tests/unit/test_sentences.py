"""Every sentence that a chat user reads stands in the message catalogues, and only there."""

import pytest

from tests.sentences import OUTSIDE, ids_in, modules, sentences_in
from tests.unit.core.domain.test_catalogues import messages

PLANTED = [
    'async def f(): await tell(interaction, "I have no answer for you.")',
    'SORRY = "I am sorry, this does not work."',
    'def f(name): return f"Hello {name}, ask me about your course."',
    'def f(n): return (f"You have {n} " "questions left today.")',
    'def f(): raise RequestError(user_message="nothing to see")',
    'def f(): return plain("Only me")',
    'button = discord.ui.Button(label="Again", style=style)',
    'class Why(discord.ui.Modal, title="What was wrong"): pass',
    'text = "**How to ask**\\n- `/ask` a question; or mention me."',
    'yield "The nearest sections are these: "',
]
"""Lines of code with a sentence that a user would read."""
PASSED = [
    '"""A docstring that says something."""',
    'logger.warning("The database cannot be read: %s", error)',
    'raise DeliveryError("Slack cannot be reached. It is tried again.")',
    'db.execute("SELECT one FROM another WHERE it = 1.")',
    'WORD = re.compile("The (?P<what>.+) of it.")',
    'assert thread is not None, "Only a message in a thread comes here."',
    'BAD = "The token is refused: copy it into GLOSSATOR_SLACK__BOT_TOKEN."',
    'label = text("button-share")',
    'post = {"type": "mrkdwn", "text": post.notes}',
]
"""Lines of code with nothing that a user would read."""


ELSEWHERE = ("core/domain/i18n.py", "adapters/discord/commands.py")
"""What passes on ids that others name."""


def used(*rooms: str) -> dict[str | None, str]:
    """Return where each message is shown, by its id."""
    return {
        name: f"{path}:{line}"
        for path, source in modules(*rooms)
        for line, name in ids_in(source)
        if name is not None or path not in ELSEWHERE
    }


@pytest.mark.costly
def test_no_sentence_for_a_user_stands_in_the_code() -> None:
    found = [
        f"{path}:{line}: {said!r}"
        for path, source in modules("adapters", "core")
        if not path.startswith(tuple(OUTSIDE))
        for line, said in sentences_in(source)
    ]
    assert not found, "move these into core/domain/locales:\n" + "\n".join(found)


@pytest.mark.parametrize("room", OUTSIDE)
def test_each_exception_is_needed(room: str) -> None:
    sources = [source for path, source in modules("core") if path.startswith(room)]
    assert any([*sentences_in(source)] for source in sources)


@pytest.mark.parametrize("line", PLANTED)
def test_a_planted_sentence_is_found(line: str) -> None:
    assert [*sentences_in(line)]


@pytest.mark.parametrize("line", PASSED)
def test_what_no_user_reads_is_passed_over(line: str) -> None:
    assert not [*sentences_in(line)]


@pytest.mark.costly
def test_a_sentence_planted_in_any_adapter_is_found() -> None:
    planted = '\n\nLATE = "It is too late for that, I am afraid."\n'
    missed = [p for p, s in modules("adapters") if not [*sentences_in(s + planted)]]
    assert not missed


@pytest.mark.costly
def test_each_message_that_is_shown_is_in_the_catalogues() -> None:
    shown = used("adapters", "core", "bot")
    assert None not in shown, f"{shown[None]}: the id of a message is a literal"
    unknown = {name: where for name, where in shown.items() if name not in messages("en")}
    assert not unknown


@pytest.mark.costly
def test_each_message_of_the_catalogues_is_shown() -> None:
    assert set(messages("en")) <= set(used("adapters", "core", "bot"))
