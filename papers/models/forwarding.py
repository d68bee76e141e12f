"""The forwarding tables of papers 000 and 004, to the letter: counters, the short circuit, and the selectivity table.

    m: quantity = 10  ->  quantity < 20, quantity > 3, ...  ->  f1 1 of 2, f2 1 of 1  ->  interface 2
                          matching constraints                  counters                 matched

Law: what a constraint means is `protocol/evaluate.py`'s. Attributes come in the order of the message, the constraints
of one in the order in which they were first used. A constraint that several filters have is held once. One visit of a
filter from a matched constraint is an *update* of its counter, or is *skipped* as the filter's interface is matched or
excluded already; with `circuit` off every visit is an update, and nothing ends early.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from tamis.protocol.evaluate import constraint_holds
from tamis.protocol.filters import Constraint, Filter
from tamis.protocol.values import Value

Message = Mapping[str, Value]


@dataclass(frozen=True, slots=True)
class Forwarded:
    """What one message found, and what it took."""

    interfaces: frozenset[int]
    updates: int
    skipped: int
    excluded: int


class ForwardingTable:
    """Filters by interface."""

    def __init__(self, predicates: Mapping[int, Sequence[Filter]]) -> None:
        self.interfaces = frozenset(interface for interface, filters in predicates.items() if filters)
        self._sizes: list[tuple[int, int]] = []  # of each filter: its interface, and how many constraints it has
        self._users: dict[str, dict[Constraint, list[int]]] = {}
        for interface, filters in predicates.items():
            for filter_ in filters:
                constraints = dict.fromkeys(filter_.constraints)
                for constraint in constraints:
                    self._users.setdefault(constraint.name, {}).setdefault(constraint, []).append(len(self._sizes))
                self._sizes.append((interface, len(constraints)))
        self.determinants = determinants(predicates)

    def matching_constraints(self, name: str, value: Value) -> list[Constraint]:
        return [each for each in self._users.get(name, {}) if constraint_holds(each, {name: value})]

    def excluded(self, message: Message, rounds: int) -> frozenset[int]:
        """The interfaces that the first `rounds` rows of the selectivity table rule out."""
        rows = [interfaces for name, interfaces in self.determinants[:rounds] if name not in message]
        return frozenset().union(*rows)

    def forward(self, message: Message, rounds: int = 0, circuit: bool = True) -> Forwarded:
        excluded = self.excluded(message, rounds)
        matched: set[int] = set()
        counters: Counter[int] = Counter()
        skipped = 0
        for name, value in message.items():
            for constraint in self.matching_constraints(name, value):
                for number in self._users[name][constraint]:
                    interface, size = self._sizes[number]
                    if circuit and (interface in matched or interface in excluded):
                        skipped += 1
                        continue
                    counters[number] += 1
                    if counters[number] == size:
                        matched.add(interface)
                    if circuit and matched | excluded == self.interfaces:
                        return Forwarded(frozenset(matched), counters.total(), skipped, len(excluded))
        return Forwarded(frozenset(matched), counters.total(), skipped, len(excluded))


def determinants(predicates: Mapping[int, Sequence[Filter]]) -> list[tuple[str, frozenset[int]]]:
    """The selectivity table: names that every filter of some interface constrains, with those interfaces; the name
    that rules out most comes first."""
    rows: dict[str, set[int]] = {}
    for interface, filters in predicates.items():
        names = [{constraint.name for constraint in filter_.constraints} for filter_ in filters]
        for name in set.intersection(*names) if names else ():
            rows.setdefault(name, set()).add(interface)
    return sorted(((name, frozenset(row)) for name, row in rows.items()), key=lambda each: (-len(each[1]), each[0]))
