"""Discord's side of the playground."""
