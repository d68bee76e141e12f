"""How long a measurement waited for a processor: what a loaded machine adds to a time, whatever its passes agree on."""

from __future__ import annotations

import time
from types import TracebackType
from typing import Self


class Waiting:
    """Measures what runs inside the block.

    `share` is the time in which it waited, as a share of the time in which it ran. A match that is longer than a slice
    of the scheduler is interrupted in every pass, so that passes agree on a time that is too long: the spread of a run
    is therefore at least this share.
    """

    def __enter__(self) -> Self:
        self._began = time.perf_counter(), time.process_time()
        self.share = 0.0
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        began_s, ran_before_s = self._began
        took_s, ran_s = time.perf_counter() - began_s, time.process_time() - ran_before_s
        self.share = max(took_s / max(ran_s, 1e-9) - 1, 0.0)
