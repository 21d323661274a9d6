"""Names what may be wrong with a sentence of an answer."""

from enum import StrEnum


class Flaw(StrEnum):
    """Why a sentence does not pass."""

    UNCITED = "uncited"
    INVENTED_QUOTE = "invented quote"
    NUMBER = "number"
    QUOTATION = "quotation"
    CODE = "code"
    LINK = "link"
    LANGUAGE = "language"
    MEANING = "meaning"
    OUT_OF_PLACE = "out of place"
