"""Which messages of a keep an application has been given, and which of these it has settled.

Law: a message that the application has settled is never given to it again. One that it was given on an earlier
attachment and has not settled is not given again either, since it holds that message, and what it says of it counts.
What comes again on one attachment, because no word of it came in time, is given again. A dead letter is something else
than its message, and than a letter of another keep about the same message: its identity is that of the message and its
position. The newest `most` identities are known, so that what is older may come twice; it says so by its `deliveries`.
"""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass, field
from typing import Final

from tamis.protocol.messages import MessageId

IDS_MAX: Final = 65_536
"""Identities that are remembered of one keep."""
SeenId = MessageId | tuple[MessageId, int]
"""Of a message, or of a dead letter."""


@dataclass(slots=True)
class GivenMessage:
    """A message that the application was given under position `given`: by which attachment it came last, the positions
    under which it came, and whether the application has settled it."""

    attachment: int
    given: int
    positions: set[int] = field(default_factory=set)
    is_settled: bool = False


class SeenIds:
    """The messages of one keep, for the life of the client."""

    def __init__(self, most: int = IDS_MAX) -> None:
        self.most = most
        self._given: OrderedDict[SeenId, GivenMessage] = OrderedDict()

    def hides(self, id_: SeenId, attachment: int, position: int) -> GivenMessage | None:
        """Return what is known of a message that comes and is not to be given; None: give it."""
        given = self._given.get(id_)
        if given is None:
            return None
        is_again = given.attachment == attachment and position == given.given
        given.attachment = attachment
        given.positions.add(position)
        return None if is_again and not given.is_settled else given

    def give(self, id_: SeenId, attachment: int, position: int) -> None:
        """Note that the application is given a message now."""
        given = self._given.get(id_)
        if given is None:
            given = self._given[id_] = GivenMessage(attachment, position)
            if len(self._given) > self.most:
                self._given.popitem(last=False)
        given.attachment, given.given = attachment, position
        given.positions.add(position)

    def settle(self, id_: SeenId, position: int) -> set[int]:
        """Note that the application has settled a message; return its positions, none if it had done so before."""
        given = self._given.get(id_)
        if given is None:
            return {position}
        if given.is_settled:
            return set()
        given.is_settled = True
        return given.positions | {position}

    def wants_again(self, id_: SeenId) -> None:
        """Forget a message, which the application wants to be given again."""
        self._given.pop(id_, None)
