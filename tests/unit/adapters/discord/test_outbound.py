"""What readers see of an answer on Discord, without a Discord."""

import re
from typing import Any
from uuid import UUID, uuid4

import discord
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from adapters.chat.buttons import Button
from adapters.chat.markdown.layout import utf16_length
from adapters.discord.outbound import (
    Picture,
    Post,
    answer,
    evidence,
    formulas,
    growing,
    layout,
    placeholder,
    sentence,
    thread_name,
)
from core.domain import (
    EXPLAIN_QUOTE,
    AgentResponse,
    ContextMode,
    Outcome,
    ResponseState,
    i18n,
    source_urls,
)
from core.domain.markdown import code_in
from tests.attacks import attack_texts
from tests.samples import URL, chunk, citation, request, response
from tests.wire.discord.component_checks import check_components
from tests.wire.discord.errors import FormErrors

REQUEST = UUID(int=7)
LONG_WORD = "word " * 30
LINK = re.compile(r"\]\(<([^>]*)>\)")
CODE_OR_ESCAPE = re.compile(r"\\.|(`{3,}).*?\1|(`+)(?!`).*?(?<!`)\2(?!`)", re.DOTALL)
PING = re.compile(r"@everyone|@here|<@[!&]?\d+>|<#\d+>")


def of_text(text: str, **changes: Any) -> AgentResponse:
    return response(response_text=f"{text} [1]", **changes)


def without_answer(outcome: Outcome, text: str, **changes: Any) -> AgentResponse:
    state = ResponseState.ERROR if outcome is Outcome.ERROR else ResponseState.COMPLETED
    nothing: dict[str, Any] = {"grounding_chunks": (), "citations": (), "sources": ()}
    return response(
        outcome=outcome, state=state, response_text=text, confidence=0.0, **nothing, **changes
    )


def shown(posts: list[Post]) -> str:
    return "\n".join(post.text for post in posts)


def assert_postable(posts: list[Post]) -> None:
    assert posts
    for post in posts:
        errors = FormErrors()
        view: Any = layout(post)
        check_components(view.to_components(), errors, v2=True)
        errors.check()
        assert post.text.strip()


def test_an_answer_ends_with_its_source_as_a_masked_link_and_offers_the_buttons() -> None:
    (post,) = answer(response(), quoted=False)
    body, _, notes = post.text.partition("\n\n")
    assert body == "A complete binary tree [1]."
    assert notes.startswith(f"-# From [1] [Heaps › Definition](<{URL}>)")
    assert post.buttons == (Button.HELPFUL, Button.NOT_HELPFUL, Button.EVIDENCE)
    assert post.is_answer


def test_a_sure_answer_says_nothing_about_itself_and_others_say_how_sure_they_are() -> None:
    by_model = {"model_name": "gemini-3.5-flash"}
    assert "sure" not in shown(answer(response(confidence=0.9, **by_model), quoted=False))
    assert "-# Fairly sure: " in shown(answer(response(confidence=0.6, **by_model), quoted=False))
    assert "sure" not in shown(answer(response(confidence=0.1, located=0.9), quoted=False))
    unsure = response(outcome=Outcome.PARTIAL, confidence=0.3, **by_model)
    assert "-# Not sure: " in shown(answer(unsure, quoted=False))
    near = response(outcome=Outcome.PARTIAL, confidence=0.4)
    assert "-# This is a part of the answer, or near it: " in shown(answer(near, quoted=False))


def test_a_doubt_that_a_notice_tells_is_not_told_twice() -> None:
    unsure = response(outcome=Outcome.PARTIAL, notices=(i18n.text("notice-near"),))
    assert shown(answer(unsure, quoted=False)).count("or near it") == 1


def test_notices_stand_in_small_print_on_a_line_each() -> None:
    notices = ("The book answers only a part.", "Not from\nthis book.")
    text = shown(answer(response(notices=notices), quoted=True))
    assert "-# The book answers only a part.\n-# Not from this book." in text


def test_a_quoted_question_can_be_asked_again_without_its_quote() -> None:
    assert Button.WITHOUT_QUOTE in answer(response(), quoted=True)[0].buttons


def test_only_a_private_answer_can_be_shared() -> None:
    assert Button.SHARE in answer(response(), quoted=False, private=True)[0].buttons
    assert Button.SHARE not in answer(response(), quoted=False)[0].buttons


def test_an_error_is_a_sentence_without_buttons() -> None:
    failed = without_answer(Outcome.ERROR, "I cannot search the book.", error_message="no index")
    (post,) = answer(failed, quoted=True)
    assert (post.text, post.buttons) == ("I cannot search the book.", ())


def test_a_refusal_is_no_answer_to_vote_on_and_has_no_bar() -> None:
    abstained = without_answer(Outcome.ABSTAINED, "The book doesn't cover this.")
    (post,) = answer(abstained, quoted=False)
    assert post.buttons == (Button.ASK_STAFF,)
    assert not post.is_answer
    (card, _) = layout(post).children
    assert isinstance(card, discord.ui.Container)
    assert card.accent_colour is None
    assert evidence(abstained) == [Post("This answer cites no passage of the book.")]


def test_the_question_stands_above_an_answer_whose_readers_would_not_see_it() -> None:
    (post,) = answer(response(), quoted=False, asked="What is\n@everyone's **heap**?")
    assert post.text.startswith("> What is @\u200beveryone's \\*\\*heap\\*\\*?\nA complete")
    beginning = growing("A heap", REQUEST, asked="What is it?")
    assert beginning.text == "> What is it?\nA heap …"


def test_the_buttons_of_a_long_answer_stand_below_its_last_message() -> None:
    posts = answer(of_text("\n\n".join([LONG_WORD] * 99)), quoted=False)
    assert_postable(posts)
    assert len(posts) > 3
    assert not any(post.buttons for post in posts[:-1])
    assert posts[-1].buttons
    assert f"(<{URL}>)" in posts[-1].text


def test_what_does_not_fit_one_message_is_left_out_but_not_its_sources() -> None:
    (post,) = answer(of_text("\n\n".join([LONG_WORD] * 99)), quoted=False, one_message=True)
    assert_postable([post])
    assert "The rest does not fit here." in post.notes
    assert URL in post.notes
    assert post.body
    assert post.buttons


@pytest.mark.costly
def test_a_model_that_never_ends_fills_twelve_messages_and_no_more() -> None:
    posts = answer(of_text("\n\n".join([LONG_WORD] * 400)), quoted=False)
    assert_postable(posts)
    assert len(posts) == 12
    assert URL in posts[-1].notes
    assert "The rest does not fit here." in posts[-1].notes


@pytest.mark.costly
def test_a_growing_answer_is_cut_to_one_message_and_closes_its_code() -> None:
    post = growing("```python\n" + "x = 1\n" * 1_500, REQUEST)
    assert_postable([post])
    assert post.text.count("```") == 2
    assert post.text.endswith(" …")
    assert post.buttons == (Button.STOP,)


def test_before_there_is_text_the_placeholder_says_what_happens() -> None:
    assert growing(" \n", REQUEST) == placeholder(REQUEST)
    assert placeholder(REQUEST).text == "Searching the book …"


def test_evidence_is_the_very_words_with_their_place() -> None:
    page = chunk(metadata={"page": 3}, content_text="A heap *is*\na complete tree.")
    cited = response(cited=page, response_text="It is [1].")
    (post,) = evidence(cited)
    place, *words = post.text.splitlines()
    assert place == f"-# [1] [Heaps › Definition](<{URL}>) · p. 3 · heaps.md"
    assert words == ["> **A heap \\*is\\***", "> **a complete tree.**"]


def test_evidence_is_the_paragraph_with_the_cited_words_bold_once_a_place() -> None:
    text = "Before.\n\nA heap is `a tree`. Its root is the largest. It is complete.\n\nAfter."
    page = chunk(content_text=text)
    quotes = ("A heap is `a tree`", "It is complete")
    citations = tuple(citation(page, n, quote) for n, quote in enumerate(quotes, 1))
    (post,) = evidence(
        response(
            response_text="A tree [1]. Complete [2].",
            cited=page,
            citations=citations,
            sources=source_urls((page,), citations),
        )
    )
    place, words = post.text.splitlines()
    assert place.startswith("-# [1] [2] [Heaps › Definition]")
    assert words == "> **A heap is `a tree`**. Its root is the largest. **It is complete**."


def test_long_evidence_keeps_every_message_postable() -> None:
    words = "\n".join("A heap is a complete binary tree." for _ in range(150))
    posts = evidence(
        response(cited=chunk(content_text=words + ". end"), response_text="It is [1].")
    )
    assert len(posts) > 1
    assert_postable(posts)


def test_a_course_without_a_site_names_the_page_and_the_file_only_as_evidence() -> None:
    page = chunk(source_url=None, source_file="slides.pdf", metadata={"slide": 4})
    text = shown(answer(response(cited=page), quoted=False))
    assert "-# From [1] Heaps › Definition · slide 4" in text
    assert "slides.pdf" not in text
    assert "slides.pdf" in shown(evidence(response(cited=page)))
    assert not LINK.search(text)


def test_a_formula_that_needs_a_picture_has_it_beside_its_code() -> None:
    matrix = r"\begin{pmatrix} a & b \\ c & d \end{pmatrix}"
    drawn = of_text(f"The area is $x^2$, the matrix\n\n$${matrix}$$\n\n")
    assert formulas(drawn) == (matrix,)
    (post,) = answer(drawn, quoted=False, pictures=[Picture(matrix, b"png")])
    assert "x²" in post.text
    assert f"`{matrix}`" in post.text
    assert post.pictures == (Picture(matrix, b"png"),)


@pytest.mark.parametrize(
    ("question", "name"),
    [
        ("What is a heap?", "What is a heap?"),
        ("What\nis  **a** `heap`?", "What is a heap?"),
        ("***", "Question"),
        ("See https://evil.example/x?q=1 now", "See evil.example now"),
        ("word " * 40, "word " * 18 + "word …"),
        ("😀" * 90, "😀" * 49 + " …"),
    ],
)
def test_a_thread_is_named_by_the_question_in_one_line(question: str, name: str) -> None:
    assert thread_name(request(query_text=question)) == name


def test_a_thread_about_a_bare_quote_is_named_by_the_quote() -> None:
    quoted = request(
        query_text=EXPLAIN_QUOTE,
        context_mode=ContextMode.SELECTED_TEXT,
        selected_text="Its root is the largest key. " * 20,
    )
    name = thread_name(quoted)
    assert name.startswith("Explain: “Its root is the largest key.")
    assert utf16_length(name) <= 100


def test_a_sentence_of_ours_shows_a_readers_words_as_they_are() -> None:
    assert sentence("No section “**@here**”.").text == "No section “\\*\\*@\u200bhere\\*\\*”."


@pytest.mark.costly
@settings(max_examples=100, deadline=None)
@given(st.text(min_size=1, max_size=6_000), st.booleans())
def test_whatever_a_model_writes_can_be_posted(text: str, one_message: bool) -> None:
    written = without_answer(Outcome.ABSTAINED, f".{text}")
    assert_postable(answer(written, quoted=False, one_message=one_message))
    assert_postable([growing(text, uuid4())])


@pytest.mark.costly
def test_attacks_in_the_models_words_titles_and_questions_ping_and_link_nowhere() -> None:
    for text in attack_texts("unicode", "blns", "commonmark", step=12):
        assert_harmless(text)


@pytest.mark.parametrize(
    "text",
    [
        "@everyone <@123456789012345678> <@&123456789012345678> <#123456789012345678>",
        "[click](https://evil.example/?q=secret) ![x](https://evil.example/i.png)",
        "<https://evil.example> https://evil.example discord.gg/evil",
        "] (<https://evil.example>) [x](<https://evil.example>)",
        "```\n@everyone\n``` ` @here",
        "\\<@123456789012345678> \\@everyone [1](<https://evil.example>)",
    ],
)
def test_a_mention_or_link_stays_words_wherever_it_is_planted(text: str) -> None:
    assert_harmless(text)


def assert_harmless(text: str) -> None:
    title = " ".join(text.split())[:200] or "Heaps"
    planted = chunk(page_title=f".{title}", headings=(title,), content_text=f"Key. {text}.")
    cited = (citation(planted, 1, "Key"),)
    written = (
        response(
            response_text=f"Key [1].\n\n{text}".replace("[2]", "").replace("[1](", "("),
            cited=planted,
            outcome=Outcome.PARTIAL,
            citations=cited,
            sources=source_urls((planted,), cited),
            notices=(f".{text}",),
        )
        if not _numbers_citations(text)
        else without_answer(Outcome.ABSTAINED, f".{text}")
    )
    posts = answer(written, quoted=True, asked=f".{text}")
    posts += [growing(text, REQUEST, asked=f".{text}"), sentence(f".{text}")]
    posts += evidence(written)
    assert_postable(posts)
    for post in posts:
        prose = CODE_OR_ESCAPE.sub("", post.text)
        assert not PING.search(prose), prose
        assert set(LINK.findall(prose)) <= {URL}
        assert not re.search(r"(?<!\(<)https?://", prose), prose
    asked = f"Is it {text}"[:900].strip()
    name = thread_name(request(query_text=asked))
    assert 0 < utf16_length(name) <= 100
    assert not PING.search(name)
    assert "://" not in name or any("://" in code.content for code in code_in(asked))


def _numbers_citations(text: str) -> bool:
    return re.search(r"\[\d+\]", text) is not None
