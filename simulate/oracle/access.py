"""Rules of access for the judge: sets of contents, and invariant 18.

Law: this reads the plain filters of the rules and shares no code with the routers. A client wants what it asked for and
may get; the other invariants then judge deliveries, filters and tables.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from typing import Protocol

from tamis.simulate.oracle.meaning import Constraints, Value, contents_of


class PlainFilter(Protocol):
    @property
    def plain(self) -> Constraints: ...


class PlainRule(Protocol):
    @property
    def allow(self) -> Sequence[PlainFilter]: ...

    @property
    def deny(self) -> Sequence[PlainFilter]: ...


class PlainFile(Protocol):
    @property
    def publish(self) -> Sequence[PlainRule]: ...

    @property
    def get(self) -> Sequence[PlainRule]: ...


class AccessJudge:
    """`files`: those of the run; None allows everything. `classes`: the number of classes of clients."""

    def __init__(
        self,
        files: Sequence[PlainFile | None],
        classes: int,
        contents: Sequence[dict[str, Value]],
        report: Callable[[int, str], None],
    ) -> None:
        self.counts: Counter[str] = Counter()
        self._classes, self._report = classes, report
        self._everything = (1 << len(contents)) - 1

        def sets(rules: Sequence[PlainRule] | None) -> list[int]:
            return [self._set(rule, contents) for rule in rules] if rules is not None else [self._everything] * classes

        self._publish = [sets(None if file is None else file.publish) for file in files]
        self._get = [sets(None if file is None else file.get) for file in files]

    def may_get(self, file: int, client: int) -> int:
        """Return the contents that a client may get by a file of rules."""
        return self._get[file][client % self._classes]

    def judge_entry(self, file: int, publisher: int, content: int, *, is_refused: bool) -> None:
        """Judge whether the rules of a router let a message in, which it asked by this file."""
        allowed = bool(self._publish[file][publisher % self._classes] >> content & 1)
        self.counts["refused by rules"] += is_refused
        if is_refused is allowed:
            done = "refused" if is_refused else "let in"
            self._report(18, f"content {content} of publisher {publisher} is {done} by file {file}")

    @staticmethod
    def _set(rule: PlainRule, contents: Sequence[dict[str, Value]]) -> int:
        allowed = denied = 0
        for filter_ in rule.allow:
            allowed |= contents_of(filter_.plain, contents)
        for filter_ in rule.deny:
            denied |= contents_of(filter_.plain, contents)
        return allowed & ~denied
