"""`make soak`: asks for hours, and prints what grows with every question."""

import argparse
import asyncio
import sys
from pathlib import Path

from tests.soak.picture import png
from tests.soak.run import run
from tests.soak.slopes import table, too_steep


def main() -> int:
    """Run what the command line asks for; 1 when something grows that must not."""
    reader = argparse.ArgumentParser(prog="make soak")
    reader.add_argument("--questions", type=int, default=2_000)
    reader.add_argument("--state", type=Path, default=Path(".soak"))
    wanted = reader.parse_args()
    wanted.state.mkdir(parents=True, exist_ok=True)
    state = wanted.state.absolute()
    samples = asyncio.run(run(wanted.questions, state))
    warm_up = min(2_000, samples[-1].questions // 4)
    print(f"{samples[-1].questions:,} questions, the first {warm_up:,} of each life left out")
    print("\n".join(table(samples, warm_up)))
    (state / "soak.png").write_bytes(png(samples, warm_up))
    print(f"picture: {state / 'soak.png'}")
    steep = too_steep(samples, warm_up)
    print(f"grows more than it may: {', '.join(steep) or 'nothing'}")
    return 1 if steep else 0


if __name__ == "__main__":
    sys.exit(main())
