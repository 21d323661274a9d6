"""A Quarto book and a website: parts, labels, includes, an earlier edition, twice one heading."""

_INTRO = """\
---
title: "The sea"
author: Ada Reed
---

See @sec-tides, @fig-gauge and [@tbl-heights; @sec-elsewhere], and `@fig-code`.
Write to a@fig-x.org.

## Tides of the sea {#sec-tides}

::: {.callout-warning}
## Mind the tide
It comes [twice]{.smallcaps} a day.
:::

![A gauge in its pipe](gauge.png){#fig-gauge width=50%}

| harbour | height |
|---------|--------|
| Arden   | 4 m    |

: Heights of the tide {#tbl-heights}

$$
h = a \\cos t
$$ {#eq-height}

```{python}
#| label: fig-plot
#| fig-cap: "The tide of a day"
print("tide")
```

{{< include _shared/_note.qmd >}}

## Summary

One.

## Summary

Two.
"""
BOOK = {
    "_quarto.yml": """\
project:
  type: book
book:
  title: The sea
  site-url: https://course.example/book/
  chapters:
    - index.qmd
    - part: "First part"
      chapters:
        - text/waves.Rmd
        - file: text/foam.md
          text: On foam
    - part: text/part-two.qmd
      chapters: [text/gone.qmd, ../../secret.qmd]
  appendices:
    - notes.ipynb
""",
    "index.qmd": _INTRO,
    "text/waves.Rmd": "---\ntitle: Waves\n---\n\nA wave breaks in Figure \\@ref(fig:break).\n\n"
    "```{r, echo=FALSE}\nplot(1)\n```\n",
    "text/foam.md": "# Foam\n\nFoam is air.\n",
    "text/part-two.qmd": "# Second part\n\nOf the deep sea.\n",
    "notes.ipynb": '{"nbformat": 4, "nbformat_minor": 5, "metadata": {}, "cells": '
    '[{"cell_type": "markdown", "metadata": {}, "source": ["# Notes\\n\\nA note on salt."]}]}',
    "_shared/_note.qmd": "The note of all pages.\n",
    "draft.qmd": "# Draft\n\nNot yet.\n",
    "_book/index.html": "<html><body><p>Made by Quarto.</p></body></html>",
}
WEBSITE = {
    "_quarto.yml": """\
website:
  navbar:
    left:
      - href: about.qmd
        text: About us
      - https://elsewhere.example
  sidebar:
    - id: one
      contents:
        - section: Weeks
          contents: "weeks/*"
        - text: "---"
""",
    "weeks/1-start.qmd": "# Start\n\nThe first week is on tides.\n",
    "weeks/2-waves/index.qmd": "# Waves\n\nThe second week is on waves.\n",
    "about.qmd": "# About\n\nAda Reed teaches.\n",
    "index.qmd": "# Welcome\n\nA course on the sea.\n",
    "slides/tides.html": "<html><body><main><p>The slides on tides.</p></main></body></html>",
    "_drafts/later.qmd": "# Later\n\nNot yet.\n",
    "edition-2023/_quarto.yml": "website:\n  title: Old\n",
    "edition-2023/index.qmd": "# Old\n\nThe course of 2023.\n",
}
JUPYTER_BOOK = {
    "_toc.yml": """\
format: jb-book
root: intro
parts:
  - caption: Water
    chapters:
      - file: water/tides
        sections:
          - file: water/heights
      - file: water/gone
      - url: https://elsewhere.example
""",
    "_config.yml": "title: Sea\nhtml:\n  baseurl: https://course.example/jb\n",
    "intro.md": "# Sea\n\nOn the sea.\n",
    "water/tides.md": "# Tides\n\nThe tide rises.\n",
    "water/heights.ipynb": BOOK["notes.ipynb"],
    "orphan.md": "# Orphan\n\nIn no contents.\n",
    "_build/html/intro.html": "<html><body><p>Made.</p></body></html>",
}
