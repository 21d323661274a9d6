"""The held-out figures: shares of unaddressed lines by band, with 95 % intervals."""

from collections import Counter
from collections.abc import Iterator, Sequence

from adapters.attention.deciding import Decision
from adapters.attention.intents import INTENTS, Band, Intent
from tests.bench.shares import interval
from tests.bench.speaking.labelled import Labelled

Decided = Sequence[tuple[Labelled, Decision]]


def figures(decided: Decided) -> dict[str, tuple[int, int]]:
    """Return the four figures of unaddressed lines in the bot's threads: hits and count."""
    own = [(x, d) for x, d in decided if x.is_unaddressed]
    asked = Counter(d.band for x, d in own if x.intent.is_for_the_bot)
    others = Counter(d.band for x, d in own if not x.intent.is_for_the_bot)
    n_asked, n_others = asked.total(), others.total()
    return {
        "answered though no question (aim <= 2 %)": (others[Band.SPEAK], n_others),
        "answered at once (aim >= 75 %)": (asked[Band.SPEAK], n_asked),
        "answered or offered (aim >= 95 %)": (n_asked - asked[Band.SILENT], n_asked),
        "offered though no question (aim <= 20 %)": (others[Band.OFFER], n_others),
    }


def report(decided: Decided) -> Iterator[str]:
    """Yield the lines of the report."""
    yield "Unaddressed lines in the bot's threads: what they are, and what the bot does"
    yield f"{'':14}" + "".join(f"{band.value:>8}" for band in Band)
    own = [(x.intent, d.band) for x, d in decided if x.is_unaddressed]
    counted = Counter(own)
    for intent in INTENTS:
        yield f"{intent.value:14}" + "".join(f"{counted[intent, band]:8}" for band in Band)
    yield ""
    for name, (hits, count) in figures(decided).items():
        low, high = interval(hits, count)
        yield f"{name:44} {hits:3} of {count:3}  {hits / count:6.1%}  [{low:.1%}, {high:.1%}]"
    yield ""
    yield "Kind of what is answered or offered, where it was for the bot"
    right = [(x.intent, d.intent) for x, d in decided if x.intent.is_for_the_bot]
    yield from _kinds(right)


def _kinds(pairs: Sequence[tuple[Intent, Intent]]) -> Iterator[str]:
    for true in INTENTS:
        found = Counter(seen for one, seen in pairs if one is true)
        if found:
            seen = ", ".join(f"{intent.value} {count}" for intent, count in found.most_common())
            yield f"{true.value:14} {seen}"
