"""Verification of signed tokens in a thread, so that the loop serves other connections meanwhile.

Law: at most WAITING_MAX tokens wait, and one more is refused at once, which the caller tells its client; tokens are
verified one after the other. A result is handed over in the loop.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Final, TypeVar

WAITING_MAX: Final = 64

T = TypeVar("T")


class VerifyingThread:
    """The thread, which starts with the first token."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self._loop = loop
        self._pool = ThreadPoolExecutor(1, thread_name_prefix="signed tokens")
        self.waiting = 0

    def ask(self, verify: Callable[[], T], then: Callable[[T], None]) -> bool:
        """Call `then` in the loop with the result of `verify`, which runs in the thread. Return False, with nothing
        done, if WAITING_MAX wait."""
        if self.waiting >= WAITING_MAX:
            return False
        self.waiting += 1
        self._loop.run_in_executor(self._pool, verify).add_done_callback(lambda done: self._done(done, then))
        return True

    def _done(self, done: asyncio.Future[T], then: Callable[[T], None]) -> None:
        self.waiting -= 1
        if not done.cancelled():
            then(done.result())

    def close(self) -> None:
        """End the thread; tokens that wait are not verified."""
        self._pool.shutdown(wait=False, cancel_futures=True)
