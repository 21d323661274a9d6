"""Splits text into the WordPiece tokens of an uncased BERT model, with the place of each.

Source: "BERT: Pre-training of Deep Bidirectional Transformers" (Devlin et al., 2019), and the
greedy longest match of "Google's Neural Machine Translation System" (Wu et al., 2016).
"""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cache, lru_cache
from typing import NamedTuple
from unicodedata import category, normalize

_SPECIAL = re.compile(r"(\[(?:PAD|UNK|CLS|SEP|MASK)\])")
_RUN = re.compile(r"[^ \t\n\r]+")
_LONGEST_WORD = 100
_KEPT_RUNS = 8_192
"""Words with the marks around them whose tokens are remembered, of about 300 bytes each."""
_CJK = (
    (0x4E00, 0x9FFF),
    (0x3400, 0x4DBF),
    (0x20000, 0x2A6DF),
    (0x2A700, 0x2B73F),
    (0x2B740, 0x2B81F),
    (0x2B920, 0x2CEAF),
    (0xF900, 0xFAFF),
    (0x2F800, 0x2FA1F),
)
_UNREAD = frozenset({"Cc", "Cf", "Co", "Cs"})
_ASCII_MARKS = frozenset("!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~")

_Token = tuple[int, int, int]
"""Its id, and where it begins and ends."""
_Letters = list[tuple[str, int]]
"""The letters of a word as the model reads them, each with its place in the text."""


class Encoding(NamedTuple):
    """The tokens of a text, those of its beginning and end included."""

    ids: Sequence[int]
    offsets: Sequence[tuple[int, int]]
    """Where each token stands in the text; (0, 0) for those of the beginning and the end."""


class WordPiece:
    """Encodes texts with the vocabulary of a `tokenizer.json`."""

    def __init__(self, tokenizer: str, *, max_tokens: int) -> None:
        """Take the text of a `tokenizer.json` of a WordPiece model; longer texts are cut."""
        self._vocabulary: Mapping[str, int] = json.loads(tokenizer)["model"]["vocab"]
        self._unknown = self._vocabulary["[UNK]"]
        self._begin, self._end = self._vocabulary["[CLS]"], self._vocabulary["[SEP]"]
        self._most = max_tokens - 2
        self._tokens_of = lru_cache(_KEPT_RUNS)(self._read_run)

    def encode(self, text: str) -> Encoding:
        """Return the tokens of a text, at most `max_tokens`."""
        ids, offsets = [self._begin], [(0, 0)]
        for run in _RUN.finditer(text):
            start = run.start()
            for token, begins, ends in self._tokens_of(run.group()):
                ids.append(token)
                offsets.append((start + begins, start + ends))
            if len(ids) > self._most:
                break
        del ids[self._most + 1 :], offsets[self._most + 1 :]
        return Encoding((*ids, self._end), (*offsets, (0, 0)))

    def _read_run(self, run: str) -> tuple[_Token, ...]:
        """Return the tokens of text without a space, by their places in it."""
        tokens: list[_Token] = []
        start = 0
        for number, part in enumerate(_SPECIAL.split(run)):
            if number % 2:
                tokens.append((self._vocabulary[part], start, start + len(part)))
            else:
                for word in _words(part, start):
                    tokens += self._pieces(word)
            start += len(part)
        return tuple(tokens)

    def _pieces(self, word: _Letters) -> list[_Token]:
        """Return the longest known pieces of a word from its beginning on; else one unknown."""
        letters = "".join(letter for letter, _ in word)
        pieces: list[_Token] = []
        begin = 0
        while begin < len(letters) <= _LONGEST_WORD:
            for end in range(len(letters), begin, -1):
                piece = letters[begin:end] if not begin else f"##{letters[begin:end]}"
                if (token := self._vocabulary.get(piece)) is not None:
                    pieces.append((token, word[begin][1], word[end - 1][1] + 1))
                    begin = end
                    break
            else:
                break
        if begin == len(letters):
            return pieces
        return [(self._unknown, word[0][1], word[-1][1] + 1)]


def _words(text: str, start: int) -> Iterator[_Letters]:
    """Yield the words of a text: marks and ideographs stand alone, accents are left out."""
    word: _Letters = []
    for place, character in enumerate(text, start):
        for letter, alone in _letters(character):
            if alone and word:
                yield word
                word = []
            if letter and alone:
                yield [(letter, place)]
            elif letter:
                word.append((letter, place))
    if word:
        yield word


@cache
def _letters(character: str) -> tuple[tuple[str, bool], ...]:
    """Return what the model reads for a character, and which of it stands alone.

    A space is an empty letter that stands alone; what is not read has none.
    """
    if character in "\0\ufffd" or category(character) in _UNREAD:
        return ()
    if category(character)[0] == "Z":
        return (("", True),)
    decomposed = (one for one in normalize("NFD", character) if category(one) != "Mn")
    lowered = (letter for one in decomposed for letter in one.lower())
    if any(first <= ord(character) <= last for first, last in _CJK):
        return (("", True), *((letter, False) for letter in lowered), ("", True))
    return tuple((letter, _is_mark(letter)) for letter in lowered)


def _is_mark(letter: str) -> bool:
    return letter in _ASCII_MARKS or category(letter)[0] == "P"
