"""What routers must agree on before any of them goes by it: the family of their strategy, the broadcast layer,
and the classes and roots of strategy `rendezvous`.

Law: each router states its layout with its links. As long as all routers in reach state the same one, messages go by
it; else all of them go by source trees, which each understands. A router that states none has the default layout, or a
release that has no layouts. A layout changes with a restart only, and is no part of the digest of a link state.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from tamis.router.core.routing.trees import Broadcast

RIB: Final = "rib"
"""The family of strategies whose routers state what they want, and flood their statements."""
EDGES: Final = "edges"
"""The family of strategies whose routers say to each tree neighbour what lies behind the edge."""
FALLBACK: Final[Broadcast] = "source-trees"
DEFAULT: Final = ""
"""The layout of family `rib` on the fallback: it is not written, so that link states of most networks are those of
earlier releases."""
NAMED_MAX: Final = 5
"""Routers named in one alarm."""


def layout_of(family: str, broadcast: Broadcast, options: str = "") -> str:
    """Return the layout as a link state has it. `options`: a word for what else routers of the family must agree on;
    empty: nothing."""
    return DEFAULT if (family, broadcast) == (RIB, FALLBACK) else f"{family} {broadcast} {options}".rstrip()


def disagreement(own: str, others: Iterable[tuple[str, str]]) -> str:
    """Return a sentence that names the routers which differ from `own`; `others` are pairs of an id and a layout, at
    least one of which is not `own`."""
    differing = sorted((name, layout) for name, layout in others if layout != own)
    named = [f"{name} ({layout or 'states none'})" for name, layout in differing[:NAMED_MAX]]
    more = f" and {len(differing) - NAMED_MAX} more" if len(differing) > NAMED_MAX else ""
    mine = own or f"{RIB} {FALLBACK}, which is not stated"
    return (
        f"this router's layout is {mine}; others have another: {', '.join(named)}{more}. "
        f"Until all agree, messages go by {FALLBACK}"
    )
