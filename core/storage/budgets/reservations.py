"""What answers under way will use, counted as spent until it is known."""

from collections import deque
from dataclasses import dataclass

_EXPECTED = 10_000
"""Tokens that a request is expected to use before any has been counted here."""
_REMEMBERED = 100
"""Requests of which the dearest tells what the next one is expected to use."""


@dataclass(frozen=True, slots=True, eq=False)
class Reservation:
    """Tokens that one request is expected to use."""

    user_id: str
    course_id: str
    tokens: int


class Reservations:
    """The reservations of one process; others' are known when they are counted."""

    def __init__(self) -> None:
        self._open = set[Reservation]()
        self._used = deque[int](maxlen=_REMEMBERED)

    def make(self, user_id: str, course_id: str) -> Reservation:
        """Reserve what the dearest of the latest requests used."""
        tokens = max(self._used, default=_EXPECTED)
        reservation = Reservation(user_id, course_id, tokens)
        self._open.add(reservation)
        return reservation

    def drop(self, reservation: Reservation) -> None:
        """Have a reservation count no more."""
        self._open.discard(reservation)

    def note(self, tokens: int) -> None:
        """Learn what a request used."""
        self._used.append(tokens)

    def held(
        self,
        but: Reservation | None = None,
        *,
        user_id: str | None = None,
        course_id: str | None = None,
    ) -> int:
        """Return the tokens that are reserved, without `but`, for a user, a course, or all."""
        return sum(
            one.tokens
            for one in self._open
            if one is not but
            and user_id in (None, one.user_id)
            and course_id in (None, one.course_id)
        )
