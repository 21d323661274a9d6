"""One conversation, held on every platform by the real bot, and what its agent was asked.

A platform joins with a driver: a file beside this one that opens a `Driver`, and a line in
`tests/wire/test_one_conversation.py`.
"""
