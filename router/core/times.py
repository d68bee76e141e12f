"""Every delay of the routing protocol, with its reason.

Law: durations are microseconds and are defined here or in a topology file, nowhere else.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

MS: Final = 1_000
S: Final = 1_000_000
HOLDS_MAX: Final = 5
"""R5c: the number of holds (`tree_hold_us`) after which losses of a network that keeps changing are reported."""


@dataclass(frozen=True, slots=True)
class Times:
    """The waits of a router, one for each event or reply that it waits for."""

    damp_first_us: int = 100 * MS
    """R1: how long the next change waits after an advertisement; the wait doubles each time that changes continue."""
    damp_widen_max_us: int = 1 * S
    """R1: the longest wait of a change that adds filters: a client is waiting for it."""
    damp_narrow_max_us: int = 5 * S
    """R1: the longest wait of a change that only removes filters."""
    damp_hop_max_us: int = 1 * S
    """E5: the longest wait, at each hop, of a change of an edge that only removes filters."""
    topology_damp_max_us: int = 1 * S
    """The longest wait before a new link is stated, for a link that goes up and down."""
    base_wait_us: int = 100 * MS
    """R2: how long a change that arrived before its base waits for it, as the base may arrive by a slower path."""
    piece_wait_us: int = 10 * S
    """R4: how long the next piece of a predicate may take; after that the pieces that have arrived are dropped."""
    narrow_hold_us: int = 2 * S
    """R7: how long a filter that no client wants any longer is still advertised: a client that returns within that time
    causes no traffic."""
    tree_hold_us: int = 2 * S
    """R5b: how long messages are accepted along both old and new trees: longer than a statement takes to reach every
    router."""
    way_wait_us: int = 250 * MS
    """R5c: how long a message that came by a new path waits at most for those that took the old path: within that time
    statements reach every router, and messages on the old path arrive."""
    unnoticed_us: int = 2 * S
    """How long messages may have been lost before any router noticed: the hold time of links, and a second for queues
    and statements."""
    age_out_us: int = 600 * S
    """R8: how long the statements of an unreachable router are kept."""
    request_every_us: int = 45 * S
    """R10: how often each neighbour receives a request; varied by up to a third."""
    retry_us: int = 1 * S
    """The time in which a neighbour must reply; after that the request is repeated."""
    answer_every_us: int = 1 * S
    """R2, R9: the least time between two corrections to one neighbour about one issuer, and between two jumps of this
    router's epoch."""
    held_merge_us: int = 5 * MS
    """The time for which confirmations of an advertisement are collected before they are forwarded."""
    reroute_every_us: int = 20 * MS
    """R5: the least time between two sets of trees while the topology keeps changing."""
    audit_us: int = 5 * S
    """The time of an audit to which some routers do not reply."""
