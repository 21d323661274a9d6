"""`glossator courses owner`, `grant`, `revoke` and `tenants`: what an operator types and reads."""

import asyncio

import pytest

from core.domain import Course
from core.storage.access import Tenant
from core.storage.access_store import AccessStore
from core.storage.catalogue import Catalogue
from core.storage.database import create_engine, dispose
from tests.command_line import CommandLine

pytestmark = pytest.mark.costly

HOME, SECOND, SLACK = "discord:1180000000000000001", "discord:42", "slack:T0123"
WAITS = "may read no course yet: run 'glossator courses grant COURSE discord:42'"


@pytest.fixture
def shell(glossator: CommandLine) -> CommandLine:
    """A shell with two courses, and three tenants that let the bot in, two of them of Discord."""

    async def prepare() -> None:
        engine = create_engine(f"sqlite:///{glossator.data / 'glossator.db'}")
        for name in ("biology", "algebra"):
            await Catalogue(engine).save_course(Course(course_id=name, title=name))
        for tenant in (HOME, SECOND, SLACK):
            await AccessStore(engine).meet(Tenant.named(tenant))
        await dispose(engine)

    assert glossator.here("db", "upgrade").code == 0
    asyncio.run(prepare())
    return glossator


def said(shell: CommandLine, *words: str) -> str:
    done = shell.here("courses", *words)
    assert (done.code, done.err) == (0, "")
    return done.out


def read_by(shell: CommandLine) -> dict[str, list[str]]:
    """Return the courses that each tenant may read."""
    listed = shell.here("courses", "tenants", "--json").json
    return {one["tenant"]: sorted(one["courses"]) for one in listed}


def test_a_second_tenant_reads_nothing_until_it_is_granted(shell: CommandLine) -> None:
    both = ["algebra", "biology"]
    assert read_by(shell) == {HOME: both, SECOND: [], SLACK: both}
    assert WAITS in said(shell, "tenants")
    assert said(shell, "grant", "biology", SECOND) == f"{SECOND} may read biology.\n"
    assert said(shell, "grant", "biology", SECOND) == f"{SECOND} may read biology already.\n"
    assert read_by(shell)[SECOND] == ["biology"]
    assert f"granted to {SECOND}" in said(shell)
    assert "is taken back" in said(shell, "revoke", "biology", SECOND)
    assert "has no grant" in said(shell, "revoke", "biology", SECOND)
    assert read_by(shell)[SECOND] == []


def test_a_course_is_its_owners_alone_until_the_operator_takes_it_back(shell: CommandLine) -> None:
    assert said(shell, "owner", "biology", SLACK) == f"biology belongs to {SLACK}.\n"
    assert read_by(shell) == {HOME: ["algebra"], SECOND: [], SLACK: ["algebra", "biology"]}
    assert "may read it all the same: it owns it" in said(shell, "revoke", "biology", SLACK)
    assert said(shell, "owner", "biology", "operator") == "biology belongs to the operator.\n"
    assert read_by(shell)[HOME] == ["algebra", "biology"]


@pytest.mark.parametrize("command", ["owner", "grant"])
def test_who_has_not_let_the_bot_in_yet_may_be_named_before(
    shell: CommandLine, command: str
) -> None:
    told = said(shell, command, "biology", "slack:T9999")
    assert "has not let the bot in yet" in told
    assert "'glossator courses tenants'" in told

    async def meet() -> None:
        engine = create_engine(f"sqlite:///{shell.data / 'glossator.db'}")
        await AccessStore(engine).meet(Tenant.named("slack:T9999"))
        await dispose(engine)

    asyncio.run(meet())
    assert read_by(shell)["slack:T9999"] == ["biology"]
    assert "has not let the bot in yet" not in said(shell, command, "biology", "slack:T9999")


def test_a_tenant_that_the_course_file_binds_does_not_wait(shell: CommandLine) -> None:
    guild = "118000000000000042"
    table = f'[discord.channels."{guild}"]\ncourse = "biology"\n'
    (shell.folder / "glossator.toml").write_text(table)

    async def meet() -> None:
        engine = create_engine(f"sqlite:///{shell.data / 'glossator.db'}")
        await AccessStore(engine).meet(Tenant("discord", guild))
        await dispose(engine)

    asyncio.run(meet())
    assert read_by(shell)[f"discord:{guild}"] == ["biology"]
    assert "the course file binds it" in said(shell, "revoke", "biology", f"discord:{guild}")
    told = [line for line in shell.here("doctor").out.splitlines() if " tenants " in line]
    assert [line.split()[0] for line in told] == ["ok", "WARN", "ok", "ok"]
    assert WAITS in told[1]


@pytest.mark.parametrize("command", ["owner", "grant", "revoke"])
@pytest.mark.parametrize(
    ("course", "tenant", "what"),
    [
        ("biolgy", SECOND, "biolgy"),
        ("handbook", SECOND, "Everybody may read the handbook"),
        ("biology", "T0123", "a tenant is written PLATFORM:ID"),
        ("biology", "irc:42", "there is no platform irc"),
        ("biology", "slack:42", "those of Slack workspaces begin with T"),
        ("biology", "discord:T0123", "ids of Discord servers are numbers"),
    ],
)
def test_what_is_not_there_is_named_and_changes_nothing(
    shell: CommandLine, command: str, course: str, tenant: str, what: str
) -> None:
    before = read_by(shell)
    done = shell.here("courses", command, course, tenant)
    assert done.code != 0
    assert what in " ".join(done.sentence.split())
    assert read_by(shell) == before
