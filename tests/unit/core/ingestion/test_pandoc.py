"""ODT, RTF, Org, AsciiDoc and the like are read through pandoc's tree, and nothing is falsified."""

import asyncio
import sys
import zipfile
from collections.abc import Sequence
from io import BytesIO
from pathlib import Path

import psutil
import pytest

from core.domain.errors import ProgramMissing, UnsupportedDocument
from core.ingestion.document import BlockKind, BlockRole, ParsedDocument
from core.ingestion.formats.pandoc_program import Pandoc
from core.ingestion.formats.registry import FORMATS
from core.ingestion.sandbox.messages import ParseJob
from core.ingestion.sandbox.sandbox import Sandbox
from core.ingestion.sites.site import include_reader
from core.ingestion.system_packages import how_to_install_pandoc, manager_of
from tests.pandoc import needs_pandoc, no_pandoc, program

pytestmark = pytest.mark.costly

ORG = """\
#+TITLE: Tides
* Heights :tag:
At most 10^6 litres of H_{2}O flow; the fee is +50+ 60 crowns [fn:1]. See =code= and $x^2$.
# a comment
** COMMENT Answers
The answer is seven.
** Steps
3. [@3] first
4. second
   - inner
| place | height |
|-------+--------|
| Arden | 5      |
#+begin_src python
def f():
    return 1
#+end_src
- spring tide :: the highest one
#+begin_export html
<b>raw words</b>
#+end_export
[fn:1] Paid at the gate.
"""
ASCIIDOC = """\
---
title: front matter
---
= Locks
:fee: 60
:draft:
:!solutions:

== Rules
The fee is [.line-through]#50# {fee} crowns for 10^6^ litres of H~2~O, {unknown} too.

// a comment
////
hidden words
////
ifdef::solutions[]
The answer is seven.
endif::[]
ifndef::solutions[]
Solve it yourself.
endif::[]
ifeval::["{fee}" == "60"]
The fee is sixty.
endif::[]
ifdef::draft[This is a draft.]

----
// kept
----
include::other.adoc[]

[%collapsible]
.Unfold me
====
Words in a panel.
====
"""
MEDIAWIKI = """\
== Fees ==
10<sup>6</sup> litres of H<sub>2</sub>O cost <s>50</s> <del>55</del> 60<ref>Paid at the gate.</ref>
{{stub|x}} <!-- hidden -->
# one
## inner
{| class="wikitable"
! place !! height
|-
| rowspan="2" | Arden || 5
|-
| 6
|}
[[Category:Locks]]
"""
TYPST = """\
#let fee = 60
= Fees
10#super[6] litres of H#sub[2]O cost #strike[50] #fee. // comment
#if fee == 50 [switched off] else [switched on]
+ one
+ two
#table(columns: 2, [place], [height], [Arden], [5])
"""
DOCBOOK = """\
<book xmlns="http://docbook.org/ns/docbook"><title>Locks</title><chapter xml:id="fees">
<title>Fees</title><para>10<superscript>6</superscript> litres cost
<emphasis role="strikethrough">50</emphasis> 60<footnote><para>Paid at the gate.</para></footnote>
<remark>ask Ann</remark></para><para revisionflag="deleted">Old words.</para>
<orderedlist numeration="loweralpha"><listitem><para>one</para></listitem></orderedlist>
</chapter></book>
"""
JATS = """\
<article dtd-version="1.2"><front><article-meta><title-group><article-title>Tides</article-title>
</title-group></article-meta></front><body><sec id="s"><title>Fees</title>
<p>10<sup>6</sup> litres cost <strike>50</strike> 60.</p></sec></body></article>
"""
FB2 = """\
<FictionBook xmlns="http://www.gribuser.ru/xml/fictionbook/2.0"><description><title-info>
<book-title>Tides</book-title></title-info></description><body><section><title><p>Fees</p></title>
<p>10<sup>6</sup> litres cost <strikethrough>50</strikethrough> 60.</p></section></body>
</FictionBook>
"""
TEXTILE = "h2. Fees\n\n10[^6^] litres cost -50- 60.\n"
RTF = r"""{\rtf1\ansi\ansicpg1252{\stylesheet{\s1 heading 1;}}
\pard\s1\outlinelevel0 Fees in the caf\'e9\par
\pard 10{\super 6} litres cost {\strike 50} 60, {\v hidden }\u945?x\u8364?, {\deleted gone }now.\par
\trowd\cellx1\cellx2\pard\intbl place\cell height\cell\row
\trowd\cellx1\cellx2\pard\intbl Arden\cell 5\cell\row\pard
{\pict\pngblip PIXELS}\par}
"""
_NAMES = {
    "office": "office",
    "text": "text",
    "style": "style",
    "table": "table",
    "draw": "drawing",
    "fo": "xsl-fo-compatible",
}
_SPACES = " ".join(
    f'xmlns:{short}="urn:oasis:names:tc:opendocument:xmlns:{name}:1.0"'
    for short, name in _NAMES.items()
)
ODT = f"""\
<office:document-content {_SPACES} office:version="1.2"><office:automatic-styles>
<style:style style:name="up" style:family="text">
<style:text-properties style:text-position="super 58%"/></style:style>
<style:style style:name="out" style:family="text">
<style:text-properties style:text-line-through-style="solid"/></style:style>
<style:style style:name="off" style:family="text">
<style:text-properties text:display="none"/></style:style>
<text:list-style style:name="L"><text:list-level-style-number text:level="1" style:num-format="a"
style:num-suffix=")" text:start-value="3"/></text:list-style></office:automatic-styles>
<office:body><office:text><text:tracked-changes><text:changed-region text:id="c"><text:deletion>
<text:p>deleted words</text:p></text:deletion></text:changed-region></text:tracked-changes>
<text:h text:outline-level="1">Fees</text:h>
<text:p>10<text:span text:style-name="up">6</text:span> litres cost
<text:span text:style-name="out">50</text:span> 60 <text:span text:style-name="off">hidden
words</text:span>crowns.<text:note text:note-class="footnote"><text:note-citation>1
</text:note-citation><text:note-body><text:p>Paid at the gate.</text:p></text:note-body></text:note>
<office:annotation><text:p>ask Ann</text:p></office:annotation></text:p>
<text:p><draw:frame><draw:text-box><text:p>Words in a box.</text:p></draw:text-box></draw:frame>
After it.</text:p>
<text:section text:display="none" text:name="s"><text:p>Answers</text:p></text:section>
<text:list text:style-name="L"><text:list-item><text:p>one</text:p></text:list-item></text:list>
</office:text></office:body></office:document-content>
"""


def opendocument(content: str | bytes) -> bytes:
    """Return an OpenDocument text with a content."""
    target = BytesIO()
    with zipfile.ZipFile(target, "w") as archive:
        archive.writestr("mimetype", "application/vnd.oasis.opendocument.text")
        archive.writestr("content.xml", content, zipfile.ZIP_DEFLATED)
        archive.writestr("META-INF/manifest.xml", "<manifest/>")
        archive.writestr("styles.xml", f"<office:document-styles {_SPACES}/>")
    return target.getvalue()


async def read(data: str | bytes, name: str, seconds: float = 20) -> ParsedDocument:
    data = data.encode() if isinstance(data, str) else data
    async with Sandbox(seconds=seconds) as sandbox:
        return await sandbox.parse(ParseJob(data, name))


def texts(document: ParsedDocument) -> list[str]:
    return [block.text for block in document.blocks]


def kinds(document: ParsedDocument) -> dict[str, int]:
    """Return the words left out by kind."""
    found: dict[str, int] = {}
    for one in document.left_out:
        found[one.kind] = found.get(one.kind, 0) + one.words
    return found


@needs_pandoc
async def test_an_org_file_is_read_as_org_exports_it() -> None:
    document = await read(ORG, "tides.org")
    assert document.title == "Tides"
    assert [(b.text, b.level) for b in document.blocks if b.kind is BlockKind.HEADING] == [
        ("Heights", 1),
        ("Steps", 2),
    ]
    assert "At most 10⁶ litres of H₂O flow; the fee is 60 crowns." in texts(document)[1]
    assert texts(document)[2] == "Paid at the gate."
    assert [b.text for b in document.blocks if b.kind is BlockKind.LIST_ITEM] == [
        "3. first",
        "4. second",
        "- inner",
    ]
    assert "| place | height |\n| --- | --- |\n| Arden | 5 |" in texts(document)
    assert "```python\ndef f():\n    return 1\n```" in texts(document)
    assert "spring tide: the highest one" in texts(document)
    assert "seven" not in " ".join(texts(document))
    assert kinds(document) == {
        "comment": 2,
        "switched-off passage": 6,
        "tag": 1,
        "struck text": 1,
        "passage in html": 4,
    }


@needs_pandoc
async def test_what_pandoc_passes_over_in_xml_is_counted_by_its_words() -> None:
    table = "<section><p>Ponds</p><table><tr><td>Arden pond</td></tr></table></section></body>"
    document = await read(FB2.replace("</body>", table, 1), "a.fb2")
    passed_over = [one for one in document.left_out if one.kind == "passage that pandoc skips"]
    assert [(one.where, one.words) for one in passed_over] == [("in <td>", 2)]


@needs_pandoc
async def test_the_abstract_of_an_article_is_read() -> None:
    about = (
        "<front><article-meta><abstract><p>In short.</p></abstract></article-meta></front><body>"
    )
    article = f"<article dtd-version='1.3'>{about}<p>At length.</p></body></article>"
    assert texts(await read(article, "a.xml")) == ["In short.", "At length."]


@needs_pandoc
async def test_a_wiki_page_is_read_as_it_is_shown_itself() -> None:
    page = "<noinclude>Shown.</noinclude> Both.<includeonly>For other pages.</includeonly>"
    document = await read(page, "a.wiki")
    assert texts(document) == ["Shown. Both."]
    assert kinds(document) == {"passage for other pages": 3}


@needs_pandoc
async def test_asciidoc_is_read_without_comments_and_switched_off_branches() -> None:
    document = await read(ASCIIDOC, "locks.adoc")
    said = " ".join(texts(document))
    assert document.title == "Locks"
    assert "The fee is 60 crowns for 10⁶ litres of H₂O, {unknown} too." in said
    for shown in ("Solve it yourself.", "The fee is sixty.", "a draft.", "Words in a panel."):
        assert shown in said
    assert "```\n// kept\n```" in texts(document)
    for unseen in ("hidden words", "seven", "front matter", "endif", "a comment"):
        assert unseen not in said
    assert kinds(document) == {
        "comment": 4,
        "switched-off passage": 4,
        "included file": 0,
        "struck text": 1,
        "placeholder without a value": 1,
    }
    assert ("included file", "line 30") in [(one.kind, one.where) for one in document.left_out]


@needs_pandoc
async def test_an_opendocument_text_is_read_without_what_is_hidden_and_with_its_boxes() -> None:
    document = await read(opendocument(ODT), "fees.odt")
    assert texts(document) == [
        "Fees",
        "10⁶ litres cost 60 crowns.",
        "Paid at the gate.",
        "After it.",
        "Words in a box.",
        "c) one",
    ]
    assert kinds(document) == {
        "deleted text": 2,
        "hidden text": 3,
        "comment": 2,
        "struck text": 1,
    }


@needs_pandoc
async def test_what_a_style_of_opendocument_or_one_above_it_strikes_is_left_out() -> None:
    styles = (
        '<style:style style:name="A" style:family="text"><style:text-properties '
        'style:text-line-through-style="solid"/></style:style><style:style style:name="B" '
        'style:family="text" style:parent-style-name="A"/><style:style style:name="C" '
        'style:family="paragraph"><style:text-properties style:text-line-through-type="double"/>'
        "</style:style>"
    )
    content = (
        f"<office:document-content {_SPACES}><office:automatic-styles>{styles}"
        "</office:automatic-styles><office:body><office:text>"
        '<text:p><text:span text:style-name="B">50</text:span>60 crowns.</text:p>'
        '<text:p text:style-name="C">It is free.</text:p></office:text></office:body>'
        "</office:document-content>"
    )
    document = await read(opendocument(content), "fees.odt")
    assert texts(document) == ["60 crowns."]
    assert kinds(document) == {"struck text": 4}


@needs_pandoc
async def test_rtf_is_read_with_every_character_and_without_its_pictures() -> None:
    data = RTF.replace("PIXELS", "89504e47" * 500_000)
    document = await read(data, "fees.rtf")
    assert texts(document) == [
        "Fees in the café",
        "10⁶ litres cost 60, αx€, now.",
        "| place | height |\n| --- | --- |\n| Arden | 5 |",
    ]
    assert kinds(document) == {"struck text": 2, "picture without words": 0}


@needs_pandoc
@pytest.mark.parametrize(
    ("data", "name", "expected", "struck"),
    [
        (
            MEDIAWIKI,
            "a.wiki",
            [
                "Fees",
                "10⁶ litres of H₂O cost 60",
                "Paid at the gate.",
                "1. one",
                "1. inner",
                "| place | height |\n| --- | --- |\n| Arden | 5 |\n| Arden | 6 |",
            ],
            2,
        ),
        (
            TYPST,
            "a.typ",
            [
                "Fees",
                "10⁶ litres of H₂O cost 60. switched on",
                "1. one",
                "2. two",
                "| place | height |\n| --- | --- |\n| Arden | 5 |",
            ],
            1,
        ),
        (DOCBOOK, "a.xml", ["Fees", "10⁶ litres cost 60", "Paid at the gate.", "a. one"], 1),
        (JATS, "a.xml", ["Fees", "10⁶ litres cost 60."], 1),
        (FB2, "a.fb2", ["Fees", "10⁶ litres cost 60."], 1),
        (TEXTILE, "a.textile", ["Fees", "10⁶ litres cost 60."], 1),
        ("10^6 \N{POUND SIGN}".encode("utf-16"), "a.org", ["10⁶ £"], 0),
    ],
)
async def test_no_number_is_falsified_in_any_format(
    data: str | bytes, name: str, expected: Sequence[str], struck: int
) -> None:
    document = await read(data, name)
    assert texts(document) == expected
    assert sum(one.kind == "struck text" for one in document.left_out) == struck


@needs_pandoc
async def test_captions_formulas_and_quotes_keep_what_they_are() -> None:
    document = await read('#+CAPTION: A lock\n[[./lock.png]]\n\n\\[x^2\\]\n\n"quoted"', "a.org")
    caption, formula, quote = document.blocks
    assert (caption.text, caption.role) == ("A lock", BlockRole.CAPTION)
    assert (formula.text, formula.kind) == ("$$\nx^2\n$$", BlockKind.FORMULA)
    assert quote.text == '"quoted"'


@needs_pandoc
@pytest.mark.parametrize(
    ("data", "name", "reason"),
    [
        ("#unknown[x]", "a.typ", "cannot be read by pandoc: .*unknown.* not found"),
        (
            '<!DOCTYPE book [<!ENTITY f SYSTEM "file:///etc/passwd">]>'
            '<book xmlns="http://docbook.org/ns/docbook"><para>&f;</para></book>',
            "a.xml",
            "cannot be read by pandoc: Invalid XML",
        ),
        ('#read("/etc/passwd")', "a.typ", "cannot be read by pandoc|has no text"),
        ("{\\rtf1 " + "{" * 2_000_000 + "x", "a.rtf", "needs more than 512 MiB|longer than 20 s"),
        (b"{\\rtf1 words", "a.rtf", "cannot be read by pandoc: Error at"),
        (opendocument("<a>" * 5000), "a.odt", "is a damaged OpenDocument file"),
        (opendocument(b"\0" * 100), "a.odt", "has a part that is not well-formed XML"),
        (opendocument('<!DOCTYPE a [<!ENTITY b "c">]><a/>'), "a.odt", "declares XML entities"),
        (opendocument("x" * 30_000_000), "a.odt", "zip bomb"),
        (opendocument(ODT)[:700], "a.odt", "is a damaged Office file or archive"),
    ],
)
async def test_what_is_hostile_or_damaged_ends_in_one_sentence(
    data: str | bytes, name: str, reason: str
) -> None:
    with pytest.raises(UnsupportedDocument, match=reason) as told:
        await read(data, name)
    assert "\n" not in str(told.value)


@needs_pandoc
@pytest.mark.slow
async def test_an_rtf_of_50_megabytes_ends_within_its_memory() -> None:
    data = b"{\\rtf1 " + b"words of a text \\par " * 2_500_000 + b"}"
    with pytest.raises(UnsupportedDocument, match=r"512 MiB|longer than 20 s|larger than"):
        await read(data, "a.rtf")


@needs_pandoc
async def test_lists_without_end_end_in_time() -> None:
    deep = "".join(f"{'  ' * n}- x\n" for n in range(1500))
    with pytest.raises(UnsupportedDocument, match="takes pandoc longer than 1 s to read"):
        await read(deep, "a.org", seconds=1)


@needs_pandoc
@pytest.mark.parametrize("name", ["a.org", "a.adoc"])
async def test_no_file_beside_the_text_is_opened(tmp_path: Path, name: str) -> None:
    (tmp_path / "secret.txt").write_text("the secret")
    line = f"#+INCLUDE: {tmp_path}/secret.txt\n\ninclude::{tmp_path}/secret.txt[]\n\nWords."
    reads = include_reader(tmp_path, name, (), "markdown")
    async with Sandbox() as sandbox:
        document = await sandbox.parse(ParseJob(line.encode(), name, read_include=reads))
    assert "the secret" not in " ".join(texts(document))
    assert document.left_out


async def test_without_pandoc_the_command_that_installs_it_is_named() -> None:
    async with Sandbox(finding=no_pandoc) as sandbox:
        for name, since in (("a.org", "2.15"), ("a.adoc", "3.8.3"), ("a.typ", "3.1.3")):
            with pytest.raises(ProgramMissing) as told:
                await sandbox.parse(ParseJob(b"words", name))
            how = how_to_install_pandoc(newest=since != "2.15")
            assert str(told.value) == f"needs pandoc {since} or newer: {how}"


async def test_of_an_old_pandoc_the_version_that_is_needed_is_named(tmp_path: Path) -> None:
    async def old() -> Pandoc:
        return program(tmp_path, "exit 0")

    async with Sandbox(finding=old) as sandbox:
        with pytest.raises(ProgramMissing, match=r"needs pandoc 3\.8\.3 .*, and this one is 3\.9:"):
            await sandbox.parse(ParseJob(b"words", "a.adoc"))


@pytest.mark.parametrize(
    ("system", "release", "newest", "command"),
    [
        ("Linux", {"ID": "ubuntu"}, False, "apt-get install pandoc"),
        ("Linux", {"ID": "ubuntu"}, True, "pip install pypandoc_binary"),
        ("Linux", {"ID": "fedora"}, False, "dnf install pandoc"),
        ("Linux", {"ID": "arch"}, True, "pacman -S pandoc-cli"),
        ("Darwin", {}, True, "brew install pandoc"),
        ("Windows", {}, True, "winget install --interactive JohnMacFarlane.Pandoc"),
    ],
)
def test_the_command_is_one_of_the_system(
    monkeypatch: pytest.MonkeyPatch,
    system: str,
    release: dict[str, str],
    newest: bool,
    command: str,
) -> None:
    manager = manager_of(system, release)
    assert how_to_install_pandoc(newest=newest, manager=manager).removeprefix("sudo ") == command
    monkeypatch.setattr(sys, "prefix", "/home/ann/.local/share/pipx/venvs/glossator")
    if command.startswith("pip "):
        told = how_to_install_pandoc(newest=newest, manager=manager)
        assert told == "pipx inject glossator pypandoc_binary"


@pytest.mark.skipif(sys.platform == "win32", reason="the stand-in is a shell script")
@pytest.mark.parametrize(
    ("does", "reason"),
    [
        ("exit 3", "cannot be read by pandoc: it says nothing"),
        ("echo no such thing >&2; exit 64", "cannot be read by pandoc: no such thing"),
        ("exit 251", "needs more than 512 MiB of memory when pandoc reads it"),
        ("echo '{'", "becomes a tree of pandoc's that is not known"),
        ('echo \'{"blocks": [{"t": "Para", "c": 7}], "meta": {}}\'', "that is not known"),
        ("kill -KILL $$", "takes pandoc longer than 20 s to read"),
        ("yes", "becomes more than 64 MB when pandoc reads it"),
    ],
)
async def test_a_pandoc_that_fails_costs_its_document_alone(
    tmp_path: Path, does: str, reason: str
) -> None:
    async def found() -> Pandoc:
        return program(tmp_path, does)

    async with Sandbox(finding=found) as sandbox:
        with pytest.raises(UnsupportedDocument, match=reason):
            await sandbox.parse(ParseJob(b"words", "a.org"))
        assert (await sandbox.parse(ParseJob(b"Words.", "a.md"))).blocks


async def test_a_cancelled_document_leaves_no_program_running(tmp_path: Path) -> None:
    async def found() -> Pandoc:
        return program(tmp_path, "while :; do sleep 0.1; done")

    async with Sandbox(finding=found) as sandbox:
        parsing = asyncio.create_task(sandbox.parse(ParseJob(b"words", "a.org")))
        async with asyncio.timeout(60):
            while not running(tmp_path):  # noqa: ASYNC110
                await asyncio.sleep(0.05)
        parsing.cancel()
        await asyncio.gather(parsing, return_exceptions=True)
    assert not running(tmp_path)


def running(folder: Path) -> list[int]:
    """Return the processes that run a program of a folder."""
    program_of = (
        (process.pid, " ".join(process.info["cmdline"] or ()))
        for process in psutil.process_iter(["cmdline"])
    )
    return [pid for pid, command in program_of if str(folder) in command]


def test_every_format_that_pandoc_reads_says_since_which_version() -> None:
    wanted = [each for each in FORMATS if each.pandoc]
    assert {each.name for each in wanted} == {
        *("odt", "rtf", "org", "asciidoc", "typst"),
        *("docbook", "jats", "fb2", "mediawiki", "textile"),
    }
    assert all(each.pandoc_since.replace(".", "").isdigit() for each in wanted)
