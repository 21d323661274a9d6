"""Every file finds its parser by its content and its name; text is decoded and cleaned."""

import codecs
import zipfile
from io import BytesIO

import pytest

from core.domain.errors import UnsupportedDocument
from core.ingestion.document import BlockKind, ParsedDocument
from core.ingestion.formats.decoding import decode_text, visible
from core.ingestion.formats.registry import detect_format, parse
from tests.unit.core.ingestion.pdfs import lines, pdf


def parsed(data: bytes, name: str, media_type: str | None = None) -> ParsedDocument:
    return parse(data, name, media_type, dialect="markdown", read_include=lambda _: None)


def archive(*names: str) -> bytes:
    target = BytesIO()
    with zipfile.ZipFile(target, "w") as written:
        for name in names:
            written.writestr(name, "<a/>")
    return target.getvalue()


@pytest.mark.parametrize(
    ("data", "name", "media_type", "kind"),
    [
        (b"# x", "a.md", None, "markdown"),
        (b"# x", "A.MDX", "text/plain", "markdown"),
        (b"<p>x", "a.htm", None, "html"),
        (b"<p>x", "page", "text/html; charset=utf-8", "html"),
        (b"\n<!-- c --><!DOCTYPE html><p>x", "page", None, "html"),
        (b"<html><p>missing", "chapter.md", None, "html"),
        (b"<html><p>log in", "chapter.pdf", None, "html"),
        (pdf(lines("x")), "a.md", "text/markdown", "pdf"),
        (b'{"nbformat": 4, "cells": []}', "a", "application/json", "notebook"),
        (archive("word/document.xml"), "a.txt", None, "docx"),
        (archive("ppt/presentation.xml"), "a.docx", None, "pptx"),
        (archive("META-INF/container.xml"), "a.zip", None, "epub"),
        (b"x", "a.vtt", None, "subtitles"),
        (b"WEBVTT\n", "a", None, "subtitles"),
        (b"x", "a.RST", None, "rst"),
        (b"x", "a.tex", "text/plain", "latex"),
        (b"just words", "README", None, "plain"),
        (b"just words", "a.org", None, "org"),
        (b"just words", "a.ADOC", None, "asciidoc"),
        (b"{\\rtf1 x}", "a.doc", None, "rtf"),
        (b"\n" * 5000 + b"words", "a", None, "plain"),
        (b'<?xml version="1.0"?><FictionBook>', "a.xml", None, "fb2"),
        (
            b'<!DOCTYPE book [<!ENTITY a "b">]><book xmlns="http://docbook.org/ns/docbook">',
            "a.xml",
            None,
            "docbook",
        ),
        (
            b'<!DOCTYPE article PUBLIC "-//OASIS//DTD DocBook XML V4.5//EN" "x.dtd"><article>',
            "a.xml",
            None,
            "docbook",
        ),
        (b'<!-- c --><article dtd-version="1.2" article-type="x">', "a.xml", None, "jats"),
        ("schön".encode("utf-16-le"), "a", None, "plain"),
    ],
)
def test_content_counts_more_than_the_name(
    data: bytes, name: str, media_type: str | None, kind: str
) -> None:
    assert detect_format(data, name, media_type).name == kind


@pytest.mark.parametrize(
    ("data", "name", "reason"),
    [
        (b"", "a.md", "is empty"),
        (b" \n", "a.pdf", "is empty"),
        (b"<html><body></body></html>", "a.html", "has no text"),
        (bytes(range(256)) * 4, "a.md", "is no text, though its name says Markdown"),
        (bytes(range(256)) * 4, "a", "is no format that can be read; those are Markdown"),
        (b"\x89PNG\r\n\x1a\n" + bytes(100), "a.png", "is a picture, a sound or an archive"),
        (archive("a.txt"), "a.zip", "is an archive"),
        (b"PK\x03\x04" + bytes(50), "a.docx", "is a damaged Office file"),
        (b"PK\n", "10.docx", "is a damaged Word file"),
        (b"just words", "a.PPTX", "is a damaged PowerPoint file"),
        (b"just words", "a.pdf", "is a damaged PDF"),
        (bytes(range(256)) * 4, "a.pdf", "is a damaged PDF"),
        (b'{"cells": [', "a.ipynb", "is not a valid notebook"),
        (b"PK\n", "a.epub", "is a damaged e-book"),
        (archive("META-INF/container.xml"), "a.epub", "is an e-book that names no content"),
        (b"PK\n", "a.mobi", "is a Kindle book, which is not read; what can be read is Markdown"),
        (b"-----BEGIN PGP SIGNATURE-----\n\niQ", "a.asc", "is a key or signature, not a text"),
        (b"just words", "a.png", "is a picture, a sound or an archive, which is not read"),
        (b"{\\rtf1 words}", "a.rtf", "needs the program pandoc"),
        (b"just words", "a.rtf", "is a damaged RTF file"),
        (b"just words", "a.odt", "is a damaged OpenDocument file"),
        (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(600), "a.doc", "is an old Office file"),
        (
            b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + "EncryptedPackage".encode("utf-16-le"),
            "a.docx",
            "is encrypted",
        ),
    ],
)
def test_what_cannot_be_read_is_refused_with_a_reason(data: bytes, name: str, reason: str) -> None:
    with pytest.raises(UnsupportedDocument, match=reason):
        parsed(data, name)


def test_elements_nested_without_end_are_refused() -> None:
    with pytest.raises(UnsupportedDocument, match="is nested too deeply"):
        parsed(b"<main>" + b"<div>" * 3000 + b"x", "a.html")


@pytest.mark.parametrize(
    "data",
    [
        "Größe".encode(),
        codecs.BOM_UTF8 + "Größe".encode(),
        "Größe".encode("utf-16"),
        "Größe".encode("utf-16-be"),
        codecs.BOM_UTF32_BE + "Größe".encode("utf-32-be"),
    ],
)
def test_text_is_decoded_whatever_its_encoding(data: bytes) -> None:
    assert decode_text(data).text == "Größe"
    assert decode_text(data).warnings == ()


def test_a_declared_encoding_is_used_when_the_bytes_are_not_utf8() -> None:
    assert decode_text("10 €".encode("cp1252"), declared="windows-1252").text == "10 €"


@pytest.mark.parametrize(
    ("sentence", "encoding"),
    [
        ("Die Größe der Märkte hängt von der Höhe der Löhne und Zölle ab. ", "cp1252"),
        ("L’offre et la demande déterminent le prix ; les élèves ont déjà étudié. ", "cp1252"),
        ("Спрос и предложение определяют цену товара. ", "cp1251"),
        ("需要と供給が価格を決める。", "shift_jis"),
    ],
)
def test_an_undeclared_encoding_is_guessed(sentence: str, encoding: str) -> None:
    assert decode_text((sentence * 20).encode(encoding)).text == sentence * 20


@pytest.mark.parametrize("declared", ["hex", "no-such-codec", "undefined", "idna", "\0"])
def test_a_senseless_declaration_is_ignored(declared: str) -> None:
    assert "caf" in decode_text(b"caf\xe9 au lait", declared=declared).text


def test_lost_characters_are_told() -> None:
    decoded = decode_text(codecs.BOM_UTF8 + b"caf\xe9")
    assert decoded.text == "caf\N{REPLACEMENT CHARACTER}"
    assert decoded.warnings == ("1 character could not be decoded: line 1",)


@pytest.mark.parametrize("stray", [b"\xe9", b"\xff", b"\x93quoted\x94", b"\xc3", b"\xe2\x82"])
def test_stray_bytes_leave_the_rest_of_a_utf8_text_as_it_is(stray: bytes) -> None:
    good = "Größe, née Müller — 5 €.\n".encode()
    decoded = decode_text(good * 2 + b"Bad caf" + stray + b" line.\n" + good, declared="latin-1")
    assert decoded.text.count("Größe, née Müller — 5 €.\n") == 3
    assert "Bad caf\N{REPLACEMENT CHARACTER}" in decoded.text
    assert decoded.warnings[0].endswith("could not be decoded: line 3")


@pytest.mark.parametrize("data", [b"ice.\x00\xfe\xfa It flows", b"ice.\x01 It flows"])
def test_control_characters_are_told(data: bytes) -> None:
    assert "\0" not in decode_text(data).text
    *_, warning = decode_text(data).warnings
    assert warning == "has control characters, as damaged or binary files do: look at its text"


@pytest.mark.parametrize("data", [b"a\tb\r\n\fc\vd", b"\x1b[1mbold\x1b[0m", "a\x85b".encode()])
def test_blanks_page_breaks_and_colours_are_text(data: bytes) -> None:
    assert decode_text(data).warnings == ()


def test_nuls_go_and_line_ends_are_unix() -> None:
    assert decode_text(b"a\0b\r\nc\rd").text == "ab\nc\nd"


@pytest.mark.parametrize(
    ("text", "seen"),
    [
        ("ig\u200bnore\u2060 me\ufeff", "ignore me"),
        ("abc\u202edef\u202c", "abcdef"),
        ("a\U000e0041\U000e0042b", "ab"),
        ("a\x00\x1b[31mb", "a[31mb"),
        ("a\ud800b", "ab"),
        ("a\u2028b", "a\nb"),
        ("a\u200db", "ab"),
        ("می\u200cخواهم", "می\u200cخواهم"),
        ("👩\u200d🚀", "👩\u200d🚀"),
    ],
)
def test_characters_that_nobody_sees_are_removed(text: str, seen: str) -> None:
    assert visible(text) == seen


def test_every_parser_hands_on_visible_characters_only() -> None:
    document = parsed("<title>A\u200bB</title><h1 id='x\u202e'>Hi\u200b</h1>".encode(), "a.html")
    assert (document.title, document.blocks[0].text) == ("AB", "Hi")
    assert document.blocks[0].anchor == "x"


def test_plain_text_has_paragraphs_lists_and_sure_headings() -> None:
    text = (
        "DEMAND AND SUPPLY\n\nPrices fall\nwhen demand falls.\n\n2.1 Elasticity\n\n"
        "- first\n  goes on\n- second\n\nChapter 3: Costs\n\nTitle\n=====\nBody.\n\n"
        "IBM\n\n2. A step of a recipe.\n\n    x = 1\n    y = 2\n"
    )
    document = parsed(text.encode(), "a.txt")
    assert [(block.kind, block.text, block.level) for block in document.blocks] == [
        (BlockKind.HEADING, "DEMAND AND SUPPLY", 2),
        (BlockKind.PARAGRAPH, "Prices fall when demand falls.", 0),
        (BlockKind.HEADING, "2.1 Elasticity", 2),
        (BlockKind.LIST_ITEM, "- first goes on", 1),
        (BlockKind.LIST_ITEM, "- second", 1),
        (BlockKind.HEADING, "Chapter 3: Costs", 1),
        (BlockKind.HEADING, "Title", 1),
        (BlockKind.PARAGRAPH, "Body.", 0),
        (BlockKind.PARAGRAPH, "IBM", 0),
        (BlockKind.LIST_ITEM, "2. A step of a recipe.", 1),
        (BlockKind.PARAGRAPH, "    x = 1\n    y = 2", 0),
    ]
    assert document.blocks[1].locator == {"line_start": 3, "line_end": 4}


def test_form_feeds_are_page_breaks() -> None:
    document = parsed(b"One.\n\fTwo.\n\n\fThree.", "a.txt")
    assert [(block.text, block.locator["page"]) for block in document.blocks] == [
        ("One.", 1),
        ("Two.", 2),
        ("Three.", 3),
    ]
