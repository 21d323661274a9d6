"""Small books written for the tests, as files on disk."""

from collections.abc import Iterator, Mapping
from pathlib import Path

LIGHTHOUSE: Mapping[str, str] = {
    "lamp.md": """\
# The lamp

The lamp of the Arden lighthouse burns colza oil and is lit every evening at sunset. Its
flame stands inside a lens of twelve glass prisms, which turns its light into one narrow beam.

## Trimming the wick

The keeper trims the wick of the lamp every four hours. An untrimmed wick smokes, and the
soot darkens the prisms until ships no longer see the beam.

## The clockwork

A clockwork driven by a falling weight turns the lens once in ninety seconds. The keeper
winds the weight up again every second hour, because it reaches the ground after that time.
""",
    "keepers/duties.md": """\
# Duties of the keeper

Three keepers share the watches of the night. Each of them stays awake for four hours and
writes the weather, the passing ships and every repair into the log book.

## Fog

In fog the keeper rings the bell twice a minute, because the beam does not reach the ships.
The fog bell of Arden weighs half a ton and was cast from the guns of a wrecked frigate.
""",
    "keepers/supplies.md": """\
# Supplies

A supply boat brings oil, flour and letters to the rock on the first Monday of every month.
When storms keep the boat away, the keepers live on salted herring and ship biscuit.
""",
}
"""A book whose facts no model has ever read."""

COVERED = "How often does the keeper trim the wick of the lamp?"
COVERED_FACT = "every four hours"
UNCOVERED = "Which enzyme unwinds the double helix during replication of DNA?"
VERBATIM = "An untrimmed wick smokes, and the soot darkens the prisms"
ALTERED = "An untrimmed wick smokes and its soot will darken the prisms until ships no longer see"
FOREIGN = (
    "The mitochondria convert pyruvate into adenosine triphosphate through a chain of enzymes "
    "embedded in their folded inner membrane."
)


def write_files(root: Path, files: Mapping[str, str | bytes]) -> Path:
    """Write files below `root` and return it; text becomes UTF-8."""
    for name, content in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content.encode() if isinstance(content, str) else content)
    return root


def long_book(pages: int, *, paragraphs: int = 4) -> dict[str, str]:
    """Return a book of `pages` pages, all different, with one section a paragraph."""
    return {f"page-{n:03}.md": "".join(_page(n, paragraphs)) for n in range(1, pages + 1)}


def _page(number: int, paragraphs: int) -> Iterator[str]:
    yield f"# Island {number}\n\n"
    for part in range(1, paragraphs + 1):
        yield (
            f"## Survey {number}.{part}\n\n"
            f"The surveyors of island {number} counted {number * 7 + part} puffins on cliff "
            f"{part}. They rowed {number + part} miles against the tide, and they measured the "
            f"height of cliff {part} with a brass sextant as {number * 3 + part * 11} feet.\n\n"
        )
