"""Every file of a source is accounted for once: read, failed, or left out with a reason."""

import re
from collections import Counter
from pathlib import Path

import pytest

from bot.cli.ingest import print_report, summary
from core.ingestion.account import grouped
from core.ingestion.coverage import IngestionRefused, IngestReport
from core.ingestion.sources.sources import detect_site, unique_names
from core.storage.ingest_accounts import IngestAccounts
from tests.books import write_files
from tests.library import COURSE, Library, failures
from tests.source_trees import SITES, grow, on_disk

pytestmark = pytest.mark.costly

SHARED = Path(__file__).parents[5] / "shared"


async def report_of(library: Library, *names: str) -> IngestReport:
    """Return what became of the sources, whether or not enough of them could be read."""
    try:
        return await library.ingest(*names)
    except IngestionRefused as refusal:
        return refusal.report


def accounted(report: IngestReport) -> Counter[str]:
    told = summary(report, 0.0)
    lists = [told[key] for key in ("added", "changed", "unchanged")]
    named = [name for each in lists if isinstance(each, list) for name in each]
    named += [failure.source for failure in report.failed]
    return Counter([*named, *(left.path for left in report.left_out)])


def counted_in_table(text: str) -> int:
    """Return the sum of the table's column of counts."""
    _, *lines = text[text.index("  reason") :].splitlines()
    rows = [re.split(r"\s{2,}", line.strip()) for line in lines if line.startswith("  ")]
    return sum(int(row[3].replace(",", "")) for row in rows)


@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize("site", SITES)
async def test_every_file_is_accounted_for_exactly_once(
    library: Library, site: str, seed: int, capsys: pytest.CaptureFixture[str]
) -> None:
    tree = grow(library.folder / "tree", site, seed)
    expected = Counter(unique_names("", sorted(on_disk(tree))).values())
    for _ in ("first", "again"):
        report = await report_of(library, "tree")
        assert accounted(report) == expected
        assert all(failure.reason.strip() for failure in report.failed)
        assert all(left.reason.strip() for left in report.left_out)
        told = summary(report, 0.0)["left_out"]
        assert told == [{"path": e.path, "reason": e.reason} for e in report.left_out]
        assert sum(group.files for group in grouped(report.left_out, 5)) == len(report.left_out)
        print_report(report, 0.0)
        if report.left_out:
            assert counted_in_table(capsys.readouterr().out) == len(report.left_out)


async def test_several_sources_of_all_kinds_are_accounted_for(library: Library) -> None:
    write_files(library.folder / "notes", {"a.md": "# A\n\nText.", "b.md": "", "c.md": "# C\n\nC."})
    notes = library.folder / "notes"
    (notes / "link.md").symlink_to("a.md")
    (notes / "gone.md").symlink_to("nowhere.md")
    (notes / "sub").mkdir()
    report = await library.ingest("book", "notes/*")
    assert {left.path: left.reason for left in report.left_out} == {
        "b.md": "is empty",
        "gone.md": "is a link that leads nowhere",
        "link.md": "is read as a.md",
        "sub": "is a folder of which the glob matches no file",
    }
    assert failures(report) == {}
    assert {"a.md", "c.md", "book/moon.md"} <= set(report.added)


async def test_only_what_is_known_to_be_generated_is_skipped(library: Library) -> None:
    page = "# Page\n\nText of the page {}.\n"
    names = ["_2019/a.md", "_site/b.md", "build/c.md", "venv/d.md", "book/e.md", "_draft.md"]
    library.write({name: page.format(name) for name in names}, "plain")
    report = await library.ingest("plain")
    assert sorted(report.added) == sorted(names)
    evidence = {
        "_config.yml": "",
        "venv/pyvenv.cfg": "",
        "book.toml": "",
        "docusaurus.config.js": "",
    }
    library.write(evidence, "plain")
    report = await library.ingest("plain")
    assert sorted(report.removed) == ["_site/b.md", "book/e.md", "build/c.md", "venv/d.md"]
    reasons = {left.path: left.reason for left in report.left_out}
    assert reasons["_site/b.md"] == "is in _site, which Jekyll fills"
    assert reasons["venv/d.md"] == "is in a virtual environment"


@pytest.mark.parametrize(
    ("files", "share"),
    [
        ({"a.md": "# A\n\nA.", "b.ptx": "B", "c.png": "x", ".d.md": "x"}, (1, 2)),
        ({"a.qmd": "# A\n\nA.", "b.Rmd": "# B\n\nB.", "c.py": "x"}, (2, 2)),
        ({"a.md": "# A\n\nA.", "b.md": "", "c.cnxml": "x", "d.ptx": "x"}, (1, 3)),
        ({"a.md": "# A\n\nA.", "_site/b.html": "x", "_config.yml": "x"}, (1, 1)),
    ],
)
async def test_the_share_counts_what_courses_are_written_in(
    library: Library, files: dict[str, str], share: tuple[int, int]
) -> None:
    library.write(files, "mixed")
    report = await library.ingest("mixed")
    assert (report.share.read, report.share.of) == share
    assert report.share.is_below(share[0] / share[1] + 0.01)
    assert not report.share.is_below(share[0] / share[1])
    assert not report.share.is_below(0.0)


async def test_a_run_that_reads_too_little_changes_and_embeds_nothing(library: Library) -> None:
    first = await library.ingest("book")
    library.write({f"{n}.ptx": "text" for n in range(5)})
    library.write({"new.md": "# New\n\nSomething new.\n"})
    embedded = library.embedder.embedded
    with pytest.raises(IngestionRefused, match="Only 4 of 9 text files"):
        await library.ingest("book", least_share=0.5)
    assert library.embedder.embedded == embedded
    assert (await library.edition()).generation == first.generation
    accounts = await IngestAccounts(library.engine).all()
    [account] = accounts[COURSE.course_id]
    assert (account.is_refused, account.read, account.left_out, account.missed) == (True, 4, 5, 5)
    assert [(group.suffix, group.files) for group in account.groups] == [(".ptx", 5)]
    assert (await library.ingest("book", least_share=0.4)).added == ["new.md"]
    [account] = (await IngestAccounts(library.engine).all())[COURSE.course_id]
    assert not account.is_refused


async def test_accounts_of_sources_that_went_go_and_the_others_stay(library: Library) -> None:
    library.write({"waves.md": "# Waves\n\nWind makes waves.\n"}, "second")
    await library.ingest("book")
    await library.ingest("second")
    accounts = IngestAccounts(library.engine)
    assert [each.read for each in (await accounts.all())[COURSE.course_id]] == [3, 1]
    await library.ingest("second", listed=())
    [left] = (await accounts.all())[COURSE.course_id]
    assert left.source.endswith("second")
    await library.catalogue.remove_course(COURSE.course_id)
    assert await accounts.all() == {}


@pytest.mark.parametrize(
    ("book", "pages"), [("economics", 182), ("rust-book", 120), ("squad2", 646)]
)
def test_the_measured_books_are_read_whole(book: str, pages: int) -> None:
    folder = SHARED / "corpora" / book / "book"
    if not folder.exists():
        pytest.skip(f"{book} is not next to the project")
    site = detect_site(folder)
    assert len(site.pages) == pages
    named = [*(page.path for page in site.pages), *(left.path for left in site.left_out)]
    assert Counter(named) == Counter(on_disk(folder))
    assert not any(left.is_missed for left in site.left_out)
