"""The pages that people see who install the app, in words of ours."""

import html
from collections.abc import Sequence
from http import HTTPStatus

from slack_bolt.oauth.async_callback_options import (
    AsyncCallbackOptions,
    AsyncFailureArgs,
    AsyncSuccessArgs,
)
from slack_bolt.response import BoltResponse

INSTALLED = "The app is installed. You can close this page and go back to Slack."
DECLINED = "Nothing was installed, as you chose. You can close this page."
NOT_INSTALLED = "Slack did not let the app be installed. Please try again from the beginning."
UNREACHABLE = "Slack could not be reached, and nothing was installed. Please try again in a minute."
INVITATION = "Add the app to your Slack workspace"
_DECLINED = "access_denied"
_WHY = {
    _DECLINED: DECLINED,
    "invalid_browser": "This page was opened in another browser than the one you began in, or "
    "your browser keeps no cookies. Please try again from the beginning.",
    "invalid_state": "This page was opened too late, or twice. "
    "Please try again from the beginning.",
    "storage_error": "The installation could not be stored. Please try again in a minute.",
}
"""By the reason as bolt, or Slack, names it."""


def callbacks(install_path: str) -> AsyncCallbackOptions:
    """Return what answers the browser that Slack sends back.

    Args:
        install_path: Where one begins again.
    """

    async def succeeded(args: AsyncSuccessArgs) -> BoltResponse:
        return _response(HTTPStatus.OK, page(INSTALLED), args)

    async def failed(args: AsyncFailureArgs) -> BoltResponse:
        why = _WHY.get(args.reason, NOT_INSTALLED)
        again = None if args.reason == _DECLINED else install_path
        is_told = args.reason in _WHY or args.suggested_status_code != HTTPStatus.OK
        # An error that Slack tells comes with 200, which only somebody's own choice is.
        status = args.suggested_status_code if is_told else HTTPStatus.BAD_REQUEST
        return _response(status, page(why, again, "Begin again"), args)

    return AsyncCallbackOptions(success=succeeded, failure=failed)


def page(words: str, link: str | None = None, label: str = "") -> str:
    """Return a page with a sentence, and a link below it."""
    anchor = f'<p><a href="{html.escape(link)}">{html.escape(label)}</a></p>' if link else ""
    return (
        '<!DOCTYPE html><html lang="en"><head><meta charset="utf-8"><title>Glossator</title>'
        '<meta name="viewport" content="width=device-width"></head>'
        f"<body><p>{html.escape(words)}</p>{anchor}</body></html>"
    )


def _response(status: int, text: str, args: AsyncSuccessArgs | AsyncFailureArgs) -> BoltResponse:
    headers: dict[str, str | Sequence[str]] = {
        "Content-Type": "text/html; charset=utf-8",
        "Set-Cookie": args.settings.state_utils.build_set_cookie_for_deletion(),
    }
    return BoltResponse(status=int(status), body=text, headers=headers)
