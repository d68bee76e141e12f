"""What waits for the disk.

Law: what waits for a number is done when that is on disk, in the order of asking, or is given up; it is never done
before.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, NamedTuple

NOBODY: Final = 0
"""A token that nobody waits for."""


class AtCommit(NamedTuple):
    n: int
    then: Callable[[], None]
    token: int


class Commits:
    """`upto`: the records up to this number are on disk."""

    def __init__(self, upto: int) -> None:
        self.upto = upto
        self._waiting: list[AtCommit] = []

    def await_(self, n: int, then: Callable[[], None], token: int) -> None:
        """Call `then` when `n` is on disk, at once if it is."""
        if n <= self.upto:
            then()
        else:
            self._waiting.append(AtCommit(n, then, token))

    def reach(self, n: int) -> None:
        """Take in that the records up to `n` are on disk."""
        self.upto = n
        done = [waiting for waiting in self._waiting if waiting.n <= n]
        self._waiting = [waiting for waiting in self._waiting if waiting.n > n]
        for waiting in done:
            waiting.then()

    def give_up(self) -> list[int]:
        """Forget all that waits; return the tokens for which somebody waits."""
        tokens = [waiting.token for waiting in self._waiting if waiting.token != NOBODY]
        self._waiting = []
        return tokens
