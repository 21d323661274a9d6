"""An e-book: a spine against the order of its files, a page without a heading, two renditions."""

import zipfile
from collections.abc import Mapping, Sequence
from io import BytesIO

_CONTAINER = """<?xml version="1.0"?>
<container version="1.0" xmlns="urn:oasis:names:tc:opendocument:xmlns:container"><rootfiles>
{}</rootfiles></container>"""
_ROOT = '<rootfile full-path="{}" media-type="application/oebps-package+xml"/>'
_PACKAGE = """<?xml version="1.0" encoding="utf-8"?>
<package xmlns="http://www.idpf.org/2007/opf" version="3.0">
<metadata xmlns:dc="http://purl.org/dc/elements/1.1/"><dc:title>On the  sea</dc:title>
<dc:creator>Ada Reed</dc:creator><dc:language>en</dc:language></metadata>
<manifest>{items}
<item id="nav" href="nav.xhtml" media-type="application/xhtml+xml" properties="nav"/></manifest>
<spine><itemref idref="nav"/>{spine}</spine></package>"""
_PAGE = """<?xml version="1.0" encoding="utf-8"?>
<!DOCTYPE html [<!ENTITY a "b">]>
<html xmlns="http://www.w3.org/1999/xhtml"><head><title/><script src="x.js"/></head>
<body><a id="top"/>{}</body></html>"""


def zipped(files: Mapping[str, str | bytes]) -> bytes:
    """Return an archive of files."""
    target = BytesIO()
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return target.getvalue()


def epub(
    pages: Mapping[str, str],
    spine: Sequence[str] | None = None,
    titles: Mapping[str, str] | None = None,
    others: Mapping[str, str] | None = None,
) -> bytes:
    """Return an e-book.

    Args:
        pages: what stands in the body of each page, by its file name.
        spine: their order; that of `pages` where it is not given.
        titles: what the table of contents calls them.
        others: further files, in place of those that are made here.
    """
    items = "".join(
        f'<item id="{name}" href="text/{name}" media-type="application/xhtml+xml"/>'
        for name in pages
    )
    order = "".join(f'<itemref idref="{name}"/>' for name in spine or pages)
    links = "".join(f'<a href="text/{one}#x">{title}</a>' for one, title in (titles or {}).items())
    files: dict[str, str | bytes] = {
        "mimetype": "application/epub+zip",
        "META-INF/container.xml": _CONTAINER.format(_ROOT.format("OEBPS/book.opf")),
        "OEBPS/book.opf": _PACKAGE.format(items=items, spine=order),
        "OEBPS/nav.xhtml": _PAGE.format(f"<nav>{links}</nav>"),
    }
    files |= {f"OEBPS/text/{name}": _PAGE.format(body) for name, body in pages.items()}
    return zipped(files | dict(others or {}))


COURSE = {
    "sea.epub": epub(
        {
            "1-waves.xhtml": "<h1 id='a'>Waves</h1><p>Waves run.</p><h2 id='a'>Foam</h2>"
            "<ul><li>Foam is <b>air</b>.<br/>And water.</li></ul>",
            "2-tides.xhtml": "<h1 id='a'>Tides</h1><p>The tide rises.</p><hr/>"
            "<table><tr><th>harbour</th><th>height</th></tr><tr><td>Arden</td><td>4 m</td></tr>"
            "</table><pre><code class='language-python'>x = 1</code></pre>"
            "<figure><img alt='A gauge'/><figcaption>In its pipe.</figcaption></figure>",
            "3 plain.xhtml": "<p>A page without a heading.</p>",
        },
        ["2-tides.xhtml", "1-waves.xhtml", "2-tides.xhtml", "3 plain.xhtml", "gone.xhtml"],
        {"2-tides.xhtml": "On tides", "3 plain.xhtml": "Afterword"},
        {
            "META-INF/container.xml": _CONTAINER.format(
                _ROOT.format("OEBPS/book.opf") + _ROOT.format("old/book.opf")
            )
        },
    )
}
