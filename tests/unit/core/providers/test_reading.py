"""What of a reply's raw text is the answer, however the text is cut."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.answering.writers.prompt import ANSWER
from core.providers.base import ToolCall
from core.providers.reply_text import ReplyReader

SAID = '{"claims": [{"text": "Prices rise.", "sentences": [1]}], "missing": "nothing"}'
LINES = "Prices rise. [1]\nThey fall. [2]\n"
ABOUT_TAGS = "The tag <think> opens a thought, </think> ends it, and <|im_end|> a turn. [1]\n"
SIZES = (1, 2, 3, 7, 10_000)
PARTS = (
    *("<think>", "</think>", "<|im_end|>", "<|channel|>", "<|message|>", "<s>", "</s>", "<"),
    *("{", "}", '"claims"', ":", "[", "]", "`", "```", "\n", "a ", "final", "analysis", "\\", '"'),
)


def read(reader: ReplyReader, text: str, size: int) -> str:
    pieces = (text[at : at + size] for at in range(0, len(text), size))
    return "".join([*(reader.feed(piece) for piece in pieces), reader.close()])


def read_as(text: str, said: str, **known: object) -> None:
    """Make sure that a text is read as one answer in pieces of every size."""
    for size in SIZES:
        reader = ReplyReader(schema=ANSWER, **known)  # type: ignore[arg-type]
        assert (read(reader, text, size), reader.is_spoilt) == (said, False)


@pytest.mark.parametrize("said", [SAID, LINES], ids=["json", "lines"])
@pytest.mark.parametrize("in_json", [True, False])
@pytest.mark.parametrize("thinks", [True, None, False])
@pytest.mark.parametrize(
    "thought",
    [
        *("<think>Hm.</think>", "<thinking>Hm.</thinking>\n", "[THINK]Hm.[/THINK]"),
        *("◁think▷Hm.◁/think▷\n\n", "<|begin_of_thought|>Hm.<|end_of_thought|>"),
        "<|channel|>analysis<|message|>Hm.<|end|><|start|>assistant<|channel|>final<|message|>",
        *("analysisHm.assistantfinal", "<|im_start|>assistant\n", ""),
    ],
)
def test_a_thought_before_an_answer_is_none_of_it(
    thought: str, said: str, thinks: bool | None, in_json: bool
) -> None:
    read_as(f"{thought}{said}", said, thinks_unopened=thinks, in_json=in_json)


@pytest.mark.parametrize("thinks", [True, None])
def test_words_of_a_model_that_may_think_aloud_wait_for_the_end_of_its_thoughts(
    thinks: bool | None,
) -> None:
    read_as(f"It is [1] so.\nHm.\n</think>\n\n{LINES}", LINES, thinks_unopened=thinks)
    read_as(f"Say {SAID}?\n</think>\n{SAID}", SAID, thinks_unopened=thinks, in_json=True)


def test_words_that_were_given_and_turn_out_to_be_a_thought_spoil_the_reply() -> None:
    reader = ReplyReader(thinks_unopened=False)
    assert reader.feed("Let me think. ") == "Let me think. "
    assert reader.feed("</think>Prices rise.") == ""
    assert (reader.is_spoilt, reader.thinks_unopened) == (True, True)


def test_a_reply_of_prose_tells_that_a_model_does_not_think_aloud() -> None:
    reader = ReplyReader(thinks_unopened=None)
    assert reader.feed("Hello.") == ""
    assert reader.is_holding
    assert (reader.close(), reader.thinks_unopened) == ("Hello.", False)


def test_words_that_were_held_can_be_had_at_once() -> None:
    reader = ReplyReader(thinks_unopened=None)
    assert reader.feed("Prices ") == ""
    assert reader.release() == "Prices "
    assert reader.feed("rise.") == "rise."


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (f"{LINES.rstrip()}<|im_end|>\n<|im_start|>user\nAnd then?", LINES.rstrip()),
        (f"{LINES.rstrip()}</s>", LINES.rstrip()),
        (f"{LINES}[INST] And then? [/INST] No.", LINES),
        (f"Here you are:\n```json\n{SAID}\n```\nThat is all.", SAID),
        (f"{SAID}\n\n{SAID}", SAID),
        (SAID.replace("Prices", "<think>Hm.</think>Prices"), SAID),
        (SAID.replace("Prices", "Hm. <\\/think>Prices"), SAID),
        (SAID.replace("rise.", "rise.\\u003c|im_end|\\u003e"), SAID),
        ("Look:\n```\n<think>a</think><|im_end|>\n```\nand `</think>`", None),
        ("Prices <b>rise</b> where a < b, <s>not</s> here, [3] and [TODO].", None),
        (SAID.replace("Prices rise.", "A `<think>` opens, `<|im_end|>` ends it."), None),
        ('{"text": "A.", "sentences": [1]}\n{"text": "B.", "sentences": [2]}', None),
    ],
)
def test_tokens_and_chatter_are_left_out_and_what_is_in_code_stays(
    text: str, said: str | None
) -> None:
    read_as(text, text if said is None else said, in_json=True)


def test_tags_that_the_model_read_of_are_quoted_but_for_one_that_ends_its_reply() -> None:
    in_json = SAID.replace("Prices rise.", ABOUT_TAGS.strip())
    for said, more in ((ABOUT_TAGS, "<|im_end|>"), (in_json, "<|im_end|>")):
        read_as(said + more, said, asked=ABOUT_TAGS)
    read_as(f"{LINES}<|im_end|>\n<|im_start|>user\nAnd then?", LINES, asked=ABOUT_TAGS)
    read_as(f"<think>{ABOUT_TAGS}`</think>` it is.</think>{LINES}", LINES, asked=ABOUT_TAGS)


@pytest.mark.parametrize("size", SIZES)
def test_json_ends_a_reply_with_its_last_bracket(size: int) -> None:
    reader = ReplyReader(schema=ANSWER, in_json=True)
    assert read(reader, f"Sure!\n{SAID}", size) == SAID
    assert reader.is_over


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize(
    "text",
    [
        '<tool_call>{"name": "retrieve", "arguments": {"query_text": "x"}}</tool_call>',
        '[TOOL_CALLS][{"name": "retrieve", "arguments": {"query_text": "x"}}]',
        '<|python_tag|>{"name": "retrieve", "parameters": {"query_text": "x"}}<|eom_id|>',
        '<|channel|>commentary to=functions.retrieve<|message|>{"query_text": "x"}<|call|>',
    ],
)
def test_calls_of_tools_in_the_text_are_calls(text: str, size: int) -> None:
    reader = ReplyReader()
    assert read(reader, text, size) == ""
    assert reader.calls == [ToolCall(None, "retrieve", {"query_text": "x"})]


@given(
    st.lists(st.sampled_from(PARTS), max_size=14).map("".join),
    st.sampled_from(SIZES),
    st.booleans(),
    st.sampled_from([True, False, None]),
)
def test_however_a_text_is_cut_the_answer_is_the_same(
    text: str, size: int, in_json: bool, thinks: bool | None
) -> None:
    readers = [
        ReplyReader(ABOUT_TAGS, ANSWER, in_json=in_json, thinks_unopened=thinks) for _ in range(2)
    ]
    cut, at_once = read(readers[0], text, size), read(readers[1], text, 10_000)
    assert readers[0].is_spoilt or cut == at_once
