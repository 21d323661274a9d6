"""`make soak`: asks for hours, and prints what grows with every question."""

import argparse
import asyncio
import sys
from pathlib import Path

from tests.soak.picture import png
from tests.soak.run import PACE, run
from tests.soak.slopes import WARM_UP, table, tells_enough, too_steep


def main() -> int:
    """Run what the command line asks for; 1 when something grows that must not."""
    reader = argparse.ArgumentParser(prog="make soak")
    reader.add_argument("--questions", type=int, default=10_000)
    reader.add_argument("--pace", type=float, default=PACE, help="questions a second")
    reader.add_argument("--state", type=Path, default=Path(".soak"))
    wanted = reader.parse_args()
    wanted.state.mkdir(parents=True, exist_ok=True)
    state = wanted.state.absolute()
    samples = asyncio.run(run(wanted.questions, state, wanted.pace))
    lives, minutes = len({s.life for s in samples}), round(WARM_UP / 60)
    print(f"{samples[-1].questions:,} questions, {lives} lives, without {minutes} minutes of each")
    print("\n".join(table(samples)))
    (state / "soak.png").write_bytes(png(samples))
    print(f"picture: {state / 'soak.png'}")
    if not tells_enough(samples):
        print("too short a run to tell what grows")
        return 0
    steep = too_steep(samples)
    print(f"grows more than it may: {', '.join(steep) or 'nothing'}")
    return 1 if steep else 0


if __name__ == "__main__":
    sys.exit(main())
