"""Keeps Python's search for garbage from holding up a process that answers."""

import gc

_COLLECTED_EVERY = 20_000
"""Objects more than before after which Python looks for cycles; 700 by its own setting."""


def leave_in_peace() -> None:
    """Keep the cycle collector away from what is there for good: modules, classes, the model.

    It would go through all of that again and again, for 75 to 150 ms each time, in which no
    event is accepted.
    """
    gc.collect()
    gc.freeze()
    gc.set_threshold(_COLLECTED_EVERY)
