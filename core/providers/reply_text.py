"""What of a model's raw text is its answer: no thinking, no control tokens, no chatter around JSON.

Models of one's own often send what a service would have taken away. How it is told apart:

* Thinking is what a pair of thinking tags holds. A closing tag alone ends a thought that began
  with the reply; an opening one alone begins a thought that lasts to its end. Since the first of
  these shows too late in a stream, the prose of a model whose habit is not known is held back.
* Whatever has the form of a control token is none of the answer. One that ends a turn ends it.
* A tag is quoted, and stays, in a code span or block, or where the model read the same tag in its
  prompt: a course may be about such tags. At the beginning of a reply no tag is quoted.
* Where a form was asked for, the reply is the JSON in it, and over with its last bracket.
"""

import json
import re
from collections.abc import Callable, Iterator, Mapping
from enum import Enum, auto
from typing import Any

from core.providers.base import Schema, ToolCall

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


_OPEN_END = re.compile(rf"\s*(?:\Z|{BEGUN_TAG.pattern})")
_ROLE = re.compile(r"(assistant|model|bot|user|human|system|tool|developer|ipython)\b[ \t]*:?\n?")
_CHANNEL = re.compile(
    r"\s*(\w+)(?:[ \t]+to=(?:functions\.)?([\w.]+))?(?:[ \t]*<\|constrain\|>[ \t]*\w+)?\s*"
    r"(?:<\|message\|>)?"  # of which a reply may have been cut short
)
_CHANNEL_END = re.compile(r"<\|?channel\|>")
_LONGEST_TAG = 160
_MOST_BLANKS = 64
"""Blanks behind JSON that no thought goes on with."""
_HEADER_END = re.compile(r"<\|message\|>|\n|.{120}")
_LEAKED = re.compile(r"analysis(?=[A-Z\"'(])")
"""How a reply in channels begins where the server took the tokens away and left their words."""
_LEAKED_FINAL = re.compile(r"final(?=[A-Z\"{])")
_LEAKED_END = re.compile(r"assistant\s?final")
_TOLD = re.compile(r"here(?:'s|’s| is) my thought process:", re.IGNORECASE)
_TOLD_END = re.compile(r"here(?:'s|’s| is) my response:", re.IGNORECASE)
_BLANK = " \t\r\n\ufeff\u200b\xa0"
_JSON = re.compile(r"(?:`{3,9}[ \t]*\w{0,12}\s*)?((?:\[\s*)?\{)")
_GAP = r"[ \t]*\n?[ \t]*"
_LATE_JSON = rf'(?:\[{_GAP})?\{{{_GAP}"(?:NAMES)"\s*:'
_BEGUN_LATE_JSON = re.compile(rf'(?:\[{_GAP})?\{{{_GAP}(?:"\w*(?:"\s*)?)?\Z|\[{_GAP}\Z')
_BEGUN_JSON = re.compile(r"(?:`{1,9}[ \t]*\w{0,12}\s*)?(?:\[\s*)?\Z")
_IN_JSON = re.compile(r'["{}\[\]]')
_IN_STRING = re.compile(r'\\.|"', re.DOTALL)
_ESCAPED = re.compile(r"(?<!\\)\\u003([cCeE])")
_LONGEST_THOUGHT_KEPT = 20_000
"""Characters of a call of a tool that a reply has in its text."""


class ReplyReader:
    """Gives the answer in a reply; `feed` it in pieces of any size, then `close` it."""

    def __init__(
        self,
        asked: str = "",
        schema: Schema | None = None,
        *,
        in_json: bool = False,
        thinks_unopened: bool | None = False,
    ) -> None:
        """Expect the reply to a request.

        Args:
            asked: All that the model reads: a tag in it is one that an answer may quote.
            schema: The form that is asked for.
            in_json: Whether it is asked for as JSON, so that words before that are none of it.
            thinks_unopened: Whether the model ends thoughts that no tag began; None: not known.
        """
        self.thinks_unopened = thinks_unopened
        """Also what this reply tells of it."""
        self.has_thought = False
        self.is_over = False
        """Whether nothing that follows is part of the answer."""
        self.is_spoilt = False
        """Whether words were given that turned out to be thinking."""
        self.calls: list[ToolCall] = []
        """Of tools, as some models write them into their text."""
        self._asked = asked
        self._in_json = in_json
        self._has_schema = schema is not None
        self._required = frozenset(schema.json.get("required", ())) if schema else frozenset()
        names = "|".join(sorted(map(re.escape, _property_names(schema.json)))) if schema else ""
        self._late_json = _LATE_JSON.replace("NAMES", names) if names else None
        pattern = rf"`+|\n[ \t\r]*\n|{TAG.pattern}"
        late = "" if self._late_json is None else f"|(?P<json>{self._late_json})"
        self._marks = re.compile(pattern + late)
        self._step: Callable[[bool], bool] = self._start
        self._raw = ""
        """What has come and is not decided yet."""
        self._out: list[str] = []
        self._held: list[str] | None = None
        """Words that may turn out to be thinking; None: none are held."""
        self._gave = False
        self._has_text = False
        """Whether the answer has begun."""
        self._is_wrapped = self._is_struck = False
        self._is_answering = False
        """Whether a mark said that the answer begins."""
        self._ends_in_blanks = False
        self._fence = 0
        """Backticks that a code span or block was opened with; 0: there is none."""
        self._stem = self._callee = ""
        self._ends_thought: re.Pattern[str] | None = None
        self._thought: list[str] = []
        self._depth = self._place = self._scanned = 0
        self._is_answer = False

    @property
    def is_holding(self) -> bool:
        """Whether words are held back that may be the answer."""
        return bool(self._held)

    @property
    def is_complete(self) -> bool:
        """Whether the JSON asked for is there, even if more words may show that it was a draft."""
        return self._step == self._after_draft

    def feed(self, text: str) -> str:
        """Return what is certain by now to be the answer."""
        return self._read(text, is_last=False)

    def close(self) -> str:
        """Return the rest of the answer."""
        text = self._read("", is_last=True)
        if self._held is not None and any(map(str.strip, self._held)) and not self.has_thought:
            self.thinks_unopened = False
        return text + self.release()

    def release(self) -> str:
        """Return the words held back: there is no time to learn whether they are thinking."""
        held, self._held = self._held or [], None
        if self._step == self._after_draft:
            self.is_over = True
        text = "".join(held)
        self._gave = self._gave or bool(text.strip())
        return text

    def _read(self, text: str, *, is_last: bool) -> str:
        self._raw += text
        while not self.is_over and self._step(is_last):
            pass
        if self.is_over:
            self._raw = ""
        given, self._out = "".join(self._out), []
        self._gave = self._gave or bool(given.strip())
        return given

    def _give(self, length: int) -> None:
        """Take so many characters for the answer."""
        text, self._raw = self._raw[:length], self._raw[length:]
        if text:
            self._say(text)

    def _say(self, text: str) -> None:
        self._has_text = self._has_text or bool(text.strip())
        _, feed, line = text.rpartition("\n")
        self._ends_in_blanks = not line.strip() and bool(feed or self._ends_in_blanks)
        (self._out if self._held is None else self._held).append(text)

    # At the beginning of a reply, and behind a thought.

    def _start(self, is_last: bool) -> bool:
        blank = len(self._raw) - len(self._raw.lstrip(_BLANK))
        if self._has_text:
            self._give(blank)
        else:
            self._raw = self._raw[blank:]
        if not self._raw:
            return False
        if (tag := TAG.match(self._raw)) is not None:
            kind, name = kind_of(tag.group())
            is_named = kind is TagKind.WRAPS and tag.group() in self._asked
            if kind not in (TagKind.TEXT, TagKind.UNWRAPS) and not is_named:
                return self._take_first(kind, name, tag.end())
        elif not is_last and BEGUN_TAG.match(self._raw):
            return False
        for begins, ends in ((_LEAKED, _LEAKED_END), (_TOLD, _TOLD_END)):
            if (told := begins.match(self._raw)) is not None:
                self._think(told.end(), ends=ends)
                return True
        if not is_last and _may_be_told(self._raw):
            return False
        if (leaked := _LEAKED_FINAL.match(self._raw)) is not None:
            self._raw = self._raw[leaked.end() :]
        if self._has_schema and (found := _JSON.match(self._raw)) is not None:
            return self._begin_json(found.start(1))
        if self._has_schema and not is_last and _BEGUN_JSON.match(self._raw):
            return False
        if self._held is None and not self._has_text and (self._in_json or self._may_think()):
            self._held = []
        self._step = self._text
        return True

    def _may_think(self) -> bool:
        return not (self.thinks_unopened is False or self.has_thought or self._is_answering)

    def _take_first(self, kind: TagKind, name: str, end: int) -> bool:
        """Take up a tag that nothing of the answer stands before."""
        if kind is TagKind.OPENS:
            self._think(end, stem=name)
            return True
        if kind is TagKind.WRAPS:
            self._is_wrapped = self._is_answering = True
        elif kind is TagKind.CONTROL:
            return self._take_control(name, end)
        self._raw = self._raw[end:]
        if kind is TagKind.CLOSES:
            self._find_unopened(self._start)
        return True

    # Thoughts.

    def _think(
        self, end: int, *, stem: str = "", ends: re.Pattern[str] | None = None, callee: str = ""
    ) -> None:
        self._raw = self._raw[end:]
        self._stem, self._ends_thought, self._callee, self._thought = stem, ends, callee, []
        self._step = self._thinking

    def _thinking(self, is_last: bool) -> bool:
        end = self._end_of_thought(is_last)
        if end is None:
            kept = 0 if is_last else _LONGEST_TAG
            cut = max(0, len(self._raw) - kept)
            self._keep(self._raw[:cut])
            self._raw = self._raw[cut:]
            if is_last:
                self._end_thought()
            return False
        start, after = end
        self._keep(self._raw[:start])
        self._raw = self._raw[after:]
        self._end_thought()
        self._step = self._text if self._has_text else self._start
        return True

    def _keep(self, text: str) -> None:
        if self._stem == "call":
            if sum(map(len, self._thought)) < _LONGEST_THOUGHT_KEPT:
                self._thought.append(text)
        elif text.strip():
            self.has_thought = True

    def _end_of_thought(self, is_last: bool) -> tuple[int, int] | None:
        """Return where the thought ends and what follows it begins."""
        if self._ends_thought is not None:
            found = self._ends_thought.search(self._raw)
            return None if found is None else found.span()
        for tag in TAG.finditer(self._raw):
            kind, name = kind_of(tag.group())
            follows = self._raw[tag.end() : tag.end() + _LONGEST_TAG]
            is_in_code = self._raw[tag.start() - 1 : tag.start()] == "`"
            if kind is TagKind.CLOSES and (is_in_code or tag.group() in self._asked):
                if not follows.strip(" ") and not is_last:
                    return None
                if follows.startswith("`") if is_in_code else _is_quoted(kind, follows):
                    continue  # the thought is about tags
            if self._stem == "channel" or self._callee:
                if kind is TagKind.CONTROL and name not in ("constrain", "message"):
                    return tag.start(), tag.start() if name in ("start", "channel") else tag.end()
            elif (kind is TagKind.CLOSES and name == self._stem) or (
                tag.group() == "</details>" and self._stem == "details"
            ):
                return tag.span()
        return None

    def _end_thought(self) -> None:
        if self._stem == "call":
            self.calls += _calls_in("".join(self._thought), self._callee)
        self._thought = []

    def _note_unopened(self) -> None:
        """Take what came before for a thought."""
        self.thinks_unopened = self.has_thought = True
        self._out, self._held, self._has_text = [], None, False
        self._is_wrapped, self._fence = False, 0

    def _find_unopened(self, step: Callable[[bool], bool]) -> None:
        """Take what came before for a thought, and go on; words that were given spoil it."""
        if self._gave:
            self.is_spoilt = self.thinks_unopened = self.is_over = True
        else:
            self._note_unopened()
            self._step = step

    # Control tokens.

    def _take_control(self, name: str, end: int) -> bool:
        """Leave out a control token, and what belongs to it."""
        if not self._has_text:
            self._raw = self._raw[end:]
            if name == "channel":
                self._step = self._channel
            elif HEADER.fullmatch(name):
                self._step = self._role
        elif name == "channel":
            self._step = self._after_turn
        elif any(form.fullmatch(name) for form in (END_OF_TURN, HEADER, OTHER_ROLE)):
            if not HEADER.fullmatch(name):
                self._raw = self._raw[end:]
            self._step = self._after_turn
        else:
            self._raw = self._raw[end:]
        return True

    def _role(self, is_last: bool) -> bool:
        """Leave out whose turn it is."""
        if not is_last and (not self._raw or _ROLE.fullmatch(self._raw) or self._raw.isalpha()):
            return False
        if (found := _ROLE.match(self._raw)) is not None:
            self._raw = self._raw[found.end() :]
        self._step = self._start
        return True

    def _channel(self, is_last: bool) -> bool:
        """Read the name of a channel: that of the answer is `final`."""
        header = _HEADER_END.search(self._raw)
        if header is None and not is_last:
            return False
        found = _CHANNEL.match(self._raw, 0, header.end() if header else len(self._raw))
        self._raw = self._raw[found.end() :] if found else self._raw
        self._is_answering = found is None or found[1] == "final"
        if self._is_answering:
            self._step = self._start
        elif found is not None and found[1] == "thought":
            self._think(0, ends=_CHANNEL_END)
        else:
            callee = found and found[2]
            self._think(0, stem="call" if callee else "channel", callee=callee or "")
        return True

    def _after_turn(self, is_last: bool) -> bool:
        """Let the reply be over, unless what came before was in a channel of thoughts."""
        self._raw = self._raw.lstrip()
        for resumed in ("<|start|>assistant<|channel|>", "<|channel|>"):
            if self._raw.startswith(resumed):
                self._raw = self._raw.removeprefix(resumed)
                self._find_unopened(self._channel)
                return True
            if resumed.startswith(self._raw) and not is_last:
                return False
        self.is_over = True
        return False

    # Words.

    def _text(self, is_last: bool) -> bool:
        raw, at, end, fence = self._raw, 0, len(self._raw), self._fence
        if self._ends_in_blanks and raw.lstrip(" \t\r").startswith("\n"):
            fence = _after_paragraph(fence)
        for found in self._marks.finditer(raw):
            mark = found.group()
            is_open = not is_last and _OPEN_END.match(raw, found.end()) is not None
            """Whether what follows is not known."""
            if mark[0] == "`":
                if is_open and found.end() == len(raw):
                    end = found.start()
                    break
                fence = _after_ticks(fence, len(mark))
                at = found.end()
            elif mark[0] == "\n":
                fence = _after_paragraph(fence)
            elif found.lastgroup == "json":
                if self._held is not None or not fence:
                    self._give(found.start())
                    return self._begin_json()
            elif not fence:
                kind, name = kind_of(mark)
                if self._is_text(kind, mark):
                    continue
                if mark in self._asked and kind is not TagKind.UNWRAPS:
                    if is_open:
                        end = found.start()
                        break
                    if _is_quoted(kind, raw[found.end() : found.end() + _LONGEST_TAG]):
                        continue
                self._fence = fence
                self._give(found.start())
                return self._take_inside(kind, name, len(mark))
        else:
            if (
                not is_last
                and (begun := BEGUN_TAG.search(raw, max(at, end - _LONGEST_TAG))) is not None
            ):
                end = begun.start()
            may_be_json = not is_last and (self._held is not None or not fence)
            may_be_json = may_be_json and self._late_json is not None
            if may_be_json and (begun := _BEGUN_LATE_JSON.search(raw, max(at, end - 60))):
                end = min(end, begun.start())
        self._fence = fence
        self._give(end)
        return False

    def _is_text(self, kind: TagKind, mark: str) -> bool:
        """Return whether a tag amid words is none that counts."""
        if mark == "<s>" or (mark == "</s>" and self._is_struck):  # struck out, as in HTML
            self._is_struck = True
            return True
        if kind is TagKind.UNWRAPS:
            return not self._is_wrapped
        return kind in (TagKind.TEXT, TagKind.WRAPS)

    def _take_inside(self, kind: TagKind, name: str, length: int) -> bool:
        """Take up a tag that stands behind words of the answer."""
        if kind is TagKind.OPENS:
            self._think(length, stem=name)
        elif kind is TagKind.CLOSES:
            self._raw = self._raw[length:]
            self._find_unopened(self._start)
        elif kind is TagKind.CONTROL:
            return self._take_control(name, length)
        else:
            self._raw = self._raw[length:]
        return True

    # JSON.

    def _begin_json(self, start: int = 0) -> bool:
        """Take what stands before it for chatter, or for thinking."""
        self._raw = self._raw[start:]
        if self._held is None and self._has_text and not self._ends_in_blanks:
            self._say("\n")  # JSON that is asked for begins a line
        is_draft = self._held is not None and bool("".join(self._held).strip())
        self._held = [] if is_draft and self._may_think() else None
        self._depth = self._place = 0
        self._is_answer = self._raw.startswith("[")
        self._step = self._json
        return True

    def _json(self, is_last: bool) -> bool:
        """Give strings whole: what they hold is clear at their end."""
        while (found := _IN_JSON.search(self._raw, self._place)) is not None:
            mark, self._place = found.group(), found.end()
            if mark == '"':
                self._give_json(found.start())
                self._place = 0
                end = self._end_of_string()
                if end is None:
                    if is_last:
                        self._say(self._raw[:1] + self._without_tags(self._raw[1:]))
                        self._raw = ""
                    return False
                text, self._raw = self._raw[1:end], self._raw[end + 1 :]
                self._is_answer = self._is_answer or text in self._required
                self._say(f'"{self._without_tags(text)}"')
            elif mark in "{[":
                self._depth += 1
            else:
                self._depth -= 1
                if self._depth <= 0:
                    self._give_json(found.end())
                    return self._end_json()
        begun = (
            None if is_last else BEGUN_TAG.search(self._raw, max(0, len(self._raw) - _LONGEST_TAG))
        )
        is_tag = begun is not None and self._raw[begun.start()] == "<"
        self._give_json(begun.start() if begun is not None and is_tag else len(self._raw))
        return False

    def _end_of_string(self) -> int | None:
        """Return where the quotation mark stands that closes the one at the beginning."""
        for found in _IN_STRING.finditer(self._raw, max(1, self._scanned)):
            self._scanned = found.end()
            if found.group() == '"':
                self._scanned = 0
                return found.start()
        rest = self._raw[max(1, self._scanned) :]
        self._scanned = len(self._raw) - rest.endswith("\\")
        return None

    def _give_json(self, length: int) -> None:
        """Give what stands between strings, where no tag means anything."""
        text, self._raw = self._raw[:length], self._raw[length:]
        self._place = max(0, self._place - length)
        if text:
            self._say(TAG.sub(_without, text))

    def _end_json(self) -> bool:
        if not self._is_answer:  # one claim of several, each an object of its own
            self._step = self._start
        elif self._held is None:
            self.is_over = True
        else:
            self._step = self._after_draft
        return True

    def _after_draft(self, is_last: bool) -> bool:
        """Look for the end of the thought that JSON after other words may belong to."""
        for tag in TAG.finditer(self._raw):
            if kind_of(tag.group())[0] is TagKind.CLOSES:
                self._raw = self._raw[tag.end() :]
                self._note_unopened()
                self._step = self._start
                return True
        self._raw = self._raw[-_LONGEST_TAG:]
        self.is_over = len(self._raw) - len(self._raw.rstrip()) > _MOST_BLANKS
        return False

    def _without_tags(self, text: str) -> str:
        """Return a string of JSON without thinking and control tokens."""
        text = _ESCAPED.sub(lambda found: "<>"[found[1] in "eE"], text)
        if not any(mark in text for mark in "<[◁"):
            return text
        kept: list[str] = []
        at, stem, fence = 0, "", 0
        for found in re.finditer(rf"`+|{TAG.pattern}", text):
            mark = found.group()
            if mark[0] == "`":
                fence = _after_ticks(fence, len(mark))
                continue
            kind, name = kind_of(mark)
            if stem:
                if kind is TagKind.CLOSES and name == stem:
                    stem, at = "", found.end()
                continue
            is_at_end = not text[found.end() :].strip()
            if fence or kind in (TagKind.TEXT, TagKind.WRAPS, TagKind.UNWRAPS):
                continue
            if mark in self._asked and not (is_at_end and kind is TagKind.CONTROL):
                continue
            if mark in ("<s>", "</s>") and not is_at_end:
                continue
            kept.append(text[at : found.start()])
            at = found.end()
            if kind is TagKind.OPENS:
                stem = name
            elif kind is TagKind.CLOSES:
                kept = []
        return "".join(kept) + ("" if stem else text[at:])


def _after_ticks(fence: int, ticks: int) -> int:
    """Return what is open behind so many backticks, by how many it was opened with."""
    if not fence:
        return ticks
    return 0 if ticks == fence or ticks >= fence >= 3 else fence


def _after_paragraph(fence: int) -> int:
    """Return what is still open where a paragraph ends: no code span."""
    return 0 if fence < 3 else fence


def _is_quoted(kind: TagKind, follows: str) -> bool:
    """Return whether a tag that the prompt has, too, is what the answer speaks of."""
    if kind is TagKind.CONTROL:
        next_tag = TAG.match(follows.lstrip())
        is_next_turn = next_tag is not None and kind_of(next_tag.group())[0] is TagKind.CONTROL
        return bool(follows.strip()) and not is_next_turn
    # What ends a thought stands at the end of a line, or right before the answer.
    goes_on = bool(follows) and follows[0] in " ,.;:!?)'\"*"
    return kind is not TagKind.CLOSES or (
        goes_on and follows.lstrip(" ")[:1] not in ("", "\n", "{")
    )


def _without(tag: re.Match[str]) -> str:
    return tag.group() if kind_of(tag.group())[0] is TagKind.TEXT else ""


def _may_be_told(text: str) -> bool:
    """Return whether more letters may make words that a thought begins with."""
    said = text.casefold().replace("’", "'")
    phrases = ("analysis", "final", "here's my thought process:", "here is my thought process:")
    return any(phrase.startswith(said) for phrase in phrases)


def _property_names(schema: Any) -> Iterator[str]:
    """Yield the names of all fields in a JSON schema."""
    if isinstance(schema, Mapping):
        properties = schema.get("properties")
        if isinstance(properties, Mapping):
            yield from properties
        for inner in schema.values():
            yield from _property_names(inner)
    elif isinstance(schema, list | tuple):
        for inner in schema:
            yield from _property_names(inner)


def _calls_in(text: str, callee: str) -> Iterator[ToolCall]:
    """Yield the calls of tools that a model wrote as JSON; what is none is left out.

    `callee`: the tool, where the JSON is its arguments alone.
    """
    decoder, at = json.JSONDecoder(strict=False), 0
    while (start := text.find("{", at)) >= 0:
        try:
            value, at = decoder.raw_decode(text, start)
        except (ValueError, RecursionError):
            return
        if callee:
            yield ToolCall(None, callee, value if isinstance(value, dict) else None)
        elif isinstance(value, dict) and isinstance(name := value.get("name"), str):
            arguments = value.get("arguments", value.get("parameters"))
            yield ToolCall(None, name, arguments if isinstance(arguments, dict) else None)
