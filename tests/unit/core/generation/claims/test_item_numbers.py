"""The items of a list are numbered without gaps, whatever of it is not shown."""

from core.generation.base import Claim
from core.generation.claims.item_numbers import ItemNumbers


def leads(*items: tuple[str | None, bool]) -> list[str | None]:
    """Return the leads of those claims that are shown, as they are shown."""
    numbers, shown = ItemNumbers(), []
    for lead, is_shown in items:
        claim = Claim("A step.", lead=lead)
        if is_shown:
            shown.append(numbers.counted(claim).lead)
        else:
            numbers.pass_over(claim)
    return shown


def test_what_follows_an_item_that_is_not_shown_moves_up() -> None:
    assert leads(("\n1. ", True), ("\n2. ", False), ("\n3. ", True)) == ["\n1. ", "\n2. "]
    assert leads(("\n1. ", False), ("\n2. ", True)) == ["\n1. "]


def test_each_list_and_each_indent_is_counted_for_itself() -> None:
    items = [("\n1. ", False), ("\n2. ", True), ("\n   1. ", True), ("\n   2. ", True)]
    assert leads(*items, ("\n3. ", True)) == ["\n1. ", "\n   1. ", "\n   2. ", "\n2. "]
    assert leads(("\n1. ", False), ("\n\n1. ", True), ("\n2. ", True)) == ["\n\n1. ", "\n2. "]


def test_other_claims_keep_their_layout() -> None:
    assert leads((None, True), ("\n- ", False), ("\n- ", True), (" ", True)) == [None, "\n- ", " "]
    assert leads(("\n7. ", True)) == ["\n7. "]
