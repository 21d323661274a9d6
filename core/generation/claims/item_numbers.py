"""The numbers of a list's items, of which some are not shown."""

import re
from dataclasses import replace

from core.generation.base import Claim

_NUMBERED = re.compile(r"(?P<before>\n*(?P<indent> *))(?P<number>\d{1,3})(?P<after>\. )")


class ItemNumbers:
    """Numbers the items of an answer's lists without gaps."""

    def __init__(self) -> None:
        self._missing: dict[int, int] = {}
        """How many items of the list at an indent are not shown so far."""

    def counted(self, claim: Claim, *, missing: int = 0) -> Claim:
        """Return a claim with the number that it has among the items that are shown."""
        item = _NUMBERED.fullmatch(claim.lead or "")
        if item is None:
            return claim
        indent, number = len(item["indent"]), int(item["number"])
        before = 0 if number == 1 else self._missing.get(indent, 0)
        self._missing[indent] = before + missing
        return replace(claim, lead=f"{item['before']}{max(number - before, 1)}{item['after']}")

    def pass_over(self, claim: Claim) -> None:
        """Take note of a claim that is not shown."""
        self.counted(claim, missing=1)
