"""What a test costs: who pays for what is shared, and who may not cost so much."""

import subprocess
import sys
from pathlib import Path

SUITE = """
import subprocess, sys, time
import pytest

def burn(seconds):
    end = time.process_time() + seconds
    while time.process_time() < end:
        pass

@pytest.fixture(scope="module")
def shared():
    burn(0.6)
    yield
    burn(0.6)

@pytest.fixture
def own():
    yield
    burn(0.6)

def test_cheap(shared): ...
def test_dear(): burn(0.6)
def test_dear_at_its_end(own): ...
def test_dear_in_a_child():
    code = "import time\\nwhile time.process_time() < 0.6: pass"
    subprocess.run([sys.executable, "-c", code])
@pytest.mark.costly
def test_marked(): burn(0.6)
def test_last(): ...
"""


def test_what_costs_more_than_the_limit_fails_unless_it_is_marked(tmp_path: Path) -> None:
    (tmp_path / "test_suite.py").write_text(SUITE)
    (tmp_path / "pytest.ini").write_text("[pytest]\ncpu_limit = 0.5\nmarkers =\n    costly: x\n")
    ran = subprocess.run(
        [
            *(sys.executable, "-m", "pytest", "-q", "-p", "tests.cost", "--costs", "costs.tsv"),
            *(f"--rootdir={tmp_path}", "-p", "no:cacheprovider", "-p", "no:xdist"),
        ],
        cwd=tmp_path,
        env={"PYTHONPATH": str(Path(__file__).parents[2])},
        capture_output=True,
        text=True,
        check=False,
    )
    lines = ran.stdout.splitlines()
    failed = {line.split(" - ")[0] for line in lines if line.startswith("ERROR ")}
    dear = {"test_dear", "test_dear_at_its_end", "test_dear_in_a_child"}
    assert failed == {f"ERROR test_suite.py::{name}" for name in dear}, ran.stdout + ran.stderr
    costs = [line.split("\t") for line in (tmp_path / "costs.tsv").read_text().splitlines()]
    assert {name for cost, name in costs if float(cost) > 0.5} == {
        f"test_suite.py::{name}" for name in (*dear, "test_marked")
    }
