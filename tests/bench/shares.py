"""Shares of a set, with the interval that its size allows."""

from math import sqrt


def interval(hits: int, count: int) -> tuple[float, float]:
    """Return Wilson's 95 % interval of a share."""
    if not count:
        return 0.0, 1.0
    z, share = 1.96, hits / count
    middle = share + z * z / (2 * count)
    reach = z * sqrt(share * (1 - share) / count + z * z / (4 * count * count))
    low, high = ((middle + way * reach) / (1 + z * z / count) for way in (-1, 1))
    return max(0.0, low), min(1.0, high)


def line(name: str, hits: int, count: int) -> str:
    """Return one line: the name, how many of how many, the share and its interval."""
    low, high = interval(hits, count)
    share = f"{hits / count:.3f}" if count else "    -"
    return f"{name:<44} {hits:4} of {count:4}  {share}  [{low:.3f}, {high:.3f}]"
