"""`glossator chat`: a conversation at the terminal."""

import asyncio
import sys
from uuid import UUID, uuid4

from adapters.turn import take_turn
from bot.cli.ask import console_request, open_reply
from bot.cli.exits import Exit
from bot.cli.opening import choose_course, services, tell
from core.errors import BotError, RequestError

_HELP = """\
Write a question and press Enter. A line that begins with > quotes a passage; an empty line or
a question ends the quote.
  /section NAME   ask within one section from now on; /section alone: the whole book again
  /new            start a new conversation
  /help           show this
  /quit           leave (so does Ctrl-D)"""


async def chat(course_id: str | None, session: UUID | None, *, generator: str | None) -> int:
    """Answer questions until the input ends, and return the exit code."""
    async with services() as opened:
        course = await choose_course(opened, course_id)
        agent = opened.agent(generator)
        session = session or uuid4()
        section: str | None = None
        quote: list[str] = []
        tell(f"{course.title}. Ask away; /help explains more.")
        while (line := await _read_line("… " if quote else "? ")) is not None:
            line = line.strip()
            if line.startswith(">"):
                quote.append(line.removeprefix(">").strip())
                continue
            if not line and not quote:
                continue
            if line.startswith("/"):
                command, _, name = line.partition(" ")
                if command == "/quit":
                    break
                if command == "/new":
                    session = uuid4()
                    tell("A new conversation begins.")
                elif command == "/section":
                    section = name.strip() or None
                    tell(f"From now on: {section or 'the whole book'}.")
                else:
                    tell(_HELP)
                continue
            quoted, quote = "\n".join(quote) or None, []
            try:
                request = console_request(
                    opened, course, line or None, quoted, section=section, session=session
                )
            except RequestError as error:
                tell(error.user_message)
                continue
            reply = open_reply(as_json=False)
            await take_turn(agent, request, reply)
            if isinstance(reply.error, BotError):
                tell(reply.error.user_message)
            print()
    return Exit.OK


async def _read_line(prompt: str) -> str | None:
    """Return the next line without its end, or none at the end of the input."""
    if sys.stdin.isatty():
        print(prompt, end="", file=sys.stderr, flush=True)
    line = await asyncio.to_thread(sys.stdin.readline)
    return line.rstrip("\n") if line else None
