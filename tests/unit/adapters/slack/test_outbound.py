"""What readers see of an answer on Slack, without a Slack."""

import re
from typing import Any
from uuid import UUID, uuid4

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from adapters.chat.buttons import REST, Button
from adapters.slack.outbound import (
    Post,
    answer,
    blocks_of_post,
    fallback,
    growing,
    placeholder,
    pressed,
    question,
    sentence,
    settled,
)
from adapters.slack.reply import evidence
from core.domain import AgentResponse, Outcome, ResponseState, i18n, source_urls
from tests.answered import prose_on_slack
from tests.attacks import attack_texts
from tests.samples import URL, chunk, citation, response
from tests.wire.slack import Limits
from tests.wire.slack.block_checks import check_blocks, check_message_blocks
from tests.wire.slack.entities import written
from tests.wire.slack.errors import Complaints

REQUEST = UUID(int=7)
LONG_WORD = "word " * 30
LINK = re.compile(r"<([^<>|]*)\|")


def of_text(text: str, **changes: Any) -> AgentResponse:
    return response(response_text=f"{text} [1]", **changes)


def without_answer(outcome: Outcome, text: str, **changes: Any) -> AgentResponse:
    state = ResponseState.ERROR if outcome is Outcome.ERROR else ResponseState.COMPLETED
    nothing: dict[str, Any] = {"grounding_chunks": (), "citations": (), "sources": ()}
    return response(
        outcome=outcome, state=state, response_text=text, confidence=0.0, **nothing, **changes
    )


def assert_postable(posts: list[Post]) -> None:
    assert posts
    for post in posts:
        shown = check_message_blocks(blocks_of_post(post), Limits())
        assert shown
        assert sum(map(len, written(shown))) <= 12_000
        assert 0 < len(fallback(post)) <= 3_900


def notes(posts: list[Post]) -> str:
    return "\n".join(post.notes for post in posts)


def test_an_answer_has_its_source_below_and_offers_the_buttons() -> None:
    (post,) = answer(response(), quoted=False)
    assert post.markdown == "A complete binary tree [1]."
    assert post.notes.startswith(f"From [1] <{URL}|Heaps › Definition>")
    buttons = (Button.HELPFUL, Button.NOT_HELPFUL, Button.EVIDENCE, Button.DELETE)
    assert post.buttons == buttons
    assert [one["type"] for one in blocks_of_post(post)] == [
        "markdown",
        "context",
        "context_actions",
        "actions",
    ]
    assert fallback(post) == "A complete binary tree [1]."


def test_a_press_finds_its_way_back_to_the_request() -> None:
    every = (Button.HELPFUL, Button.NOT_HELPFUL, Button.EVIDENCE, Button.WITHOUT_QUOTE)
    post = Post("x", buttons=(*every, Button.SHARE, Button.STOP), request_id=REQUEST)
    votes, others = blocks_of_post(post)[1:]
    (vote,) = votes["elements"]
    actions = [
        {"action_id": vote["action_id"], "value": vote["positive_button"]["value"]},
        {"action_id": vote["action_id"], "value": vote["negative_button"]["value"]},
        *(one for one in others["elements"] if one["type"] == "button"),
        *({"action_id": REST, "selected_option": one} for one in others["elements"][-1]["options"]),
    ]
    assert [pressed(one) for one in actions] == [(button, REQUEST) for button in post.buttons]
    assert pressed({"action_id": "forget", "value": "1"}) is None
    assert pressed({"action_id": "gl:!", "value": str(REQUEST)}) is None


def test_a_sure_answer_says_nothing_about_itself_and_others_say_how_sure_they_are() -> None:
    by_model = {"model_name": "gemini-3.5-flash"}
    assert "sure" not in notes(answer(response(confidence=0.9, **by_model), quoted=False))
    assert "Fairly sure: " in notes(answer(response(confidence=0.6, **by_model), quoted=False))
    assert "sure" not in notes(answer(response(confidence=0.1, located=0.9), quoted=False))
    unsure = response(outcome=Outcome.PARTIAL, notices=(i18n.text("notice-near"),))
    assert notes(answer(unsure, quoted=False)).count("or near it") == 1


def test_an_error_is_a_sentence_without_buttons() -> None:
    failed = without_answer(Outcome.ERROR, "I cannot search the book.", error_message="no index")
    (post,) = answer(failed, quoted=True)
    assert blocks_of_post(post) == [{"type": "markdown", "text": "I cannot search the book."}]


def test_the_question_stands_above_an_answer_whose_readers_would_not_see_it() -> None:
    (post,) = answer(response(), quoted=False, asked="What is\n<!here> **heap**?")
    assert post.markdown.startswith("> What is <!here> \\*\\*heap\\*\\*?\n\nA complete")
    assert blocks_of_post(post)[0]["text"].startswith("> What is &lt;!here&gt; ")


def test_the_buttons_of_a_long_answer_stand_below_its_last_message() -> None:
    posts = answer(of_text("\n\n".join([LONG_WORD] * 200)), quoted=False)
    assert_postable(posts)
    assert len(posts) == 4
    assert not any(post.buttons or post.notes for post in posts[:-1])
    assert URL in posts[-1].notes


@pytest.mark.costly
@pytest.mark.parametrize("one_message", [True, False])
def test_a_model_that_never_ends_fills_six_messages_and_no_more(one_message: bool) -> None:
    endless = of_text("\n\n".join([LONG_WORD] * 900))
    posts = answer(endless, quoted=False, one_message=one_message)
    assert_postable(posts)
    assert len(posts) == (1 if one_message else 6)
    assert URL in posts[-1].notes
    assert "The rest does not fit here." in posts[-1].notes


@pytest.mark.costly
def test_code_that_grows_by_its_escapes_still_fits() -> None:
    posts = answer(of_text("```\n" + "a<b && c>d\n" * 700 + "```\n"), quoted=False)
    assert_postable(posts)
    assert all(post.markdown.count("```") == 2 for post in posts[:-1])


def test_many_footnotes_lose_their_quotes_first_and_go_on_below() -> None:
    places = [chunk(page_title=f"Page {n} {LONG_WORD}", headings=()) for n in range(40)]
    cited = tuple(citation(place, n) for n, place in enumerate(places, 1))
    full = response(
        response_text=" ".join(f"It is so [{n}]." for n in range(1, 41)),
        cited=places[0],
        retrieved_chunks=tuple(places),
        grounding_chunks=tuple(places),
        citations=cited,
        sources=(URL,),
    )
    posts = answer(full, quoted=False)
    assert_postable(posts)
    assert len(posts) > 1
    assert notes(posts).count(URL) == 40
    assert posts[-1].buttons


@pytest.mark.costly
def test_a_growing_answer_is_cut_to_one_message_and_closes_its_code() -> None:
    post = growing("```python\n" + "x < 1\n" * 1_500, REQUEST)
    assert_postable([post])
    assert post.markdown.count("```") == 2
    assert post.buttons == (Button.STOP,)
    assert growing(" \n", REQUEST) == placeholder(REQUEST)


@pytest.mark.parametrize(
    ("text", "whole"),
    [
        ("A heap is", ""),
        ("A heap is a tree. Its", "A heap is a tree."),
        ("A heap **is a tree. Its root** is", "A heap \\*\\*is a tree."),
        ("One.\n\n```py\nx = 1\n", "One."),
        ("One.\n\n```py\nx < 1\n```\n\nTwo. Th", "One.\n\n```py\nx < 1\n```\n\nTwo."),
        ("One.\n\nTell `<!here>` and\n\nTwo. Th", "One."),
        ("One.\n\n| a | b |\n|---|---|\n| 1", "One."),
        ("", ""),
    ],
)
def test_a_stream_shows_what_will_not_change(text: str, whole: str) -> None:
    assert settled(text) == whole


def test_a_growing_text_only_ever_goes_on() -> None:
    text = (
        "# Heaps\n\nA *heap* is a tree [1]. Its root is < all.\n\n- one thing. Another.\n- two\n\n"
        "```py\nx = 1\n```\n\n> Quoted. More.\n\nThe end. Yes.\n\n| a |\n|---|\n| 1 |\n\nMore."
    )
    shown = ""
    for end in range(len(text) + 1):
        longer = settled(text[:end])
        assert longer.startswith(shown)
        shown = longer
    assert shown.endswith("The end. Yes.")


TABLE = (
    "A tree [1].\n\n| part | cost |\n|---|---|\n| `<!here>` | **O(n)** [1] |\n|  | 2 |\n\n"
    "That is all."
)


def test_a_table_is_a_table_between_the_text_around_it() -> None:
    (post,) = answer(of_text(TABLE), quoted=False)
    shown = check_message_blocks(blocks_of_post(post), Limits())
    kinds = [one["type"] for one in shown]
    assert kinds[:3] == ["markdown", "table", "markdown"]
    header, first, second = ([written(cell) for cell in row] for row in shown[1]["rows"])
    assert header == [["part"], ["cost"]]
    assert first == [["<!here>"], ["O(n)", " [1]"]]
    assert second == [["\u00a0"], ["2"]]
    styles = [one["style"] for one in shown[1]["rows"][1][0]["elements"][0]["elements"]]
    assert styles == [{"code": True}]


def test_a_table_that_is_too_large_goes_on_in_a_further_message_with_its_header() -> None:
    row = f"| {'a' * 30} | b |\n"
    posts = answer(of_text("| a | b |\n|---|--:|\n" + row * 190 + "\nEnd."), quoted=False)
    shown = [check_message_blocks(blocks_of_post(post), Limits()) for post in posts]
    tables = [one for post in shown for one in post if one["type"] == "table"]
    assert sum(len(one["rows"]) - 1 for one in tables) == 190
    assert {str(written(one["rows"][0])) for one in tables} == {"['a', 'b']"}
    assert tables[0]["column_settings"] == [
        {"align": "left", "is_wrapped": True},
        {"align": "right", "is_wrapped": True},
    ]
    assert not any("│" in post.markdown for post in posts)


def test_each_table_of_an_answer_is_one_of_slacks_own() -> None:
    wide = "| a | b | c | d |\n|---|---|---|---|\n" + "| 1 | 2 | 3 | 4 |\n" * 9
    first, second = answer(of_text(f"One.\n\n{wide}\nTwo.\n\n{wide}\nEnd."), quoted=False)
    for post, kinds in (
        (first, ["markdown", "table"]),
        (second, ["markdown", "table", "markdown"]),
    ):
        shown = check_message_blocks(blocks_of_post(post), Limits())
        assert [one["type"] for one in shown][: len(kinds)] == kinds
    assert (second.markdown, second.after) == ("Two.", "End. [1]")


def test_what_a_model_wrote_says_so_and_what_the_book_says_does_not() -> None:
    said = "Written by an AI"
    assert said in notes(answer(response(model_name="gemini-3"), quoted=False))
    assert said not in notes(answer(response(model_name="extractive"), quoted=False))
    nothing = without_answer(Outcome.ABSTAINED, "Not covered.", model_name="gemini-3")
    assert said not in notes(answer(nothing, quoted=False))


def test_the_asker_of_a_command_is_named_and_nobody_is_called() -> None:
    (asked, by) = blocks_of_post(question("What is a heap?", "ann <!here> @channel"))
    assert asked["text"] == "> What is a heap?"
    name = by["elements"][0]["text"]
    assert name.startswith("Asked by ann &lt;!here&gt; @")
    assert "@channel" not in name


def test_evidence_is_the_very_words_with_their_place() -> None:
    page = chunk(metadata={"page": 3}, content_text="A heap *is*\na <complete> tree.")
    (block,) = evidence(response(cited=page, response_text="It is [1]."))
    place, quote = block["elements"]
    assert [part.get("url") for part in place["elements"]] == [None, URL, None]
    assert "".join(part["text"] for part in place["elements"]).startswith(
        "[1] Heaps › Definition · p. 3 · heaps."
    )
    (cited,) = quote["elements"]
    assert (cited["text"], cited["style"]) == ("A heap *is*\na <complete> tree.", {"bold": True})


def test_evidence_is_the_paragraph_with_the_cited_words_bold_once_a_place() -> None:
    text = "Before.\n\nA heap is `a tree`. Its root is the largest. It is complete.\n\nAfter."
    page = chunk(content_text=text)
    quotes = ("A heap is `a tree`", "It is complete")
    citations = tuple(citation(page, n, quote) for n, quote in enumerate(quotes, 1))
    (block,) = evidence(
        response(
            response_text="A tree [1]. Complete [2].",
            cited=page,
            citations=citations,
            sources=source_urls((page,), citations),
        )
    )
    _, quote = block["elements"]
    shown = [(part["text"], part.get("style", {}).get("bold")) for part in quote["elements"]]
    assert shown == [
        ("A heap is ", True),
        ("a tree", True),
        (". Its root is the largest. ", None),
        ("It is complete", True),
        (".", None),
    ]


def test_evidence_fits_a_modal() -> None:
    words = "\n".join("A heap is a complete binary tree." for _ in range(150))
    long = response(cited=chunk(content_text=words + ". end"), response_text="It is [1].")
    found = Complaints()
    check_blocks(found, "/blocks", evidence(long), 100, in_message=False)
    assert not found.found


@settings(max_examples=40, deadline=None)
@given(st.text(min_size=1, max_size=9_000), st.booleans())
def test_whatever_a_model_writes_can_be_posted(text: str, one_message: bool) -> None:
    written = without_answer(Outcome.ABSTAINED, f".{text}")
    assert_postable(answer(written, quoted=False, one_message=one_message))
    assert_postable([growing(text, uuid4()), sentence(f".{text}")])


@pytest.mark.costly
@settings(max_examples=15, deadline=None)
@given(st.text("&<>`*\n a", min_size=4_000, max_size=12_000))
def test_characters_that_become_longer_can_be_posted(text: str) -> None:
    written = without_answer(Outcome.ABSTAINED, f".{text}")
    assert_postable(answer(written, quoted=False))
    assert_postable([growing(text, uuid4()), sentence(f".{text}")])


@pytest.mark.costly
def test_attacks_in_the_models_words_titles_and_questions_ping_and_link_nowhere() -> None:
    for text in attack_texts("unicode", "blns", "commonmark", step=20):
        assert_harmless(text)


@pytest.mark.parametrize(
    "text",
    [
        "<!everyone> <!here> <@U0123> <!subteam^S1> <#C1>",
        "[click](https://evil.example/?q=secret) ![x](https://evil.example/i.png)",
        "<https://evil.example|x> https://evil.example www.evil.example",
        "|> <https://evil.example|x> >",
    ],
)
def test_a_mention_or_link_stays_words_wherever_it_is_planted(text: str) -> None:
    assert_harmless(text)


def assert_harmless(text: str) -> None:
    heading = " ".join(text.split())[:200] or "Heaps"
    planted = chunk(page_title=f".{heading}", headings=(heading,), source_file=heading)
    found = response(
        response_text="Key [1].", cited=planted, outcome=Outcome.PARTIAL, notices=(f".{text}",)
    )
    posts = answer(found, quoted=True, asked=f".{text}")
    posts += answer(without_answer(Outcome.ABSTAINED, f".{text}"), quoted=False)
    posts += [growing(text, REQUEST, asked=f".{text}"), sentence(f".{text}")]
    assert_postable(posts)
    for post in posts:
        for shown in (fallback(post), *prose_on_slack(blocks_of_post(post))):
            assert set(LINK.findall(shown)) <= {URL}
            assert shown.count("<") == len(LINK.findall(shown))
