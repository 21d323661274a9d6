"""The same page says the same in every format that it is written in."""

from collections.abc import Sequence

import pytest

from core.ingestion.document import Block
from core.ingestion.formats.markdown import parse_markdown
from core.ingestion.formats.registry import parse
from tests.bench.format_writers import WRITERS

PAGE = """\
# The tide: 5 % of `x_1` & more

The tide rises *twice* a day — that is $h_1 = a \\cos t$ — and costs #5 in C_major {sic} ~ or \\\\.
An `a b` and a `{x}`, 3 < 4 > 2; “quoted” and 'so', a\\*b|c_ and [brackets]; it's -- not.

## Steps

1. Wait for the `moon`.

   Then look again.

2. Measure:

   - the height
   - the hour | day

- a point
- another

| harbour | height \\| m |
|---------|------------|
| Arden   | $h$ is 4   |
| `Bay`   | 5 % & 6    |

```python
def rise():  # { % \\begin{x}

    return "a_b"
```

$$
E = mc^2
$$

## Steps

- last
"""


def said(blocks: Sequence[Block]) -> list[tuple[str, str, int]]:
    return [(block.kind.value, block.text, block.level) for block in blocks]


@pytest.mark.parametrize("suffix", [".qmd", *WRITERS])
def test_a_page_says_the_same_in_every_format(suffix: str) -> None:
    page = parse_markdown(PAGE, dialect="markdown", read_include=lambda _: None)
    written = PAGE.encode() if suffix == ".qmd" else WRITERS[suffix](page.blocks)
    data = written.encode() if isinstance(written, str) else written
    dialect = "quarto" if suffix == ".qmd" else "markdown"
    read = parse(data, f"page{suffix}", None, dialect=dialect, read_include=lambda _: None)
    assert said(read.blocks) == said(page.blocks)
    assert read.warnings == ()
