"""The refusal of a question that is only about what cannot be read."""

from collections.abc import Sequence

from core.errors import RequestError
from core.models import UnreadPart
from core.text.unread import unread_instead


class CannotRead(RequestError):
    """All that a question is about is content that cannot be read."""

    def __init__(self, kinds: Sequence[UnreadPart]) -> None:
        """Name the kinds that the asker has to put into words."""
        self.kinds = tuple(kinds)
        super().__init__(user_message=unread_instead(kinds))
