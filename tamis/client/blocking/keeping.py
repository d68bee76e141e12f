"""Generated from tamis/client/keeping.py by `python -m tests.client.generate`; do not edit."""

# ruff: noqa: A002, PLW0108
from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from datetime import datetime
from typing import Literal

from tamis.client.blocking.attachment import Attachment
from tamis.client.connection.settings import Settings
from tamis.client.durable.attach_options import attach_options, replay_options
from tamis.client.durable.attached import CREDIT
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
from tamis.client.shells.blocking_pump import BlockingPump
from tamis.protocol.amounts import Duration, Size
from tamis.protocol.filters import Predicate
from tamis.protocol.values import Value


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
        bytes: Size = KEEP_BYTES,
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
        """Make a keep: from now on the router keeps on its disk what satisfies `predicate`, until somebody who attaches
        under `name` has acknowledged it. A keep of this name with these terms may be there already; KeepRefused if it
        has others, or the router keeps nothing. Where clients show tokens it belongs to this client, which needs a
        name; KeepRefused if the name is taken.

        `start`: "new" messages only, the "earliest" that its log has, those since a time, or those after a message's
        id. `until="acked"`, which is the default, or `for_` so long, acknowledged or not. `bytes`, `count`: what is
        kept at most; past it `overflow` drops the oldest, which consumers are told, or refuses messages. `idle`: the
        keep is forgotten when nobody was attached for so long; None: never. `ack_wait_s`: when no word comes in so
        long, a message is given out again, after the pauses of `backoff_s`; after `max_deliveries` attempts that failed
        it goes to the keep `dead_letter`, or is counted as lost. `max_unacked`: messages that are given out at a time.
        `order_by`: of this attribute, equal values go to one consumer at a time, in order. `latest_by`: of equal values
        only the newest is kept.
        """
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
        core = self._pump.core
        self._pump.ask(lambda waiter: core.while_open.kept.keep(keep, waiter))

    def forget(self, name: str) -> None:
        """End a keep, and let go of what is kept for it; return when that is on disk. KeepRefused if there is none, or
        if it belongs to another client that has shown a token."""
        core = self._pump.core
        name = keep_name(name)
        self._pump.ask(lambda waiter: core.while_open.kept.forget(name, waiter))

    def keeps(self) -> list[KeepInfo]:
        """Return the kept subscriptions that this client owns at its router, by name: how many messages wait, for how
        long, for how many consumers, and the terms. Where clients show no tokens owners bind nobody, and all are
        listed. KeepRefused if the router keeps nothing."""
        core = self._pump.core
        look = self._pump.ask(lambda waiter: core.while_open.kept_view.list(waiter), core.kept_view.forget)
        return [info_of(standing) for standing in look.keeps]

    def get(self, name: str, key: Value) -> Message | None:
        """Return the newest message that the keep `name` has of those whose `latest_by` attribute is `key`; None if it
        has none. Nothing is given out by that: consumers get the message as before. KeepRefused if there is no such
        keep, or it was made without `latest_by`."""
        core = self._pump.core
        look = self._pump.ask(lambda waiter: core.while_open.kept_view.get(name, key, waiter), core.kept_view.forget)
        return look.message

    def attach(
        self,
        name: str,
        *,
        credit: int = CREDIT,
        after: int = 0,
        replay: Literal["latest"] | None = None,
        dedup: int = IDS_MAX,
    ) -> Attachment:
        """Attach to a keep: `with client.attach(...) as work`, then `for message in work` and
        `message.ack(confirm=True)`. Of several that are attached, each message goes to one.

        `credit`: messages that the router may send ahead of the application. `after`: a `position`; what the keep
        has up to there is passed over, and told as a Gap; with tokens only the owner may. `replay="latest"`: first,
        as history, what is acknowledged and kept on. `dedup`: how many ids of messages are remembered, so that none
        that was acknowledged is yielded again; 0: all that comes is yielded.
        """
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
        """Read the history that the router's log holds, by predicate and time: `for message in client.replay(...)`.
        What it yields is `replayed`, and is not acknowledged."""
        options = replay_options(
            predicate, since=since, until=until, credit=credit, spaces=self._settings.spaces, space=space
        )
        return Attachment(self._pump, options)
