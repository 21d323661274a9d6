"""Stands in for the models: the product's own extractive writer, over the hashing embedder."""

from core.answering.writers.extractive import ExtractiveGenerator
from tests.stand_ins import Embedder, open_embedder

__all__ = ["Embedder", "open_embedder", "open_generator"]


def open_generator() -> ExtractiveGenerator:
    """Return the writer as the product has it."""
    return ExtractiveGenerator(embedder=open_embedder())
