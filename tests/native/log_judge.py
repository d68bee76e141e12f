"""Judges the records of custody in a log, by the lines that `run_test_log_crashes POINTS SEED FAULT history` prints.

Law: after a crash the log has what its records up to some number say, which is not below the confirmed one. Records are
kept as they were written, and each crash is judged by folding them from the first on; nothing is shared with the C.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Final

HOME, ENTRY = 1, 2
Chain = tuple[int, ...]
"""Log, life, have, lost, doubts."""
_HAVE: Final = 2


class Wrong(AssertionError):
    """Raised where the log has another state than its records say."""


@dataclass(slots=True)
class State:
    """What some records say."""

    chains: dict[tuple[int, int], Chain] = field(default_factory=dict)
    """By HOME or ENTRY, and router."""
    waiting: dict[int, set[int]] = field(default_factory=dict)
    """By home: numbers of its records."""

    def take(self, what: str, n: int, numbers: list[int]) -> None:
        getattr(self, f"_{what}")(n, *numbers)

    def _message(self, n: int, router: int, have: int, *homes: int) -> None:
        chain = self.chains.get((ENTRY, router))
        if chain is not None:
            self.chains[ENTRY, router] = (*chain[:_HAVE], have, *chain[_HAVE + 1 :])
        for home in homes:
            self.waiting.setdefault(home, set()).add(n)

    def _chain(self, _: int, router: int, *chain: int) -> None:
        self.chains[ENTRY, router] = chain

    def _home_has(self, n: int, router: int, *chain: int) -> None:
        self.chains[HOME, router] = chain
        self._done(n, router, HOME, 0, chain[_HAVE])

    def _given_up(self, n: int, home: int, *numbers: int) -> None:
        self.waiting.setdefault(home, set()).difference_update(numbers)
        self.waiting[home].add(n)

    def _done(self, _: int, home: int, __: int, first: int, last: int) -> None:
        waiting = self.waiting.get(home, set())
        self.waiting[home] = {n for n in waiting if not first <= n <= last}

    def _forgotten(self, _: int, router: int, which: int, *__: int) -> None:
        self.chains.pop((which, router), None)
        if which == HOME:
            self.waiting.pop(router, None)


class Judge:
    def __init__(self) -> None:
        self.records: list[tuple[int, str, list[int]]] = []
        self.crashes = self.chains = self.waits = 0
        self._committed = 0
        self._is_life = False
        self._found = State()

    def take(self, lines: Iterable[str]) -> None:
        """Take in what happened; raise Wrong at the first crash after which the log has another state."""
        for line in lines:
            what, *words = line.split()
            numbers = [int(word) for word in words]
            match what:
                case "numbers":
                    self.records[-1][2].extend(numbers)
                case "crashed" | "began":
                    self._begin(what, *numbers)
                case "has_chain":
                    is_home, router, *chain = numbers
                    self._found.chains[HOME if is_home else ENTRY, router] = tuple(chain)
                case "waits":
                    self._found.waiting.setdefault(numbers[0], set()).add(numbers[1])
                case "judge":
                    self._judge(numbers)
                case _:
                    self.records.append((numbers[0], what, numbers[1:]))

    def _begin(self, what: str, committed: int, confirmed: int) -> None:
        if committed < confirmed:
            raise Wrong(f"{confirmed:#x} was confirmed, and {committed:#x} is on disk")
        self._committed, self._is_life, self._found = committed, what == "began", State()

    def _judge(self, homes: list[int]) -> None:
        state = State()
        records = [record for record in self.records if record[0] <= self._committed]
        for n, what, numbers in records:
            state.take(what, n, numbers)
        if state.chains != self._found.chains:
            raise Wrong(f"chains are {self._found.chains}, and the records say {state.chains}")
        for home in homes:
            waiting, found = state.waiting.get(home, set()), self._found.waiting.get(home, set())
            if waiting != found:
                raise Wrong(f"of home {home} missing {waiting - found}, too many {found - waiting}")
            self.waits += len(found)
        self.crashes += 1
        self.chains += len(state.chains)
        if self._is_life:
            self.records = records
