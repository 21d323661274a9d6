"""Reads a text as words with stems and clauses, for comparing a claim with its quotes."""

import re
import unicodedata
from dataclasses import dataclass
from functools import cached_property, lru_cache

from core.grounding.folding import without_markup
from core.markdown.code import code_in

_TOKEN = re.compile(
    r"(?P<cjk>[\u2e80-\u9fff\uac00-\ud7af])"
    r"|(?P<word>[^\W_]+(?:(?:['’_.]|(?<=\d),(?=\d{3}))(?=[^\W_])[^\W_]+)*|[%$€£¥])"
    r"|(?P<stop>[.;:!?(){}\[\]|…。！？；：]|,|、|，|\n\s*\n|\n(?=\s*[-*•+\d])|\s[—–-]+\s|[—–])"
)
_INVISIBLE = re.compile(r"[\u00ad\u200b-\u200f\u202a-\u202e\u2060-\u2064\ufeff]")
_EMPHASIS = re.compile(r"[*_]{1,3}(?=\S)|(?<=\S)[*_]{1,3}(?=\W|$)")
_OPENS_CLAUSE = frozenset(
    "because while whereas although though but when whenever if unless which who whose where "
    "since until before after so as than despite and or nor".split()
)
_STOPWORDS = frozenset(
    "a an the this that these those some any all each both such other another same own it its "
    "itself he him his she her hers they them their theirs themselves we us our ours you your "
    "yours i me my mine one ones who whom whose which what when where why how whether if then "
    "than as of in on at by for from to into onto upon with within about over under through "
    "during per via and or but nor so yet because since although though while whereas unless "
    "until is am are was were be been being has have had having do does did doing done can "
    "could will would shall should may might must ought not no never neither without cannot "
    "there here also too very just only even still quite rather more most less least much many "
    "few little several again often usually typically generally usual however therefore thus "
    "hence moreover furthermore instead for example e.g i.e etc s t d ll re ve m let lets like "
    "up down out off well that's it's mean means called known refer refers say says said way "
    "ways thing things get gets got make makes made making take takes took taken use used uses "
    "using come comes came go goes went gone give gives given become becomes became seem seems "
    "happen happens occur occurs result results lead leads led simply actually really".split()
)
_IRREGULAR = {
    "rose": "rise", "risen": "rise", "fell": "fall", "fallen": "fall", "grew": "grow",
    "grown": "grow", "bought": "buy", "sold": "sell", "sought": "seek", "spent": "spend",
    "paid": "pay", "chose": "choose", "chosen": "choose", "held": "hold", "kept": "keep",
    "lost": "lose", "won": "win", "brought": "bring", "built": "build", "found": "find",
    "thought": "think", "taught": "teach", "began": "begin", "begun": "begin", "wrote": "write",
    "written": "write", "drew": "draw", "drawn": "draw", "drove": "drive", "driven": "drive",
    "ran": "run", "sent": "send", "lent": "lend", "shown": "show", "knew": "know", "saw": "see",
    "seen": "see", "met": "meet", "broke": "break", "broken": "break", "lit": "light",
    "shrank": "shrink", "shrunk": "shrink", "sank": "sink", "sunk": "sink", "spoke": "speak",
    "spoken": "speak", "stood": "stand", "understood": "understand", "children": "child",
    "men": "man", "women": "woman", "people": "person", "persons": "person", "feet": "foot",
    "teeth": "tooth", "mice": "mouse", "criteria": "criterion", "phenomena": "phenomenon",
    "data": "datum", "hypotheses": "hypothesis", "analyses": "analysis", "theses": "thesis",
    "axes": "axis", "indices": "index", "matrices": "matrix", "species": "species",
    "losses": "lose", "loss": "lose", "losing": "lose", "gave": "give", "ate": "eat",
    "eaten": "eat", "fought": "fight", "caught": "catch", "felt": "feel", "fed": "feed",
    "hid": "hide", "hidden": "hide", "laid": "lay", "heard": "hear", "dealt": "deal",
    "meant": "mean", "told": "tell", "worn": "wear", "wore": "wear", "growth": "grow",
    "sale": "sell", "sales": "sell", "better": "good", "best": "good", "worse": "bad",
    "worst": "bad", "farther": "far", "further": "far", "choice": "choose", "choices": "choose",
}  # fmt: skip
_SUFFIXES = (
    "izations", "isations", "ization", "isation", "fulness", "ousness", "iveness", "ational",
    "ations", "ically", "ities", "ments", "ation", "ators", "ition", "ingly", "ances", "ences",
    "ness", "ment", "ions", "ator", "ance", "ence", "able", "ible", "ally", "edly", "ings",
    "ical", "ious", "eous", "ized", "ised", "izes", "ises", "izing", "ising", "ize", "ise",
    "ity", "ive", "ion", "ing", "ers", "ors", "ous", "ful", "ies", "ied", "ial", "est", "ed",
    "es", "er", "or", "ly", "al", "ic", "s", "y", "e",
)  # fmt: skip
_INFLECTIONS = frozenset({"s", "es", "ed", "ing", "ly", "e"})
_INFLECTED = ("ings", "ing", "ies", "ied", "es", "ed", "s")
_SHORTEST_STEM = 4
_SHORT_SUFFIXES = frozenset("s es ed ing ies ied e y ly er est".split())
_SHORTEST_WITH_SHORT_SUFFIX = 3


@dataclass(frozen=True, slots=True)
class Word:
    """A word of a text, where it stands and what it is compared by."""

    written: str
    lower: str
    stem: str
    start: int
    clause: int
    """Number of its clause: words between commas, stops and conjunctions share it."""
    opens: bool
    """Whether it is the first word behind a full stop, colon or bracket."""
    is_content: bool
    """Whether it says something by itself, as `price` does and `the` does not."""


class Reading:
    """A text read once: its words, and the code that stands in it."""

    def __init__(self, text: str) -> None:
        """Read `text`; its code is kept out of the words."""
        self.code = tuple(" ".join(code.content.split()) for code in code_in(text))
        self.prose = _prose(text)
        self.words = tuple(_words(self.prose))

    @cached_property
    def lowers(self) -> frozenset[str]:
        """All words in lower case, the parts of hyphenated ones included."""
        whole = {word.lower for word in self.words}
        return frozenset(whole.union(*(re.split(r"[-_.'’]", word) for word in whole)))

    @cached_property
    def content(self) -> tuple[Word, ...]:
        """The words that say something, in order."""
        return tuple(word for word in self.words if word.is_content)


@lru_cache(maxsize=1 << 13)
def stem(word: str) -> str:
    """Return the part that forms of an English word share; other words lose their endings.

    >>> stem("increases") == stem("increasing") == stem("increased")
    True
    """
    return _without_endings(_IRREGULAR.get(word, word))


def _without_endings(word: str) -> str:
    if not word.isalpha() or len(word) <= _SHORTEST_WITH_SHORT_SUFFIX:
        return word
    for suffix in _SUFFIXES:
        if not word.endswith(suffix) or (suffix == "s" and word.endswith(("ss", "us", "is"))):
            continue
        shortest = _SHORTEST_WITH_SHORT_SUFFIX if suffix in _SHORT_SUFFIXES else _SHORTEST_STEM
        root = word[: -len(suffix)]
        if len(root) >= shortest:
            return _rounded(_without_endings(root) if suffix in _INFLECTIONS else root)
    return _rounded(word)


@lru_cache(maxsize=1 << 13)
def base_form(word: str) -> str:
    """Return what the inflections of one word share: `producer` is not `product`.

    >>> base_form("producers") == base_form("producer") != base_form("products")
    True
    """
    word = _IRREGULAR.get(word, word)
    if word.endswith("eed"):  # speed and need are no past tenses
        return word
    for suffix in _INFLECTED:
        root = word.removesuffix(suffix)
        if root != word and len(root) >= _SHORTEST_WITH_SHORT_SUFFIX and word[-2:] != "ss":
            return _rounded(root)
    return _rounded(word)


def alike(one: str, other: str) -> bool:
    """Return whether two stems are forms of one word, such as `produc` and `product`."""
    if one == other:
        return True
    shorter, longer = sorted((one, other), key=len)
    return len(shorter) >= 5 and longer.startswith(shorter) and len(longer) - len(shorter) <= 4


def _rounded(root: str) -> str:
    """Return the root with one end where spelling has two: planned and plan, rely and reli."""
    if len(root) > 3 and root[-1] == root[-2] and root[-1] not in "aeiousl":
        root = root[:-1]
    if root.endswith(("i", "e", "y")) and len(root) > 3:
        root = root[:-1]
    return root


def _prose(text: str) -> str:
    """Return the text without code, Markdown marks and invisible characters."""
    plain, position, pieces = without_markup(text), 0, []
    for code in code_in(text):
        pieces.append(plain[position : code.start])
        position = code.end
    text = " ".join([*pieces, plain[position:]])
    text = _INVISIBLE.sub("", _EMPHASIS.sub("", text))
    return unicodedata.normalize("NFKC", text)


def _words(text: str) -> "list[Word]":
    words: list[Word] = []
    clause, opens = 0, True
    for match in _TOKEN.finditer(text):
        if match["stop"]:
            clause += 1
            opens = opens or match["stop"].strip() not in {",", "、", "，", "—", "–", "-"}
            continue
        written = match.group()
        lower = written.lower().replace("’", "'")
        if lower in _OPENS_CLAUSE:
            clause += 1
        for part in _parts(lower):
            is_content = part not in _STOPWORDS and written[0].isalnum()
            word = Word(written, part, stem(part), match.start(), clause, opens, is_content)
            words.append(word)
            opens = False
    return words


def _parts(lower: str) -> list[str]:
    """Split a contraction into its words; possessives lose their ending."""
    if lower in {"cannot", "can't"}:
        return ["can", "not"]
    if lower == "won't":
        return ["will", "not"]
    if lower.endswith("n't"):
        return [lower[:-3], "not"]
    head, _, tail = lower.partition("'")
    if tail in {"s", "d", "m", "ll", "re", "ve", ""}:
        return [head] if head else [lower]
    return [lower]
