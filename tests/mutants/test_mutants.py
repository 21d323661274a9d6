"""The list of mutants fits the code as it is; `make mutants` tries them."""

from pathlib import Path

import pytest

from tests.mutants import MUTANTS
from tests.mutants.mutant import Mutant, Rotten

ROOT = Path(__file__).parents[2]
SAMPLE = Mutant("a sample", "x.py", "if ok:\n", "if True:\n", "nothing", ())


@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda mutant: mutant.name.replace(" ", "-"))
def test_a_mutant_still_applies_and_has_its_tests(mutant: Mutant) -> None:
    source = (ROOT / mutant.path).read_text(encoding="utf-8")
    assert mutant.changed(source) != source
    assert mutant.node_ids(ROOT)


def test_there_are_many_mutants_each_with_its_own_name() -> None:
    assert len({mutant.name for mutant in MUTANTS}) == len(MUTANTS) >= 40


@pytest.mark.parametrize("source", ["", "if ok:\n    a\nif ok:\n    b\n"])
def test_a_text_that_does_not_stand_there_once_is_an_error(source: str) -> None:
    with pytest.raises(Rotten, match=r"times in x\.py"):
        SAMPLE.changed(source)


def test_what_is_no_python_any_more_is_an_error() -> None:
    with pytest.raises(Rotten):
        SAMPLE.changed("if ok:\n")


def test_a_test_that_is_gone_is_an_error() -> None:
    gone = Mutant("x", "x.py", "a", "b", "nothing", ("tests/mutants/test_mutants.py::test_gone",))
    with pytest.raises(Rotten, match="there is no test"):
        gone.node_ids(ROOT)
