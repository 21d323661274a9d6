"""`glossator search`: what a question finds, without an answer."""

from adapters.console import place_of, printable
from bot.cli.exits import Exit
from bot.cli.opening import choose_course, services
from core.models import RetrievalToolInput

_EXCERPT = 300


async def search(
    query: str, course_id: str | None, section: str | None, top_k: int, *, as_json: bool
) -> int:
    """Print the passages found, best first, and return the exit code."""
    asked = RetrievalToolInput(query_text=query, top_k=top_k, section_filter=section)
    async with services() as opened:
        course = await choose_course(opened, course_id)
        output = (await opened.retriever().retrieve(course.course_id, asked)).output
    if as_json:
        print(output.model_dump_json(indent=2))
        return Exit.OK
    for number, chunk in enumerate(output.retrieved_chunks, 1):
        text = " ".join(chunk.content_text.split())
        excerpt = text if len(text) <= _EXCERPT else text[:_EXCERPT].rstrip() + " …"
        print(printable(f"{number}. {chunk.similarity_score:.2f}  {place_of(chunk)}"))
        print(printable(f"   {excerpt}\n"))
    if not output.retrieved_chunks:
        print("Nothing in this course fits the question.")
    return Exit.OK
