"""The methods of a client for durable subscriptions.

Law: the signature of each call lists its arguments, which are checked before a byte is sent; `policy.py` and
`consume_options.py` check them for both clients.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from datetime import datetime
from typing import Literal

from tamis.client.connection.settings import Settings
from tamis.client.consumer import Consumer
from tamis.client.durable.consume_options import consume_options, replay_options
from tamis.client.durable.consumer_state import CREDIT
from tamis.client.durable.policy import (
    ACK_WAIT_S,
    BACKOFF_S,
    DELIVERIES,
    DURABLE_BYTES,
    IDLE,
    UNACKED,
    OverflowName,
    Start,
    durable_name,
    durable_of,
)
from tamis.client.durable.seen import IDS_MAX
from tamis.client.durable_info import DurableAt, DurableInfo, KnownRouters, durable_at, info_of, known_routers
from tamis.client.message import Message
from tamis.client.messages.pending import HOMES, decided_in
from tamis.client.old_names import OldVerbs
from tamis.client.shells.pump import Pump
from tamis.protocol.amounts import Duration, Size
from tamis.protocol.filters import Predicate
from tamis.protocol.values import Value


class DurableClient(OldVerbs, ABC):
    """The part of a client that handles durable subscriptions."""

    _settings: Settings

    @property
    @abstractmethod
    def _pump(self) -> Pump:
        """The running client; RuntimeError before the client is opened."""

    async def durable(
        self,
        name: str,
        predicate: str | Predicate,
        *,
        start: Start = "new",
        until: Literal["acked"] | None = None,
        for_: Duration | None = None,
        bytes: Size = DURABLE_BYTES,  # noqa: A002 - the name of the term
        count: int | None = None,
        overflow: OverflowName = "drop-oldest",
        idle: Duration | None = IDLE,
        ack_wait_s: Duration = ACK_WAIT_S,
        max_deliveries: int | None = DELIVERIES,
        backoff_s: Sequence[Duration] = BACKOFF_S,
        dead_letter: str | None = None,
        max_unacked: int = UNACKED,
        order_by: str | None = None,
        latest_by: str | None = None,
        homes: Sequence[str] = (),
        copies_min: int | None = None,
        space: str | None = None,
        dialect: str | None = None,
    ) -> KnownRouters:
        """Make a durable subscription: from now on the router stores messages that satisfy `predicate` on its disk,
        until a consumer attached to `name` has acknowledged them. One of this name and policy may exist already. Return
        the other routers that know it, and those that do not. DurableRefused if one of this name exists with
        another policy, or at another router as far as this one knows, or if the router has no log. Where clients
        authenticate by tokens, the durable subscription belongs to this client, which needs a name; DurableRefused if
        another client owns one of this name.

        `start`: where to start in the log: with "new" messages, at the "earliest" stored message, at a time, or after
        the message with an id. `until="acked"`, the default: store each message until it is acknowledged; `for_`: store
        it for this time, acknowledged or not. `bytes`, `count`: the most that is stored; beyond it `overflow` drops the
        oldest messages, which consumers receive as Gaps, or refuses new ones. `idle`: remove the durable subscription
        when no consumer was attached for this time; None: never. `ack_wait_s`: a message without an acknowledgement
        after this time is delivered again, after the pauses of `backoff_s`; after `max_deliveries` failed attempts it
        goes to the durable subscription `dead_letter`, or is counted as lost. `max_unacked`: the most messages that are
        delivered and not acknowledged. `order_by`: messages with equal values of this attribute go to one consumer at a
        time, in order. `latest_by`: of messages with equal values of this attribute only the newest is stored.
        `homes`: up to three routers, one of them this client's, that store all messages each; the first of them that is
        in reach serves consumers, and `lacking` of the result names those that have no copy yet. `copies_min`: how many
        of them have a message on disk when it counts as held; None: each that has a copy. `dialect`: as in `subscribe`;
        `homes` refuse what `group` refuses there.
        """
        durable = durable_of(
            name,
            decided_in(predicate, dialect, exact_for=HOMES if homes else None),
            start=start,
            until=until,
            for_=for_,
            bytes=bytes,
            count=count,
            overflow=overflow,
            idle=idle,
            ack_wait_s=ack_wait_s,
            max_deliveries=max_deliveries,
            backoff_s=backoff_s,
            dead_letter=dead_letter,
            max_unacked=max_unacked,
            order_by=order_by,
            latest_by=latest_by,
            homes=homes,
            copies_min=copies_min,
            spaces=self._settings.spaces,
            space=space,
        )
        core = self._pump.core
        asked = await self._pump.ask(lambda waiter: core.while_open.durables.create(durable, waiter))
        return known_routers(asked.known_at)

    async def remove_durable(self, name: str) -> None:
        """Remove a durable subscription and its messages; return when that is on disk. DurableRefused if it does not
        exist, or if it belongs to another client that is authenticated by a token."""
        core = self._pump.core
        name = durable_name(name)
        await self._pump.ask(lambda waiter: core.while_open.durables.remove(name, waiter))

    async def durables(self) -> list[DurableInfo]:
        """Return the durable subscriptions that this client owns at its router, by name, each with its depth, lag,
        consumers and policy. Where clients use no tokens, ownership restricts nothing and all are listed.
        DurableRefused if the router has no log."""
        core = self._pump.core
        look = await self._pump.ask(
            lambda waiter: core.while_open.durable_view.list(waiter),  # noqa: PLW0108 - looked at when `ask` begins
            core.durable_view.forget,
        )
        return [info_of(standing) for standing in look.durables]

    async def durables_elsewhere(self) -> list[DurableAt]:
        """Return the durable subscriptions of this client at other routers that its router knows of, by name and
        router. Where clients use no tokens, all are listed. DurableRefused if the router is of an earlier version."""
        core = self._pump.core
        look = await self._pump.ask(
            lambda waiter: core.while_open.durable_view.list(waiter, elsewhere=True), core.durable_view.forget
        )
        return [durable_at(stated) for stated in look.elsewhere]

    async def get(self, name: str, key: Value) -> Message | None:
        """Return the newest message of the durable subscription `name` whose `latest_by` attribute is `key`; None if it
        has none. This does not count as a delivery: consumers still receive the message. DurableRefused if the durable
        subscription does not exist, was made without `latest_by`, or is at a router that is out of reach."""
        core = self._pump.core
        look = await self._pump.ask(
            lambda waiter: core.while_open.durable_view.get(name, key, waiter), core.durable_view.forget
        )
        return look.message

    def consume(
        self,
        name: str,
        *,
        credit: int = CREDIT,
        after: int = 0,
        replay: Literal["latest"] | None = None,
        dedup: int = IDS_MAX,
    ) -> Consumer:
        """Attach a consumer to a durable subscription: `async with client.consume(...) as work`, then `async for
        message in work` and `await message.ack()`. Of several consumers, one receives each message.

        `credit`: the most messages that the router may send ahead of the application. `after`: a `position`; messages
        up to it are skipped and reported as a Gap; where clients use tokens, only the owner may skip.
        `replay="latest"`: deliver first, as history, the acknowledged messages that are still stored. `dedup`: how many
        message ids are remembered, so that no acknowledged message is yielded again; 0: yield everything that arrives.
        """
        options = consume_options(
            self._pump.core.durables, name, credit=credit, after=after, replay=replay, dedup=dedup
        )
        return Consumer(self._pump, options)

    def replay(
        self,
        predicate: str | Predicate,
        *,
        since: datetime | None = None,
        until: datetime | None = None,
        credit: int = CREDIT,
        space: str | None = None,
        dialect: str | None = None,
    ) -> Consumer:
        """Read the history in the router's log, by predicate and time: `async for message in client.replay(...)`. The
        messages are `replayed`, and are not to be acknowledged. `dialect`: as in `subscribe`."""
        options = replay_options(
            decided_in(predicate, dialect),
            since=since,
            until=until,
            credit=credit,
            spaces=self._settings.spaces,
            space=space,
        )
        return Consumer(self._pump, options)
