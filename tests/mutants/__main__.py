"""Takes the guards out of a copy of the tree, one at a time, and tells which nobody misses.

    python -m tests.mutants [WORD ...]

Words choose mutants by their names. The exit code is 1 when a mutant survives, and 2 when one
no longer fits the code, or its tests fail without it.
"""

import argparse
import asyncio
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from tests.mutants import MUTANTS
from tests.mutants.mutant import Mutant, Rotten

ROOT = Path(__file__).parents[2]
BESIDE = "shared"
"""The folder beside the project that some tests read."""
LONGEST = 300.0
"""Seconds for the tests of one mutant; who takes longer is killed by that."""
LONGEST_UNTOUCHED = 1_800.0
_LEFT_OUT = shutil.ignore_patterns(
    *(".git", ".venv", ".chaos", ".*_cache", ".hypothesis", "__pycache__", "*.egg-info", "data")
)
_PASSED, _FAILED = 0, 1
"""Exit codes of pytest."""


class Fate(StrEnum):
    """What became of a mutant."""

    KILLED = "killed"
    TIMED_OUT = "killed (time)"
    SURVIVED = "SURVIVED"


@dataclass(frozen=True)
class Verdict:
    """A mutant, what became of it, and how long that took."""

    mutant: Mutant
    fate: Fate
    seconds: float
    by: str = ""
    """The test that failed."""


def main(arguments: Sequence[str]) -> int:
    """Try the mutants, print a table, and return the exit code."""
    parser = argparse.ArgumentParser(prog="python -m tests.mutants", description=__doc__)
    parser.add_argument("words", nargs="*", help="only mutants whose names hold one of these")
    words = parser.parse_args(arguments).words
    chosen = [m for m in MUTANTS if not words or any(word in m.name for word in words)]
    try:
        with _copied_tree() as tree:
            verdicts = asyncio.run(_tried(tree, chosen))
    except Rotten as error:
        print(error, file=sys.stderr)
        return 2
    survivors = [verdict for verdict in verdicts if verdict.fate is Fate.SURVIVED]
    killed = len(verdicts) - len(survivors)
    late = sum(verdict.fate is Fate.TIMED_OUT for verdict in verdicts)
    print(
        f"\n{killed} of {len(verdicts)} killed ({killed / len(verdicts):.0%}), "
        f"{late} of them by the time that their tests took"
    )
    for verdict in survivors:
        print(f"survived: {verdict.mutant.name} ({verdict.mutant.path})")
    return 1 if survivors else 0


@contextmanager
def _copied_tree() -> Iterator[Path]:
    """Copy the project to a folder of its own, beside what lies beside it."""
    with tempfile.TemporaryDirectory(prefix="glossator-mutants-") as folder:
        tree = Path(folder) / "tree"
        shutil.copytree(ROOT, tree, ignore=_LEFT_OUT, symlinks=True)
        if (ROOT.parent / BESIDE).is_dir():
            (Path(folder) / BESIDE).symlink_to((ROOT.parent / BESIDE).resolve())
        yield tree


async def _tried(tree: Path, chosen: Sequence[Mutant]) -> list[Verdict]:
    changes = {mutant.name: mutant.changed((tree / mutant.path).read_text()) for mutant in chosen}
    tests = sorted({test for mutant in chosen for test in mutant.node_ids(tree)})
    print(f"{len(chosen)} mutants; their {len(tests)} tests without any:", flush=True)
    code, said = _pytest(tree, tests, LONGEST_UNTOUCHED)
    if code != _PASSED:
        raise Rotten(f"the tests fail without any mutant\n{said}")
    print(said.splitlines()[-1], "\n", flush=True)
    verdicts = []
    for mutant in chosen:
        verdicts.append(_verdict(tree, mutant, changes[mutant.name]))
        print(_row(verdicts[-1]), flush=True)
    return verdicts


def _verdict(tree: Path, mutant: Mutant, changed: str) -> Verdict:
    """Let the mutant's tests run over the changed file, which is put back afterwards."""
    file, started = tree / mutant.path, time.monotonic()
    before = file.read_text(encoding="utf-8")
    file.write_text(changed, encoding="utf-8")
    try:
        code, said = _pytest(tree, mutant.node_ids(tree), LONGEST)
    except subprocess.TimeoutExpired:
        return Verdict(mutant, Fate.TIMED_OUT, time.monotonic() - started)
    finally:
        file.write_text(before, encoding="utf-8")
    seconds = time.monotonic() - started
    if code == _PASSED and " passed" not in said:
        raise Rotten(f"{mutant.name}: all of its tests are skipped here\n{said}")
    if code not in {_PASSED, _FAILED}:
        raise Rotten(f"{mutant.name}: its tests cannot be run (pytest said {code})\n{said}")
    return Verdict(mutant, Fate.SURVIVED if code == _PASSED else Fate.KILLED, seconds, _by(said))


def _pytest(tree: Path, tests: Iterable[str], seconds: float) -> tuple[int, str]:
    """Run tests over the copied tree, and return the exit code and what was said.

    Raises:
        subprocess.TimeoutExpired: when they take too long; nothing of theirs is left running.
    """
    options = ["-x", "-q", "-m", "not slow", "-p", "no:cacheprovider"]
    options += ["-o", "addopts=--strict-markers -rfE"]
    command = [sys.executable, "-B", "-m", "pytest", *options, *tests]
    environment = os.environ | {"PYTHONPATH": str(tree), "PYTHONDONTWRITEBYTECODE": "1"}
    with subprocess.Popen(
        command,
        cwd=tree,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
    ) as process:
        try:
            said, _ = process.communicate(timeout=seconds)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, 9)
            raise
    return process.returncode, said


def _by(said: str) -> str:
    """Return the first test that failed, by its function's name."""
    failed = (
        line for line in said.splitlines() if line.startswith(("FAILED tests/", "ERROR tests/"))
    )
    return next(failed, "").partition(" - ")[0].rpartition("::")[2].partition("[")[0]


def _row(verdict: Verdict) -> str:
    mutant, by = verdict.mutant, f"by {verdict.by}" if verdict.by else ""
    return f"{verdict.fate:14}{verdict.seconds:6.1f} s  {mutant.name:50}{mutant.path:42}{by}"


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
