"""Generated from tamis/client/client.py by `python -m tests.client.generate`; do not edit."""

from __future__ import annotations

import os
import ssl
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from time import monotonic, time_ns
from types import TracebackType
from typing import Literal, Never, Self, cast

from tamis.client.about import AboutClient
from tamis.client.blocking.keeping import KeepingClient
from tamis.client.blocking.responder import Responder
from tamis.client.blocking.subscription import Subscription
from tamis.client.confirming import Confirm, level_of
from tamis.client.connection.callbacks import Callbacks
from tamis.client.connection.redial import REDIAL_S
from tamis.client.connection.settings import HOLD_S, INBOX_BYTES, INBOX_MESSAGES, Settings, described, settings_of
from tamis.client.errors import PublishRefused, PublishUnknown, Unanswered, unanswered_within
from tamis.client.gap import Gap
from tamis.client.message import Message
from tamis.client.messages.in_space import message_of
from tamis.client.messages.outbox import Unconfirmed
from tamis.client.messages.published import ABSENT, Item, OnFailed, expires_ns_of, items, payload_of
from tamis.client.messages.questions import REQUEST_S, questions_in
from tamis.client.messages.trails import TRAIL_S
from tamis.client.messages.waiter import Waiter
from tamis.client.messages.wanted import options_of
from tamis.client.receipt import Receipt, Receipts, check_required, counted, receipt_of, required
from tamis.client.shells.blocking_pump import BlockingPump
from tamis.client.shells.dialling import DRAIN_S, WINDOW
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

    `patience_s`: how long to go on trying for the first connection. Later connections are tried for ever, with
    pauses of at most `redial_s`. `on_connected` is called with the router's name, `on_disconnected` with the reason,
    `on_gap` with each Gap, in the client's own thread, where nothing may wait. `spaces` says what may be named by
    `space=` and before predicates: a mapping of names to what a topology file says of each. `outbox`: a file that
    holds what is to be confirmed until it is, so that it survives this program; for a client with a `name`, one
    process at a time.
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
    """A client, made by `connect`, for the threads of one program."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._running: BlockingPump | None = None

    def open(self) -> Self:
        """Connect; ConnectFailed or NotAdmitted if that fails."""
        if self._running is None:
            self._running = BlockingPump(self._settings)
            try:
                self._running.until_open()
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
            pass
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
        """Publish a message, with a payload of bytes or of something to say in JSON, and return its id, a Receipt.

        Without `confirm` return when the message is on its way, which may wait for the router's credit. With True or
        "accepted", return when the router has taken the message, with "kept" when it is on the router's disk or no keep
        there wants it, with "held" when it is on the disks of all who keep it: PublishRefused if the router refuses,
        PublishUnknown if the connection was cut before it answered. With "kept" and "held", `is_stored` of the receipt
        says whether a keep has the message; with `require_stored`, NotStored is raised unless one has it. With `retry`
        the message is sent again after a cut, under the same id, until there is an answer. With `space` the message is
        one of that space: Refused if it does not fit, as far as the space is known here. After `ttl_s` nobody gets it
        any more: routers and keeps drop it, and tell a gap.
        """
        if others:
            raise names_of_others("publish", others, Client.publish)
        pump = self._running or self._pump
        if space is not None:
            attributes = self._of_space(attributes, space)
        if json is not ABSENT:
            payload = payload_of(payload, json)
        is_plain = not (confirm or retry or ttl_s is not None or require_stored)
        id_ = pump.sender.try_publish(attributes, payload, time_ns()) if is_plain else None
        if id_ is None:
            check_required(confirm, require_stored=require_stored)
            message = pump.ask(partial(self._take_over, attributes, payload, confirm, retry, ttl_s))
            return required(receipt_of(message.id, message.is_stored), require_stored=require_stored)
        return id_

    def publish_again(self, refused: PublishRefused) -> Receipt:
        """Send a message that was refused once more, under the id that it had, and return its receipt when the router
        has taken it. After LOG_FULL it goes to those keeps alone that had no room, so that nobody gets it twice:
        PublishRefused again while one of them has none."""
        pump = self._pump
        message = pump.ask(lambda waiter: pump.outbox.publish_again(refused, waiter))
        return receipt_of(message.id, message.is_stored)

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
        pump = self._running or self._pump
        attributes = self._of_space(attributes, space)
        id_ = pump.sender.try_publish(attributes, payload_of(payload, json), time_ns())
        if id_ is None:
            pump.outbox.check_open()
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
        """Publish all of `messages`, in order, with `space` all as messages of that space, each to be dropped after
        `ttl_s`, and return how many were published, and how many are stored. With `confirm`, the first failure is
        raised, with `require_stored` also the first that no keep is known to have; messages after it may be sent. With
        `on_failed` no PublishRefused and no PublishUnknown is raised: the function gets each of them."""
        check_required(confirm, require_stored=require_stored)
        if not (confirm or retry):
            count = 0
            for attributes, payload in items(messages):
                self.publish(attributes, payload, space=space, ttl_s=ttl_s)
                count += 1
            return Receipts(count)
        begins = (
            partial(self._take_over, self._of_space(attributes, space), payload, confirm, retry, ttl_s)
            for attributes, payload in items(messages)
        )
        receipts = Receipts()
        for message in self._pump.ask_each(begins, WINDOW):
            if on_failed is not None and isinstance(message, PublishRefused | PublishUnknown):
                on_failed(message)
            elif isinstance(message, BaseException):
                raise message
            else:
                receipt = receipt_of(message.id, message.is_stored)
                receipts = counted(receipts, required(receipt, require_stored=require_stored))
        return receipts

    def trace(
        self,
        attributes: Mapping[str, Value],
        payload: bytes = b"",
        *,
        timeout_s: float = TRAIL_S,
        space: str | None = None,
    ) -> Trail[TraceRecord]:
        """Publish a message, confirmed, and return what each router that it passed did with it.

        This returns when all have answered, or after `timeout_s`; see `Trail.is_complete`.
        """
        return self._follow(TraceRecord, self._of_space(attributes, space), payload, timeout_s)

    def route(
        self, attributes: Mapping[str, Value], *, timeout_s: float = TRAIL_S, space: str | None = None
    ) -> Trail[DryRunReport]:
        """Return where a message would go and to whom: as a `trace` does, with nothing delivered."""
        return self._follow(DryRunReport, self._of_space(attributes, space), b"", timeout_s)

    def request(
        self,
        attributes: Mapping[str, Value],
        payload: bytes = b"",
        *,
        json: object = ABSENT,
        timeout_s: float = REQUEST_S,
    ) -> Message:
        """Publish a question, and return the first answer that somebody gives; see `respond`.

        Unanswered if there is none after `timeout_s`: the question, its answer or the responder was lost, or a
        subscriber that does not answer took it. Unanswered at once if the router, which is in step with its neighbours,
        knows of no subscriber, responder or keep for it.
        """
        pump = self._pump
        questions = pump.core.questions
        deadline = monotonic() + patience_of("timeout_s", timeout_s)
        payload = payload_of(payload, json)
        try:
            if not questions.is_open:
                pump.ask(questions.open, timeout_s=timeout_s)
            asked = pump.ask(
                lambda waiter: questions.ask(attributes, payload, time_ns(), waiter),
                questions.forget,
                max(0.0, deadline - monotonic()),
            )
        except Unanswered:
            raise
        except TimeoutError:
            raise unanswered_within(timeout_s) from None
        return cast("Message", asked.answer)

    def respond(
        self, *predicates: str | Predicate, group: str | None = None, wait: Literal["home", "network"] = "network"
    ) -> Responder:
        """Make a responder to questions that satisfy one of `predicates`: `with client.respond(...) as questions`, then
        `for question in questions: question.answer(...)`. `group`: as in `subscribe`, each question to one
        responder. It is active when every router within reach has it, so that a question that is asked from then on,
        at any of them, comes here; `wait="home"`: when this client's router has it."""
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
        """Make a subscription to messages that satisfy one of `predicates`, each of which gets an id: `with
        client.subscribe(...) as messages`.

        `own_messages`: also receive what this client publishes itself. `wait`: subscribing waits until the router
        has the subscription, or every router within reach. `group`: of each message that satisfies them, one of the
        subscriptions that name this group, at whatever routers, gets a copy. `space`: what the predicates are about,
        one of those that `connect` was told of.
        """
        options = options_of(own_messages, wait, group, self._settings.spaces, space)
        return Subscription(self._pump, predicates, options)

    def drain(self) -> None:
        """Begin nothing new, and finish what was begun. On return the router has read all that was published and
        answered what was to be confirmed; the iterators end when they have yielded what arrived until then."""
        self._drain(None)

    def __repr__(self) -> str:
        return f"<tamis.blocking.Client {described(self.name, self.router, self.address)}>"

    def _drain(self, timeout_s: float | None) -> None:
        core = self._pump.core
        self._pump.ask(lambda waiter: core.drain(waiter, round(DRAIN_S * 1000)), timeout_s=timeout_s)

    def _take_over(
        self,
        attributes: Mapping[str, Value],
        payload: bytes,
        confirm: Confirm,
        retry: bool,
        ttl_s: Duration | None,
        waiter: Waiter,
    ) -> Unconfirmed:
        """Have the core take over a message; settle `waiter` when it is sent, or as `confirm` says."""
        is_confirmed, is_durable = level_of(confirm)
        now_ns = time_ns()
        return self._pump.outbox.publish(
            *(attributes, payload, now_ns, waiter),
            confirm=is_confirmed or retry,
            retry=retry,
            durable=is_durable,
            expires_ns=expires_ns_of(ttl_s, now_ns),
        )

    def _of_space(self, attributes: Mapping[str, Value], space: str | None) -> Mapping[str, Value]:
        return attributes if space is None else message_of(attributes, space, self._settings.spaces)

    def _follow(
        self, of: type[AnyReport], attributes: Mapping[str, Value], payload: bytes, timeout_s: float
    ) -> Trail[AnyReport]:
        trails = self._pump.core.trails
        return self._pump.follow(
            lambda taken, complete: trails.begin(of, attributes, payload, time_ns(), taken, complete),
            trails.end,
            patience_of("timeout_s", timeout_s),
        )

    @property
    def _pump(self) -> BlockingPump:
        if self._running is None:
            raise RuntimeError("connect first: `with tamis.blocking.connect(...) as client:`")
        return self._running
