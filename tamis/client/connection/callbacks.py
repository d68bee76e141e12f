"""The callbacks of an application: on_connected, on_disconnected and on_gap of `connect`.

    core: tell(...) puts a call into a queue ---> shell: run(...) makes the calls, without its lock

Law: a callback is called, never awaited, after the client has processed what it read; an exception that it raises is
logged and has no other effect. The queue is emptied after each read from the socket and each cut; when one read queues
more than CALLS_MAX calls, the oldest are dropped.
"""

from __future__ import annotations

import inspect
import logging
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, fields
from functools import partial
from typing import Final, TypeVar

from tamis.client.gap import Gap
from tamis.protocol.errors import Refused

CALLS_MAX: Final = 1_024
"""The most calls that one read may queue."""

_log = logging.getLogger("tamis.client")
_Told = TypeVar("_Told")


@dataclass(frozen=True, slots=True)
class Callbacks:
    on_connected: Callable[[str], object] | None = None
    on_disconnected: Callable[[str], object] | None = None
    on_gap: Callable[[Gap], object] | None = None

    def __post_init__(self) -> None:
        for each in fields(self):
            callback = getattr(self, each.name)
            if inspect.iscoroutinefunction(callback):
                raise Refused(f"{each.name} is not awaited: give a plain function, which may create a task")
            if callback is not None and not callable(callback):
                raise Refused(f"{each.name} is a function, not {type(callback).__name__}")


NO_CALLBACKS: Final = Callbacks()


class Calls:
    """Queued calls of the application's callbacks."""

    def __init__(self) -> None:
        self._due: deque[Callable[[], object]] = deque(maxlen=CALLS_MAX)

    def tell(self, callback: Callable[[_Told], object] | None, what: _Told) -> None:
        if callback is not None:
            self._due.append(partial(callback, what))

    def __bool__(self) -> bool:
        return bool(self._due)

    def run(self) -> None:
        """Make the queued calls, in order; the caller holds no lock."""
        while self._due:
            try:
                self._due.popleft()()
            except Exception:
                _log.exception("a callback has failed")
