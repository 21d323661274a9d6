"""Models: what tables and variables say together, and which names mean what."""

from pathlib import Path
from typing import Any

import pytest

from bot.cli.doctor_models import Finding, check_judge
from bot.course_file import CourseFile, read_course_file
from bot.model_tables import ModelTable, read_tables
from bot.models import check_named_models, chosen_generator, models_in_use, prices
from bot.settings import Settings, load_settings
from bot.wiring import open_services
from core.answering.grounding.judge import Judge
from core.domain import EXTRACTIVE
from core.domain.errors import ConfigurationError
from core.providers.embeddings.remote import OpenAIEmbedder
from core.providers.gemini import GeminiClient
from core.providers.guarded import GuardedModel
from core.providers.openai import OpenAIClient
from core.providers.services import OLLAMA

LOCAL = """
[models.local_one]
kind = "openai"
model = "qwen2.5:7b"
base_url = "http://127.0.0.1:11434/v1"
context = 4096
"""
CLOUD = """
[models.cloud]
kind = "vertex"
model = "gemini-3.8-flash"
project = "our-university"
location = "europe-west4"
"""


@pytest.fixture(autouse=True)
def _in_a_folder_without_an_env_file(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)


def loaded(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, text: str = "", **variables: str
) -> tuple[Settings, CourseFile]:
    for name, value in variables.items():
        monkeypatch.setenv(f"GLOSSATOR_{name}", value)
    (tmp_path / "glossator.toml").write_text(text, encoding="utf-8")
    return load_settings(), read_course_file(tmp_path / "glossator.toml")


def refusal(error: pytest.ExceptionInfo[ConfigurationError]) -> str:
    return str(error.value)


def test_a_variable_wins_over_the_file_and_may_stand_alone(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    settings, file = loaded(
        monkeypatch,
        tmp_path,
        LOCAL,
        MODELS__LOCAL_ONE__CONTEXT="8192",
        MODELS__LOCAL_ONE__API_KEY="sk-4711",
        MODELS__OTHER__KIND="openai",
        MODELS__OTHER__MODEL="gpt-5.4-mini",
        MODELS__OTHER__API_KEY="sk-4712",
    )
    tables = read_tables(settings, file.models)
    assert list(tables) == ["local_one", "other"]
    assert (tables["local_one"].model, tables["local_one"].context) == ("qwen2.5:7b", 8192)
    assert tables["other"].base_url is None
    assert "4711" not in repr(tables) + repr(settings)


def test_variables_change_the_model_that_a_key_sets_up(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    settings, file = loaded(
        monkeypatch,
        tmp_path,
        MODELS__GEMINI__API_KEY="AIza-old",
        MODELS__GEMINI__SILENCE_TIMEOUT="2",
        MODELS__GEMINI__MODEL="gemini-3.5-flash-lite",
    )
    table = read_tables(settings, file.models)["gemini"]
    assert (table.kind, table.model) == ("gemini", "gemini-3.5-flash-lite")
    assert (table.silence_timeout, table.thinking) == (2.0, "low")


@pytest.mark.parametrize("name", ["GEMINI_API_KEY", "GLOSSATOR_MODELS__GEMINI__API_KEY"])
def test_a_key_alone_sets_up_a_model_that_writes_and_one_that_embeds(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, name: str
) -> None:
    monkeypatch.setenv(name, "AIza-key")
    settings, file = loaded(monkeypatch, tmp_path)
    tables = read_tables(settings, file.models)
    assert {table: one.dimensions for table, one in tables.items()} == {
        "gemini": None,
        "gemini_embedding": 768,
    }
    for one in tables.values():
        assert one.api_key is not None
        assert one.api_key.get_secret_value() == "AIza-key"
    assert "AIza" not in repr(tables) + repr(settings)


@pytest.mark.parametrize(
    ("written", "address"),
    [
        ("", "http://127.0.0.1:11434/v1"),
        ('base_url = "http://gpu.example.org:11434"\n', "http://gpu.example.org:11434/v1"),
        ('base_url = "http://gpu.example.org:11434/v1"\n', "http://gpu.example.org:11434/v1"),
        ('base_url = "https://example.org/ollama/v1"\n', "https://example.org/ollama/v1"),
    ],
)
@pytest.mark.parametrize("kind", ["ollama", "Ollama"])
def test_ollama_is_a_service_of_chat_completions_at_its_usual_address(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, kind: str, written: str, address: str
) -> None:
    text = f'[models.own]\nkind = "{kind}"\nmodel = "qwen3:8b"\n{written}'
    settings, file = loaded(monkeypatch, tmp_path, text)
    table = read_tables(settings, file.models)["own"]
    assert (table.kind, table.base_url) == ("openai", address)
    variables = {"MODELS__OWN__KIND": kind, "MODELS__OWN__MODEL": "qwen3:8b"}
    settings, file = loaded(monkeypatch, tmp_path, "", **variables)
    assert read_tables(settings, file.models)["own"].base_url == "http://127.0.0.1:11434/v1"


@pytest.mark.parametrize("kind", ["vllm", "claude", ""])
def test_another_kind_is_told_which_one_speaks_to_all(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, kind: str
) -> None:
    text = f'[models.own]\nkind = "{kind}"\nmodel = "m"\n'
    with pytest.raises(
        ConfigurationError, match=r"models\.own\.kind must be .* 'openai' for every"
    ):
        loaded(monkeypatch, tmp_path, text)


@pytest.mark.parametrize(
    ("course", "judge", "warned"),
    [
        ('generator = "local_one"\njudge = "none"\n', None, True),
        ('generator = "local_one"\n', "none", True),
        ('generator = "local_one"\njudge = "local_one"\n', "none", False),
        ('generator = "extractive"\njudge = "none"\n', None, False),
        ('judge = "none"\n', None, False),
        ('judge = "none"\n[courses.tides.answers]\nmodel = "extractive"\n', None, False),
    ],
)
def test_a_course_whose_writer_nobody_judges_is_warned_of(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, course: str, judge: str | None, warned: bool
) -> None:
    variables = {} if judge is None else {"JUDGE": judge}
    settings, file = loaded(monkeypatch, tmp_path, f"{LOCAL}[courses.tides]\n{course}", **variables)
    tables = read_tables(settings, file.models)
    check_named_models(settings, tables, file)
    found = [*check_judge(settings, tables, file, "tides")]
    assert [one.is_warning for one in found] == [True] * warned
    if found:
        assert found[0].text.startswith(
            "tides: local_one writes its answers, and the judge is none"
        )


@pytest.mark.parametrize(
    ("text", "variables", "told"),
    [
        (
            CLOUD.replace("location", "# location"),
            {},
            "set models.cloud.project and",
        ),
        (
            '[models.a]\nkind = "openai"\nmodel = "m"\n',
            {},
            "__A__API_KEY, or models.a",
        ),
        ('[models.a]\nkind = "gemini"\nmodel = "m"\n', {}, "set GLOSSATOR_MODELS__A__API_KEY."),
        (
            LOCAL,
            {"MODELS__LOCAL_ONE__CONTEXT": "many"},
            "LOCAL_ONE__CONTEXT is not",
        ),
        ("", {"MODELS__NEW__MODEL": "m"}, "models.new.kind (GLOSSATOR_MODELS__NEW__KIND)"),
        ("", {"MODELS__NONE__MODEL": "m"}, "MODELS__NONE__… cannot be set: none already"),
        ("", {"MODELS__LOCAL__MODEL": "m"}, "local already means what works without any"),
        ("", {"MODELS__EXTRACTIVE__MODEL": "m"}, "extractive already means what works"),
        ("", {"MODELS__9TH__MODEL": "m"}, "MODELS__9TH__… cannot be set: a model's name is"),
    ],
    ids=[
        *("no region", "no key", "no Gemini key", "bad variable", "no kind"),
        *("none", "local", "extractive", "no name"),
    ],
)
def test_what_is_missing_of_a_model_is_named(
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    text: str,
    variables: dict[str, str],
    told: str,
) -> None:
    settings, file = loaded(monkeypatch, tmp_path, text, **variables)
    with pytest.raises(ConfigurationError) as error:
        read_tables(settings, file.models)
    assert told in refusal(error)


def test_an_unknown_variable_of_a_model_is_refused(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    with pytest.raises(ConfigurationError) as error:
        loaded(monkeypatch, tmp_path, MODELS__LOCAL_ONE__BASEURL="http://a/v1")
    assert "GLOSSATOR_MODELS__LOCAL_ONE__BASEURL is not a setting" in refusal(error)


@pytest.mark.parametrize(
    ("text", "variables", "told"),
    [
        (f'{LOCAL}[courses.x]\ngenerator = "local_two"\n', {}, "did you mean local_one?"),
        (f'{LOCAL}[courses.x]\nembedding = "locl"\n', {}, "courses.x.embedding"),
        (f'{LOCAL}[courses.x]\njudge = "locl"\n', {}, "courses.x.judge"),
        (LOCAL, {"JUDGE": "locl"}, "GLOSSATOR_JUDGE names 'locl'"),
        (f'{CLOUD}[courses.x]\nembedding = "cloud"\n', {}, "set models.cloud.dimensions"),
        (LOCAL, {"EMBEDDING__PROVIDER": "cloud"}, "GLOSSATOR_EMBEDDING__PROVIDER names 'cloud'"),
    ],
    ids=["writer", "no embedder", "judge", "default judge", "no dimensions", "default"],
)
def test_a_name_that_no_model_has_is_refused_naming_its_key(
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    text: str,
    variables: dict[str, str],
    told: str,
) -> None:
    settings, file = loaded(monkeypatch, tmp_path, text, **variables)
    with pytest.raises(ConfigurationError) as error:
        check_named_models(settings, read_tables(settings, file.models), file)
    assert told in refusal(error)


@pytest.mark.parametrize(
    ("variables", "asked", "chosen"),
    [
        ({}, None, EXTRACTIVE),
        ({"GENERATOR": "local_one"}, None, "local_one"),
        ({"GENERATOR": "local_one"}, "extractive", EXTRACTIVE),
        ({}, "local_one", "local_one"),
        ({"MODELS__GEMINI__API_KEY": "AIza"}, None, "gemini"),
    ],
)
def test_who_writes_is_asked_for_or_set(
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    variables: dict[str, str],
    asked: str | None,
    chosen: str,
) -> None:
    settings, file = loaded(monkeypatch, tmp_path, LOCAL, **variables)
    assert chosen_generator(settings, read_tables(settings, file.models), asked) == chosen


@pytest.mark.costly
@pytest.mark.parametrize(
    ("variables", "asked", "named"),
    [
        ({}, None, {"a": "local_one", "b": EXTRACTIVE, "c": EXTRACTIVE}),
        ({"GENERATOR": "cloud"}, None, {"a": "local_one", "b": EXTRACTIVE, "c": "other"}),
        ({"GENERATOR": "cloud"}, "cloud", {"a": None, "b": None, "c": "other"}),
        ({"GENERATOR": "local_one"}, "cloud", {"a": None, "b": None, "c": None}),
        ({"GENERATOR": "gemini"}, "cloud", {"a": None, "b": None, "c": None}),
    ],
    ids=["the book's words", "a model", "asked for", "asked for another", "no key of the set one"],
)
async def test_each_course_has_its_own_writer(
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    variables: dict[str, str],
    asked: str | None,
    named: dict[str, Any],
) -> None:
    courses = """
    [courses.a]
    generator = "local_one"
    [courses.b.answers]
    model = "extractive"
    [courses.c.answers]
    model = "other"
    """
    settings, _ = loaded(monkeypatch, tmp_path, LOCAL + CLOUD + courses, **variables)
    async with open_services(settings) as opened:
        found = {name: opened.configuration(name, generator=asked).model_name for name in named}
        assert found == named
        writer = opened.generator(asked)
        assert writer.name == ("gemini-3.8-flash" if variables else "qwen2.5:7b")


@pytest.mark.costly
def test_a_table_of_the_kind_minicheck_is_a_judge_at_ollama() -> None:
    table = ModelTable.model_validate({"kind": "minicheck"})
    assert (table.kind, table.model, table.base_url) == ("openai", "bespoke-minicheck", OLLAMA)


async def test_a_course_may_have_a_judge_of_its_own(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    courses = '[courses.a]\njudge = "local_one"\n[courses.b]\njudge = "none"\n'
    settings, file = loaded(monkeypatch, tmp_path, LOCAL + CLOUD + courses, JUDGE="cloud")
    async with open_services(settings) as opened:
        judges = {name: opened.judge(name) for name in ("a", "b", "c")}
    names = {name: isinstance(one, Judge) and one.name for name, one in judges.items()}
    assert names == {"a": "qwen2.5:7b", "b": False, "c": "gemini-3.8-flash"}
    assert judges["b"] is None
    tables = read_tables(settings, file.models)
    assert models_in_use(settings, tables, file, EXTRACTIVE) == [
        ("cloud", "gemini-3.8-flash"),
        ("local_one", "qwen2.5:7b"),
    ]


@pytest.mark.costly
async def test_a_judge_waits_and_judges_as_its_table_and_the_course_say(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    own = "judge_wait = 3.0\njudge_mark = 0.6\nrelevance_mark = 0.4\n"
    courses = "[courses.a]\njudge_mark = 0.9\n[courses.b]\n"
    settings, _ = loaded(monkeypatch, tmp_path, LOCAL + courses, JUDGE="none")
    with pytest.raises(ConfigurationError, match="no model judges there"):
        async with open_services(settings):
            pass
    settings, _ = loaded(monkeypatch, tmp_path, LOCAL + own + courses, JUDGE="local_one")
    async with open_services(settings) as opened:
        first, other = opened.judge("a"), opened.judge("b")
        assert isinstance(first, Judge)
        assert isinstance(other, Judge)
        assert (first.mark, other.mark) == (0.9, 0.6)
        assert (first.wait, first.relevance_mark) == (3.0, 0.4)
        assert opened.judge("b") is other


TWINS = """
[models.a]
kind = "openai"
model = "llama"
base_url = "http://127.0.0.1:1/v1"
dimensions = 64
[models.b]
kind = "openai"
model = "llama"
base_url = "http://127.0.0.1:2/v1"
dimensions = 64
[courses.x]
judge = "a"
embedding = "a"
[courses.y]
judge = "b"
embedding = "b"
"""


@pytest.mark.costly
async def test_models_of_one_name_at_two_services_stay_apart(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    settings, _ = loaded(monkeypatch, tmp_path, TWINS, JUDGE="a")
    async with open_services(settings) as opened:
        models = opened.models
        judges = [opened.judge(course) for course in "xyz"]
        assert all(isinstance(judge, Judge) for judge in judges)
        asked = [judge.model for judge in judges if isinstance(judge, Judge)]
        assert asked == [models.chat("a"), models.chat("b"), models.chat("a")]
        assert asked[0] is not asked[1]
        assert judges[0] is judges[2]
        assert list(models.left_alone()) == ["a/llama", "b/llama"]
        embedders = [opened.embedders.named("llama/64", course) for course in "xy"]
        assert all(isinstance(embedder, OpenAIEmbedder) for embedder in embedders)
        clients = [embedder._client for embedder in embedders if hasattr(embedder, "_client")]
        assert clients == [models.client("a"), models.client("b")]


@pytest.mark.costly
async def test_models_of_every_kind_are_opened_once_with_what_their_tables_say(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    settings, _ = loaded(
        monkeypatch, tmp_path, LOCAL + CLOUD, ANSWER__FIRST_SENTENCE="80", ANSWER__WHOLE="180"
    )
    async with open_services(settings) as opened:
        local, cloud = opened.models.chat("local_one"), opened.models.chat("cloud")
        assert isinstance(local, GuardedModel)
        assert opened.models.chat("local_one") is local
        assert (local.name, local.context) == ("qwen2.5:7b", 4096)
        assert (local._timeouts.first_piece, local._timeouts.silence) == (180.0, 30.0)
        assert cloud._timeouts.first_piece == 60.0
        assert isinstance(opened.models.client("local_one"), OpenAIClient)
        assert isinstance(opened.models.client("cloud"), GeminiClient)
        assert opened.models.times.whole == 180.0
        assert list(opened.models.left_alone()) == [local.name, cloud.name]


def test_the_models_in_use_and_their_prices_are_those_that_are_named(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    text = f'{LOCAL}input_price = 1\noutput_price = 2\n[courses.x]\ngenerator = "local_one"\n'
    settings, file = loaded(
        monkeypatch, tmp_path, text, MODELS__GEMINI__API_KEY="AIza", MODELS__GEMINI__INPUT_PRICE="3"
    )
    tables = read_tables(settings, file.models)
    assert models_in_use(settings, tables, file, "gemini") == [
        ("gemini", "gemini-3.8-flash"),
        ("local_one", "qwen2.5:7b"),
    ]
    known = prices(tables)
    assert known.cost("qwen2.5:7b", 1_000_000, 1_000_000, "local_one") == 3.0
    assert known.cost("gemini-3.8-flash", 1_000_000, 1_000_000, "gemini") is None


GEMINI_PRICES = {"MODELS__GEMINI__INPUT_PRICE": "3", "MODELS__GEMINI__OUTPUT_PRICE": "3"}
LITE = {
    "MODELS__LITE__KIND": "gemini",
    "MODELS__LITE__MODEL": "lite",
    "MODELS__LITE__INPUT_PRICE": "1",
    "MODELS__LITE__OUTPUT_PRICE": "1",
}


@pytest.mark.parametrize(
    ("variables", "service", "model", "price"),
    [
        (GEMINI_PRICES, "gemini", "gemini-3.8-flash", 3.0),
        (GEMINI_PRICES, "gemini", "another", None),
        (GEMINI_PRICES, "local_one", "qwen2.5:7b", None),
        (GEMINI_PRICES | LITE, "gemini", "lite", 1.0),
        (GEMINI_PRICES | LITE, "lite", "gemini-3.8-flash", 3.0),
        (GEMINI_PRICES | LITE, "local_one", "lite", None),
    ],
)
def test_a_price_is_that_of_a_model_at_its_service(
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    variables: dict[str, str],
    service: str,
    model: str,
    price: float | None,
) -> None:
    settings, file = loaded(
        monkeypatch, tmp_path, LOCAL, MODELS__GEMINI__API_KEY="AIza", **variables
    )
    known = prices(read_tables(settings, file.models))
    assert known.cost(model, 1_000_000, 0, service) == price


def test_a_table_keeps_its_key_to_itself() -> None:
    table = ModelTable.model_validate({"kind": "openai", "model": "m", "api_key": "sk-4711"})
    assert "4711" not in repr(table) + repr(Finding("x", str(table)))
