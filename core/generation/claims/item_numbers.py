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

    def counted(self, claim: Claim) -> Claim:
        """Return a claim with the number that it has among the items that are shown."""
        if (item := self._item(claim)) is None:
            return claim
        number = int(item["number"]) - self._missing[len(item["indent"])]
        return replace(claim, lead=f"{item['before']}{max(number, 1)}{item['after']}")

    def pass_over(self, claim: Claim) -> None:
        """Take note of a claim that is not shown."""
        if (item := self._item(claim)) is not None:
            self._missing[len(item["indent"])] += 1

    def _item(self, claim: Claim) -> re.Match[str] | None:
        """Return what a claim's lead says, once a list that begins with it has begun."""
        item = _NUMBERED.fullmatch(claim.lead or "")
        if item is not None:
            indent = len(item["indent"])
            known = self._missing.get(indent, 0)
            self._missing[indent] = 0 if item["number"] == "1" else known
        return item
