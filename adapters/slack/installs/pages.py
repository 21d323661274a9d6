"""The pages that people see who install the app, in the bot's words."""

import html
from collections.abc import Sequence
from http import HTTPStatus

from slack_bolt.oauth.async_callback_options import (
    AsyncCallbackOptions,
    AsyncFailureArgs,
    AsyncSuccessArgs,
)
from slack_bolt.response import BoltResponse

from core import i18n
from core.i18n import Message

_DECLINED = "access_denied"
_WHY = {
    _DECLINED: Message("install-declined"),
    "invalid_browser": Message("install-other-browser"),
    "invalid_state": Message("install-too-late"),
    "storage_error": Message("install-not-stored"),
}
"""By the reason as bolt, or Slack, names it."""


def callbacks(install_path: str) -> AsyncCallbackOptions:
    """Return what answers the browser that Slack sends back.

    Args:
        install_path: Where one begins again.
    """

    async def succeeded(args: AsyncSuccessArgs) -> BoltResponse:
        return _response(HTTPStatus.OK, page(i18n.text("install-done")), args)

    async def failed(args: AsyncFailureArgs) -> BoltResponse:
        why = str(_WHY.get(args.reason) or Message("install-refused"))
        again = None if args.reason == _DECLINED else install_path
        is_told = args.reason in _WHY or args.suggested_status_code != HTTPStatus.OK
        # An error that Slack tells comes with 200, which only a user's own choice is.
        status = args.suggested_status_code if is_told else HTTPStatus.BAD_REQUEST
        return _response(status, page(why, again, i18n.text("install-begin-again")), args)

    return AsyncCallbackOptions(success=succeeded, failure=failed)


def page(words: str, link: str | None = None, label: str = "") -> str:
    """Return a page with a sentence, and a link below it."""
    anchor = f'<p><a href="{html.escape(link)}">{html.escape(label)}</a></p>' if link else ""
    return (
        f'<!DOCTYPE html><html lang="{i18n.current_language()}">'
        '<head><meta charset="utf-8"><title>Glossator</title>'
        '<meta name="viewport" content="width=device-width"></head>'
        f"<body><p>{html.escape(words)}</p>{anchor}</body></html>"
    )


def _response(status: int, text: str, args: AsyncSuccessArgs | AsyncFailureArgs) -> BoltResponse:
    headers: dict[str, str | Sequence[str]] = {
        "Content-Type": "text/html; charset=utf-8",
        "Set-Cookie": args.settings.state_utils.build_set_cookie_for_deletion(),
    }
    return BoltResponse(status=int(status), body=text, headers=headers)
