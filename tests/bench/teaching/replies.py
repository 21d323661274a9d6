"""How soon and how often a reply of the staff's stands in the asker's thread.

`python -m tests.bench.teaching.replies` asks what the book does not cover, on the local Discord and
the local Slack, passes each question on to the staff, and answers it in the form. Then it does so
again and kills the bot while it takes in the form or sends the reply; staff send the form again.
"""

import argparse
import asyncio
import json
import random
import signal
import time
from collections.abc import Iterator
from dataclasses import dataclass, field

from tests.bench.figures import percentile
from tests.bench.near_topic import ROWS
from tests.bench.teaching.offices import Asked, Office, on_both

MOST_SECONDS = 5.0
_KILLED_WITHIN = 1.0
"""Seconds after the form was sent."""


@dataclass
class Replies:
    """What became of the answers of the staff on one platform."""

    platform: str
    seconds: list[float] = field(default_factory=list)
    """From sending the form, of those that nothing disturbed."""
    killed: int = 0
    sent: list[tuple[Asked, str]] = field(default_factory=list)
    lost: int = 0
    doubled: int = 0
    elsewhere: int = 0

    def count(self, office: Office) -> None:
        """Count what stands."""
        for asked, said in self.sent:
            there, elsewhere = office.copies(asked, said)
            self.lost += there == 0
            self.doubled += there > 1
            self.elsewhere += elsewhere

    def lines(self) -> Iterator[str]:
        """Yield the figures."""
        taken = self.seconds
        yield (
            f"{self.platform}: {len(taken)} replies, from the form to the asker's thread: "
            f"median {percentile(taken, 50):.2f} s, p95 {percentile(taken, 95):.2f} s, "
            f"most {max(taken):.2f} s"
        )
        yield (
            f"{self.platform}: {len(self.sent)} replies, the bot killed under {self.killed} of "
            f"them: {self.lost} lost, {self.doubled} doubled, {self.elsewhere} elsewhere"
        )

    @property
    def holds(self) -> bool:
        """Whether each reply came in time, and stands once where it belongs."""
        is_once = not (self.lost or self.doubled or self.elsewhere)
        return is_once and max(self.seconds) <= MOST_SECONDS


def questions() -> Iterator[str]:
    """Yield what a book about buoys does not cover."""
    for line in ROWS.read_text(encoding="utf-8").splitlines():
        yield json.loads(line)["question"]


async def measured(office: Office, undisturbed: int, killed: int, seed: int) -> Replies:
    """Answer so many questions in peace, and so many while the bot is killed."""
    found, chance, asking = Replies(office.name), random.Random(seed), questions()
    while len(found.sent) < undisturbed + killed:
        question = next(asking)
        asked = await office.ask(question)
        if not await office.pass_on(asked):
            continue
        form = await office.form(question)
        said = f"The staff's answer R{len(found.sent):04}."
        found.sent.append((asked, said))
        began = time.monotonic()
        await form.submit(said)
        if len(found.sent) <= undisturbed:
            await office.standing(asked, said)
            found.seconds.append(time.monotonic() - began)
            continue
        await asyncio.sleep(chance.uniform(0.0, _KILLED_WITHIN))
        await office.bot.stop(signal.SIGKILL)
        found.killed += 1
        await office.bot.start()
        await form.submit(said)
        await office.standing(asked, said)
    await office.quiet()
    found.count(office)
    return found


if __name__ == "__main__":
    reader = argparse.ArgumentParser(
        prog="python -m tests.bench.teaching.replies", description=__doc__
    )
    reader.add_argument("--number", type=int, default=30, help="replies in peace, by platform")
    reader.add_argument("--killed", type=int, default=20, help="with a kill, by platform")
    reader.add_argument("--seed", type=int, default=24)
    wanted = reader.parse_args()
    chosen = (wanted.number, wanted.killed, wanted.seed)
    raise SystemExit(not asyncio.run(on_both(lambda office: measured(office, *chosen))))
