"""The image's own start command, without rights and on a file system that is read-only."""

import asyncio
import socket
import subprocess
import time
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest
import pytest_asyncio

from tests.books import COVERED, COVERED_FACT, LIGHTHOUSE, write_files
from tests.command_line import Finished
from tests.wire import bot_process
from tests.wire.discord import DiscordServer, Limits
from tests.wire.discord_bot import Trial
from tests.wire.image import Image, why_not

pytestmark = [
    pytest.mark.costly,
    pytest.mark.asyncio(loop_scope="module"),
    pytest.mark.xdist_group("image"),
    pytest.mark.skipif(why_not() is not None, reason=str(why_not())),
]

COURSE_FILE = """\
[courses.arden]
title = "Arden"
sources = ["arden"]
"""
_TRIES = 20


class ImageProcess(bot_process.BotProcess):
    """The image's start command."""

    def __init__(self, folder: Path, image: Image, variables: dict[str, str]) -> None:
        """Prepare a process; all `variables` are set, and no others."""
        super().__init__(folder, {}, ready="connected to Discord as")
        self._image = image
        self._variables = variables

    async def launch(self) -> None:
        """Start the process, and wait for nothing."""
        with self._log.open("ab") as log:
            self._process = await asyncio.create_subprocess_exec(
                *self._image.starting(self._image.dockerfile.command),
                env=self._variables,
                stdin=asyncio.subprocess.DEVNULL,
                stdout=log,
                stderr=log,
            )


@dataclass(frozen=True)
class Container:
    """A bot that was started as a container engine would start it."""

    image: Image
    trial: Trial
    variables: dict[str, str]
    before: dict[Path, tuple[int, int, int]]
    """All that the image holds, as it was at the start."""

    async def run(self, *command: str) -> Finished:
        """Run another command beside the bot, with the same rights and variables."""
        return await asyncio.to_thread(self._run, command)

    async def becomes_healthy(self, page: str = "/healthz") -> bool:
        """Run the image's own check until it passes; a busy machine may keep it waiting."""
        for _ in range(_TRIES):
            if await self.passes(page):
                return True
            await asyncio.sleep(0.5)
        return False

    async def passes(self, page: str = "/healthz") -> bool:
        """Run the image's own check, for this page."""
        check = self.image.dockerfile.healthcheck
        words = [word.replace("/healthz", page) for word in check]
        return (await self.run(*words)).code == 0

    def _run(self, command: Sequence[str]) -> Finished:
        done = subprocess.run(
            self.image.starting(command),
            env=self.variables,
            capture_output=True,
            text=True,
            check=False,
        )
        return Finished(done.returncode, done.stdout, done.stderr)


@pytest.fixture(scope="module")
def image(tmp_path_factory: pytest.TempPathFactory) -> Image:
    folder = tmp_path_factory.mktemp("image")
    built = Image.build(folder)
    write_files(built.courses, {f"arden/{name}": text for name, text in LIGHTHOUSE.items()})
    write_files(built.courses, {"glossator.toml": COURSE_FILE})
    return built


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def container(
    image: Image, tmp_path_factory: pytest.TempPathFactory
) -> AsyncIterator[Container]:
    async with DiscordServer(Limits.relaxed()) as server:
        variables = image.environment(
            {
                "DISCORD__TOKEN": server.world.application.token,
                "DISCORD__API_URL": server.api_url,
                "CONFIG": image.at_its_place(image.courses / "glossator.toml"),
                "MONITORING__PORT": str(_free_port()),
            }
        )
        bot = ImageProcess(tmp_path_factory.mktemp("log"), image, variables)
        trial = Trial(server, bot)
        before = await asyncio.to_thread(_seen_in, image.folder / "bound-0")
        began = time.monotonic()
        await bot.start()
        print(f"\nconnected {time.monotonic() - began:.1f} s after the start on an empty folder")
        try:
            yield Container(image, trial, variables, before)
        finally:
            if bot.is_running:
                await bot.kill()


async def test_it_has_no_rights_and_can_write_nowhere_but_in_its_folder(
    container: Container,
) -> None:
    for folder in ("/", "/opt/glossator", "/opt", "/tmp", "/var/tmp", "/var/lib", "/usr"):
        refused = await container.run("mkdir", f"{folder}/made-by-the-image")
        assert refused.code != 0, folder
    made = await container.run("mkdir", f"{container.image.dockerfile.folder}/made-by-the-image")
    assert made.code == 0, made.err
    (container.image.data / "made-by-the-image").rmdir()
    lines = _status(container.trial.bot.pid)
    user, group = map(str, container.image.dockerfile.user)
    assert lines["Uid"].split() == [user] * 4
    assert lines["Gid"].split() == [group] * 4
    assert lines["NoNewPrivs"] == "1"
    assert [int(lines[name], 16) for name in ("CapEff", "CapPrm", "CapBnd")] == [0, 0, 0]


async def test_what_runs_is_what_the_image_holds(container: Container) -> None:
    where = await container.run("python", "-c", "import bot, sys; print(bot.__file__, sys.prefix)")
    module, prefix = where.out.split()
    assert module.startswith(f"{prefix}/")
    assert prefix == "/opt/glossator"


async def test_no_container_has_to_prepare_the_embedding_model(container: Container) -> None:
    assert "Preparing the embedding model" not in container.trial.bot.log
    assert not (container.image.data / "models").exists()


async def test_it_is_healthy_answers_and_ends_in_peace(container: Container) -> None:
    trial = container.trial
    assert await container.becomes_healthy()
    assert await container.becomes_healthy("/readyz")
    done = await container.run("glossator", "ingest")
    assert done.code == 0, done.err
    answer = await trial.ask(trial.user(), trial.channel(), COVERED)
    assert COVERED_FACT in answer.text
    helped = await trial.world.slash(
        trial.user(),
        trial.channel(),
        "glossator help",
        question="Does Glossator need a connection?",
    )
    assert "Glossator" in (await trial.result_of(helped)).text
    told = time.monotonic()
    assert await trial.bot.stop() == 0, trial.bot.log
    print(f"\nended {time.monotonic() - told:.1f} s after SIGTERM")
    assert not await container.passes()
    began = time.monotonic()
    await trial.bot.start()
    print(f"connected {time.monotonic() - began:.1f} s after the next start")
    answer = await trial.ask(trial.user(), trial.channel(), COVERED)
    assert COVERED_FACT in answer.text
    assert await trial.bot.stop() == 0, trial.bot.log
    trial.check_manners()
    assert "Traceback" not in trial.bot.log
    assert '"level":"ERROR"' not in trial.bot.log.replace(" ", "")


async def test_it_says_nothing_but_lines_of_json(container: Container) -> None:
    assert container.trial.bot.log
    assert [line for line in container.trial.bot.log.splitlines() if line[0] != "{"] == []


async def test_nothing_was_written_beside_the_data(container: Container) -> None:
    image = container.image
    user, _ = image.dockerfile.user
    assert {entry.name for entry in image.data.iterdir()} >= {"glossator.db", "index"}
    assert _owned_by(user, "/tmp", "/var/tmp", "/dev/shm") == []
    assert _seen_in(image.folder / "bound-0") == container.before


def _status(process: int) -> dict[str, str]:
    """Return what the kernel says of a process."""
    lines = Path(f"/proc/{process}/status").read_text("ascii").splitlines()
    return dict(line.split(":\t", 1) for line in lines)


def _owned_by(user: int, *folders: str) -> list[Path]:
    entries = (entry for folder in folders for entry in Path(folder).iterdir())
    return [entry for entry in entries if entry.lstat().st_uid == user]


def _seen_in(folder: Path) -> dict[Path, tuple[int, int, int]]:
    """Return the mode, size and time of change of everything in a folder."""
    seen = ((path, path.lstat()) for path in folder.rglob("*"))
    return {path: (found.st_mode, found.st_size, found.st_mtime_ns) for path, found in seen}


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port
