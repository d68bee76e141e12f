"""What a client asks about kept subscriptions, without an event loop.

Law: each call says what it takes in its signature, and checks it before a byte goes out; `terms.py` and
`attach_options.py` do that for both clients.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from datetime import datetime
from typing import TYPE_CHECKING, Literal

from tamis.client.blocking.attachment import Attachment
from tamis.client.durable.attach_options import attach_options, replay_options
from tamis.client.durable.attached import CREDIT
from tamis.client.durable.kept_view import KeptView, Look
from tamis.client.durable.seen import IDS_MAX
from tamis.client.durable.terms import (
    ACK_WAIT_S,
    BACKOFF_S,
    DELIVERIES,
    IDLE,
    KEEP_BYTES,
    UNACKED,
    OverflowName,
    Start,
    keep_name,
    keep_of,
)
from tamis.client.keep_info import KeepInfo, info_of
from tamis.client.message import Message
from tamis.protocol.amounts import Duration, Size
from tamis.protocol.filters import Predicate
from tamis.protocol.values import Value

if TYPE_CHECKING:
    from tamis.client.connection.settings import Settings
    from tamis.client.shells.blocking_pump import BlockingPump


class KeepingClient(ABC):
    """The part of a client that is about kept subscriptions."""

    _settings: Settings

    @property
    @abstractmethod
    def _pump(self) -> BlockingPump:
        """What moves the bytes; RuntimeError before the client is opened."""

    def keep(
        self,
        name: str,
        predicate: str | Predicate,
        *,
        start: Start = "new",
        until: Literal["acked"] | None = None,
        for_: Duration | None = None,
        bytes: Size = KEEP_BYTES,  # noqa: A002 - the name of the term
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
        space: str | None = None,
    ) -> None:
        """Make a keep; see `tamis.Client.keep`."""
        keep = keep_of(
            name,
            predicate,
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
            spaces=self._settings.spaces,
            space=space,
        )
        waiter: Future[None] = Future()
        with self._pump.lock:
            self._pump.core.outbox.check_open()
            self._pump.core.kept.keep(keep, waiter)
            self._pump.written()
        self._pump.wait(waiter)

    def forget(self, name: str) -> None:
        """End a keep, and let go of what is kept for it; return when that is on disk. KeepRefused if there is none."""
        name = keep_name(name)
        waiter: Future[None] = Future()
        with self._pump.lock:
            self._pump.core.outbox.check_open()
            self._pump.core.kept.forget(name, waiter)
            self._pump.written()
        self._pump.wait(waiter)

    def keeps(self) -> list[KeepInfo]:
        """Return the kept subscriptions that this client owns at its router; see `tamis.Client.keeps`."""
        waiter: Future[None] = Future()
        return [info_of(standing) for standing in self._looked(waiter, lambda view: view.list(waiter)).keeps]

    def get(self, name: str, key: Value) -> Message | None:
        """Return the newest message of `key` in the keep `name`; see `tamis.Client.get`."""
        waiter: Future[None] = Future()
        return self._looked(waiter, lambda view: view.get(name, key, waiter)).message

    def _looked(self, waiter: Future[None], ask: Callable[[KeptView], Look]) -> Look:
        """Ask, and wait for the answer."""
        pump = self._pump
        with pump.lock:
            pump.core.outbox.check_open()
            look = ask(pump.core.kept_view)
            pump.written()
        try:
            pump.wait(waiter)
        finally:
            with pump.lock:
                pump.core.kept_view.forget(look)
        return look

    def attach(
        self,
        name: str,
        *,
        credit: int = CREDIT,
        after: int = 0,
        replay: Literal["latest"] | None = None,
        dedup: int = IDS_MAX,
    ) -> Attachment:
        """Attach to a keep: `with client.attach(...) as work`, then `for message in work` and `message.ack()`; see
        `tamis.Client.attach`."""
        options = attach_options(self._pump.core.kept, name, credit=credit, after=after, replay=replay, dedup=dedup)
        return Attachment(self._pump, options)

    def replay(
        self,
        predicate: str | Predicate,
        *,
        since: datetime | None = None,
        until: datetime | None = None,
        credit: int = CREDIT,
        space: str | None = None,
    ) -> Attachment:
        """Read the history that the router's log holds; see `tamis.Client.replay`."""
        options = replay_options(
            predicate, since=since, until=until, credit=credit, spaces=self._settings.spaces, space=space
        )
        return Attachment(self._pump, options)
