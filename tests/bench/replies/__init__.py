"""Replies of a strong model's hand, frozen, and what becomes of them on their way to a student."""
