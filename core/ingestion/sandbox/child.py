"""The process that parses documents for the sandbox, one after another, until its input ends."""

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

from core.errors import ProgramMissing, UnsupportedDocument
from core.ingestion.formats.pdf.scans import PagePicture, Scans
from core.ingestion.sandbox.confinement import (
    AuditHook,
    grant_processor_seconds,
    holds_too_much,
    limit_resources,
)
from core.ingestion.sandbox.messages import (
    ParseJob,
    conversion_frames,
    document_frames,
    drawing_frame,
    picture_frames,
    read_job,
    read_text,
    read_tree,
    ready_frame,
    refusal_frame,
)


def main() -> None:
    """Answer jobs from standard input on standard output."""
    jobs, answers = _private_streams()
    hook = AuditHook()
    hook.install()
    limit_resources()
    _send(answers, [ready_frame()])
    while received := read_job(jobs):
        job, seconds = received
        grant_processor_seconds(seconds)
        root = Path(os.path.realpath(job.include_root)) if job.include_root else None
        hook.include_root = root
        scans = _scans(job, seconds, jobs, answers, hook)

        def convert(name: str, text: bytes, seconds: float = seconds) -> bytes:
            _send(answers, conversion_frames(name, text))
            tree = read_tree(jobs)
            grant_processor_seconds(seconds)
            return tree

        _send(answers, _answer(job, _include_reader(root, job), scans, convert))


def _scans(
    job: ParseJob, seconds: float, jobs: BinaryIO, answers: BinaryIO, hook: AuditHook
) -> Scans:
    """Return what has the parent recognise pictures; to draw each one, there are `seconds`."""

    def read(picture: PagePicture) -> bytes:
        _send(answers, picture_frames(picture))
        text = read_text(jobs)
        grant_processor_seconds(seconds)
        return text

    @contextmanager
    def loading() -> Iterator[None]:
        _send(answers, [drawing_frame()])
        with hook.loading_libraries():
            yield

    return Scans(read, job.most_scans, job.missing, loading)


def _include_reader(root: Path | None, job: ParseJob) -> Callable[[str], str | None]:
    """Return what reads the files that the job's page includes, never from outside `root`."""
    if root is None:
        return lambda path: None
    from core.ingestion.sites.page_files import include_reader

    return include_reader(root, job.name, job.include_folders, job.dialect)


def _answer(
    job: ParseJob,
    read_include: Callable[[str], str | None],
    scans: Scans,
    convert: Callable[[str, bytes], bytes],
) -> Iterator[bytes]:
    from core.ingestion.formats.registry import parse

    try:
        document = parse(
            job.data,
            job.name,
            job.media_type,
            dialect=job.dialect,
            read_include=read_include,
            scans=scans,
            convert=convert,
        )
        yield from document_frames(document, retire=holds_too_much())
    except UnsupportedDocument as error:
        lacks_program = isinstance(error, ProgramMissing)
        yield refusal_frame(str(error), retire=holds_too_much(), lacks_program=lacks_program)
    except MemoryError:
        yield refusal_frame("needs more than 1 GiB of memory", retire=True)


def _private_streams() -> tuple[BinaryIO, BinaryIO]:
    """Take standard input and output for the sandbox alone: a parser's print goes astray."""
    jobs, answers = os.dup(0), os.dup(1)
    nowhere = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nowhere, 0)
    os.close(nowhere)
    os.dup2(2, 1)
    return os.fdopen(jobs, "rb"), os.fdopen(answers, "wb")


def _send(answers: BinaryIO, frames: Iterator[bytes] | list[bytes]) -> None:
    for frame in frames:
        answers.write(frame)
    answers.flush()


if __name__ == "__main__":
    main()
