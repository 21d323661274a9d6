"""The playground: the real bot on the local Discord and Slack, with a page to talk to it.

`python -m tests.wire.playground` prints the page's address; docs/playground.md tells the rest.
"""
