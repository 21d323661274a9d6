"""Runs the real command line: as a process of its own, or inside the test's."""

import contextlib
import io
import json
import os
import re
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pytest

from bot.cli import main
from bot.settings import PREFIX

ROOT = Path(__file__).parents[1]
_PROGRESS = re.compile(r": \d+ of \d+(, about \d+ s left)?$")
"""What a run that takes seconds says meanwhile, as on a busy machine."""
_KEPT = ("PATH", "HOME", "SYSTEMROOT", "TEMP", "TMP")


@dataclass(frozen=True)
class Finished:
    """How a command ended, and what it said."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        """All of standard output as one JSON value; anything beside it fails the test."""
        return json.loads(self.out)

    @property
    def sentence(self) -> str:
        """The one line that a failed command says, and nothing else, on standard error."""
        assert "Traceback" not in self.err
        lines = [line for line in self.err.splitlines() if not _PROGRESS.search(line)]
        assert len(lines) == 1, self.err
        assert lines[0].startswith("glossator: ")
        return lines[0].removeprefix("glossator: ")


@dataclass(frozen=True)
class CommandLine:
    """A user's shell: a current folder, a data folder and the variables that are set."""

    folder: Path
    variables: Mapping[str, str] = field(default_factory=dict)
    python: str = sys.executable
    """The interpreter of commands that are processes of their own."""

    @property
    def data(self) -> Path:
        return self.folder / "data"

    def knowing(self, **variables: str) -> "CommandLine":
        """Return the same shell with more variables set, whatever their names."""
        return replace(self, variables={**self.variables, **variables})

    def setting(self, **variables: str) -> "CommandLine":
        """Return the same shell with more `GLOSSATOR_` variables set."""
        return self.knowing(**{f"{PREFIX}{name}": value for name, value in variables.items()})

    def copied(self, folder: Path) -> "CommandLine":
        """Return a shell with the same files, index included, in another folder."""
        copy_tree(self.folder, folder)
        return replace(self, folder=folder)

    def environment(self) -> dict[str, str]:
        kept = {name: os.environ[name] for name in _KEPT if name in os.environ}
        return {
            **kept,
            "PYTHONPATH": str(ROOT),
            f"{PREFIX}DATA_DIR": str(self.data),
            **self.variables,
        }

    def start(self, *arguments: str | bytes, **pipes: Any) -> "subprocess.Popen[bytes]":
        """Start a command as a process that the caller ends or awaits."""
        return subprocess.Popen(
            [self.python, "-m", "bot", *arguments],
            cwd=self.folder,
            env=self.environment(),
            **{
                "stdin": subprocess.DEVNULL,
                "stdout": subprocess.PIPE,
                "stderr": subprocess.PIPE,
                **pipes,
            },
        )

    def run(
        self, *arguments: str | bytes, stdin: bytes = b"", timeout: float = 60, umask: int = -1
    ) -> Finished:
        """Run a command as a process of its own."""
        done = subprocess.run(
            [self.python, "-m", "bot", *arguments],
            cwd=self.folder,
            env=self.environment(),
            input=stdin,
            capture_output=True,
            timeout=timeout,
            check=False,
            umask=umask,
        )
        return Finished(done.returncode, done.stdout.decode(), done.stderr.decode())

    def here(self, *arguments: str, stdin: str = "") -> Finished:
        """Run a command inside this process, which saves its start; not in an event loop."""
        out, err = io.StringIO(), io.StringIO()
        umask = os.umask(0o022)
        with pytest.MonkeyPatch.context() as patch:
            for name in the_operators_own():
                patch.delenv(name)
            for name, value in self.environment().items():
                patch.setenv(name, value)
            patch.chdir(self.folder)
            patch.setattr(sys, "stdin", io.StringIO(stdin))
            with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
                try:
                    code = main(arguments)
                finally:
                    os.umask(umask)
        return Finished(code, out.getvalue(), err.getvalue())


def copy_tree(source: Path, target: Path) -> None:
    """Copy a folder into another, which may be there; the index's files are mostly holes."""
    target.mkdir(parents=True, exist_ok=True)
    subprocess.run(["cp", "-R", "-p", "-P", f"{source}/.", str(target)], check=True)


def the_operators_own() -> list[str]:
    """Return the variables of this process that Glossator, or a library of Google's, would read."""
    prefixes = (PREFIX, "GEMINI_", "GOOGLE_")
    return [name for name in os.environ if name.upper().startswith(prefixes)]


def shell(folder: Path, models: Path) -> CommandLine:
    """Return a shell in `folder` whose data folder has the built model and nothing else."""
    command_line = CommandLine(folder)
    command_line.data.mkdir(parents=True, mode=0o700)
    (command_line.data / "models").symlink_to(models, target_is_directory=True)
    return command_line
