"""Takes out of a text what no one sees and what could make it look like another."""

import re
import unicodedata

_LINE_ENDS = re.compile(r"\r\n?|[\u2028\u2029\x85\x0b\x0c]")
_CONTROLS = re.compile(r"[\x00-\x08\x0e-\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u206f]")
_INVISIBLE = re.compile(
    "[\u00ad\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b\u2060-\u2064\u3164\ufeff\uffa0"
    "\ufff0-\ufffb\U000e0000-\U000e0fff]|(?<=[\ufe00-\ufe0f])[\ufe00-\ufe0f]+"
    "|(?:\\A|(?<=[\x00-\x7f]))[\u200c\u200d]+|[\u200c\u200d]+(?=[\x00-\x7f]|\\Z)"
)
_MOST_MARKS = 5
"""On one letter: Vietnamese has two, Thai three, the Hebrew of the Bible five."""
_MOST_SUBJOINED = 8
"""Letters below one letter, in Tibetan, besides its marks."""
_SUBJOINED = range(0x0F8D, 0x0FBD)
_MARKED = re.compile(r"[^\x00-\u02ff]")


def without_controls(text: str) -> str:
    """Return the text with plain line ends and nothing that steers a screen or a direction."""
    return _CONTROLS.sub("", _LINE_ENDS.sub("\n", text))


def visible(text: str) -> str:
    """Return the text without controls, hidden characters, and accents piled up high.

    Joiners stay between letters and inside emoji, where scripts need them.
    """
    return without_piles(_INVISIBLE.sub("", without_controls(text)))


def without_piles(text: str) -> str:
    """Return the text with at most a few marks on each letter, of whatever script they are.

    No script has more; a pile of them covers the lines above and below.
    """
    if _MARKED.search(text) is None:
        return text
    kept, marks, subjoined = list[str](), 0, 0
    for character in text:
        category = unicodedata.category(character)
        if category not in {"Mn", "Me"}:
            if category != "Cf":  # a joiner between two marks parts no letters
                marks = subjoined = 0
        elif ord(character) in _SUBJOINED:
            subjoined += 1
        else:
            marks += 1
        if marks <= _MOST_MARKS and subjoined <= _MOST_SUBJOINED:
            kept.append(character)
    return "".join(kept)
