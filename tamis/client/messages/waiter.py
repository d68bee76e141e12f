"""Waiters, which the core settles when a call is done or has failed: futures of the shell that made the call.

Law: a waiter is settled at most once; one that its owner has given up (it is done) is left alone.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable
from typing import Protocol


class Waiter(Protocol):
    """A future, such as `asyncio.Future` or `concurrent.futures.Future`."""

    def done(self) -> bool: ...

    def set_result(self, result: None, /) -> None: ...

    def set_exception(self, exception: BaseException, /) -> None: ...


def fresh(error: BaseException) -> BaseException:
    """Return a copy of an error to raise: each call raises its own, with its own traceback and context."""
    twin = type(error).__new__(type(error), *error.args)
    twin.__dict__.update(error.__dict__)
    return twin


def settle(waiter: Waiter | None, error: BaseException | None = None) -> None:
    if waiter is None or waiter.done():
        return
    if error is None:
        waiter.set_result(None)
    else:
        waiter.set_exception(fresh(error))


class OwnWaiter(ABC):
    """A waiter that is not a future: it calls `_settled` when it is settled."""

    def __init__(self) -> None:
        self._is_done = False

    def done(self) -> bool:
        return self._is_done

    def set_result(self, result: None, /) -> None:  # noqa: ARG002 - the signature is that of a future
        self._is_done = True
        self._settled(None)

    def set_exception(self, exception: BaseException, /) -> None:
        self._is_done = True
        self._settled(exception)

    @abstractmethod
    def _settled(self, error: BaseException | None) -> None:
        """Act on the result: `error` is None on success."""


class Waiters(OwnWaiter):
    """The waiters of all calls that wait for one event, as one waiter."""

    def __init__(self, waiters: Iterable[Waiter] = ()) -> None:
        super().__init__()
        self._waiters = list(waiters)

    def __bool__(self) -> bool:
        return bool(self._waiters)

    def append(self, waiter: Waiter) -> None:
        self._waiters.append(waiter)

    def taken(self) -> Waiters:
        """Remove the waiters that wait now, and return them as one."""
        waiters, self._waiters = self._waiters, []
        return Waiters(waiters)

    def _settled(self, error: BaseException | None) -> None:
        for waiter in self._waiters:
            settle(waiter, error)
        self._waiters.clear()
