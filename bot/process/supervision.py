"""Keeps the parts of a bot going: what fails is started again, and takes nothing else with it."""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Collection, Iterator
from itertools import chain, repeat

from adapters.intake.unreadable import place_of, without_text
from core.errors import ConfigurationError
from core.telemetry.metering import RESTARTED, Meter

logger = logging.getLogger(__name__)

_PAUSES = (1.0, 2.0, 5.0, 10.0, 30.0, 60.0)
"""Seconds before a part is started again; the last one again and again."""
_STEADY = 300.0
"""Seconds after which a failure counts as the first one again."""
_REFUSED_PAUSE = 300.0
"""Seconds before credentials that were refused are tried again."""

Start = Callable[[], Awaitable[None]]
"""Runs a part until it is closed; called again, it begins afresh."""


class Supervisor:
    """Runs parts side by side."""

    def __init__(
        self, meter: Meter, refusable: Collection[str] = (), pauses: tuple[float, ...] = _PAUSES
    ) -> None:
        """Prepare to run parts.

        Args:
            refusable: The parts whose credentials may be refused, which only the operator can
                mend: one is tried again and again as long as another of them has its own.
            pauses: Seconds before the second, third ... start of a part.
        """
        self._meter = meter
        self._pauses = pauses
        self._refusable = frozenset(refusable)
        self._refused = dict[str, ConfigurationError]()

    async def keep(self, part: str, start: Start) -> None:
        """Run a part until it ends by itself; one that fails is started again after a pause.

        Raises:
            ConfigurationError: when every part that can be refused was.
        """
        pauses = self._growing()
        clock = asyncio.get_running_loop().time
        while True:
            begun = clock()
            try:
                await start()
                return
            except ConfigurationError as error:
                self._refuse(part, error)
                pause = _REFUSED_PAUSE
            except Exception as error:
                if clock() - begun > _STEADY:
                    pauses = self._growing()
                pause = next(pauses)
                logger.error(
                    "the part %s failed, %s; it is started again in %.0f s",
                    *(part, place_of(error), pause),
                    exc_info=without_text(error),
                )
            self._meter.count(RESTARTED, part)
            await asyncio.sleep(pause)
            self._refused.pop(part, None)

    def _refuse(self, part: str, error: ConfigurationError) -> None:
        """Note that a part was refused; raises the error when no other one is left."""
        self._refused[part] = error
        if part not in self._refusable or self._refused.keys() >= self._refusable:
            raise error
        logger.error("%s is not answered until this is put right: %s", part, error)

    def _growing(self) -> Iterator[float]:
        return chain(self._pauses, repeat(self._pauses[-1]))
