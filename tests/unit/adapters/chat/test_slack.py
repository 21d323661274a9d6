"""Slack's dialects: readable there, and harmless whatever a book or a model wrote."""

import re
from typing import Any, cast

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from adapters.chat.markdown.footnotes import Footnote
from adapters.chat.markdown.formulas import with_readable_formulas
from adapters.slack.mrkdwn import (
    controls_escaped,
    disarm,
    divided,
    escape,
    footnote_lines,
    link,
    markdown_escaped,
    to_mrkdwn,
    to_slack,
    words,
)
from adapters.slack.outbound import Post, blocks_of_post, fallback
from core.domain.markdown import without_code
from tests.attacks import attack_texts
from tests.wire.slack.entities import Message
from tests.wire.slack.mentions import Mention, mentions

TRAPS = [
    *("<!here>", "<!channel>", "<!everyone>", "<@U0123ABC>", "<@U0123ABC|ann>", "<#C0123|x>"),
    *("<!subteam^S0123|@tutors>", "<!date^1392734382^{date}^https://evil.example|x>"),
    *("@here", "@channel", "@everyone", "<mailto:a@evil.example|x>", "<tel:+4915112345678>"),
    *("https://evil.example/x", "<https://evil.example|y>", "[a](https://evil.example)"),
    *("![a](https://evil.example/p.png)", "[a](evil.com)", "[a][b]\n\n[b]: https://e.x"),
    *("[a\\](https://evil.example)", "\\[a](https://evil.example)", "&lt;!here&gt;"),
    *("&amp;lt;!here&amp;gt;", "<\u200b!here>", "<![](x)here>", "<!**here**>", "`<!here>`"),
    *(
        "```\n<!here>\n```",
        "~~~\n```\n<!here>\n~~~",
        "| a |\n|---|\n| <!here> <@U1> |",
        "> <!here>",
    ),
    *("# <@U1>", "- <!here>", "```<!here>", "a``` <!here> ```", "\\<!here>", ":tada:", "evil.com"),
    *("x\\\n[b]: https://e.x", "a | b\\\n---|---", ">>> <!here>", "www.evil.example/x?y=z"),
]
CONTROL = re.compile(r"<|&(?!amp;|lt;|gt;)")
CODE = re.compile(r"\\.|(`{3,}).*?\1|(`+)(?!`).*?(?<!`)\2(?!`)", re.DOTALL)
MARKDOWN_LINK = re.compile(r"(?<!\\)\]\(|(?<!\\)\]:")
ADDRESS = re.compile(r"\b[a-z]+://|(?<=\w)\.(?=com\b)")
PLAIN_PING = re.compile(r"@(?:here|channel|everyone)", re.IGNORECASE)


def shown(markdown: str) -> str:
    """Return the text of the blocks of Markdown that show a text, what is rich text left out."""
    parts = divided(to_slack(with_readable_formulas(markdown).text))
    text = "\n\n".join(part.strip("\n") for part in (parts.before, parts.after) if part)
    return markdown_escaped(text, escape_code=False)


def called(markdown: str, *, escape_code: bool) -> list[Mention]:
    """Return whom a text calls, as the local Slack judges its blocks and its fallback."""
    post = Post(to_slack(with_readable_formulas(markdown).text))
    return mentions(
        Message(
            ts="1.0",
            channel=cast("Any", None),
            author=cast("Any", None),
            at=0.0,
            text=fallback(post),
            blocks=blocks_of_post(post, escape_code=escape_code),
        ),
        names=False,
    )


def notified(markdown: str) -> str:
    return controls_escaped(to_mrkdwn(with_readable_formulas(markdown).text))


def assert_harmless(message: str) -> None:
    prose = CODE.sub("", message)
    assert not CONTROL.search(prose), message
    assert not ADDRESS.search(prose), prose
    assert not PLAIN_PING.search(prose), prose


def assert_harmless_markdown(message: str) -> None:
    assert_harmless(message)
    assert not MARKDOWN_LINK.search(CODE.sub("", message)), message


@pytest.mark.parametrize("trap", TRAPS)
def test_nothing_pings_or_links_however_far_the_answer_has_come(trap: str) -> None:
    text = f"Look: {trap} and **{trap}** and\n\n{trap}\n\n`code` {trap}"
    for end in range(0, len(text) + 1, 3):
        assert_harmless_markdown(shown(text[:end]))
        assert_harmless(notified(text[:end]))
    assert_harmless_markdown(controls_escaped(escape(trap)))
    assert_harmless(words(trap))


@pytest.mark.costly
def test_the_attacks_of_the_corpus_do_not_ping_or_link() -> None:
    for text in attack_texts("unicode", "blns", step=3):
        for message in (shown(text), shown(f"> {text}\n\n- {text}")):
            assert_harmless_markdown(message)
        assert_harmless(notified(text))
        assert_harmless(words(text))


@pytest.mark.costly
@settings(deadline=None, max_examples=200)
@given(
    st.lists(
        st.sampled_from([*TRAPS, *"`*_~|<>[]()@#\\!&;\n -:/.", "```", "here", "https:", "\n\n"]),
        max_size=12,
    ).map("".join)
)
def test_no_mixture_of_traps_pings_or_links(text: str) -> None:
    assert not CONTROL.search(without_code(shown(text)))
    assert not CONTROL.search(notified(text))
    assert not called(text, escape_code=False)
    assert not called(text, escape_code=True)
    assert "<a " not in MarkdownIt().render(shown(text))


@pytest.mark.parametrize(
    ("markdown", "dialect"),
    [
        ("**bold** *soft* ~~gone~~ `code`", "**bold** *soft* ~~gone~~ `code`"),
        ("A heap [1]. A tree [2].", "A heap [1]. A tree [2]."),
        ("See [the law](https://a.example/x) and ![a graph](b.png).", "See the law and a graph."),
        ("# One\n\n#### Four **x**", "# One\n**Four x**"),
        ("> a\n> > b", "> a\n> b"),
        ("- a\n  - b\n- c", "- a\n  - b\n- c"),
        ("a < b & c > d", "a &lt; b &amp; c &gt; d"),
        ("if `a < b & c`", "if `a < b & c`"),
        ("```py\nx <y\n>>> 1\n```", "```py\nx <y\n>>> 1\n```"),
        ("snake_case * 2", r"snake_case \* 2"),
        ("\\> no quote", "\u200b&gt; no quote"),
        ("1\\. no list", "1\\. no list"),
    ],
)
def test_markdown_for_a_block(markdown: str, dialect: str) -> None:
    assert shown(markdown) == dialect


@pytest.mark.parametrize(
    ("markdown", "escape_code", "dialect"),
    [
        ("`a < b` < c", False, "`a < b` &lt; c"),
        ("`a < b` < c", True, "`a &lt; b` &lt; c"),
        ("```cpp\nf<int>(a && b);\n```", False, "```cpp\nf<int>(a && b);\n```"),
        ("```cpp\nf<int>(a);\n```", True, "```cpp\nf&lt;int&gt;(a);\n```"),
    ],
)
def test_code_has_entities_where_slack_shows_them_as_characters(
    markdown: str, escape_code: bool, dialect: str
) -> None:
    [block] = blocks_of_post(Post(to_slack(markdown)), escape_code=escape_code)
    assert block == {"type": "markdown", "text": dialect}


@pytest.mark.parametrize("escape_code", [False, True])
@pytest.mark.parametrize("call", ["<!channel>", "<!here>", "<@U123>", "<!subteam^S1>", "<#C1>"])
def test_what_calls_people_is_verbatim_in_code_and_calls_no_one(
    call: str, escape_code: bool
) -> None:
    text = f"One & two.\n\nSend `{call}` [1].\n\n```py\nsay('{call}')\n```\n\nThree."
    before, rich, after = blocks_of_post(Post(to_slack(text)), escape_code=escape_code)
    assert (before["text"].strip(), after["text"].strip()) == ("One &amp; two.", "Three.")
    section, preformatted = rich["elements"]
    assert section["elements"] == [
        {"type": "text", "text": "Send "},
        {"type": "text", "text": call, "style": {"code": True}},
        {"type": "text", "text": " [1]."},
    ]
    assert preformatted["elements"] == [{"type": "text", "text": f"say('{call}')"}]
    assert not called(text, escape_code=escape_code)
    unsafe = [{"type": "markdown", "text": f"`{call}`"}]
    as_markdown = Message("1", cast("Any", 0), cast("Any", 0), 0.0, blocks=unsafe)
    assert bool(mentions(as_markdown, names=False)) is ("#" not in call)


@pytest.mark.parametrize(
    ("markdown", "dialect"),
    [
        ("**bold** *soft* ~~gone~~ `code`", "*bold* _soft_ ~gone~ `code`"),
        ("# One\n\n- a\n- b", "*One*\n\n• a\n• b"),
        ("`` a`b ``", "`aˋb`"),
        ("```py\nx\n```", "```\nx\n```"),
    ],
)
def test_mrkdwn_for_notifications(markdown: str, dialect: str) -> None:
    assert notified(markdown) == dialect


def test_tables_are_drawn_and_formulas_readable_as_everywhere() -> None:
    table = "| Name | n |\n|:--|--:|\n| heap | 10 |\n| 木 | 5 |"
    assert shown(table) == "```\nName │  n\n─────┼───\nheap │ 10\n木   │  5\n```"
    assert shown("$x^2$") == "x²"


def test_the_block_means_what_the_markdown_means() -> None:
    text = "# A\n\nB *c* [1].\n\n- d\n- e\n\n```py\nx_1 = 1\n```"
    assert MarkdownIt().render(shown(text)) == MarkdownIt().render(text)


def test_footnotes_link_into_the_book_and_nowhere_else() -> None:
    note = Footnote((1, 2), "Heaps <!here> | A", "p. 3", "https://b.example/h?a=1&b=<2>", "h")
    assert footnote_lines([note]) == [
        "[1] [2] <https://b.example/h?a=1&amp;b=%3C2%3E|Heaps &lt;!here&gt; ¦ A> · p. 3"
    ]
    local = Footnote((3,), "Heaps", "", None, "heaps.md")
    assert footnote_lines([local]) == ["[3] Heaps"]


def test_a_link_that_is_too_long_is_a_name() -> None:
    assert link("Heaps", f"https://b.example/{'x' * 2_000}") == "Heaps"
    assert len(link("<" * 5_000, "https://b.example")) < 1_000


def test_words_that_people_write_stay_readable() -> None:
    assert disarm("at 10:30, std::vector, e.g. 3.14 and U.S.") == (
        "at 10:30, std::vector, e.g. 3.14 and U.S."
    )
