"""However deep marks stand inside each other, what is parsed of them is shallow."""

from collections.abc import Iterable, Sequence

import pytest
from hypothesis import given, settings
from markdown_it.token import Token
from markdown_it.tree import SyntaxTreeNode

from core.domain.links import lasting, one_line
from core.domain.markdown import parser
from tests.deep_marks import DEEP_TEXTS, deep_texts

DEEPEST = 80


def depth_of(tokens: Iterable[Token]) -> int:
    depth = deepest = 0
    for token in tokens:
        deepest = max(deepest, depth + depth_of(token.children or ()))
        depth += token.nesting
        deepest = max(deepest, depth)
    return deepest + 1


def text_of(tokens: Sequence[Token]) -> str:
    return "".join(text_of(t.children) if t.children else t.content for t in tokens)


@pytest.mark.costly
@pytest.mark.parametrize("text", DEEP_TEXTS.values(), ids=DEEP_TEXTS.keys())
def test_repeated_marks_are_parsed_shallowly(text: str) -> None:
    assert depth_of(parser().parse(text)) < DEEPEST
    assert depth_of(parser().parseInline(text)) < DEEPEST
    SyntaxTreeNode(parser().parse(text))
    one_line(text)
    lasting(text)


@pytest.mark.costly
@given(deep_texts)
@settings(deadline=None, max_examples=60)
def test_marks_of_any_kind_inside_each_other_are_parsed_shallowly(text: str) -> None:
    tokens = parser().parse(text)
    assert depth_of(tokens) < DEEPEST
    assert SyntaxTreeNode(tokens).to_tokens() == tokens  # what opens closes


@pytest.mark.parametrize("mark", ["*", "**", "_", "~~", "***"])
def test_marks_that_are_too_deep_are_characters_and_no_word_is_lost(mark: str) -> None:
    opening, closing = f"{mark}a " * 40, f" b{mark}" * 40
    said = text_of(parser().parse(f"{opening}deep{closing}"))
    assert said.replace(mark[0], "") == "a " * 40 + "deep" + " b" * 40
    assert mark in said


def test_marks_as_people_nest_them_stay_marks() -> None:
    tokens = parser().parse("> - *a **b ~~c~~ d** e* ![one ![two](u)](u)")
    inline = next(token for token in tokens if token.type == "inline")
    kinds = [child.type for child in inline.children or ()]
    assert [kinds.count(kind) for kind in ("em_open", "strong_open", "s_open", "image")] == [1] * 4
    assert "*" not in text_of(tokens)
    assert "(u)" not in text_of(tokens)
