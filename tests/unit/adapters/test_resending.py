"""What a platform refused is sent again; what it may have taken never is."""

import pytest

from adapters.chat.delivery.job_lease import send_until_taken
from core.domain.errors import DeliveryError, Unclear

SOON = 0.01


class Sending:
    """Fails as it is told to, then is taken."""

    def __init__(self, *failures: DeliveryError) -> None:
        self.tries = 0
        self.was_refused: list[bool] = []
        self._failures = [*failures]

    async def __call__(self) -> None:
        self.tries += 1
        if self._failures:
            raise self._failures.pop(0)


@pytest.fixture(autouse=True)
def hurried(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("adapters.chat.delivery.job_lease.random.uniform", lambda low, high: low)


async def test_what_is_refused_for_now_is_sent_until_it_is_taken() -> None:
    sending = Sending(*[DeliveryError("429", retry_after=SOON)] * 6)
    await send_until_taken(sending, within=5.0, note=sending.was_refused.append)
    assert sending.tries == 7
    assert sending.was_refused == [False, True] * 6 + [False]


async def test_what_may_have_been_taken_is_not_sent_again() -> None:
    sending = Sending(DeliveryError(retry_after=SOON), Unclear("connection lost"))
    with pytest.raises(Unclear):
        await send_until_taken(sending, within=5.0, note=sending.was_refused.append)
    assert sending.tries == 2
    assert not sending.was_refused[-1]


@pytest.mark.parametrize(
    "failure",
    [DeliveryError(permanent=True), DeliveryError(retry_after=60.0)],
    ids=["for good", "for longer than there is time"],
)
async def test_what_is_refused_to_the_end_is_known_not_to_be_sent(failure: DeliveryError) -> None:
    sending = Sending(failure)
    with pytest.raises(DeliveryError):
        await send_until_taken(sending, within=5.0, note=sending.was_refused.append)
    assert sending.tries == 1
    assert sending.was_refused[-1]
