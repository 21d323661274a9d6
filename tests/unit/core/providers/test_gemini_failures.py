"""What is made of everything that the SDK may raise, however odd the answer was."""

import logging
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from json import JSONDecodeError
from typing import Any

import httpx2
import pytest
from google.genai.errors import APIError, ClientError, ServerError, UnknownApiResponseError

from core.providers.capabilities import ProviderFailure
from core.providers.gemini import NAMES, gemini_errors

KEY = "AIzaSyNobodyMayReadThis"
NAMES_HERE = replace(NAMES, model="THE_SETTING and models.gemini.api_version")
STUDENT = "my grade is a secret"


def failure_of(error: Exception) -> ProviderFailure:
    with pytest.raises(ProviderFailure) as caught, gemini_errors("gemini-x", NAMES_HERE):
        raise error
    failure = caught.value
    assert failure.__cause__ is None
    assert failure.__suppress_context__
    assert KEY not in str(failure)
    assert STUDENT not in str(failure)
    return failure


def answered(
    code: int,
    *details: Any,
    status: Any = "SOME_STATUS",
    headers: dict[str, str] | None = None,
    message: str = f"{KEY} said: {STUDENT}",
) -> APIError:
    body = {"error": {"code": code, "message": message, "status": status, "details": list(details)}}
    kind = ClientError if code < 500 else ServerError
    return kind(code, body, httpx2.Response(code, headers=headers))


@pytest.mark.parametrize("code", [409, 425, 429, 500, 502, 503, 504, 529])
def test_what_passes_may_be_tried_again(code: int) -> None:
    failure = failure_of(answered(code))
    assert (failure.transient, failure.outage) == (True, True)
    assert str(failure) == f"gemini-x answered {code} SOME_STATUS"


@pytest.mark.parametrize("code", [400, 401, 403, 404, 413, 501])
def test_what_does_not_pass_is_not_tried_again(code: int) -> None:
    assert not failure_of(answered(code)).transient


@pytest.mark.parametrize(
    ("error", "setting"),
    [
        (answered(401), "GLOSSATOR_MODELS__GEMINI__API_KEY"),
        (answered(403), "GLOSSATOR_MODELS__GEMINI__API_KEY"),
        (answered(400, {"reason": "API_KEY_INVALID"}), "GLOSSATOR_MODELS__GEMINI__API_KEY"),
        (answered(404), "THE_SETTING"),
        (answered(404), "models.gemini.api_version"),
        (httpx2.ConnectError("Name or service not known"), "models.gemini.base_url"),
    ],
    ids=str,
)
def test_the_operator_is_told_which_setting_to_mend(error: Exception, setting: str) -> None:
    failure = failure_of(error)
    assert setting in str(failure)
    assert failure.outage


@pytest.mark.parametrize(
    ("url", "hint"),
    [
        ("https://generativelanguage.googleapis.com/v1beta", "is this machine online?"),
        ("http://127.0.0.1:9/v1beta", "is models.gemini.base_url its address?"),
    ],
)
def test_the_address_is_doubted_only_where_it_was_set(url: str, hint: str) -> None:
    error = httpx2.ConnectError("no route", request=httpx2.Request("POST", url))
    assert str(failure_of(error)).endswith(hint)


def test_a_refused_request_names_its_fields_and_is_no_outage() -> None:
    violations = [
        {"field": "generation_config.thinking_level", "description": STUDENT},
        {"field": 7},
    ]
    failure = failure_of(answered(400, {"fieldViolations": violations}))
    assert "does not accept generation_config.thinking_level" in str(failure)
    assert not failure.outage


def test_what_google_says_is_logged_without_the_key(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    failure_of(answered(400, message=f"Consumer 'api_key:x.{KEY}' or {KEY} is too long."))
    assert "Consumer 'api_key:(a key)' or (a key) is too long." in caplog.text
    assert KEY not in caplog.text


@pytest.mark.parametrize(
    ("details", "headers", "seconds"),
    [
        ([], {}, None),
        ([], {"Retry-After": "7"}, 7.0),
        ([], {"Retry-After": " 7 "}, 7.0),
        ([], {"Retry-After": "-7"}, None),
        ([], {"Retry-After": "nan"}, None),
        ([], {"Retry-After": "soon"}, None),
        ([{"retryDelay": "3.5s"}], {}, 3.5),
        ([{"retryDelay": "3.5s"}], {"Retry-After": "2"}, 3.5),
        ([{"retryDelay": "soon"}], {"Retry-After": "2"}, 2.0),
        ([{"retryDelay": 3}, "odd", None], {}, None),
    ],
    ids=str,
)
def test_the_service_may_say_how_long_to_wait(
    details: list[Any], headers: dict[str, str], seconds: float | None
) -> None:
    assert failure_of(answered(429, *details, headers=headers)).retry_after == seconds


@pytest.mark.parametrize("minutes", [2, -2])
def test_it_may_say_so_with_a_date(minutes: int) -> None:
    moment = format_datetime(datetime.now(UTC) + timedelta(minutes=minutes), usegmt=True)
    wait = failure_of(answered(429, headers={"Retry-After": moment})).retry_after
    assert wait == pytest.approx(max(0, 60 * minutes), abs=5)


@pytest.mark.parametrize(
    "body",
    [None, "nothing", [], [1], {"error": "text"}, {"error": {"details": "none"}}, {"error": None}],
    ids=str,
)
def test_an_error_of_any_shape_is_understood(body: Any) -> None:
    error = ServerError(503, {})
    error.details = body
    assert failure_of(error).transient


def test_words_that_are_no_name_are_left_out() -> None:
    odd = answered(503, {"reason": "a\nforged line"}, status=f"{KEY}\n" * 40)
    assert str(failure_of(odd)) == "gemini-x answered 503"


@pytest.mark.parametrize(
    ("error", "transient"),
    [
        (TimeoutError(), True),
        (httpx2.ReadTimeout(STUDENT), True),
        (httpx2.RemoteProtocolError(STUDENT), True),
        (httpx2.LocalProtocolError(f"Illegal header value {KEY}"), True),
        (httpx2.InvalidURL(STUDENT), False),
        (httpx2.TooManyRedirects(STUDENT), False),
        (UnknownApiResponseError(STUDENT), False),
        (JSONDecodeError(STUDENT, STUDENT, 0), False),
        (UnicodeEncodeError("ascii", KEY, 0, 1, KEY), False),
        (AttributeError(STUDENT), False),
        (TypeError(STUDENT), False),
        (KeyError(STUDENT), False),
    ],
    ids=lambda value: type(value).__name__,
)
def test_whatever_the_sdk_lets_through_is_a_failure(error: Exception, transient: bool) -> None:
    assert failure_of(error).transient == transient
