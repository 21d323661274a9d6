"""Slack's side of the playground."""
