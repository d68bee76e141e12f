"""Read requests about durable subscriptions: list them, and get the newest message for a key.

Law: a read changes nothing at the router, so a request without an answer is sent again after a cut. What waits here is
bounded by the calls that wait for it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from itertools import count
from typing import Final

from tamis.client.durable.policy import durable_name
from tamis.client.errors import ClientClosed, DurableRefused
from tamis.client.message import Message
from tamis.client.messages.inbox import PassingBox
from tamis.client.messages.registry import Registry
from tamis.client.messages.waiter import Waiter, settle
from tamis.protocol.values import Value
from tamis.protocol.wire.attributes import encode_attributes
from tamis.protocol.wire.client_bodies import Ack, AckOf, Refusal
from tamis.protocol.wire.codes import RefusalCode
from tamis.protocol.wire.durable_bodies import (
    GET_VALUE,
    DurableElsewhere,
    DurablesListed,
    DurableStatus,
    Get,
    ListDurables,
)
from tamis.protocol.wire.frames import Body

NOT_SHOWN: Final = (
    "this router cannot list durable subscriptions or return their newest messages: it is of an earlier version"
)
NOT_ELSEWHERE: Final = "this router cannot list durable subscriptions of other routers: it is of an earlier version"


@dataclass(eq=False, slots=True)
class Look:
    """A request and, once it has arrived, its answer: the durable subscriptions, or the newest message."""

    ask: ListDurables | Get
    waiter: Waiter
    durables: list[DurableStatus] = field(default_factory=list)
    elsewhere: list[DurableElsewhere] = field(default_factory=list)
    message: Message | None = None


class DurableView:
    """The read requests of one client. `send` appends a control frame to the output."""

    def __init__(self, registry: Registry, send: Callable[[Body], None]) -> None:
        self._registry = registry
        self._send = send
        self._numbers = count(1)
        self._looks: dict[int, Look] = {}
        self._is_open = self._is_known = self._lists_elsewhere = False

    @property
    def awaits_answer(self) -> bool:
        return bool(self._looks)

    # --- commands of the user ------------------------------------------------------------------------------------

    def list(self, waiter: Waiter, *, elsewhere: bool = False) -> Look:
        """Request all durable subscriptions of this client, at its router or `elsewhere`; settle `waiter` when they
        have arrived."""
        return self._begin(Look(ListDurables(next(self._numbers), "", elsewhere), waiter))

    def get(self, name: str, key: Value, waiter: Waiter) -> Look:
        """Request the newest message of `key` in the durable subscription `name`; settle `waiter` when the router has
        answered."""
        attributes = encode_attributes({GET_VALUE: key})
        ask = Get(next(self._numbers), self._registry.next_id(), durable_name(name), attributes)
        look = Look(ask, waiter)

        def take(message: Message) -> None:
            look.message = message

        self._registry.claim(ask.id, PassingBox(self._registry.bounds, self._registry.full, take))
        return self._begin(look)

    def forget(self, look: Look) -> None:
        """Ignore the answer to `look`, whose call has ended."""
        self._looks.pop(look.ask.request, None)
        if isinstance(look.ask, Get):
            self._registry.release(look.ask.id)

    # --- what the connection does --------------------------------------------------------------------------------

    def opened(self, *, is_known: bool, lists_elsewhere: bool = False) -> None:
        """Send again the requests without an answer; `is_known`: this router supports such requests, and with
        `lists_elsewhere` also those about other routers."""
        self._is_open, self._is_known, self._lists_elsewhere = True, is_known, lists_elsewhere
        for look in list(self._looks.values()):
            look.message = None
            self._ask(look)

    def cut(self) -> None:
        self._is_open = False

    def closed(self, error: Exception | None) -> None:
        for look in list(self._looks.values()):
            self._end(look, error or ClientClosed("the client is closed"))

    def listed(self, listed: DurablesListed) -> None:
        """Add the listed durable subscriptions, and request the next ones."""
        look = self._looks.get(listed.request)
        if look is None or not isinstance(look.ask, ListDurables):
            return
        look.durables += listed.durables
        look.elsewhere += listed.elsewhere
        last = listed.durables[-1].name if listed.durables else listed.upto
        if listed.more and last:
            look.ask = replace(look.ask, after=last)
            self._send(look.ask)
        else:
            self._end(look)

    def answer(self, ack: Ack) -> None:
        """Process the router's answer; ignore one to a request whose call has ended."""
        look = self._looks.get(ack.request)
        refusal = ack.refusals[0] if ack.refusals else None
        if refusal is not None and refusal.code == RefusalCode.DRAINING:
            return  # this router drains: the next connection answers
        if look is not None and (ack.of is AckOf.GET) is isinstance(look.ask, Get):
            self._end(look, None if refusal is None else DurableRefused(refusal))

    # --- steps ---------------------------------------------------------------------------------------------------

    def _begin(self, look: Look) -> Look:
        self._looks[look.ask.request] = look
        if self._is_open:
            self._ask(look)
        return look

    def _ask(self, look: Look) -> None:
        is_elsewhere = isinstance(look.ask, ListDurables) and look.ask.elsewhere
        if self._lists_elsewhere if is_elsewhere else self._is_known:
            self._send(look.ask)
        else:
            reason = NOT_ELSEWHERE if is_elsewhere else NOT_SHOWN
            self._end(look, DurableRefused(Refusal(0, RefusalCode.NO_LOG, reason)))

    def _end(self, look: Look, error: Exception | None = None) -> None:
        self.forget(look)
        settle(look.waiter, error)
