"""What code is certain of before any judge is asked: copied words, code, links and numbers."""

from core.grounding.codes import adds_code
from core.grounding.copied import (
    adds_link,
    adds_quotation,
    changes_formula,
    has_all_code,
    stands_in,
)
from core.grounding.flaws import Flaw
from core.grounding.judge.amounts import unproved
from core.grounding.judge.base import CitedClaim
from core.markdown.code import code_in


def is_copied(claim: CitedClaim) -> bool:
    """Return whether the claim is all of a cited sentence, or all of them, word for word."""
    return stands_in(claim.text, claim.sentences)


def certain_flaw(claim: CitedClaim) -> Flaw | None:
    """Return what the claim surely has that neither its sentences nor their titles have.

    That is code, a link or a mention, a number or its unit, a name with digits, a sign of a
    formula, or words in quotation marks.
    """
    code = [" ".join(found.content.split()) for found in code_in(claim.text)]
    source = [*claim.sentences, *claim.headings]
    if not has_all_code(code, source):
        return Flaw.CODE
    if adds_link(claim.text, claim.sentences):
        return Flaw.LINK
    prose, cited = _prose(claim.text), " \n".join(source)
    if unproved(prose, cited) or adds_code(prose, source) or changes_formula(prose, cited):
        return Flaw.NUMBER
    return Flaw.QUOTATION if adds_quotation(claim.text, source) else None


def _prose(text: str) -> str:
    """Return a text without its code, which is compared as it stands."""
    pieces: list[str] = []
    position = 0
    for code in code_in(text):
        pieces.append(text[position : code.start])
        position = code.end
    return " ".join([*pieces, text[position:]])
