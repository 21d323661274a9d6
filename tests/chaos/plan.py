"""Which questions a part asks, how, and on which platform: chosen by a seed."""

import random
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import count

from tests.chaos.book import name_of
from tests.chaos.history import Way

LONGEST = 4
"""Questions of one conversation."""
CROWD_EVERY, COMMAND_EVERY, AWAY_EVERY, NEW_CHANNEL_EVERY, BARE_EVERY = 100, 8, 40, 40, 40
STAFF_EVERY = 20
"""Questions of a run for one of these."""
CROWD, SMALL_CROWD = 24, 16
"""Questions of a crowd; a small one is not too large for its channel, but for its loudest."""
_FEWEST = 30
"""Questions of a part in which anything but conversations happens."""


@dataclass(frozen=True)
class Talk:
    """Questions that are asked together."""

    way: Way
    number: int
    """Counts the talks of the same way: even ones are held on Slack, odd ones on Discord."""
    conversation: int
    """Where each question is a conversation of its own, the number of the first one."""
    names: tuple[str, ...]

    @property
    def on_discord(self) -> bool:
        """Whether it is held on Discord."""
        return self.number % 2 == 1


def talks(questions: int, seed: int, *, plain: bool = False) -> list[Talk]:
    """Return the talks of a part, which have so many questions together.

    Args:
        plain: Whether conversations alone are held.
    """
    chance = random.Random(seed)
    sizes = [] if plain else [*_happenings(questions)]
    left = questions - sum(size for _, size in sizes)
    while left > 0:
        sizes.append((Way.TALK, min(chance.randint(1, LONGEST), left)))
        left -= sizes[-1][1]
    chance.shuffle(sizes)
    numbers = {way: count(seed if way is Way.CROWD else 0) for way in Way}
    found, asked = list[Talk](), 0
    for way, size in sizes:
        names = tuple(name_of(n) for n in range(asked, asked + size))
        found.append(Talk(way, next(numbers[way]), asked, names))
        asked += size
    return found


def _happenings(questions: int) -> Iterator[tuple[Way, int]]:
    """Yield what happens beside conversations, and with how many questions."""
    if questions < _FEWEST:
        return
    crowd = CROWD if questions >= CROWD_EVERY * 0.75 else SMALL_CROWD
    yield from [(Way.CROWD, crowd)] * max(1, round(questions / CROWD_EVERY))
    yield from [(Way.COMMAND, 1)] * max(6, round(questions / COMMAND_EVERY))
    yield from [(Way.AWAY, 1)] * max(2, round(questions / AWAY_EVERY))
    yield from [(Way.NEW_CHANNEL, 1)] * max(2, round(questions / NEW_CHANNEL_EVERY))
    yield from [(Way.BARE, 1)] * max(2, round(questions / BARE_EVERY))
    yield from [(Way.STAFF, 1)] * max(2, round(questions / STAFF_EVERY))
