"""Marks that end a sentence without a blank or a capital after them, of scripts but Latin's kin.

From the characters with Unicode's property Sentence_Terminal (UAX #44), those in everyday use.
"""

STOPS = "。｡।॥۔։።။។᠃᠉"
"""Full stops: Chinese and Japanese, Devanagari and its kin, Urdu, Armenian, Ethiopic, Burmese,
Khmer, Mongolian."""
QUESTIONS = "？؟፧"
MARKS = f"{STOPS}！{QUESTIONS}"
"""Every one of them."""
