"""Discord's dialect: readable there, and harmless whatever a book or a model wrote."""

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from adapters.chat.markdown.footnotes import Footnote
from adapters.chat.markdown.formulas import with_readable_formulas
from adapters.chat.markdown.layout import split
from adapters.discord.outbound import disarm, escape, fence, footnote_lines, to_discord
from tests.attacks import attack_texts
from tests.unit.adapters.chat.discord_client import raw_pings, seen

TRAPS = [
    *("@everyone", "@here", "<@123456789012345678>", "<@!123456789012345678>", "<@&1234>"),
    *("<#1234567>", "</ask:1234>", "<t:1700000000:R>", "<id:customize>", "<:smile:1234>"),
    *("<a:wave:1234>", "https://evil.example/x", "http://evil.example", "discord.gg/abc"),
    *("https://discord.com/invite/abc", "[a](https://evil.example)", "<https://evil.example>"),
    *(
        "[a](<https://evil.example>)",
        "![a](https://evil.example/p.png)",
        "[a][b]\n\n[b]: https://e.x",
    ),
    *("[x](javascript:alert(1))", "1https://evil.example", "<a@evil.example>", "<+4915112345678>"),
    *("&lt;@123456789012345678&gt;", "<@![123456789012345678](x)>", "<@![](x)123456789012345678>"),
    *("@\u200beveryone", "@![](x)everyone", "@\u2060here", "<@\u200b123456789012345678>"),
    *("hthttps://a.bttps://evil.example", "\\<@123456789012345678>", "\\[a](https://evil.example)"),
    *(
        "[a\\](https://evil.example)",
        "[**a**](https://evil.example x)",
        "<h\u200bttps://evil.example>",
    ),
    *(
        "`a``@everyone`",
        "`` ` ``@everyone`` ` ``",
        "```\n```@everyone```",
        "~~~\n```\n@everyone\n~~~",
    ),
    *("| a |\n|---|\n| @everyone <@123> https://e.x |", "# @everyone", "> @here", "- <@&123>"),
    *("\\`@everyone\\`", "https://[evil](x).example", "[a](https://evil.example", "steam://run/1"),
    *("***@everyone***", "@**everyone**", "<@**123**>", "``````@everyone", "a``` @here ```"),
]


def shown(markdown: str) -> str:
    return to_discord(with_readable_formulas(markdown).text)


def assert_harmless(message: str) -> None:
    client = seen(message)
    assert (client.pings, client.links, client.widgets, raw_pings(message)) == ([], [], [], [])


@pytest.mark.costly
@pytest.mark.parametrize("trap", TRAPS)
def test_nothing_pings_or_links_however_far_the_answer_has_come(trap: str) -> None:
    text = f"Look: {trap} and then **{trap}** and\n\n{trap}\n\n`code` {trap}"
    for end in range(len(text) + 1):
        assert_harmless(shown(text[:end]))
    for part in (escape(trap), disarm(trap)):
        assert raw_pings(part) == []
        assert seen(part).pings == []
    assert_harmless(escape(trap))


def test_the_attacks_of_the_corpus_do_not_ping_or_link() -> None:
    for text in attack_texts("unicode"):
        for message in (shown(text), shown(f"> {text}\n\n- {text}"), escape(text)):
            assert_harmless(message)
            for part in split(message, 200):
                assert_harmless(part)


@pytest.mark.costly
@settings(deadline=None, max_examples=400)
@example(
    r"[a\](https://evil.example)\[a](https://evil.example)\<@123456789012345678>"
    r"[a\](https://evil.example)"
)
@given(
    st.lists(
        st.sampled_from(
            [*TRAPS, *"`*_~|<>[]()@#\\!\n -:/", "```", "everyone", "https:", "//e.x", "\n\n"]
        ),
        max_size=12,
    ).map("".join)
)
def test_no_mixture_of_traps_pings_or_links(text: str) -> None:
    assert_harmless(shown(text))


@pytest.mark.costly
@settings(deadline=None, max_examples=200)
@given(st.text("`@everyone\n~ <1>", max_size=60))
def test_code_cannot_break_out_of_its_fence(code: str) -> None:
    block = fence(code)
    if "```" in code:
        assert not any(line.startswith("```") for line in block.split("\n"))
    else:
        assert block.count("```") == 2
    assert_harmless(block)


# --- what it looks like --------------------------------------------------------------------


@pytest.mark.parametrize(
    ("markdown", "dialect"),
    [
        ("**bold** *soft* ~~gone~~ `code`", "**bold** *soft* ~~gone~~ `code`"),
        ("A heap [1]. A tree [2].", "A heap [1]. A tree [2]."),
        ("See [the law](https://a.example/x) and ![a graph](b.png).", "See the law and a graph."),
        ("# One\n\n#### Four **x**", "# One\n**Four x**"),
        ("a\n\n---\n\nb", f"a\n\n{'─' * 20}\n\nb"),
        ("> a\n> > b", "> a\n> b"),
        ("- a\n  - b\n- c", "- a\n  - b\n- c"),
        ("3. a\n4. b", "3. a\n4. b"),
        ("one\ntwo", "one two"),
        ("<b>x</b>", "<\u200bb>x</b>"),
        ("snake_case * 2 || x", r"snake\_case \* 2 \|\| x"),
        ("~~~python\nx = 1\n~~~", "```python\nx = 1\n```"),
        ("```rust,ignore\nx\n```", "```rust\nx\n```"),
        ("    x = 1", "```\nx = 1\n```"),
        ("1\\. no list", "1\\. no list"),
        ("`` a`b ``", "`` a`b ``"),
    ],
)
def test_markdown_in_the_dialect(markdown: str, dialect: str) -> None:
    assert to_discord(markdown) == dialect.replace("</b>", "<\u200b/b>")


def test_a_small_table_is_drawn_in_columns() -> None:
    table = "| Name | n |\n|:--|--:|\n| heap | 10 |\n| 木 | 5 |"
    assert to_discord(table) == "```\nName │  n\n─────┼───\nheap │ 10\n木   │  5\n```"


def test_a_wide_table_becomes_a_list() -> None:
    words = "many words " * 5
    text = to_discord(
        f"| Name | Meaning |\n|---|---|\n| **heap** | {words}|\n| tree | `x` {words}|"
    )
    assert text.splitlines()[:2] == ["- **Name:** **heap**", f"  - **Meaning:** {words.strip()}"]
    assert len(text.splitlines()) == 4


def test_code_keeps_every_letter() -> None:
    code = "if a < b:\n    print('@everyone', \"https://x.y\")  # *_~|\n\n\treturn\u200b"
    assert to_discord(f"```python\n{code}\n```") == f"```python\n{code}\n```"


def test_backticks_in_code_do_not_end_it() -> None:
    assert to_discord("````\n```\nx\n```\n````").count("```") == 2


def test_bidirectional_controls_are_gone_even_from_code() -> None:
    assert "\u202e" not in to_discord("a\u202eb `c\u202ed`\n\n```\ne\u202ef\n```")


def test_the_dialect_is_markdown_that_means_the_same() -> None:
    text = "# A\n\nB *c* [1].\n\n- d\n- e\n\n```py\nx_1 = 1\n```"
    assert MarkdownIt().render(to_discord(text)) == MarkdownIt().render(text)


def test_footnotes_are_small_and_link_into_the_book() -> None:
    note = Footnote((1, 2), "Heaps › A [b] @everyone", "p. 3", "https://b.example/h(1)#d", "h.md")
    assert footnote_lines([note]) == (
        "-# [1] [2] [Heaps › A (b) @\u200beveryone](<https://b.example/h%281%29#d>) · p. 3"
    )
    local = Footnote((3,), "Heaps", "", None, "heaps.md")
    assert footnote_lines([local]) == "-# [3] Heaps"
