"""The text of a draft since its last claim, line by line: what is code, what is layout."""

import re

from core.markdown.fences import Fence, fence_opened_by, is_closing
from core.markdown.spans import leaves_code_open

LONGEST = 4_000
"""Characters that are looked at together when no citation comes."""

_WRAPS_ANSWERS = frozenset({"", "markdown", "md", "text", "txt", "plaintext"})
_DROPPED = re.compile(
    r" {0,3}#{1,6}(?:[ \t].*)?$"  # a heading
    r"|[ \t]*([-*_=])(?:[ \t]*\1){2,}[ \t]*$"  # a rule, or the line below a heading
)
_BOLD_HEADING = re.compile(r"[ \t]*(?:\*\*[^*\n]+\*\*|__[^_\n]+__):?[ \t]*$")
_SENTENCE_END = re.compile(r"[.!?…。！？｡][\"'”’»)\]*_`]*$")
_DEEPEST_INDENT = 12


class Block:
    """Collects text until a citation says what carries it.

    Headings and rules are left out, and so is the fence around an answer as a whole.
    """

    def __init__(self) -> None:
        self._lines: list[str] = []
        self._line: list[str] = []
        self._size = 0
        self._in_mid_line = False
        self._answer_began = False
        self._fence: Fence | None = None
        self._wrapper: int | None = None
        self._owes_fence: Fence | None = None
        """A fence that was left, and may yet be closed."""
        self.has_content = False
        self.is_row = False
        """Whether the last line is a table's."""
        self.paragraph_is_over = False
        """Whether a blank line stands behind the text."""

    @property
    def text(self) -> str:
        """The text so far, without the blanks around it."""
        return "".join((*self._lines, *self._line)).strip()

    @property
    def room(self) -> int:
        """How many characters there is room for; never negative."""
        return max(LONGEST - self._size, 0)

    @property
    def in_code(self) -> bool:
        """Whether what comes next stands in a fence or between backticks."""
        return self._fence is not None or leaves_code_open("".join(self._line))

    @property
    def ends_sentence(self) -> bool:
        """Whether the text ends like a sentence."""
        tail = "".join([*self._lines[-1:], *self._line[-20:]])[-20:]
        return _SENTENCE_END.search(tail.rstrip()) is not None

    def add(self, piece: str) -> None:
        """Append text with at most one line feed, at its end."""
        self._line.append(piece)
        self._size += len(piece)
        self.has_content = self.has_content or not piece.isspace()
        if piece.endswith("\n"):
            self._settle_line()
            self._in_mid_line = False

    def cite(self) -> None:
        """Take note that a citation stands here: the text before it is no heading."""
        self._line = ["".join(self._line).rstrip(" \t")]
        self._settle_line(cited=True)
        if self._fence:
            self._leave_fence()
        self._in_mid_line = True

    def take(self) -> str:
        """Return the text and begin anew, behind the blanks that it ends with."""
        blank = "".join(self._line)
        if blank.strip():
            blank = ""
            self._settle_line()
            self._in_mid_line = True
        text = "".join(self._lines)
        if self._fence:
            text = _closed(text, self._fence)
        # Blanks in front of a citation on its own line are no gap before the next claim.
        trailing = "" if self._in_mid_line else _shortened(text[len(text.rstrip()) :] + blank)
        self._lines, self._line, self._size = [trailing], [], len(trailing)
        self._fence, self._wrapper = None, None
        self.has_content = self.is_row = self.paragraph_is_over = False
        return text

    def _settle_line(self, *, cited: bool = False) -> None:
        line = "".join(self._line)
        self._line = []
        if not self._in_mid_line and line.strip():
            line = self._without_layout(line, cited)
            self._answer_began = True
            self.is_row = line.lstrip().startswith("|")
        elif not self._in_mid_line and not self._fence:
            self.paragraph_is_over = self.has_content and line.endswith("\n")
        self._lines.append(line)

    def _without_layout(self, line: str, cited: bool) -> str:
        """Return a line, or a blank one when it is only layout; keep account of fences."""
        owed, self._owes_fence = self._owes_fence, None
        if owed and is_closing(line, owed):
            return "\n"
        if self._fence:
            self._fence = None if is_closing(line, self._fence) else self._fence
            return line
        if fence := fence_opened_by(line):
            return self._open_fence(line, fence)
        if _DROPPED.match(line) or (not cited and _BOLD_HEADING.match(line)):
            self.paragraph_is_over = self.has_content
            return "\n\n"
        return line

    def _open_fence(self, line: str, fence: Fence) -> str:
        info = fence.info.lower()
        if not self._answer_began and info in ("markdown", "md"):
            return "\n"
        self._fence = fence
        wraps = not self._answer_began and info in _WRAPS_ANSWERS
        self._wrapper = len(self._lines) if wraps else None
        return line

    def _leave_fence(self) -> None:
        """Undo a fence that a citation stands in: around the answer, or closed too late."""
        if self._wrapper is None and self._fence is not None:
            self._lines = [_closed("".join(self._lines), self._fence)]
        elif self._wrapper is not None:
            self._lines[self._wrapper] = "\n"
        self._owes_fence = self._fence
        self._fence, self._wrapper = None, None


def _closed(text: str, fence: Fence) -> str:
    return f"{text.rstrip()}\n{fence.indent}{fence.marks}"


def _shortened(blank: str) -> str:
    """Return what counts of a run of blanks: up to two line feeds, and the indent."""
    indent = blank.rpartition("\n")[2].replace("\t", "    ")
    return "\n" * min(blank.count("\n"), 2) + indent[:_DEEPEST_INDENT]
