"""The tags and tokens that models write around an answer, told by their form."""

import re
from enum import Enum, auto

TAG = re.compile(
    r"<[|｜]\\?/?[\w▁.:/-]{1,48}[|｜]>"  # <|im_end|>, <｜end▁of▁sentence｜>
    r"|<\|[A-Za-z_]{1,32}>|<[A-Za-z_]{1,32}\|>"  # <|channel>, <turn|>
    r"|<\\?/?[A-Za-z][\w:.-]{0,40}(?:\s[^<>\n]{0,80})?>"  # <think>, <end_of_turn>, </s>
    r"|\[\\?/?[A-Z][A-Z_]{2,24}\]|\[gMASK\]|<<\\?/?SYS>>|◁\\?/?\w{1,24}▷"
)
BEGUN_TAG = re.compile(
    r"(?:<(?:[|｜<\\/][^<>\n]{0,60}[|｜>]?|[A-Za-z][^<>\n]{0,120})?|\[(?:\\?/?[A-Z][A-Z_]{0,24}|\\|/"
    r"|g|gM|gMA|gMAS|gMASK)?|◁[^▷\n]{0,26})\Z"
)
"""What may go on as a tag, at the end of a text."""
_THINKING = re.compile(
    r"(?:\w+[:_.])??(think|thought|reason|reflect|scratchpad|monologue|analysis)"
    r"(?:ing|ion|s|_process|_content)?"
)
_SQUARE_THINKING = re.compile(r"(think|thought)(?:ing|s)?")
_PIPED_THINKING = re.compile(r"(think|thought|reason|reflect|inner_(?=prefix|suffix))")
_CALLING = re.compile(r"python_tag|(?:begin_|end_|start_)?(?:tool|function)_calls?(?:_begin|_end)?")
"""A call of a tool that stands in the text, as some models write it."""
_ANSWER = re.compile(r"answer|response|final(?:_answer)?|output|solution|result")
_REASONING_DETAILS = re.compile(r"\Wtype=[\"']?reason")
END_OF_TURN = re.compile(
    r"(?:im_end|eo[stm]|end|return|call|stop|endoftext|turn|end_turn|turn_end|eot_id|eom_id|eod|"
    r"end_?of_?(?:turn|text|sentence|message|sequence|utterance|answer|response|solution)|"
    r"end_(?:answer|response|message))(?:_token|_id)?"
)
_CONTROL_WORD = re.compile(
    r"s|bos|pad|unk|eop|sop|(?:start|begin)_of_\w+|end_of_\w+|unused_?\d+|extra_id_\d+|"
    r"reserved_\w+|0x[0-9a-f]{2}"
)
"""What is a control token between plain angle brackets, beside the ends of a turn."""
_SQUARE_CONTROL = re.compile(r"inst|sys|gmask|bos|eos|\w+_prompt|(?:available_)?tools?(?:_\w+)?")
# Below, what a token is called that tells whose turn begins or ends.
OTHER_ROLE = re.compile(r"user|human|system|inst|sys|observation|tool_results?|\w+_prompt")
HEADER = re.compile(r"im_start|start|start_of_turn|start_header_id|turn|header|start_header")
_HTML = frozenset({"end", "return", "call", "stop", "turn"})
"""Words that are control tokens between pipes alone: `<stop>` is an element of SVG."""


class TagKind(Enum):
    """What a tag means to who reads a reply."""

    TEXT = auto()
    """Nothing: it is one of the answer's own words, such as HTML."""
    OPENS = auto()
    """A thought begins, or a call of a tool."""
    CLOSES = auto()
    WRAPS = auto()
    """The answer begins."""
    UNWRAPS = auto()
    CONTROL = auto()
    """A token that the model's template is made of."""


def kind_of(tag: str) -> tuple[TagKind, str]:
    """Return what a tag is, and what a closing one has in common with its opening one."""
    body = tag.strip("<>[]◁▷|｜").lstrip("\\")
    closes, body = body.startswith("/"), body.lstrip("/")
    name, _, attributes = body.partition(" ")
    name = re.sub(r"[▁.:-]", "_", name).casefold()
    is_piped, is_square = "|" in tag or "｜" in tag, tag[0] == "["
    if name == "details" and not closes and _REASONING_DETAILS.search(f" {attributes}"):
        return TagKind.OPENS, name
    if _CALLING.fullmatch(name) and (not is_square or name == "tool_calls"):
        return (TagKind.CLOSES if closes or "end" in name else TagKind.OPENS), "call"
    form = _SQUARE_THINKING if is_square else _THINKING
    thinks = _PIPED_THINKING.search(name) if is_piped else form.fullmatch(name)
    if thinks is not None:
        stem = thinks[1].replace("thought", "think")
        closes = closes or name.startswith("end") or name.endswith(("_end", "suffix"))
        return (TagKind.CLOSES if closes else TagKind.OPENS), stem
    if is_square:
        is_control = _SQUARE_CONTROL.fullmatch(name) is not None
        return (TagKind.CONTROL if is_control else TagKind.TEXT), f"/{name}" if closes else name
    if is_piped or tag.startswith("<<"):
        return TagKind.CONTROL, name
    if tag[0] == "<" and _ANSWER.fullmatch(name):
        return (TagKind.UNWRAPS if closes else TagKind.WRAPS), name
    ends_turn = END_OF_TURN.fullmatch(name) is not None and name not in _HTML
    if tag[0] == "<" and (ends_turn or _CONTROL_WORD.fullmatch(name)):
        return TagKind.CONTROL, "eos" if closes and name == "s" else name
    return TagKind.TEXT, name
