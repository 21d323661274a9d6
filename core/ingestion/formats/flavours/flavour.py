"""Names the ways of writing Markdown that publish it differently."""

from enum import StrEnum


class MarkdownFlavour(StrEnum):
    """Which generator publishes the page: it decides includes, containers and anchors."""

    MDBOOK = "mdbook"
    MKDOCS = "mkdocs"
    DOCUSAURUS = "docusaurus"
    """MDX: Markdown with imports, components and expressions."""
    QUARTO = "quarto"
    """Markdown of Pandoc with code cells; R Markdown too."""
    MYST = "myst"
    """Markdown of Jupyter Book and Sphinx, with directives and roles."""
    HUGO = "hugo"
    """GitHub's, with shortcodes."""
    JEKYLL = "jekyll"
    """GitHub's, with the tags of Liquid and the attributes of kramdown."""
    MARKDOWN = "markdown"
    """GitHub's own, for everything else."""
