"""The layout, on which routers must agree before they use it: the family of their strategy, the broadcast layer, and
the classes and roots of strategy `rendezvous`.

Law: each router states its layout with its links. As long as all routers in reach state one layout, messages use it;
else all of them use source trees, which every router supports. A router that states none has the default layout, or a
release that has no layouts. A layout changes with a restart only, and is not part of the digest of a link state.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from tamis.router.core.routing.trees import Broadcast

RIB: Final = "rib"
"""The family of strategies whose routers state their interest, and flood their statements."""
EDGES: Final = "edges"
"""The family of strategies whose routers send each tree neighbour the interest behind the edge."""
FALLBACK: Final[Broadcast] = "source-trees"
DEFAULT: Final = ""
"""The layout of family `rib` on the fallback: it is not written, which leaves the link states of most networks those of
earlier releases."""
NAMED_MAX: Final = 5
"""Routers named in one alarm."""


def layout_of(family: str, broadcast: Broadcast, options: str = "") -> str:
    """Return the layout as a link state has it. `options` is a word for further settings on which routers of the family
    must agree; empty: there are none."""
    return DEFAULT if (family, broadcast) == (RIB, FALLBACK) else f"{family} {broadcast} {options}".rstrip()


def disagreement(own: str, others: Iterable[tuple[str, str]]) -> str:
    """Return a sentence that lists the routers which differ from `own`; `others` are pairs of an id and a layout, at
    least one of which is not `own`."""
    differing = sorted((name, layout) for name, layout in others if layout != own)
    named = [f"{name} ({layout or 'states none'})" for name, layout in differing[:NAMED_MAX]]
    more = f" and {len(differing) - NAMED_MAX} more" if len(differing) > NAMED_MAX else ""
    mine = own or f"{RIB} {FALLBACK}, which is not stated"
    return (
        f"this router's layout is {mine}; other layouts: {', '.join(named)}{more}. "
        f"Until all agree, messages use {FALLBACK}"
    )
