"""Opens the house that answers, for policies."""

from tests.unit.core.answering.conftest import folder, house

__all__ = ["folder", "house"]
