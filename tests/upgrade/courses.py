"""The two courses of the installation, and what is asked about them."""

from collections.abc import Mapping
from dataclasses import dataclass

from tests.books import LIGHTHOUSE

TIDE_MILL: Mapping[str, str] = {
    "wheel.md": """\
# The wheel

The tide mill of Penwarra grinds barley on the ebb alone. Its wheel carries thirty-two floats
of elm and turns for five hours after each high water.

## The gates

The gates of the pond close by themselves when the tide turns. The miller paints them with tar
every spring, because shipworm eats bare oak.
""",
    "pond.md": """\
# The pond

The pond of the tide mill holds nine thousand tons of sea water behind a dam of granite.

## Eels

Eels are caught in the pond with a wicker trap, and the miller sells them at Michaelmas.
""",
}
BOOKS = {"arden": LIGHTHOUSE, "mill": TIDE_MILL}
"""The pages of each course by file name."""


@dataclass(frozen=True)
class Question:
    """A question, and words of the book that only its answer has."""

    text: str
    fact: str


WICK = Question("How often does the keeper trim the wick of the lamp?", "every four hours")
BELL = Question("How much does the fog bell of Arden weigh?", "half a ton")
BOAT = Question("When does the supply boat bring oil, flour and letters?", "first Monday")
CLOCKWORK = Question("How does the clockwork turn the lens?", "ninety seconds")
STORM = Question("What do the keepers live on when storms keep the boat away?", "salted herring")
FLOATS = Question("How many floats does the wheel of the tide mill carry?", "thirty-two")
TAR = Question("What does the miller paint the gates of the pond with?", "tar")
POND = Question("How much sea water does the pond of the tide mill hold?", "nine thousand tons")
EELS = Question("How are eels caught in the pond?", "wicker trap")
