"""Conversations of three turns about books and small documents, without a model."""
