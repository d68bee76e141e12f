"""Every delay of the routing protocol, with its reason.

Law: durations are microseconds and stand here or in a topology file, nowhere else.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

MS: Final = 1_000
S: Final = 1_000_000
HOLDS_MAX: Final = 5
"""R5c: a network that keeps changing is told of after so many holds (`tree_hold_us`)."""


@dataclass(frozen=True, slots=True)
class Times:
    """How long a router waits, for each thing that it waits for."""

    damp_first_us: int = 100 * MS
    """R1: how long the next change waits after an advertisement; twice as long each time changes keep coming."""
    damp_widen_max_us: int = 1 * S
    """R1: the longest wait of a change that asks for something new: a client is waiting for it."""
    damp_narrow_max_us: int = 5 * S
    """R1: the longest wait of a change that only takes filters away."""
    damp_hop_max_us: int = 1 * S
    """E5: the longest wait, at each hop, of a change of an edge that only takes filters away."""
    topology_damp_max_us: int = 1 * S
    """The longest wait before a new link is stated, for a link that comes and goes."""
    base_wait_us: int = 100 * MS
    """R2: how long a change that came before its base waits for it, as the base may come by a slower way."""
    piece_wait_us: int = 10 * S
    """R4: how long the next piece of a predicate may take; then the pieces that have come are dropped."""
    narrow_hold_us: int = 2 * S
    """R7: how long a filter that no client wants any more is still asked for: a client that comes back costs
    nothing."""
    tree_hold_us: int = 2 * S
    """R5b: how long messages are taken along old and new trees: longer than news takes to reach every router."""
    way_wait_us: int = 250 * MS
    """R5c: how long a message that came by a new way waits at most for those that went the old way: in that time news
    reaches every router, and what was on the old way arrives."""
    unnoticed_us: int = 2 * S
    """How long messages may have been lost before any router noticed: the hold time of links, and a second for queues
    and news."""
    age_out_us: int = 600 * S
    """R8: how long the statements of an unreachable router are kept."""
    request_every_us: int = 45 * S
    """R10: how often each neighbour is sent a request; a third more or less."""
    retry_us: int = 1 * S
    """How long a neighbour may take to answer; then it is asked again."""
    answer_every_us: int = 1 * S
    """R2, R9: the least time between two corrections to one neighbour about one issuer, and between two of this
    router's jumps."""
    held_merge_us: int = 5 * MS
    """How long confirmations of an advertisement are collected before they are passed on."""
    reroute_every_us: int = 20 * MS
    """R5: the least time between two sets of trees while the topology keeps changing."""
    audit_us: int = 5 * S
    """How long an audit lasts that some routers do not answer."""
