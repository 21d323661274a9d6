"""Dates as readers of a language write them."""

from datetime import datetime

from core.i18n import Message, text

_MONTHS = (
    Message("date-jan"),
    Message("date-feb"),
    Message("date-mar"),
    Message("date-apr"),
    Message("date-may"),
    Message("date-jun"),
    Message("date-jul"),
    Message("date-aug"),
    Message("date-sep"),
    Message("date-oct"),
    Message("date-nov"),
    Message("date-dec"),
)


def date_of(moment: datetime) -> str:
    """Return the day of a moment, such as `12 Nov 2026`."""
    month = _MONTHS[moment.month - 1]
    return text("date-day", day=moment.day, month=month, year=moment.year)
