"""What a test costs: who pays for what is shared, and who may not cost so much."""

import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.costly

SUITE = """
import subprocess, sys, time
import pytest

def burn(seconds=0.25):
    end = time.process_time() + seconds
    while time.process_time() < end:
        pass

@pytest.fixture(scope="session")
def for_all():
    burn()
    yield
    burn()

@pytest.fixture(scope="module")
def shared():
    burn()

@pytest.fixture
def own():
    yield
    burn()

def test_cheap(for_all): ...
def test_dear(for_all): burn()
def test_dear_at_its_end(own): ...
def test_first_of_its_module(shared): ...
def test_second_of_its_module(shared): ...
def test_dear_in_a_child():
    code = "import time\\nwhile time.process_time() < 0.25: pass"
    subprocess.run([sys.executable, "-c", code])
@pytest.mark.costly
def test_marked(): burn()
def test_last(): ...
"""
DEAR = {"test_dear", "test_dear_at_its_end", "test_dear_in_a_child"}


def test_what_costs_more_than_the_limit_fails_unless_it_is_marked(tmp_path: Path) -> None:
    (tmp_path / "test_suite.py").write_text(SUITE)
    (tmp_path / "pytest.ini").write_text("[pytest]\ncpu_limit = 0.2\nmarkers =\n    costly: x\n")
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
    assert failed == {f"ERROR test_suite.py::{t}" for t in (*DEAR, "test_first_of_its_module")}
    costs = [line.split("\t") for line in (tmp_path / "costs.tsv").read_text().splitlines()]
    dear = {
        name.removeprefix("test_suite.py").strip(": ") for cost, name in costs if float(cost) > 0.2
    }
    assert dear == {*DEAR, "test_marked", "shared", "for_all"}
