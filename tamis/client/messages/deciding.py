"""Residual programs that the client runs itself, because its router does not.

Law: the router delivers whatever the filters of a subscription match, with the ids of subscriptions; of these ids the
ones go whose program does not let the message pass. A router that runs programs has done the same before.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING

from tamis.client.message import Message
from tamis.protocol.limits import MATCH_STEPS
from tamis.protocol.wire.client_bodies import SubscriptionItem

if TYPE_CHECKING:
    from tamis.protocol.residual import Program


class Deciding:
    """The programs of subscriptions at routers without the capability `residual`, by id. `notify` is called with a
    sentence when there is the first one of a connection."""

    def __init__(self) -> None:
        self.notify: Callable[[str], object] = lambda _: None
        self._programs: dict[int, Program] = {}

    def __bool__(self) -> bool:
        return bool(self._programs)

    def taken_over(self, batch: Iterable[SubscriptionItem]) -> tuple[SubscriptionItem, ...]:
        """Return subscriptions as such a router is asked for them, and decide about their messages from now on."""
        from tamis.protocol.residual import read_program

        asked = []
        for each in batch:
            if each.residual:
                if not self._programs:
                    self.notify(
                        "this router does not run residual programs: it sends all messages that the filters match, and "
                        "this client decides"
                    )
                self._programs[each.id] = read_program(each.residual)
            asked.append(each._replace(residual=b"", indexed=()))
        return tuple(asked)

    def forget(self, ids: Iterable[int]) -> None:
        for id_ in ids:
            self._programs.pop(id_, None)

    def clear(self) -> None:
        self._programs.clear()

    def decide(self, message: Message) -> bool:
        """Leave in `matched` the subscriptions that want the message; return whether it is for any."""
        matched = tuple(id_ for id_ in message.matched if self._passes(id_, message))
        is_wanted = bool(matched) or not message.matched
        message.matched = matched
        return is_wanted

    def _passes(self, id_: int, message: Message) -> bool:
        from tamis.protocol.residual import ResidualVerdict, run

        program = self._programs.get(id_)
        return program is None or run(program, message.attributes, MATCH_STEPS).verdict is ResidualVerdict.TRUE
