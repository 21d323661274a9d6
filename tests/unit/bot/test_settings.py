"""Settings: what is accepted and refused, and that the documentation names exactly these."""

import re
from collections.abc import Mapping
from pathlib import Path

import pytest

from bot.platforms import SlackSettings
from bot.settings import Settings, load_settings, setting_names, without_name
from core.domain.errors import ConfigurationError

ROOT = Path(__file__).parents[3]
EXAMPLE = ROOT / ".env.example"
_ASSIGNMENT = re.compile(r"^# (GLOSSATOR_\w+)=(.*)$", re.MULTILINE)
_TABLE_ROW = re.compile(r"^\| `(GLOSSATOR_\w+)` \| (none|`[^`]*`) \| \S", re.MULTILINE)
_SETTING_NAME = re.compile(r"GLOSSATOR_[A-Z_]+[A-Z]")


@pytest.fixture(autouse=True)
def _in_a_folder_without_an_env_file(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)


def settings_of(variables: Mapping[str, str], monkeypatch: pytest.MonkeyPatch) -> Settings:
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    return load_settings()


def refusal_of(name: str, value: str, monkeypatch: pytest.MonkeyPatch) -> str:
    with pytest.raises(ConfigurationError) as refused:
        settings_of({name: value}, monkeypatch)
    return str(refused.value)


# --- what is documented -----------------------------------------------------------------


def test_the_example_file_names_exactly_the_settings() -> None:
    named = [name for name, _ in _ASSIGNMENT.findall(EXAMPLE.read_text("utf-8"))]
    assert sorted(named) == sorted(setting_names())


def test_the_example_file_changes_nothing_when_all_of_it_is_uncommented(tmp_path: Path) -> None:
    text = _ASSIGNMENT.sub(r"\1=\2", EXAMPLE.read_text("utf-8"))
    copy = tmp_path / "uncommented.env"
    copy.write_text(text, "utf-8")
    assert load_settings(copy) == load_settings(tmp_path / "absent.env")


def test_the_example_file_explains_every_setting_in_a_comment_above_it() -> None:
    paragraphs = EXAMPLE.read_text("utf-8").strip().split("\n\n")
    for paragraph in paragraphs[1:]:
        explanation, assignment = paragraph.split("\n")
        assert explanation.startswith("# ")
        assert explanation.endswith(".")
        assert _ASSIGNMENT.fullmatch(assignment)


def test_the_configuration_page_names_exactly_the_settings_with_their_defaults() -> None:
    defaults = dict(_ASSIGNMENT.findall(EXAMPLE.read_text("utf-8")))
    rows = _TABLE_ROW.findall((ROOT / "docs/configuration.md").read_text("utf-8"))
    assert sorted(name for name, _ in rows) == sorted(setting_names())
    assert {name: default.strip("`") for name, default in rows} == {
        name: default or "none" for name, default in defaults.items()
    }


@pytest.mark.parametrize(
    "page", [*sorted((ROOT / "docs").glob("*.md")), ROOT / "README.md"], ids=lambda page: page.name
)
def test_no_page_names_a_setting_that_does_not_exist(page: Path) -> None:
    named = map(without_name, _SETTING_NAME.findall(page.read_text("utf-8")))
    assert set(named) <= set(setting_names())


# --- where settings come from -----------------------------------------------------------


def test_everything_has_a_default() -> None:
    settings = load_settings()
    assert settings.data_dir == Path(".glossator")
    assert settings.database_url.startswith("sqlite:///")
    assert settings.generator is None


def test_the_environment_wins_over_the_env_file(monkeypatch: pytest.MonkeyPatch) -> None:
    Path(".env").write_text("GLOSSATOR_DATA_DIR=from-file\nGLOSSATOR_LOG_LEVEL=INFO\n", "utf-8")
    settings = settings_of({"GLOSSATOR_DATA_DIR": "from-environment"}, monkeypatch)
    assert settings.data_dir == Path("from-environment")
    assert settings.log_level == "INFO"


def test_two_underscores_separate_group_and_name(monkeypatch: pytest.MonkeyPatch) -> None:
    settings = settings_of(
        {
            "GLOSSATOR_QDRANT__TIMEOUT": "3",
            "GLOSSATOR_INGEST__ALLOWED_HOSTS": '["wiki.local", "intranet:8080", "[::1]:65535"]',
        },
        monkeypatch,
    )
    assert settings.qdrant.timeout == 3
    assert settings.ingest.allowed_hosts == ("wiki.local", "intranet:8080", "[::1]:65535")


def test_an_empty_value_counts_as_not_set(monkeypatch: pytest.MonkeyPatch) -> None:
    assert settings_of({"GLOSSATOR_QDRANT__TIMEOUT": ""}, monkeypatch).qdrant.timeout == 6


def test_lines_of_other_programs_in_the_env_file_are_left_alone() -> None:
    Path(".env").write_text(
        "# a comment\nAWS_REGION=eu-west-1\nexport PATH_TO=x\nGLOSSATOR_LOG_LEVEL=ERROR\n", "utf-8"
    )
    assert load_settings().log_level == "ERROR"


def test_a_database_url_replaces_the_file_in_the_data_folder(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    url = "postgresql://reader:secret@localhost/glossator"
    assert settings_of({"GLOSSATOR_DATABASE__URL": url}, monkeypatch).database_url == url


# --- the key of Gemini ------------------------------------------------------------------

OWN, FIRST, SECOND = "GLOSSATOR_MODELS__GEMINI__API_KEY", "GEMINI_API_KEY", "GOOGLE_API_KEY"


def key_in(settings: Settings) -> str | None:
    key = settings.google_key
    return key.get_secret_value() if key else None


def test_without_any_key_there_is_none() -> None:
    assert key_in(load_settings()) is None


@pytest.mark.parametrize("name", [OWN, FIRST, SECOND])
@pytest.mark.parametrize("place", ["environment", "file"])
def test_a_key_is_taken_from_any_of_its_names(
    name: str, place: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    if place == "file":
        Path(".env").write_text(f"{name}=its-key\n", "utf-8")
    else:
        monkeypatch.setenv(name, "its-key")
    assert key_in(load_settings()) == "its-key"


def test_our_own_name_wins_even_where_it_stands_in_the_file_alone(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    Path(".env").write_text(f"{OWN}=own\n", "utf-8")
    assert key_in(settings_of({FIRST: "first", SECOND: "second"}, monkeypatch)) == "own"


def test_of_the_other_names_the_environment_wins_and_then_the_first(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    Path(".env").write_text(f"{SECOND}=second-in-file\n{FIRST}=first-in-file\n", "utf-8")
    assert key_in(load_settings()) == "first-in-file"
    assert key_in(settings_of({SECOND: "second"}, monkeypatch)) == "second"
    assert key_in(settings_of({FIRST: "first"}, monkeypatch)) == "first"


def test_an_empty_key_counts_as_none(monkeypatch: pytest.MonkeyPatch) -> None:
    Path(".env").write_text(f"{FIRST}\n", "utf-8")
    assert key_in(settings_of({OWN: "", FIRST: "", SECOND: ""}, monkeypatch)) is None


def test_no_other_name_of_google_is_read(monkeypatch: pytest.MonkeyPatch) -> None:
    before = load_settings()
    foreign = {"GOOGLE_GEMINI_BASE_URL": "http://127.0.0.1:9", "GEMINI_MODEL": "other"}
    assert settings_of(foreign, monkeypatch) == before


# --- what is refused --------------------------------------------------------------------


@pytest.mark.parametrize(
    ("misspelt", "meant"),
    [
        ("GLOSSATOR_DATADIR", "GLOSSATOR_DATA_DIR"),
        ("GLOSSATOR_DATABASE_URL", "GLOSSATOR_DATABASE__URL"),
        ("GLOSSATOR_QDRANT__APIKEY", "GLOSSATOR_QDRANT__API_KEY"),
        ("GLOSSATOR_MODEL__NAME__API_KEY", "GLOSSATOR_MODELS__NAME__API_KEY"),
        ("GLOSSATOR_BUDGETS__USER_TOKENS", "GLOSSATOR_BUDGET__USER_TOKENS"),
    ],
)
def test_an_unknown_name_in_the_environment_is_refused_naming_the_nearest(
    misspelt: str, meant: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    message = refusal_of(misspelt, "x", monkeypatch)
    assert message == f"{misspelt} is not a setting. Did you mean {meant}?"


def test_an_unknown_name_in_the_env_file_is_refused_naming_the_nearest() -> None:
    Path(".env").write_text("GLOSSATOR_LOGLEVEL=INFO\n", "utf-8")
    with pytest.raises(ConfigurationError, match="Did you mean GLOSSATOR_LOG_LEVEL"):
        load_settings()


def test_a_name_that_resembles_nothing_is_refused_without_a_guess(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    message = refusal_of("GLOSSATOR_XYZZY_PLUGH_FROBNICATE", "1", monkeypatch)
    assert message == "GLOSSATOR_XYZZY_PLUGH_FROBNICATE is not a setting."


def test_a_group_is_no_setting_of_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    assert "is not a setting" in refusal_of("GLOSSATOR_QDRANT", "{}", monkeypatch)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("GLOSSATOR_LOG_LEVEL", "LOUD"),
        ("GLOSSATOR_GENERATOR", " "),
        ("GLOSSATOR_DATABASE__SYNCHRONOUS", "OFF"),
        ("GLOSSATOR_QDRANT__TIMEOUT", "soon"),
        ("GLOSSATOR_QDRANT__TIMEOUT", "0"),
        ("GLOSSATOR_QDRANT__PREFIX", "a/b"),
        ("GLOSSATOR_EMBEDDING__PROVIDER", " "),
        ("GLOSSATOR_ANSWER__FIRST_SENTENCE", "0"),
        ("GLOSSATOR_ANSWER__WHOLE", "nan"),
        ("GLOSSATOR_EMBEDDING__THREADS", "-1"),
        ("GLOSSATOR_INGEST__MAX_MEGABYTES", "0"),
        ("GLOSSATOR_BUDGET__USER_TOKENS", "0"),
        ("GLOSSATOR_BUDGET__REQUEST_TOKENS", "many"),
        ("GLOSSATOR_DISCORD__API_URL", "https://discord..example.org"),
        ("GLOSSATOR_SLACK__API_URL", f"https://{'s' * 64}.example.org"),
        ("GLOSSATOR_MONITORING__HOST", "a..b"),
        ("GLOSSATOR_INGEST__ALLOWED_HOSTS", '["wiki.local", "127.0.0.1:65536"]'),
        ("GLOSSATOR_INGEST__ALLOWED_HOSTS", '["wiki..local"]'),
        ("GLOSSATOR_INGEST__ALLOWED_HOSTS", '["http://wiki.local"]'),
        ("GLOSSATOR_INGEST__ALLOWED_HOSTS", '["wiki.local/pages"]'),
        ("GLOSSATOR_INGEST__ALLOWED_HOSTS", '[""]'),
    ],
)
def test_a_bad_value_is_refused_in_one_sentence_that_names_its_variable(
    name: str, value: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    message = refusal_of(name, value, monkeypatch)
    assert message.startswith(f"{name} is not valid: ")
    assert "Value error" not in message
    assert message.endswith(".")
    assert "\n" not in message


@pytest.mark.parametrize(
    ("name", "value", "how"),
    [
        ("GLOSSATOR_INGEST__ALLOWED_HOSTS", "wiki.local", 'a JSON list, such as ["wiki.local", '),
    ],
)
def test_what_is_no_json_is_refused_naming_its_variable_and_how_to_write_it(
    name: str, value: str, how: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    message = refusal_of(name, value, monkeypatch)
    assert message.startswith(f"{name} is not valid: write {how}")
    assert "\n" not in message


# --- secrets ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    "name",
    [
        "GLOSSATOR_DATABASE__URL",
        "GLOSSATOR_QDRANT__API_KEY",
        "GLOSSATOR_PSEUDONYM_KEY",
        "GLOSSATOR_MODELS__GEMINI__API_KEY",
        "GEMINI_API_KEY",
        "GOOGLE_API_KEY",
    ],
)
def test_a_secret_never_appears_in_a_representation(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings = settings_of({name: "postgresql://me:hunter2@db/x"}, monkeypatch)
    shown = f"{settings!r} {settings} {settings.model_dump()} {settings.model_dump_json()}"
    assert "hunter2" not in shown


def test_a_bad_value_is_not_repeated_in_the_message(monkeypatch: pytest.MonkeyPatch) -> None:
    assert "hunter2" not in refusal_of("GLOSSATOR_QDRANT__TIMEOUT", "hunter2", monkeypatch)


def test_settings_cannot_be_changed_once_they_are_read() -> None:
    with pytest.raises(ValueError, match="frozen"):
        load_settings().data_dir = Path("elsewhere")  # type: ignore[misc]


@pytest.mark.parametrize(
    ("tokens", "told"),
    [
        ({"bot_token": "xapp-1", "app_token": "xapp-2"}, "BOT_TOKEN holds an app-level token"),
        ({"bot_token": "xoxb-1", "app_token": "xoxb-2"}, "APP_TOKEN holds a bot's token"),
    ],
)
def test_slack_tokens_in_each_others_place_are_told_before_slack_is_asked(
    tokens: dict[str, str], told: str
) -> None:
    with pytest.raises(ConfigurationError, match=told) as refused:
        SlackSettings.model_validate(tokens).check()
    assert not any(token in str(refused.value) for token in tokens.values())
    SlackSettings.model_validate({"bot_token": "xoxb-1", "app_token": "xapp-1"}).check()
