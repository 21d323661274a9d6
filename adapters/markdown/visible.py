"""Takes out of a text what nobody sees and what could make it look like another."""

import re

_LINE_ENDS = re.compile(r"\r\n?|[\u2028\u2029\x85\x0b\x0c]")
_CONTROLS = re.compile(r"[\x00-\x08\x0e-\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u206f]")
_INVISIBLE = re.compile(
    "[\u00ad\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b\u2060-\u2064\u3164\ufeff\uffa0"
    "\ufff0-\ufffb\U000e0000-\U000e0fff]|(?<=[\ufe00-\ufe0f])[\ufe00-\ufe0f]+"
    "|(?:\\A|(?<=[\x00-\x7f]))[\u200c\u200d]+|[\u200c\u200d]+(?=[\x00-\x7f]|\\Z)"
)
_MARKS = "\u0300-\u036f\u0483-\u0489\u1ab0-\u1aff\u1dc0-\u1dff\u20d0-\u20ff\ufe20-\ufe2f"
_STACKED = re.compile(f"([{_MARKS}]{{4}})[{_MARKS}]+")


def without_controls(text: str) -> str:
    """Return the text with plain line ends and nothing that steers a screen or a direction."""
    return _CONTROLS.sub("", _LINE_ENDS.sub("\n", text))


def visible(text: str) -> str:
    """Return the text without controls, hidden characters, and accents piled up high.

    Joiners stay between letters and inside emoji, where scripts need them.
    """
    return _STACKED.sub(r"\1", _INVISIBLE.sub("", without_controls(text)))
