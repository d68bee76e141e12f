"""Callbacks that wait for records to be on disk.

Law: a callback is called when its record is on disk, never before; callbacks of one commit run in the order in which
they were added. `give_up` discards those that still wait.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, NamedTuple

NOBODY: Final = 0
"""Token of a callback whose abandonment is not reported."""


class AtCommit(NamedTuple):
    n: int
    then: Callable[[], None]
    token: int


class Commits:
    """`upto`: number of the last record on disk."""

    def __init__(self, upto: int) -> None:
        self.upto = upto
        self._waiting: list[AtCommit] = []

    def await_(self, n: int, then: Callable[[], None], token: int) -> None:
        """Call `then` when record `n` is on disk; call it at once if it is there already."""
        if n <= self.upto:
            then()
        else:
            self._waiting.append(AtCommit(n, then, token))

    def reach(self, n: int) -> None:
        """Record that the log is on disk up to `n`, and call the callbacks that waited for it."""
        self.upto = n
        done = [waiting for waiting in self._waiting if waiting.n <= n]
        self._waiting = [waiting for waiting in self._waiting if waiting.n > n]
        for waiting in done:
            waiting.then()

    def give_up(self) -> list[int]:
        """Discard all waiting callbacks; return their tokens other than NOBODY."""
        tokens = [waiting.token for waiting in self._waiting if waiting.token != NOBODY]
        self._waiting = []
        return tokens
