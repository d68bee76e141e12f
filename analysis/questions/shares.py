"""The messages of worker groups: a message that satisfies a group is due to any one of its members.

Law: a group has its share of a message if a member received it that has no other matching subscription; the share was
certainly due if each member that could have been chosen certainly had to receive the message. A member with another
matching subscription may have received it for either, which the records do not show: then nothing is found. Two shares
are a fault, unless the publisher made attempts at two routers. A record without a group is of a subscription without a
group; so are all records from before routers recorded groups.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tamis.analysis.questions.matches import Flags, Ints, group_starts
from tamis.analysis.questions.standing import MUST, UNREACHABLE


@dataclass(frozen=True)
class Shares:
    """A row for each message and worker group that it satisfies."""

    message: Ints
    group: Ints
    standing: Ints
    took: Ints
    """How many members received it for certain."""
    taker: Ints
    """The row of the first of them, or -1."""
    otherwise: Flags
    """Whether one received it that has another matching subscription."""


def shared(message: Ints, group: Ints, row: Ints, standing: Ints, has_it: Flags, asks_itself: Flags) -> Shares:
    """Return the shares of groups. Each pair of a message and a member's subscription has its group, its standing, and
    the `row` of message and connection, in the order of connections. By that row: whether the connection received it,
    and whether it has a matching subscription without a group."""
    order = np.lexsort([standing, row, group, message])
    starts = order[group_starts(message[order], group[order], row[order])]
    message, group, row, standing = (column[starts] for column in (message, group, row, standing))
    starts = group_starts(message, group)
    if not len(starts):
        none = np.zeros(0, np.int64)
        return Shares(none, none, none, none, none, np.zeros(0, np.bool_))
    is_taker = has_it[row] & ~asks_itself[row]
    worst = np.maximum.reduceat(np.where(standing == UNREACHABLE, -1, standing), starts)
    beyond = len(has_it)
    first = np.minimum.reduceat(np.where(is_taker, row, beyond), starts)
    return Shares(
        message[starts],
        group[starts],
        np.where(worst < 0, UNREACHABLE, worst),
        np.add.reduceat((is_taker & (standing == MUST)).astype(np.int64), starts),
        np.where(first == beyond, -1, first),
        np.logical_or.reduceat(has_it[row] & asks_itself[row], starts),
    )
