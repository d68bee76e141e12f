"""Every delay of the routing protocol, with its reason.

Law: durations are microseconds and stand here or in a topology file, nowhere else.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

MS: Final = 1_000
S: Final = 1_000_000


@dataclass(frozen=True, slots=True)
class Times:
    """What a router waits for, and how long."""

    damp_first_us: int = 100 * MS
    """R1: after an advertisement the next change waits so long, and twice that each time changes keep coming."""
    damp_widen_max_us: int = 1 * S
    """R1: up to so long where somebody asks for something new: it is waiting."""
    damp_narrow_max_us: int = 5 * S
    """R1: up to so long where the change only takes away."""
    topology_damp_max_us: int = 1 * S
    """As damp_widen_max_us, for a link that comes and goes."""
    base_wait_us: int = 100 * MS
    """R2: a change that came before its base waits so long for it; another way may be slower."""
    piece_wait_us: int = 10 * S
    """R4: pieces of a predicate of which no further one comes for so long are dropped."""
    narrow_hold_us: int = 2 * S
    """R7: what nobody wants any more is still asked for: a client that comes back costs nothing."""
    tree_hold_us: int = 2 * S
    """R5b: messages are taken along old and new trees for so long: longer than news takes to reach everybody."""
    way_wait_us: int = 250 * MS
    """R5c: a message that comes by a new way waits so long at most for those that went the old one: news reaches
    everybody in that time, and what was on the old way arrives."""
    unnoticed_us: int = 2 * S
    """So long messages may have been lost before anybody noticed: the hold time of links, and a second for queues and
    news."""
    age_out_us: int = 600 * S
    """R8: what an unreachable router asked for is kept so long."""
    request_every_us: int = 45 * S
    """R10: a request to each neighbour so often, a third more or less."""
    retry_us: int = 1 * S
    """What was asked of a neighbour and not answered is asked again."""
    answer_every_us: int = 1 * S
    """R2, R9: the same correction goes to one neighbour, or out of one's own mouth, at most so often."""
    held_merge_us: int = 5 * MS
    """Those who say that they hold an advertisement are collected for so long."""
    reroute_every_us: int = 20 * MS
    """R5: a topology in motion makes new trees at most so often."""
    audit_us: int = 5 * S
    """An audit that not everybody has answered ends after so long."""
