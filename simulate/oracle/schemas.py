"""Invariants 4, 8 and 16: the spaces of routers, and the messages that they refuse.

Law: a message is refused only if some router may check it by a definition of its space in which it is invalid: a
definition that files declare, that was held or stored at the last rest, or that was stated since. At rest a message is
refused exactly if it is invalid by the definition that its own router holds. Routers that reach each other hold equal
definitions, which are not older than those that each has held before.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping

from tamis.protocol.wire.routing_bodies import SpaceStatement
from tamis.simulate.faults.schemas import DECLARED, SHAPE_OF, fits, space_of
from tamis.simulate.oracle.paths import Graph, component

Report = Callable[[int, str], None]
Held = Mapping[str, SpaceStatement]
"""Maps the name of a space to a router's statement of it."""


class Schemas:
    def __init__(self, report: Report) -> None:
        self.counts: Counter[str] = Counter()
        self._report = report
        self._possible: set[SpaceStatement] = set(DECLARED)
        self._newest: dict[tuple[int, int], dict[str, tuple[int, bytes]]] = {}
        """Maps a router and its life to the newest version and digest, by name of the space, that it was seen to
        hold."""

    def stated(self, statement: SpaceStatement) -> None:
        """Record that a router was requested to change a space."""
        self.counts["changes of spaces"] += 1
        self._possible.add(statement)

    def refused(self, serial: int, content: int) -> None:
        """Record that a router refused a message as a violation of its space."""
        self.counts["refused by spaces"] += 1
        name = space_of(content)
        shapes = [SHAPE_OF[each.name, each.packed] for each in self._possible if each.name == name]
        if all(fits(content, shape) for shape in shapes):
            self._report(16, f"message {serial} is valid in each version of space {name}, and was refused")

    def probed(self, serial: int, content: int, is_refused: bool, held: Held) -> None:
        """Record that a message was published at rest at a router with the spaces `held`."""
        statement = held.get(space_of(content) or "")
        is_fitting = statement is None or fits(content, SHAPE_OF[statement.name, statement.packed])
        if is_fitting is is_refused:
            self._report(
                16, f"message {serial} is {'valid and was refused' if is_fitting else 'invalid and was accepted'}"
            )

    def at_rest(
        self,
        held: Mapping[tuple[int, int], Held],
        kept: Iterable[SpaceStatement],
        graph: Graph,
    ) -> None:
        """Judge the spaces of living routers, by (router, life); `kept` are the definitions that a router would have
        after a restart."""
        by_router = {router: spaces for (router, _), spaces in held.items()}
        for (router, life), spaces in held.items():
            self.look(router, life, spaces)
            first = min(component(graph, router) & by_router.keys())
            if by_router[first] != spaces:
                self._report(4, f"{router:x} has other spaces than {first:x}")
        self._possible = {*DECLARED, *kept, *(each for spaces in held.values() for each in spaces.values())}

    def look(self, router: int, life: int, spaces: Held) -> None:
        """Judge that a router's version of each space is not older than its earlier one."""
        newest = self._newest.setdefault((router, life), {})
        for name, (version, digest) in newest.items():
            if name not in spaces or _age(spaces[name]) < (version, digest):
                self._report(8, f"{router:x} returned from version {version} of space {name} to an older one")
        newest.update({name: _age(statement) for name, statement in spaces.items()})

    def forget(self, living: Collection[tuple[int, int]]) -> None:
        self._newest = {life: newest for life, newest in self._newest.items() if life in living}


def _age(statement: SpaceStatement) -> tuple[int, bytes]:
    return statement.version, statement.digest
