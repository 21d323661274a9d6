"""Writes what `glossator eval` measured as one page of HTML that needs nothing else."""

from collections.abc import Iterator, Mapping, Sequence
from html import escape
from pathlib import Path
from typing import Any

from bot.cli.evaluation_failures import quotes_of, sentence_of
from bot.cli.exits import UsageError
from core.evaluation.failures import FailedQuestion

_FIGURES: Mapping[str, str] = {
    "hit@1": "the right page is found first",
    "hit@5": "the right page is among the first five found",
    "right": "a citation is of the right page",
    "answer@3": "the reference answer is in the first three sentences shown",
    "refused_answerable": "refused, though the book answers it",
    "refused_unanswerable": "refused, as the book does not answer it",
}
"""What each figure that people read means; the share of the questions that it holds for."""
_STYLE = (
    "body{font:1rem/1.5 system-ui,sans-serif;max-width:50rem;margin:2rem auto;padding:0 1rem}"
    "table{border-collapse:collapse}td,th{text-align:left;padding:.3rem .8rem .3rem 0;"
    "border-bottom:1px solid #ccc}td:last-child{text-align:right}li{margin-bottom:1.2rem}"
    "blockquote{margin:.3rem 0;padding-left:.8rem;border-left:3px solid #ccc}"
    "cite{color:#555;font-style:normal}@media(prefers-color-scheme:dark){body{background:#111;"
    "color:#eee}cite{color:#aaa}}"
)


def check_page(file: Path) -> None:
    """Raise UsageError when there is a file already, or no folder for it."""
    if file.exists():
        raise UsageError(f"{file} is there already: name another file with --html.")
    if not file.absolute().parent.is_dir():
        raise UsageError(f"There is no folder {file.absolute().parent} for the page.")


def write_page(
    file: Path, course: str, report: Mapping[str, Any], failures: Sequence[FailedQuestion]
) -> None:
    """Write the page; no text of the book or of a question can be markup in it.

    Raises:
        OSError: when it cannot be written.
    """
    file.write_text("".join(_page(course, report, failures)), encoding="utf-8")


def _page(
    course: str, report: Mapping[str, Any], failures: Sequence[FailedQuestion]
) -> Iterator[str]:
    title = escape(f"How well {course} answers")
    yield '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
    yield '<meta name="viewport" content="width=device-width,initial-scale=1">'
    yield f"<title>{title}</title><style>{_STYLE}</style></head><body><h1>{title}</h1>\n"
    yield f"<p>{report['n']} questions were asked, {len(failures)} of them failed.</p>\n"
    yield "<table><tr><th>of the questions</th><th>share</th></tr>\n"
    for name, meaning in _FIGURES.items():
        if report.get(name) is not None:
            share = f"{100 * report[name]:.0f} %"
            yield f"<tr><td>{escape(meaning)} ({escape(name)})</td><td>{share}</td></tr>\n"
    yield "</table>\n<h2>Questions that failed</h2>\n<ol>\n"
    for failed in failures:
        yield f"<li><strong>{escape(failed.measured.question.question)}</strong><br>"
        yield escape(sentence_of(failed))
        for source, quote in quotes_of(failed):
            yield f"<blockquote>{escape(quote)}<br><cite>{escape(source)}</cite></blockquote>"
        yield "</li>\n"
    yield "</ol></body></html>\n"
