"""The weeks that a course's activity is reported by: from Monday to Monday of its own time zone."""

from datetime import UTC, date, datetime, time, timedelta
from zoneinfo import ZoneInfo

_WEEK = timedelta(days=7)


def last_complete(moment: datetime, zone: ZoneInfo) -> date:
    """Return the Monday that the latest week began with which is over at a moment.

    A week that goes on is shown nowhere: two looks at it would differ by single people.
    """
    today = moment.astimezone(zone).date()
    return today - timedelta(days=today.weekday()) - _WEEK


def before(week: date) -> date:
    """Return the Monday of the week before."""
    return week - _WEEK


def bounds(week: date, zone: ZoneInfo) -> tuple[datetime, datetime]:
    """Return the first moment of a week, and the first one after it, in UTC."""
    first, after = (datetime.combine(day, time(), zone) for day in (week, week + _WEEK))
    return first.astimezone(UTC), after.astimezone(UTC)
