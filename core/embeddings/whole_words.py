"""The words that the built-in model knows whole, which are rightly spelt English ones."""

import json
from pathlib import Path


class WholeWords:
    """Reads the vocabulary of a WordPiece tokenizer at its first use; about 2 MB in memory."""

    def __init__(self, tokenizer: Path) -> None:
        """Take the path of its `tokenizer.json`."""
        self._path = tokenizer
        self._words: frozenset[str] | None = None

    def __call__(self, word: str) -> bool:
        """Return whether a word in lower case is one of them; without the file none is."""
        if self._words is None:
            self._words = self._read()
        return word in self._words

    def _read(self) -> frozenset[str]:
        try:
            stored = json.loads(self._path.read_text("utf-8"))
        except OSError:
            return frozenset()
        return frozenset(word for word in stored["model"]["vocab"] if word.isalpha())
