"""Keeps the bullets and numbers of the Markdown lists that are open."""

from dataclasses import dataclass
from typing import NamedTuple

from markdown_it.token import Token


class ListPlace(NamedTuple):
    """What stands before an item, with its space, and how deep its list is; 0 outside."""

    marker: str
    level: int


@dataclass(slots=True)
class _OpenList:
    number: int | None
    mark: str
    marker: str = ""


class ListMarkers:
    """Hands each item's marker to the first block of the item."""

    def __init__(self) -> None:
        self._open: list[_OpenList] = []

    def follow(self, token: Token) -> None:
        """Note where lists and items begin and end."""
        match token.type:
            case "bullet_list_open":
                self._open.append(_OpenList(None, "-"))
            case "ordered_list_open":
                self._open.append(_OpenList(int(token.attrs.get("start", 1)), token.markup))
            case "bullet_list_close" | "ordered_list_close":
                self._open.pop()
            case "list_item_open":
                self._begin_item(self._open[-1])

    @property
    def depth(self) -> int:
        """How many lists lie around what stands here."""
        return len(self._open)

    def take(self) -> ListPlace | None:
        """Return the place of an item whose first block this is, once; else none."""
        if not self._open or not self._open[-1].marker:
            return None
        place = ListPlace(self._open[-1].marker, len(self._open))
        self._open[-1].marker = ""
        return place

    @staticmethod
    def _begin_item(open_list: _OpenList) -> None:
        if open_list.number is None:
            open_list.marker = "- "
            return
        open_list.marker = f"{open_list.number}{open_list.mark} "
        open_list.number += 1
