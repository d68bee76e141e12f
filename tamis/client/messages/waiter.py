"""What the core settles when a call is done or has failed: a future of the shell that asked.

Law: a waiter is settled at most once; one that its owner has given up (it is done) is left alone.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable
from typing import Protocol


class Waiter(Protocol):
    """A future; `asyncio.Future` and `concurrent.futures.Future` are such."""

    def done(self) -> bool: ...

    def set_result(self, result: None, /) -> None: ...

    def set_exception(self, exception: BaseException, /) -> None: ...


def fresh(error: BaseException) -> BaseException:
    """Return an equal error to raise: each call gets one of its own, whose traceback and context are its own."""
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
    """A waiter that is no future: what is to be done when it is settled is `_settled`."""

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
        """Do what is to be done; `error` None: what was waited for has come."""


class Waiters(OwnWaiter):
    """The waiters of all calls that wait for one thing, as one."""

    def __init__(self, waiters: Iterable[Waiter] = ()) -> None:
        super().__init__()
        self._waiters = list(waiters)

    def __bool__(self) -> bool:
        return bool(self._waiters)

    def append(self, waiter: Waiter) -> None:
        self._waiters.append(waiter)

    def taken(self) -> Waiters:
        """Return those that wait now as one; later ones are apart from them."""
        waiters, self._waiters = self._waiters, []
        return Waiters(waiters)

    def _settled(self, error: BaseException | None) -> None:
        for waiter in self._waiters:
            settle(waiter, error)
        self._waiters.clear()
