"""Which files of the product a question touches on its way."""
