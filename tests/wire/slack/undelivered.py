"""Why something did not reach an app."""


class Undelivered(Exception):
    """One attempt failed; `final`: the app asked for no more."""

    def __init__(self, reason: str, *, final: bool = False) -> None:
        super().__init__(reason)
        self.reason = reason
        self.final = final
