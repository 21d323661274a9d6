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
