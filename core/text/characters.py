"""Which characters of a text a reader sees."""

import re

_INVISIBLE = re.compile(
    r"[\x00-\x08\x0b-\x1f\x7f-\x9f"  # control characters, all but tab and line feed
    r"\u200b\u202a-\u202e\u2060\u2066-\u2069\ufeff"  # zero width, bidi controls
    r"\ud800-\udfff\U000e0000-\U000e007f]"  # lone surrogates, tag characters
)


def visible(text: str) -> str:
    """Return the text without control characters and without what is not seen."""
    return _INVISIBLE.sub("", text)
