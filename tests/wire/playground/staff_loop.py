"""The loop of students and staff, gone through at the playground's page by its own controls."""

from abc import ABC, abstractmethod

from tests.wire.visitor import Visitor, shown

STUDENT, FRIEND, STAFF = "Maya", "Ben", "Dr Lind"
UNCOVERED = "Who won the last football match?"
SAID = "That is not part of this course; the club's page has the results."
COVERED = "Does Glossator need the internet?"
NEAR = "does glossator need the Internet"
"""The same but for case and the last mark: it is shown the staff's answer at once."""
REWORDED = "Is an internet connection needed by Glossator?"
_ASKING, _READING = "# questions", "# study-group"
_NEWEST = "#channel .timeline > article:last-child"
_ANSWER = "#thread article:has(.avatar.app)"


class StaffLoop(ABC):
    """Lets a student ask, staff answer and verify, and the next student profit, on one platform.

    Each step waits for what stands on the page then, and fails where it does not come; `pictures`
    are the steps that are kept as pictures, in order.
    """

    platform: str
    pictures = ("asked", "queue", "answer", "reply", "verify", "checked", "offered")

    def __init__(self, visitor: Visitor) -> None:
        self.visitor = visitor
        self.tab = visitor.tab

    async def go_through(self) -> None:
        """Go through all of it once."""
        await self.ask_the_staff()
        await self.take_and_answer()
        await self.read_the_reply()
        await self.verify_an_answer()
        await self.ask_nearly_the_same()
        await self.ask_in_other_words()

    async def ask_the_staff(self) -> None:
        """Ask what the book does not cover, and pass it on."""
        await self._ask(STUDENT, _ASKING, UNCOVERED)
        await self.visitor.see("The book doesn't cover this.", "#thread")
        await self.visitor.press("#thread", "Ask the staff")
        await self.visitor.see("The staff of the course have your question", "#thread")
        await self._keep("asked")

    async def take_and_answer(self) -> None:
        """See what waits, take it, and answer it in the form."""
        await self.visitor.become(STAFF)
        queue = await self.open_queue()
        await self.visitor.see(UNCOVERED, queue)
        await self.visitor.see("not covered", queue)
        await self._keep("queue")
        await self.visitor.press(queue, "Take")
        await self.visitor.see("yours for 30 minutes", queue)
        await self.visitor.press(queue, "Answer", last=True)
        await self.visitor.see("The bot found nothing in the book.", "dialog")
        await self.tab.click("dialog [name=answer]")
        await self.tab.type(SAID)
        await self._keep("answer")
        await self.send("Sent to the person who asked, and kept for who asks next.", queue)

    async def read_the_reply(self) -> None:
        """Find the staff's answer in the thread in which the question was asked."""
        await self.visitor.become(STUDENT)
        await self.visitor.go(_ASKING)
        await self.tab.click("#channel article:not(.ephemeral) .thread-link")
        for said in (f"@{STUDENT}", SAID, "From the course's staff, not from the book"):
            await self.visitor.see(said, _ANSWER)
        await self._keep("reply")

    async def verify_an_answer(self) -> None:
        """Let staff check an answer of the bot, with its passages and its words in the form."""
        await self._ask(FRIEND, _ASKING, COVERED)
        await self.visitor.see("no internet connection", _ANSWER)
        await self.tab.until(shown(f"{_ANSWER} .button"))
        await self.visitor.become(STAFF)
        await self.visitor.see("no internet connection", _ANSWER)
        await self.visitor.menu(_ANSWER, "Verify answer")
        await self.visitor.see("What the bot found in the book:", "dialog")
        await self.visitor.see("[1] Glossator › What it needs", "dialog")
        draft = "document.querySelector('dialog [name=answer]').value"
        await self.tab.until(f"{draft}.includes('no internet connection')")
        await self.tab.click("dialog [name=answer]")
        await self._keep("verify")
        await self.send("Kept, revision 1: from now on, who asks this is shown it.", "#thread")

    async def ask_nearly_the_same(self) -> None:
        """Let another student ask the same, who is shown what staff checked, and when."""
        await self._ask(STUDENT, _READING, NEAR)
        await self.visitor.see("Checked by the course's staff, ", _ANSWER)
        await self._keep("checked")

    async def ask_in_other_words(self) -> None:
        """Ask it in other words, and press what shows the staff's answer."""
        await self._ask(STUDENT, _READING, REWORDED)
        await self.visitor.see(f"The staff answered: “{COVERED}”", _ANSWER)
        await self._keep("offered")
        await self.visitor.press("#thread", "Show the staff's answer")
        await self.visitor.see("Checked by the course's staff, ", _ANSWER)

    @abstractmethod
    async def open_queue(self) -> str:
        """Show staff what waits; return the selector of where it stands."""

    @abstractmethod
    async def send(self, outcome: str, where: str) -> None:
        """Send the form and see what comes of it; `where` is the place it was opened from."""

    async def _ask(self, person: str, channel: str, question: str) -> None:
        """Mention the bot in a channel, and open the thread that it answers in."""
        await self.visitor.become(person)
        await self.visitor.go(channel)
        await self.visitor.write(f"@Glossator {question}")
        await self.tab.until(f"{shown(f'{_NEWEST} .thread-link')} && !{shown(f'{_NEWEST} .doing')}")
        await self.tab.click(f"{_NEWEST} .thread-link")
        await self.tab.until(shown(f"{_ANSWER} .button"))

    async def _keep(self, step: str) -> None:
        await self.visitor.keep(f"{self.platform}-{step}")


class DiscordLoop(StaffLoop):
    """The loop on Discord: the queue is a command's response, and so is what a form says."""

    platform = "discord"

    async def open_queue(self) -> str:
        """Use `/course queue`."""
        await self.visitor.command("/course queue")
        return "#channel .timeline"

    async def send(self, outcome: str, where: str) -> None:
        """Submit the form, and read the response below where it was opened."""
        await self.tab.click("dialog .primary")
        await self.visitor.see(outcome, where)


class SlackLoop(StaffLoop):
    """The loop on Slack: the queue stands on the app's Home, and a form says what came of it."""

    platform = "slack"

    async def open_queue(self) -> str:
        """Open the app's Home."""
        await self.visitor.go("Home")
        return "#home"

    async def send(self, outcome: str, where: str) -> None:
        """Send the form, read what it became, and close it."""
        await self.tab.click("dialog .primary")
        await self.visitor.see(outcome, "dialog")
        await self.tab.click("dialog .secondary")
        await self.tab.until(f"!{shown('dialog')}")


LOOPS: tuple[type[StaffLoop], ...] = (DiscordLoop, SlackLoop)
