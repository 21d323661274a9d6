"""The words that scripted claims put in the place of others."""

import re

UNITS = (
    (re.compile(r"(?<=\d)%|(?<=\d) percent\b"), " million"),
    (re.compile(r"\$(?=\d)"), "€"),
    (re.compile(r"\bmillion\b"), "billion"),
    (re.compile(r"\bbillion\b"), "million"),
    (re.compile(r"\btrillion\b"), "million"),
    (re.compile(r"(?<=\d )years\b"), "months"),
    (re.compile(r"(?<=\d )months\b"), "weeks"),
    (re.compile(r"(?<=\d )hours\b"), "days"),
    (re.compile(r"(?<=\d )days\b"), "hours"),
    (re.compile(r"(?<=\d )pounds\b"), "tons"),
)
OPPOSITES = {
    "increases": "decreases", "increase": "decrease", "increased": "decreased",
    "increasing": "decreasing", "rises": "falls", "rise": "fall", "rising": "falling",
    "rose": "fell", "raises": "lowers", "raise": "lower", "higher": "lower", "more": "less",
    "greater": "smaller", "above": "below", "before": "after", "supply": "demand",
    "buyers": "sellers", "buy": "sell", "supplied": "demanded", "surplus": "shortage",
    "expansion": "contraction", "expansionary": "contractionary", "gains": "losses",
    "positive": "negative", "maximum": "minimum", "left": "right", "inflation": "deflation",
    "exports": "imports", "large": "small", "larger": "smaller", "strong": "weak",
    "stronger": "weaker", "long": "short", "producers": "consumers", "benefits": "costs",
    "appreciate": "depreciate", "upward": "downward", "most": "least", "high": "low",
    "first": "last", "lenders": "borrowers", "rich": "poor", "inelastic": "elastic",
}  # fmt: skip
SYNONYMS = {
    "for example": "for instance", "however": "still", "because": "since", "often": "frequently",
    "large": "big", "shows": "demonstrates", "show": "demonstrate", "important": "significant",
    "people": "individuals", "firms": "companies", "goods": "products", "begin": "start",
    "use": "employ", "need": "require", "typically": "usually", "many": "numerous",
    "therefore": "thus", "purchase": "buy", "obtain": "get", "might": "may", "job": "position",
    "company": "business", "workers": "employees", "countries": "nations", "country": "nation",
    "occurs": "happens", "explains": "describes", "help": "assist", "choose": "pick",
    "approximately": "about", "children": "kids", "argue": "contend", "goal": "aim",
}  # fmt: skip
