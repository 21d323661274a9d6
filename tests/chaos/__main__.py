"""`make chaos`: asks thousands of questions while things break, and prints what came of it."""

import argparse
import sys
from pathlib import Path

from tests.chaos.figures import is_clean, table
from tests.chaos.run import parts, run


def main() -> int:
    """Run what the command line asks for; 1 when something went wrong that must not."""
    reader = argparse.ArgumentParser(prog="make chaos")
    reader.add_argument("--questions", type=int, default=2_000)
    reader.add_argument("--seed", type=int, default=1)
    reader.add_argument("--state", type=Path, default=Path(".chaos"))
    reader.add_argument("--at-a-time", type=int, default=1, help="parts beside one another")
    wanted = reader.parse_args()
    todo = list(parts(wanted.questions, wanted.seed))
    wanted.state.mkdir(parents=True, exist_ok=True)
    outcomes = run(todo, wanted.state.absolute(), wanted.at_a_time)
    print(table(outcomes))
    return 0 if is_clean(outcomes) else 1


if __name__ == "__main__":
    sys.exit(main())
