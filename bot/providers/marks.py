"""Reads and writes the thresholds that `glossator calibrate` fitted, a file in the data folder."""

import json
import logging
import os
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Annotated

from pydantic import Field, TypeAdapter, ValidationError

from core.errors import ConfigurationError
from core.retrieval.scoring import ScoreScale

logger = logging.getLogger(__name__)

FILE = "calibration.json"
_Probability = Annotated[float, Field(ge=0.0, le=1.0)]


@dataclass(frozen=True)
class _Fitted:
    """What the file holds: by course, then by model."""

    scales: Mapping[str, Mapping[str, ScoreScale]] = field(default_factory=dict)
    judges: Mapping[str, Mapping[str, _Probability]] = field(default_factory=dict)


_FITTED = TypeAdapter(_Fitted)


class Marks:
    """The fitted marks of every course; what another process writes is seen at once."""

    def __init__(self, data_dir: Path) -> None:
        """Read nothing yet."""
        self.path = data_dir / FILE
        self._read_at: int | None = None
        self._known = _Fitted()

    def scale(self, course_id: str, embedding_model: str) -> ScoreScale | None:
        """Return the scale that was fitted for a course and its model; None: none was."""
        return self._latest().scales.get(course_id, {}).get(embedding_model)

    def judge(self, course_id: str, model: str) -> float | None:
        """Return the mark from which a claim holds, 0 to 1; None: none was fitted."""
        return self._latest().judges.get(course_id, {}).get(model)

    def keep_scale(self, course_id: str, embedding_model: str, scale: ScoreScale) -> None:
        """Keep a scale.

        Raises:
            ConfigurationError: when the file is damaged, or cannot be written.
        """
        known = self.read()
        own = {**known.scales.get(course_id, {}), embedding_model: scale}
        self._write(replace(known, scales={**known.scales, course_id: own}))

    def keep_judge(self, course_id: str, model: str, mark: float) -> None:
        """Keep a judge's mark; raises as `keep_scale`."""
        known = self.read()
        own = {**known.judges.get(course_id, {}), model: mark}
        self._write(replace(known, judges={**known.judges, course_id: own}))

    def read(self) -> _Fitted:
        """Return what the file holds.

        Raises:
            ConfigurationError: when it is damaged.
        """
        try:
            return _FITTED.validate_json(self.path.read_bytes())
        except FileNotFoundError:
            return _Fitted()
        except (OSError, ValidationError) as error:
            raise ConfigurationError(
                f"{self.path} cannot be read: delete it, and run 'glossator calibrate' again for "
                "each course that was calibrated."
            ) from error

    def _latest(self) -> _Fitted:
        """Return what the file holds; where it is damaged, what it held before, and log so."""
        try:
            written = self.path.stat().st_mtime_ns
        except OSError:
            written = None
        if written != self._read_at:
            self._read_at = written
            try:
                self._known = self.read()
            except ConfigurationError as error:
                logger.warning("no marks are taken from it: %s", error)
        return self._known

    def _write(self, fitted: _Fitted) -> None:
        fresh = self.path.with_name(f"{FILE}.{os.getpid()}")
        try:
            fresh.write_text(json.dumps(asdict(fitted), indent=1) + "\n", encoding="utf-8")
            os.replace(fresh, self.path)
        except OSError as error:
            fresh.unlink(missing_ok=True)
            raise ConfigurationError(f"{self.path} cannot be written: {error.strerror}.") from error
