"""Turns sentences of a book round by one word or two: roles, quantifiers, bounds, rates, names."""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from tests.bench.scripted_claims import ScriptedClaim, Writer, is_statement, question_about

_THING = (
    r"(?:(?:{article}) )?(?!(?:to|we|if|when|what|it|they|this|that|such|one|or|and|you|there)\b)"
    r"[A-Za-z][a-z]{{2,}}"
)
_ROLES = re.compile(
    rf"^(?P<one>{_THING.format(article='The|A|An')}) "
    r"(?P<verb>causes?|affects?|determines?|replaced?|influences?|produces?|contains?|controls?"
    r"|defeated|invaded|owns?|implements?|calls?|supported|attacked|exceeds?|leads? to"
    r"|follow(?:s|ed)?|buys?|sells?|creates?|limits?|reduces?|increases?|shapes?|requires?|uses?"
    r"|protects?|represents?|defines?|describes?|provides?|includes?) "
    rf"(?P<other>{_THING.format(article='the|a|an')})"
    r"(?P<rest>(?: (?:in|on|for|when|because|by|at|from|with|that|which)\b|,|\.).*)$"
)
_EXCHANGED: Mapping[str, Mapping[str, str]] = {
    "quantifier": {
        "all": "some", "every": "some", "most": "all", "some": "all", "many": "all",
        "All": "Some", "Most": "All", "Some": "Most", "Many": "All", "Every": "Some",
        "usually": "always", "often": "always", "sometimes": "always",
    },
    "modal verb": {
        "may": "must", "might": "will", "can": "must", "must": "may", "will": "may",
        "could": "must", "should": "may",
    },
    "denial": {
        "neither": "both", "lacks": "has", "lack": "have", "without": "with", "unless": "if",
        "hardly": "clearly", "rarely": "often", "fails to": "manages to", "fail to": "manage to",
        "failed to": "managed to", "nobody": "everybody", "cannot": "can", "Unless": "If",
        "Without": "With", "unable": "able", "refused to": "agreed to",
    },
    "comparison": {
        "thicker": "thinner", "thinner": "thicker", "faster": "slower", "slower": "faster",
        "older": "younger", "younger": "older", "harder": "easier", "easier": "harder",
        "wider": "narrower", "longer": "shorter", "shorter": "longer", "deeper": "shallower",
        "heavier": "lighter", "cheaper": "dearer", "better": "worse", "worse": "better",
        "stronger": "weaker", "earlier": "later", "later": "earlier", "closer": "farther",
    },
    "rate or prefix": {
        "per year": "per month", "a year": "a week", "per day": "per hour", "a day": "an hour",
        "per hour": "per minute", "per person": "per household", "per capita": "per hectare",
        "each year": "each week", "km": "m", "kilometers": "meters", "kg": "mg", "MW": "kW",
        "megabytes": "gigabytes", "kilometres": "millimetres", "nm": "cm", "kJ": "MJ",
        "per barrel": "per gallon", "a barrel": "a gallon", "per second": "per minute",
    },
}  # fmt: skip
_BOUND = re.compile(
    r"\b(?P<bound>at least|at most|more than|less than|up to|fewer than|over)"
    r"(?= \$?\d| (?:two|three|four|five|six|half)\b)"
)
_TURNED_BOUND = {"at least": "at most", "more than": "less than", "fewer than": "more than",
                 "less than": "more than", "up to": "at least", "at most": "at least",
                 "over": "under"}  # fmt: skip
_BARE_NUMBER = re.compile(
    r"(?<=[a-z] )(?=\d+ (?:percent|million|billion|people|members|countries))"
)
_ACRONYM = re.compile(r"\b[A-Z]{2,5}\b(?!\s[A-Z])")
_ACRONYMS = ("WHO", "EU", "UN", "IMF", "NATO", "BBC", "OECD", "USSR", "CPU", "DNA", "HTML")
_INITIAL = re.compile(r"^[A-Z][a-z]{3,}(?=(?:'s|’s)? (?:is|was|has|had|[a-z]+ed|[a-z]+s) )")
_INITIALS = ("Sicily", "Hayes", "Italy", "Texas", "Athens", "Socrates", "Kelly", "Hungary",
             "Nepal", "Naples", "Davies", "Brussels")  # fmt: skip


@dataclass
class Turner(Writer):
    """Draws sentences of a book and turns them round; equal seeds, equal claims."""

    def turned(self, kind: str, number: int) -> list[ScriptedClaim]:
        """Return up to `number` false claims of one kind; a book may have fewer."""
        makers: dict[str, Callable[[str], str | None]] = {
            "roles": _exchanged_roles, "bound": self._bound, "acronym": self._acronym,
            "first name": self._first_name,
        }  # fmt: skip
        change = makers.get(kind) or self._exchanger(_EXCHANGED[kind])
        return self._found(kind, change, number)

    def _found(
        self, kind: str, change: Callable[[str], str | None], number: int
    ) -> list[ScriptedClaim]:
        """Return what `change` makes of sentences in random order; every second one reworded."""
        places = [
            (chunk, sentence)
            for chunk, own in zip(self.chunks, self._sentences, strict=True)
            for sentence in own
            if is_statement(sentence)
        ]
        self.chance.shuffle(places)
        claims: list[ScriptedClaim] = []
        for chunk, sentence in places:
            changed = change(sentence)
            if changed is not None and changed != sentence and len(claims) < number:
                text = self._reworded(changed) if len(claims) % 2 else changed
                claims.append(
                    ScriptedClaim(kind, text, question_about(chunk), ((chunk, sentence),))
                )
        return claims

    def _exchanger(self, words: Mapping[str, str]) -> Callable[[str], str | None]:
        pattern = re.compile(rf"(?<![\w-])(?:{'|'.join(words)})(?![\w-])(?! of the time)")

        def change(sentence: str) -> str | None:
            match = pattern.search(sentence)
            before = sentence[: match.start()] if match else ""
            is_superlative = match and match.group() == "most" and before.endswith(("the ", "at "))
            if match is None or is_superlative:
                return None
            return f"{before}{words[match.group()]}{sentence[match.end() :]}"

        return change

    def _bound(self, sentence: str) -> str | None:
        if match := _BOUND.search(sentence):
            new = _TURNED_BOUND[match["bound"]]
            return f"{sentence[: match.start()]}{new}{sentence[match.end() :]}"
        if match := _BARE_NUMBER.search(sentence):
            bound = self.chance.choice(("at least ", "at most ", "exactly "))
            return f"{sentence[: match.start()]}{bound}{sentence[match.start() :]}"
        return None

    def _acronym(self, sentence: str) -> str | None:
        match = _ACRONYM.search(sentence)
        if match is None:
            return None
        other = self.chance.choice([a for a in _ACRONYMS if a not in sentence])
        return f"{sentence[: match.start()]}{other}{sentence[match.end() :]}"

    def _first_name(self, sentence: str) -> str | None:
        match = _INITIAL.match(sentence)
        if match is None or match.group() not in self._first_names:
            return None
        other = self.chance.choice([n for n in _INITIALS if n not in sentence])
        return f"{other}{sentence[match.end() :]}"

    @property
    def _first_names(self) -> set[str]:
        return {part for name in self._names for part in name.split()}


def _exchanged_roles(sentence: str) -> str | None:
    match = _ROLES.match(sentence)
    if match is None:
        return None
    one, other = match["one"], match["other"]
    lowered = one[0].lower() + one[1:]
    return f"{other[0].upper()}{other[1:]} {match['verb']} {lowered}{match['rest']}"


KINDS = ("roles", *_EXCHANGED, "bound", "acronym", "first name")
"""What `Turner.turned` can turn round."""


def turned_claims(writer: Turner, number: int) -> list[ScriptedClaim]:
    """Return up to `number` claims of each kind."""
    return [claim for kind in KINDS for claim in writer.turned(kind, number)]
