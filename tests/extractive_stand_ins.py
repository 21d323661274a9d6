"""Stands in for the models: the product's own extractive writer, over the hashing embedder."""

from core.generation.extractive import ExtractiveGenerator
from core.grounding.planted import PlantedTextFinder
from tests.stand_ins import Embedder, open_embedder

__all__ = ["Embedder", "open_embedder", "open_generator"]


def open_generator() -> ExtractiveGenerator:
    """Return the writer as the product has it: what seems planted is left out of a passage."""
    embedder = open_embedder()
    finder = PlantedTextFinder(embedder)
    return ExtractiveGenerator(embedder=embedder, find_planted=finder.spoken_in)
