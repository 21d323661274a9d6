"""`glossator search`: what a question finds, without an answer."""

from adapters.console import place_of
from adapters.markdown.printable import on_one_line, printable
from adapters.markdown.splitting import shortened
from bot.cli.context import choose_course, services
from bot.cli.exits import Exit
from core.errors import ServiceError
from core.markdown.writing import one_line
from core.models import RetrievalToolInput, RetrievalToolOutput

_EXCERPT = 300


async def search(
    query: str, course_id: str | None, section: str | None, top_k: int, *, as_json: bool
) -> int:
    """Print the passages found, best first, and return the exit code."""
    asked = RetrievalToolInput(query_text=query, top_k=top_k, section_filter=section)
    async with services(needs_room=False) as opened:
        course = await choose_course(opened, course_id)
        try:
            output = (await opened.retriever.retrieve(course.course_id, asked)).output
        except ServiceError as error:
            if not as_json:
                raise
            output = RetrievalToolOutput(
                retrieved_chunks=(),
                query_embedding=(),
                search_time_ms=0.0,
                total_candidates=0,
                success=False,
                error_message=error.user_message,
            )
    if as_json:
        print(output.model_dump_json(indent=2))
        return Exit.OK if output.success else Exit.UNAVAILABLE
    for number, chunk in enumerate(output.retrieved_chunks, 1):
        excerpt = shortened(one_line(chunk.content_text), _EXCERPT)
        print(on_one_line(f"{number}. {chunk.similarity_score:.2f}  {place_of(chunk)}"))
        print(printable(f"   {excerpt}\n"))
    if not output.retrieved_chunks:
        print("Nothing in this course fits the question.")
    return Exit.OK
