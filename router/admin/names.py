"""The names of attributes that filters in the network use, for those who make messages of larger events.

Law: a name is left out only if no filter that this release can read has it, and no program. The version changes
whenever the names do, and may change when they do not.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from functools import lru_cache
from itertools import islice
from typing import TYPE_CHECKING, Final

from tamis.protocol.errors import FrameError
from tamis.protocol.residual import read_program
from tamis.protocol.wire.packed_filters import decode_filter
from tamis.router.admin.answers import PAGE_BYTES, Budget
from tamis.router.admin.view import RouterView
from tamis.router.core.strategies.edges import EdgeCore

if TYPE_CHECKING:
    from tamis.router.core.core import Core

ELSEWHERE: Final = 2**32
"""The first cursor of filters of other routers; those below are handles of this router's."""
CURSOR_MAX: Final = 2**33
NAMES_BYTES: Final = PAGE_BYTES // 2
"""Bytes of names that end a page: one filter with its program adds less than as many."""
FILTERS_PER_LOOK: Final = 64
"""Filters that are read between two looks at the time."""
REMEMBERED: Final = 8_192
"""Filters and programs whose names are remembered."""


def names_form(running: RouterView, cursor: int) -> dict[str, object]:
    """Return the names of a page of filters, and where the next page begins; None: this is the last one."""
    budget, names, at, size = Budget(), set[str](), cursor, 0
    for count, (place, found) in enumerate(_named(running, cursor)):
        if size >= NAMES_BYTES or (count and count % FILTERS_PER_LOOK == 0 and budget.is_spent):
            return {"version": _version(running), "names": sorted(names), "next": at}
        size += sum(len(json.dumps(name)) + 2 for name in found - names)
        names |= found
        at = place + 1
    return {"version": _version(running), "names": sorted(names), "next": None}


def _named(running: RouterView, cursor: int) -> Iterator[tuple[int, frozenset[str]]]:
    """Yield the places of filters from `cursor` on, and their names."""
    handle = cursor
    while handle < ELSEWHERE and (found := running.connections.switch.subscribed(handle)) is not None:
        of_program = _of_program(found.residual) if found.residual else frozenset()
        yield found.handle, of_program if found.is_folded else names_of_filter(found.filter) | of_program
        handle = found.handle + 1
    if running.network is not None:
        first = max(0, cursor - ELSEWHERE)
        for place, packed in enumerate(islice(_elsewhere(running.network.core), first, None), ELSEWHERE + first):
            yield place, names_of_filter(packed)


def _elsewhere(core: Core) -> Iterator[bytes]:
    for issuer, held in core.core_state.rib.entries.items():
        if issuer != core.me:
            yield from held.filters.values()
    for edge in core.held_edges if isinstance(core, EdgeCore) else ():
        yield from edge.filters.values()


def _version(running: RouterView) -> str:
    table = running.connections.table
    told: list[object] = [table.unknown, table.stats().filters]
    if running.network is not None:
        core = running.network.core
        edges = core.held_edges if isinstance(core, EdgeCore) else ()
        told += [core.core_state.rib.digest.hex(), *(each.digest.hex() for each in edges)]
    return hashlib.blake2s(repr(told).encode(), digest_size=8).hexdigest()


@lru_cache(REMEMBERED)
def names_of_filter(packed: bytes) -> frozenset[str]:
    try:
        return frozenset(constraint.name for constraint in decode_filter(packed).constraints)
    except FrameError:  # a filter of a later release
        return frozenset()


@lru_cache(REMEMBERED)
def _of_program(packed: bytes) -> frozenset[str]:
    return frozenset(read_program(packed).names())
