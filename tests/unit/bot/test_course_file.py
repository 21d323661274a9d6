"""The course file: what it says, and that every mistake in it is told in one sentence."""

import json
import re
import tomllib
from datetime import timedelta
from pathlib import Path

import pytest

from bot.course_file import CourseFile, read_course_file
from bot.course_tables import AnswersTable, ChannelTable, SourceTable, keys_of
from core.answering.writers.prompt import smallest_window
from core.domain import AgentConfiguration
from core.domain.errors import ConfigurationError
from core.storage.access import NamedStaff, StaffKind, Tenant

ROOT = Path(__file__).parents[3]


def written(folder: Path, text: str) -> Path:
    path = folder / "glossator.toml"
    path.write_text(text, "utf-8")
    return path


def refusal_of(path: Path, *, required: bool = False) -> str:
    with pytest.raises(ConfigurationError) as refused:
        read_course_file(path, required=required)
    message = str(refused.value)
    assert message.endswith((".", "?"))
    assert "\n" not in message
    return message


def example_of_the_handbook() -> str:
    page = (ROOT / "docs/courses.md").read_text("utf-8")
    found = re.search(r"^```toml\n(.*?)^```$", page, re.MULTILINE | re.DOTALL)
    assert found is not None
    return found[1]


# --- what it says -----------------------------------------------------------------------


def test_a_missing_file_describes_no_course(tmp_path: Path) -> None:
    assert read_course_file(tmp_path / "absent.toml") == CourseFile()


def test_a_course_without_any_key_answers_by_the_defaults(tmp_path: Path) -> None:
    file = read_course_file(written(tmp_path, "[courses.algebra]\n"))
    course = file.course("algebra")
    assert course is not None
    assert (course.title, course.base_url, course.language) == ("algebra", None, "en")
    assert file.sources("algebra") == []
    assert file.configuration("algebra").model_dump() == AgentConfiguration().model_dump()


def test_a_source_says_how_often_it_is_read_again(tmp_path: Path) -> None:
    text = (
        '[courses.tides]\nsources = ["book", { path = "notes", watch = true },\n'
        '{ path = "git+https://host.example/tides@main#docs", every = "12h" }]\n'
    )
    file = read_course_file(written(tmp_path, text))
    name = "git+https://host.example/tides@main#docs"
    assert file.sources("tides") == [str(tmp_path / "book"), str(tmp_path / "notes"), name]
    watched, timed = file.renewed("tides")
    assert (watched.name, watched.every, watched.is_watched) == (
        str(tmp_path / "notes"),
        None,
        True,
    )
    assert (timed.name, timed.every, timed.is_watched) == (name, timedelta(hours=12), False)


@pytest.mark.parametrize(
    ("key", "said"),
    [
        ('path = "a", every = "1 day"', "write a number and m, h, d or w"),
        ('path = "a", every = 60', "write a number and m, h, d or w"),
        ('path = "a", every = "4m"', "the shortest is 5m"),
        ('path = "https://a.example/", watch = true', "only files and folders can be watched"),
        ('path = "a", evry = "1d"', "Did you mean every?"),
    ],
)
def test_a_source_that_is_described_wrongly_is_refused(tmp_path: Path, key: str, said: str) -> None:
    text = f"[courses.tides]\nsources = [{{ {key} }}]\n"
    assert said in refusal_of(written(tmp_path, text))


def test_an_unknown_course_is_none_and_answers_by_the_defaults(tmp_path: Path) -> None:
    file = read_course_file(written(tmp_path, "[courses.algebra]\n"))
    assert file.course("botany") is None
    assert file.sources("botany") == []
    assert file.configuration("botany") == AgentConfiguration()


def test_paths_count_from_the_folder_of_the_file_and_urls_stay(tmp_path: Path) -> None:
    text = '[courses.x]\nsources = ["book", "slides/*.pdf", "https://example.org/sitemap.xml"]\n'
    assert read_course_file(written(tmp_path, text)).sources("x") == [
        str(tmp_path / "book"),
        str(tmp_path / "slides/*.pdf"),
        "https://example.org/sitemap.xml",
    ]


def test_an_absolute_path_stays_as_it_is(tmp_path: Path) -> None:
    book = tmp_path / "elsewhere"
    text = f"[courses.x]\nsources = ['{book}']\n"
    assert read_course_file(written(tmp_path, text)).sources("x") == [str(book)]


def test_a_source_is_trusted_unless_the_file_says_otherwise(tmp_path: Path) -> None:
    listed = '"slides", { path = "book", trusted = false }, { path = "lab" }'
    text = f"[courses.x]\nsources = [{listed}]\n"
    file = read_course_file(written(tmp_path, text))
    assert file.sources("x") == [str(tmp_path / name) for name in ("slides", "book", "lab")]
    assert file.untrusted("x") == {str(tmp_path / "book")}
    assert file.untrusted("y") == frozenset()


def test_the_answers_table_changes_just_what_it_names(tmp_path: Path) -> None:
    text = "[courses.x.answers]\ntop_k = 3\nscore_threshold = 0.6\n"
    configuration = read_course_file(written(tmp_path, text)).configuration("x")
    assert (configuration.top_k, configuration.score_threshold) == (3, 0.6)
    assert configuration.max_turns == AgentConfiguration().max_turns


def test_a_course_may_name_its_model_its_words_and_its_bands(tmp_path: Path) -> None:
    text = """
    [courses.x.answers]
    model = "gemini-3.5-flash-lite"
    temperature = 0.2
    max_tokens = 600
    context_window = 8000
    system_prompt = "You teach beginners."
    answered_from = 0.7
    partial_from = 0.2
    """
    configuration = read_course_file(written(tmp_path, text)).configuration("x")
    assert configuration == AgentConfiguration(
        model_name="gemini-3.5-flash-lite",
        temperature=0.2,
        max_tokens=600,
        context_window=8_000,
        system_prompt="You teach beginners.",
        answered_from=0.7,
        partial_from=0.2,
    )


@pytest.mark.parametrize("provider", ["local", "gemini"])
def test_a_course_may_say_whose_model_embeds_it(tmp_path: Path, provider: str) -> None:
    text = f'[courses.x]\nembedding = "{provider}"\n[courses.y]\n'
    file = read_course_file(written(tmp_path, text))
    assert file.embedding("x") == provider
    assert file.embedding("y") is None
    assert file.embedding("unknown") is None


def test_the_example_of_the_handbook_is_accepted(tmp_path: Path) -> None:
    file = read_course_file(written(tmp_path, example_of_the_handbook()))
    course = file.course("economics")
    assert course is not None
    assert course.base_url == "https://example.org/economics/"
    assert file.course("biologie") is not None


def test_the_example_of_the_handbook_shows_every_key_there_is() -> None:
    shown = tomllib.loads(example_of_the_handbook())["courses"]["economics"]
    keys = {"title", "sources", "base_url", "language", "embedding", "answers", "staff"}
    assert set(shown) == keys
    assert set(shown["answers"]) == set(keys_of(AnswersTable))


def test_the_handbook_explains_every_key_with_its_default() -> None:
    text = (ROOT / "docs/courses.md").read_text("utf-8")
    page, _, channels = text.partition("\n## Channels\n")
    rows = dict(re.findall(r"^\| `(\w+)` \|.*\| ([^|]+) \|$", page, re.MULTILINE))
    answers = {info.alias or name: info.default for name, info in AnswersTable.model_fields.items()}
    keys = {"title", "sources", "base_url", "language", "embedding", "generator", "judge", "staff"}
    keys |= {"judge_mark", "time_zone", "policies", "radar_least_askers"}
    keys |= set(SourceTable.model_fields) - {"path"}
    assert set(rows) == {*keys, *answers}
    numbers = {key: default for key, default in answers.items() if isinstance(default, int | float)}
    told = {key: json.loads(rows[key].strip("`").replace(",", "")) for key in numbers}
    assert told == numbers
    assert f"| from {smallest_window(None):,} | 32,000 |" in page
    assert re.findall(r"^\| `(\w+)` \|", channels, re.MULTILINE) == keys_of(ChannelTable)


# --- who is staff -----------------------------------------------------------------------

GUILD, TEAM = "118000000000000001", "T0123456789"
ROLE, TUTOR = "118000000000000002", "118000000000000003"


def test_staff_are_named_for_all_courses_and_for_one(tmp_path: Path) -> None:
    text = f"""
    [staff."discord:{GUILD}"]
    roles = ["{ROLE}", "{ROLE}"]
    people = ["{TUTOR}"]
    [courses.algebra.staff."slack:{TEAM}"]
    groups = ["S0123456789"]
    people = ["U0123456789", "W0123456789"]
    [courses.algebra.staff."discord:{GUILD}"]
    roles = ["{ROLE}"]
    [staff."slack:E0123456789"]
    """
    file = read_course_file(written(tmp_path, text))
    role, group, person = StaffKind
    assert file.staff == {
        Tenant("discord", GUILD): [
            NamedStaff(role, ROLE),
            NamedStaff(person, TUTOR),
            NamedStaff(role, ROLE, "algebra"),
        ],
        Tenant("slack", TEAM): [
            NamedStaff(group, "S0123456789", "algebra"),
            NamedStaff(person, "U0123456789", "algebra"),
            NamedStaff(person, "W0123456789", "algebra"),
        ],
        Tenant("slack", "E0123456789"): [],
    }


@pytest.mark.parametrize("table", ["staff", "courses.algebra.staff"])
@pytest.mark.parametrize(
    ("tenant", "line", "sentence"),
    [
        ("irc:42", "", '.irc:42: a tenant is written "discord:ID" or "slack:ID"'),
        (TEAM, "", f".{TEAM}: a tenant is written"),
        ("discord:42", "", ".discord:42: after discord: comes a server's id of 15 to 20 digits."),
        ("slack:C0123456", "", ".slack:C0123456: after slack: comes a workspace's id"),
        (f"slack:{TEAM}", 'role = ["x"]', f".slack:{TEAM}.role is not a key. Did you mean roles?"),
        (f"slack:{TEAM}", f'roles = ["{ROLE}"]', f": slack:{TEAM} has no roles: name its groups"),
        (f"discord:{GUILD}", 'groups = ["S0123456"]', f": discord:{GUILD} has no groups: name its"),
        (f"slack:{TEAM}", 'groups = ["tutors"]', f": in groups of slack:{TEAM}, 'tutors' is not"),
        (f"slack:{TEAM}", 'people = ["S0123456"]', f": in people of slack:{TEAM}, 'S0123456' is"),
        (f"discord:{GUILD}", 'people = ["ann"]', f": in people of discord:{GUILD}, 'ann' is not"),
        (f"discord:{GUILD}", f'roles = ["{GUILD}"]', f": in roles of discord:{GUILD}, '{GUILD}'"),
        (f"slack:{TEAM}", 'people = "U0123456"', f".slack:{TEAM}.people must be a list, such as"),
        (f"discord:{GUILD}", "roles = [1]", f".discord:{GUILD}.roles.0 must be a text, such as"),
    ],
)
def test_who_cannot_be_staff_is_refused_naming_the_key(
    table: str, tenant: str, line: str, sentence: str, tmp_path: Path
) -> None:
    path = written(tmp_path, f'[{table}."{tenant}"]\n{line}\n')
    assert refusal_of(path).startswith(f"{path}: {table}{sentence}")


# --- what is refused --------------------------------------------------------------------


def test_a_missing_file_is_refused_when_it_was_named(tmp_path: Path) -> None:
    path = tmp_path / "absent.toml"
    assert refusal_of(path, required=True) == f"The course file {path} does not exist."


def test_broken_toml_is_refused_naming_the_file_and_the_line(tmp_path: Path) -> None:
    path = written(tmp_path, "[courses.x]\ntitle = \n")
    message = refusal_of(path)
    assert message.startswith(f"{path} is not valid TOML: ")
    assert "line 2" in message


def test_a_file_in_another_encoding_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "glossator.toml"
    path.write_bytes('[courses.x]\ntitle = "Ökonomie"\n'.encode("latin-1"))
    assert refusal_of(path).startswith(f"{path} is not valid TOML: ")


@pytest.mark.parametrize(
    ("text", "place", "meant"),
    [
        ('[courses.x]\ntitel = "X"\n', "courses.x.titel", "title"),
        ('[courses.x]\nsource = ["book"]\n', "courses.x.source", "sources"),
        ("[course.x]\n", "course", "courses"),
        ("[courses.x.answers]\ntopk = 3\n", "courses.x.answers.topk", "top_k"),
        ('[courses.x.answers]\nmodell = "m"\n', "courses.x.answers.modell", "model"),
        ('[courses.x.answers]\nmodel_name = "m"\n', "courses.x.answers.model_name", "model"),
        ('[courses.x]\nembeding = "local"\n', "courses.x.embeding", "embedding"),
        ("[discord.channel.1]\n", "discord.channel", "channels"),
        (
            '[discord.channels.118000000000000001]\ncourses = "x"\n',
            "discord.channels.118000000000000001.courses",
            "course",
        ),
    ],
)
def test_a_misspelt_key_is_refused_naming_the_nearest(
    text: str, place: str, meant: str, tmp_path: Path
) -> None:
    path = written(tmp_path, text)
    assert refusal_of(path) == f"{path}: {place} is not a key. Did you mean {meant}?"


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ('[courses.x]\ntitle = ""\n', "courses.x.title"),
        ("[courses.x]\ntitle = 3\n", "courses.x.title"),
        ('[courses.x]\nsources = "book"\n', "courses.x.sources"),
        ('[courses.x]\nsources = [" "]\n', "courses.x.sources.0"),
        ("[courses.x]\nsources = [{ trusted = true }]\n", "courses.x.sources.0"),
        ('[courses.x]\nsources = [{ path = "a", trust = true }]\n', "courses.x.sources.0"),
        ('[courses.x]\nbase_url = "example.org"\n', "courses.x.base_url"),
        ('[courses.x]\nbase_url = "ftp://example.org/"\n', "courses.x.base_url"),
        ('[courses.x]\nlanguage = "English, please"\n', "courses.x.language"),
        ('[courses."My Course"]\n', "courses.My Course"),
        ("[courses.x.answers]\ntop_k = 11\n", "courses.x.answers.top_k"),
        ("[courses.x.answers]\nscore_threshold = 1.5\n", "courses.x.answers.score_threshold"),
        ("[courses.x.answers]\nmax_turns = 0\n", "courses.x.answers.max_turns"),
        ('[courses.x.answers]\nmodel = ""\n', "courses.x.answers.model"),
        ("[courses.x.answers]\ntemperature = 1.5\n", "courses.x.answers.temperature"),
        ("[courses.x.answers]\nmax_tokens = 0\n", "courses.x.answers.max_tokens"),
        ("[courses.x.answers]\ncontext_window = 100\n", "courses.x.answers.context_window"),
        (
            "[courses.x.answers]\ncontext_window = 600\n",
            "courses.x.answers: context_window is 600, and the instructions with a long question, "
            f"a long quote and one passage need {smallest_window(None):,}.",
        ),
        ("[courses.x.answers]\nsystem_prompt = 3\n", "courses.x.answers.system_prompt"),
        ("[courses.x.answers]\nanswered_from = nan\n", "courses.x.answers.answered_from"),
        (
            "[courses.x.answers]\nanswered_from = 0.3\npartial_from = 0.4\n",
            "courses.x.answers: partial_from must not lie above answered_from.",
        ),
        ('[courses.x]\nembedding = ""\n', "courses.x.embedding"),
        ('[courses.x]\ngenerator = "a"\n[courses.x.answers]\nmodel = "b"\n', "courses.x"),
        ('[models.x]\nkind = "claude"\nmodel = "y"\n', "models.x.kind"),
        ('[models.x]\nkind = "openai"\n', "models.x.model"),
        ('[models.extractive]\nkind = "openai"\nmodel = "y"\n', "models.extractive"),
        ('[models.Two]\nkind = "openai"\nmodel = "y"\n', "models.Two"),
        ("courses = 1\n", "courses"),
        ('[discord.channels."abc"]\ncourse = "x"\n', "discord.channels.abc: this is no id of a"),
        ('[discord.channels."C0123456789"]\n', "discord.channels.C0123456789: this is no id"),
        ('[slack.channels."general"]\n', "slack.channels.general: this is no id of a Slack"),
        ("[slack.channels.118000000000000001]\n", "slack.channels.118000000000000001: this is"),
    ],
)
def test_a_bad_value_is_refused_naming_its_place(text: str, place: str, tmp_path: Path) -> None:
    path = written(tmp_path, text)
    assert refusal_of(path).startswith(f"{path}: {place}")


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ('[courses.x]\nsources = "book"\n', 'courses.x.sources must be a list, such as ["this'),
        ('[courses.x]\nlanguage = "klingon"\n', "courses.x.language must be the code of a lang"),
        (
            '[models.x]\nkind = "openai"\nmodel = "y"\nbaseurl = "http://a/v1"\n',
            "models.x.baseurl is not a key. Did you mean base_url?",
        ),
        ('[courses]\nx = "book"\n', "courses.x must be a table: begin it with a line that says ["),
        ('[[courses]]\nid = "x"\n', "courses must be a table: begin it with a line that says [cou"),
        ('discord = "yes"\n', "discord must be a table: begin it with a line that says [discord]."),
        ('[courses."My book"]\n', "courses.My book must be a course's name: lower-case letters, "),
        ("[courses.x.answers]\ntop_k = 11\n", "courses.x.answers.top_k must be 10 or less."),
        ("[courses.x.answers]\ntop_k = 2.5\n", "courses.x.answers.top_k must be a whole number."),
        ("[courses.x]\ntitle = 3\n", 'courses.x.title must be a text, such as "this".'),
        ("kourses = 3\n", "kourses is not a key. Did you mean courses?"),
        ("zzz = 3\n", "zzz is not a key. There is: discord, slack, courses, models, staff."),
    ],
)
def test_a_mistake_is_told_with_what_is_allowed(tmp_path: Path, text: str, sentence: str) -> None:
    path = written(tmp_path, text)
    assert refusal_of(path).startswith(f"{path}: {sentence}")


# --- channels ---------------------------------------------------------------------------

BOUND = """\
[courses.algebra]
[discord.channels."118000000000000001"]
course = "{0}"
[slack.channels.T0123456789]
course = "algebra"
"""


@pytest.mark.parametrize("course", ["algebra", "botany"])
def test_a_channel_is_bound_to_a_course_of_the_file_or_of_the_catalogue(
    course: str, tmp_path: Path
) -> None:
    read_course_file(written(tmp_path, BOUND.format(course))).check_channels(["botany"])


def test_a_channel_that_is_bound_to_no_course_is_refused_naming_its_key(tmp_path: Path) -> None:
    file = read_course_file(written(tmp_path, BOUND.format("algbra")))
    with pytest.raises(ConfigurationError) as refused:
        file.check_channels([])
    assert str(refused.value) == (
        "In the course file, discord.channels.118000000000000001.course names 'algbra', and there "
        "is no such course; did you mean algebra?"
    )
    file = read_course_file(written(tmp_path, BOUND.format("zzz")))
    with pytest.raises(ConfigurationError, match=r"'zzz', .* known: algebra\.$"):
        file.check_channels([])
