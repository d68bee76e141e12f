"""Invariant 4 of strategies by which routers state every filter: each states exactly the filters of its clients.

Law: filters are compared one by one, as bytes, so a filter that is missing because another covers it is found, too.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from tamis.protocol.wire.routing_bodies import group_of
from tamis.simulate.oracle.tables import Holding, Report
from tamis.simulate.oracle.truth import Truth


def compare_stated(
    holdings: Iterable[Holding],
    truth: Truth,
    filters_of: Callable[[int, int], Iterable[bytes]],
    report: Report,
) -> None:
    """Report a router that states other filters than those of its clients, or one of them twice; filters of worker
    groups are excepted. `filters_of` returns the filters to state for a client and a number of the truth."""
    wanted: dict[int, set[bytes]] = {}
    for client, wants in truth.in_force.items():
        for filter_, want in wants.items():
            wanted.setdefault(want.router, set()).update(filters_of(client, filter_))
    for holding in holdings:
        stated = sorted(packed for packed in holding.advertised[holding.router].values() if not group_of(packed))
        expected = sorted(wanted.get(holding.router, ()))
        if stated != expected:
            report(4, f"{holding.router:x} states {len(stated)} filters, and its clients have {len(expected)}")
