"""The client for programs without asyncio; the names are those of `client` and `subscription`, and mean the same.

    with tamis.blocking.connect("tamis://127.0.0.1:7400") as client:
        client.publish({"class": "alert", "severity": 6}, payload=b"...")
        with client.subscribe("severity > 2") as alerts:
            for message in alerts:
                ...

Law: any thread may call anything; a call waits on a future of its own, and never holds the lock while it waits.
"""

from __future__ import annotations

import os
import ssl
import time
from collections import deque
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import Future
from types import TracebackType
from typing import Literal, Never, Self, cast

from tamis.client.about import AboutClient
from tamis.client.blocking.keeping import KeepingClient
from tamis.client.blocking.responder import Responder
from tamis.client.blocking.subscription import Subscription
from tamis.client.client import DRAIN_S, WINDOW
from tamis.client.confirming import Confirm, level_of
from tamis.client.connection.callbacks import Callbacks
from tamis.client.connection.redial import REDIAL_S
from tamis.client.connection.settings import HOLD_S, INBOX_BYTES, INBOX_MESSAGES, Settings, settings_of
from tamis.client.errors import PublishRefused, PublishUnknown, Unanswered, unanswered_within
from tamis.client.gap import Gap
from tamis.client.message import Message
from tamis.client.messages.in_space import message_of
from tamis.client.messages.outbox import Unconfirmed
from tamis.client.messages.published import ABSENT, Item, OnFailed, expires_ns_of, items, payload_of
from tamis.client.messages.questions import REQUEST_S, OpenQuestion, questions_in
from tamis.client.messages.trails import TRAIL_S
from tamis.client.messages.wanted import options_of
from tamis.client.receipt import Receipt, Receipts, check_required, counted, receipt_of, required
from tamis.client.shells.blocking_pump import BlockingPump
from tamis.client.shells.other_names import all_name_others, names_of_others, names_others, without_attributes
from tamis.client.trail import AnyReport, Trail
from tamis.protocol.amounts import Duration, patience_of
from tamis.protocol.filters import Predicate
from tamis.protocol.spaces import SpaceSet
from tamis.protocol.values import Value
from tamis.protocol.wire.report_bodies import DryRunReport, TraceRecord


@names_others
def connect(
    *addresses: str,
    name: str | None = None,
    token: str | bytes | None = None,
    tls: ssl.SSLContext | None = None,
    hold_s: float = HOLD_S,
    patience_s: float = 0.0,
    inbox_bytes: int = INBOX_BYTES,
    inbox_messages: int = INBOX_MESSAGES,
    redial_s: float = REDIAL_S,
    on_connected: Callable[[str], object] | None = None,
    on_disconnected: Callable[[str], object] | None = None,
    on_gap: Callable[[Gap], object] | None = None,
    spaces: SpaceSet | Mapping[str, object] | None = None,
    outbox: str | os.PathLike[str] | None = None,
) -> Client:
    """Make a client of the first of `addresses` that answers: `with connect(...) as client`, or `connect(...).open()`.

    `patience_s`: how long to go on trying for the first connection. Later connections are tried for ever, with pauses
    of at most `redial_s`. `on_connected` is called with the router's name, `on_disconnected` with the reason, `on_gap`
    with each Gap, in the client's
    own thread, where nothing may wait.
    """
    settings = settings_of(
        addresses,
        name=name,
        token=token,
        tls=tls,
        hold_s=hold_s,
        inbox_bytes=inbox_bytes,
        inbox_messages=inbox_messages,
        redial_s=redial_s,
        patience_s=patience_s,
        callbacks=Callbacks(on_connected, on_disconnected, on_gap),
        spaces=spaces,
        outbox=outbox,
    )
    return Client(settings)


@all_name_others
class Client(AboutClient, KeepingClient):
    """A client, made by `connect`."""

    _MODULE = "tamis.blocking"

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._running: BlockingPump | None = None

    def open(self) -> Self:
        """Connect; ConnectFailed or NotAdmitted if that fails."""
        if self._running is None:
            self._running = BlockingPump(self._settings)
            self._outbox = self._running.core.outbox
            try:
                self._running.opened.result()
            except BaseException:
                self._running.stop()
                raise
        return self

    def close(self, drain_s: float = DRAIN_S) -> None:
        """Drain for at most `drain_s`, then end the connection. What is not answered by then is unknown."""
        if self._running is None:
            return
        try:
            self._drain(drain_s)
        except TimeoutError:
            pass  # said in the documentation: what is left fails now
        finally:
            self._running.stop()

    def __enter__(self) -> Self:
        return self.open()

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, _: TracebackType | None) -> None:
        self.close(DRAIN_S if kind is None else 0.0)

    @without_attributes
    def publish(
        self,
        attributes: Mapping[str, Value],
        payload: bytes = b"",
        *,
        json: object = ABSENT,
        confirm: Confirm = False,
        retry: bool = False,
        space: str | None = None,
        ttl_s: Duration | None = None,
        require_stored: bool = False,
        **others: Never,
    ) -> Receipt:
        """Publish a message, and return its id, a Receipt; see `tamis.Client.publish`."""
        if others:
            raise names_of_others("publish", others, Client.publish)
        if space is not None:
            attributes = self._of_space(attributes, space)
        if json is not ABSENT:
            payload = payload_of(payload, json)
        is_plain = not (confirm or retry or ttl_s is not None or require_stored)
        id_ = self._try(attributes, payload) if is_plain else None
        if id_ is None:
            check_required(confirm, require_stored=require_stored)
            begun = self._begin(attributes, payload, confirm=confirm, retry=retry, ttl_s=ttl_s)
            return required(self._receipt(*begun), require_stored=require_stored)
        return id_

    def publish_again(self, refused: PublishRefused) -> Receipt:
        """Send a message that was refused once more; see `tamis.Client.publish_again`."""
        waiter: Future[None] = Future()
        with self._pump.lock:
            message = self._outbox.publish_again(refused, waiter)
            self._pump.written()
        return self._receipt(message, waiter)

    @without_attributes
    def try_publish(
        self,
        attributes: Mapping[str, Value],
        payload: bytes = b"",
        *,
        json: object = ABSENT,
        space: str | None = None,
        **others: Never,
    ) -> Receipt | None:
        """Publish without waiting, and return the message's id; None, and nothing is done, where credit or room is used
        up or no router is connected."""
        if others:
            raise names_of_others("try_publish", others, Client.try_publish)
        id_ = self._try(self._of_space(attributes, space), payload_of(payload, json))
        if id_ is None:
            self._outbox.check_open()
        return id_

    def publish_many(
        self,
        messages: Iterable[Item],
        *,
        confirm: Confirm = False,
        retry: bool = False,
        space: str | None = None,
        ttl_s: Duration | None = None,
        require_stored: bool = False,
        on_failed: OnFailed | None = None,
    ) -> Receipts:
        """Publish all of `messages`, in order, and return how many were published; see `tamis.Client.publish_many`."""
        check_required(confirm, require_stored=require_stored)
        if not (confirm or retry):
            count = 0
            for attributes, payload in items(messages):
                self.publish(attributes, payload, space=space, ttl_s=ttl_s)
                count += 1
            return Receipts(count)
        waiting: deque[tuple[Unconfirmed, Future[None]]] = deque()
        receipts = Receipts()

        def wait_for(begun: tuple[Unconfirmed, Future[None]]) -> Receipts:
            try:
                return counted(receipts, required(self._receipt(*begun), require_stored=require_stored))
            except (PublishRefused, PublishUnknown) as failed:
                if on_failed is None:
                    raise
                on_failed(failed)
                return receipts

        for attributes, payload in items(messages):
            own = self._of_space(attributes, space)
            waiting.append(self._begin(own, payload, confirm=confirm, retry=retry, ttl_s=ttl_s))
            if len(waiting) == WINDOW:
                receipts = wait_for(waiting.popleft())
        for begun in waiting:
            receipts = wait_for(begun)
        return receipts

    def trace(
        self,
        attributes: Mapping[str, Value],
        payload: bytes = b"",
        *,
        timeout_s: float = TRAIL_S,
        space: str | None = None,
    ) -> Trail[TraceRecord]:
        """Publish a message, and follow it; see `tamis.Client.trace`."""
        return self._follow(TraceRecord, self._of_space(attributes, space), payload, timeout_s)

    def route(
        self, attributes: Mapping[str, Value], *, timeout_s: float = TRAIL_S, space: str | None = None
    ) -> Trail[DryRunReport]:
        """Ask where a message would go and to whom; see `tamis.Client.route`."""
        return self._follow(DryRunReport, self._of_space(attributes, space), b"", timeout_s)

    def request(
        self,
        attributes: Mapping[str, Value],
        payload: bytes = b"",
        *,
        json: object = ABSENT,
        timeout_s: float = REQUEST_S,
    ) -> Message:
        """Publish a question, and return the first answer that somebody gives; see `tamis.Client.request`."""
        pump, end_s, payload = (
            self._pump,
            time.monotonic() + patience_of("timeout_s", timeout_s),
            payload_of(payload, json),
        )
        questions = pump.core.questions
        ready: Future[None] = Future()
        waiter: Future[None] = Future()
        asked: OpenQuestion | None = None
        try:
            if not questions.is_open:
                with pump.lock:
                    questions.open(ready)
                    pump.written()
                pump.wait(ready, timeout_s)
            with pump.lock:
                asked = questions.ask(attributes, payload, time.time_ns(), waiter)
                pump.written()
            pump.wait(waiter, max(0.0, end_s - time.monotonic()))
        except Unanswered:
            raise
        except TimeoutError:
            raise unanswered_within(timeout_s) from None
        finally:
            with pump.lock:
                ready.cancel()
                waiter.cancel()  # it is not sent any more
                if asked is not None:
                    questions.forget(asked)
        return cast("Message", asked.answer)

    def respond(
        self, *predicates: str | Predicate, group: str | None = None, wait: Literal["home", "network"] = "network"
    ) -> Responder:
        """Make a responder to questions that satisfy one of `predicates`; see `tamis.Client.respond`."""
        wanted = tuple(questions_in(predicate, self._settings.spaces) for predicate in predicates)
        return Responder(Subscription(self._pump, wanted, options_of(True, wait, group)), self.publish)

    def subscribe(
        self,
        *predicates: str | Predicate,
        own_messages: bool = False,
        wait: Literal["home", "network"] = "home",
        group: str | None = None,
        space: str | None = None,
    ) -> Subscription:
        """Make a subscription to messages that satisfy one of `predicates`; see `tamis.Client.subscribe`."""
        options = options_of(own_messages, wait, group, self._settings.spaces, space)
        return Subscription(self._pump, predicates, options)

    def drain(self) -> None:
        """Begin nothing new, and finish what was begun; see `tamis.Client.drain`."""
        self._drain(None)

    def _drain(self, timeout_s: float | None) -> None:
        waiter: Future[None] = Future()
        pump = self._pump
        with pump.lock:
            pump.core.drain(waiter, round(DRAIN_S * 1000))
            pump.written()
        pump.wait(waiter, timeout_s)

    def _try(self, attributes: Mapping[str, Value], payload: bytes) -> Receipt | None:
        pump = self._pump
        with pump.lock:
            id_ = self._outbox.try_publish(attributes, payload, time.time_ns())
            if id_ is not None:
                pump.written()
            return id_

    def _begin(
        self,
        attributes: Mapping[str, Value],
        payload: bytes,
        *,
        confirm: Confirm,
        retry: bool,
        ttl_s: Duration | None,
    ) -> tuple[Unconfirmed, Future[None]]:
        waiter: Future[None] = Future()
        is_confirmed, is_durable = level_of(confirm)
        now_ns = time.time_ns()
        expires_ns = expires_ns_of(ttl_s, now_ns)
        with self._pump.lock:
            message = self._outbox.publish(
                *(attributes, payload, now_ns, waiter),
                confirm=is_confirmed or retry,  # without an answer it is not known when to stop
                retry=retry,
                durable=is_durable,
                expires_ns=expires_ns,
            )
            self._pump.written()
        return message, waiter

    def _receipt(self, message: Unconfirmed, waiter: Future[None]) -> Receipt:
        """Wait until it is answered."""
        self._pump.wait(waiter)
        return receipt_of(message.id, message.is_stored)

    def _of_space(self, attributes: Mapping[str, Value], space: str | None) -> Mapping[str, Value]:
        return attributes if space is None else message_of(attributes, space, self._settings.spaces)

    def _follow(
        self, of: type[AnyReport], attributes: Mapping[str, Value], payload: bytes, timeout_s: float
    ) -> Trail[AnyReport]:
        taken: Future[None] = Future()
        complete: Future[None] = Future()
        pump, end_s = self._pump, time.monotonic() + patience_of("timeout_s", timeout_s)
        with pump.lock:
            trail = pump.core.trails.begin(of, attributes, payload, time.time_ns(), taken, complete)
            pump.written()
        try:
            for waiter in (taken, complete):
                pump.wait(waiter, max(0.0, end_s - time.monotonic()))
        except TimeoutError:
            pass  # said in the documentation: the trail is as long as it is
        finally:
            with pump.lock:
                taken.cancel()  # it is not sent any more
                pump.core.trails.end(trail)
        return trail

    @property
    def _pump(self) -> BlockingPump:
        if self._running is None:
            raise RuntimeError("connect first: `with tamis.blocking.connect(...) as client:`")
        return self._running
