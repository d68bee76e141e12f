"""The ways that messages go, from the core's trees into the switch.

Law: the switch holds a route for a source once a message of that source has come, in every generation of trees that is
in force (R5b); this router is a source from the beginning. So a change of topology takes work for the sources in use,
not for all that there are.
"""

from __future__ import annotations

from collections import OrderedDict
from typing import Final

from tamis.native import Switch
from tamis.protocol.wire.header import TRANSIT_OFFSET
from tamis.router.core.ways.trees import Trees

GENERATIONS_MAX: Final = 4
"""Generations of trees kept, as many as the switch keeps."""
_SOURCE: Final = slice(TRANSIT_OFFSET, TRANSIT_OFFSET + 8)


class Routes:
    """The routes of one switch. `hold_ms`: how long the trees before the present ones stay in force; `wait_ms`: how
    long messages that come by the present trees wait for those by earlier ones."""

    def __init__(self, switch: Switch, me: int, hold_ms: int, wait_ms: int) -> None:
        self._switch, self._me, self._hold_ms, self._wait_ms = switch, me, hold_ms, wait_ms
        self._generations: OrderedDict[int, Trees] = OrderedDict()

    def reroute(self, trees: Trees, is_whole: bool) -> None:
        """Send messages by `trees` from now on. `is_whole`: no way by the trees before has broken."""
        generation = self._switch.begin_routes(trees.hop_limit())
        self._switch.route(generation, self._me, None, trees.below(self._me))
        self._switch.commit(self._hold_ms, self._wait_ms if is_whole else 0)
        self._generations[generation] = trees
        while len(self._generations) > GENERATIONS_MAX:
            self._generations.popitem(last=False)

    def unrouted(self, connection: int, frame: bytes) -> None:
        """Give the switch routes for a source that it has none for, and take its message again; Gone if its link has
        ended."""
        source = int.from_bytes(frame[_SOURCE], "little")
        for generation, trees in list(self._generations.items()):
            if not self._switch.route(generation, source, trees.parent(source), trees.below(source)):
                del self._generations[generation]
        self._switch.retake(connection, frame)
