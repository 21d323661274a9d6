"""Texts whose marks stand inside each other hundreds of times, as nobody but an attacker writes."""

from hypothesis import strategies as st

_MARKS = (
    *("*", "**", "***", "_", "__", "~", "~~", "*a ", "_a ", "**a ", "~~a ", "a*", "*_", "**~~"),
    *("[", "![", "![a](", "[a](", "]", "](u)", "(", "<", ">", "> ", "> > ", "- ", "1. ", "- > "),
    *("`", "``", "||", "|", "#", "\t", "    ", "\\", "&", "$", "\\(", "{", "}", "\\frac{", "^{"),
)
_COUNTS = (60, 900)


def _around(mark: str, count: int) -> str:
    return mark * count + "x" + mark[::-1] * count


DEEP_TEXTS = {
    **{f"{mark!r} x {n}": mark * n for mark in _MARKS for n in _COUNTS},
    **{f"{mark!r} x {n} around a word": _around(mark, n) for mark in _MARKS for n in _COUNTS[:2]},
    **{f"images, {n}": "![" * n + "x" + "](u)" * n for n in _COUNTS},
    **{f"links, {n}": "[" * n + "x" + "](u)" * n for n in _COUNTS},
    **{f"{mark!r} x 3000": mark * 3_000 for mark in ("*", "_", "~~", "[", ">", "`")},
    **{f"spaced marks, {n}": "*a **b " * n + "c** d* " * n for n in _COUNTS},
    "list, 300": "\n".join("  " * level + "- x" for level in range(300)),
    "quote, 300": "\n".join("> " * level + "x" for level in range(300)),
}
"""By what they repeat, and how often."""

deep_texts = st.lists(
    st.tuples(st.sampled_from((*_MARKS, "x", " ", "\n")), st.sampled_from((1, 2, 30, 400))),
    max_size=8,
).map(lambda parts: "".join(mark * count for mark, count in parts))
"""A few runs of marks behind each other."""
