"""The held-out figures: shares of unaddressed lines by band, with 95 % intervals."""

from collections import Counter
from collections.abc import Iterator, Sequence

from adapters.chat.attention import Decision
from adapters.chat.speaking import INTENTS, Band, Intent
from tests.bench.shares import interval
from tests.bench.speaking.labelled import Labelled

ROLES = ("asker", "others", "staff")
Decided = Sequence[tuple[Labelled, Decision]]


def figures(decided: Decided, role: str | None = None) -> dict[str, tuple[int, int]]:
    """Return the figures of unaddressed lines in the bot's threads: hits and count.

    Args:
        role: As `Labelled.role`; None: all.
    """
    own = [(x, d) for x, d in decided if x.is_unaddressed and role in (None, x.role)]
    asked = Counter(d.band for x, d in own if x.intent.is_for_the_bot)
    others = Counter(d.band for x, d in own if not x.intent.is_for_the_bot)
    thanks = Counter(d.band for x, d in own if x.intent is Intent.THANKS)
    n_asked, n_others = asked.total(), others.total()
    return {
        "answered at once": (asked[Band.SPEAK], n_asked),
        "answered or offered": (asked[Band.SPEAK] + asked[Band.OFFER], n_asked),
        "answered though no question": (others[Band.SPEAK], n_others),
        "offered though no question": (others[Band.OFFER], n_others),
        "thanks that get a reaction": (thanks[Band.REACT], thanks.total()),
    }


def report(decided: Decided) -> Iterator[str]:
    """Yield the lines of the report."""
    yield "Unaddressed lines in the bot's threads: what they are, and what the bot does"
    yield f"{'':14}" + "".join(f"{band.value:>8}" for band in Band)
    own = [(x.intent, d.band) for x, d in decided if x.is_unaddressed]
    counted = Counter(own)
    for intent in INTENTS:
        yield f"{intent.value:14}" + "".join(f"{counted[intent, band]:8}" for band in Band)
    for role in (None, *ROLES):
        yield ""
        yield f"{role or 'all'}:"
        for name, (hits, count) in figures(decided, role).items():
            if count:
                low, high = interval(hits, count)
                share = f"{hits:3} of {count:3}  {hits / count:6.1%}"
                yield f"  {name:32} {share}  [{low:.1%}, {high:.1%}]"
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
