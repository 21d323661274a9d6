"""Names what may be wrong with a sentence of an answer."""

from enum import StrEnum


class Flaw(StrEnum):
    """Why a sentence does not pass."""

    UNCITED = "uncited"
    INVENTED_QUOTE = "invented quote"
    NUMBER = "number"
    NAME = "name"
    QUOTATION = "quotation"
    CODE = "code"
    LINK = "link"
    LANGUAGE = "language"
    NEGATION = "negation"
    DIRECTION = "direction"
    STRENGTH = "strength"
    ROLES = "roles"
    WORD = "word"
    MEANING = "meaning"
    OUT_OF_PLACE = "out of place"

    @property
    def reason(self) -> str:
        """One sentence that tells the writer what to change."""
        return _REASONS[self]


_REASONS = {
    Flaw.UNCITED: "The sentence cites no passage: quote the words that it rests on.",
    Flaw.INVENTED_QUOTE: (
        "The quoted words do not stand in the cited passage: copy whole sentences from it, "
        "word for word, and give that passage's number."
    ),
    Flaw.NUMBER: (
        "The sentence has a number or a unit that the quoted words do not have: use only theirs, "
        "or quote the words that have it."
    ),
    Flaw.NAME: (
        "The sentence has a name that the quoted words do not have: use only theirs, or quote "
        "the words that have it."
    ),
    Flaw.QUOTATION: (
        "The sentence has words in quotation marks that the quoted words do not have: copy them, "
        "or leave the quotation marks out."
    ),
    Flaw.CODE: "The sentence has code that the quoted words do not have: copy it unchanged.",
    Flaw.LANGUAGE: "The sentence is neither in the language of the question nor in the book's.",
    Flaw.LINK: (
        "The sentence has a link, an address or a mention that the quoted words do not have: "
        "leave it out."
    ),
    Flaw.NEGATION: (
        "The sentence denies what the quoted words say, or says what they deny: keep every "
        "`not`, `never` and `without` of theirs and add none."
    ),
    Flaw.DIRECTION: (
        "The sentence turns a direction of the quoted words round, such as rise and fall or "
        "supply and demand: keep theirs."
    ),
    Flaw.STRENGTH: (
        "The sentence goes further than the quoted words, or less far: keep their `all`, `most`, "
        "`some`, `may`, `must` and `only`."
    ),
    Flaw.ROLES: (
        "The sentence exchanges who does something and whom or what it is done to: keep the "
        "roles of the quoted words, and what belongs together."
    ),
    Flaw.WORD: (
        "The sentence has another word than the quoted ones in the same place, which means "
        "something else: keep theirs."
    ),
    Flaw.MEANING: (
        "The quoted words do not say what the sentence says: stay closer to them, or quote the "
        "words that say it."
    ),
    Flaw.OUT_OF_PLACE: (
        "The sentence has to do neither with the question nor with the section that it is taken "
        "from: leave it out."
    ),
}
