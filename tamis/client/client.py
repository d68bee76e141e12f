"""The client for asyncio.

    async with tamis.connect("tamis://127.0.0.1:7400") as client:
        await client.publish({"class": "alert", "severity": 6}, payload=b"...")
        async with client.subscribe("severity > 2") as alerts:
            async for message in alerts:
                ...

Law: a call that returns without `await`ing anything has made no task and no future, which keeps publishing fast.
"""

from __future__ import annotations

import asyncio
import os
import ssl
from collections.abc import Callable, Generator, Iterable, Mapping
from functools import partial
from time import monotonic, time_ns
from types import TracebackType
from typing import Literal, Never, Self, cast

from tamis.client.about import AboutClient
from tamis.client.confirming import Confirm, level_of
from tamis.client.connection.callbacks import Callbacks
from tamis.client.connection.credential import Token
from tamis.client.connection.redial import REDIAL_S
from tamis.client.connection.settings import HOLD_S, INBOX_BYTES, INBOX_MESSAGES, Settings, described, settings_of
from tamis.client.durables import DurableClient
from tamis.client.errors import PublishRefused, PublishUnknown, Unanswered, unanswered_within
from tamis.client.gap import Gap
from tamis.client.message import Message
from tamis.client.messages.in_space import message_of
from tamis.client.messages.outbox import Unconfirmed
from tamis.client.messages.pending import GROUP, decided_in, options_of
from tamis.client.messages.published import ABSENT, Item, OnFailed, expires_ns_of, items, payload_of
from tamis.client.messages.questions import REQUEST_S, questions_in
from tamis.client.messages.trails import TRAIL_S
from tamis.client.messages.waiter import Waiter
from tamis.client.receipt import Receipt, Receipts, check_required, counted, receipt_of, required
from tamis.client.responder import Responder
from tamis.client.shells.dialling import DRAIN_S, FLUSH_BYTES, WINDOW
from tamis.client.shells.other_names import all_name_others, names_of_others, names_others, without_attributes
from tamis.client.shells.pump import Pump
from tamis.client.subscription import Subscription
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
    token: str | Token = None,
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
    """Make a client, to be opened by `async with connect(...) as client` or by `await connect(...)`. It connects to the
    first of `addresses` that answers.

    `token`: a token of this name, or a signed one (JWT), or a function that returns one, which is called for each
    connection and again before a signed token expires. `hold_s`: a connection over which nothing arrives for this time
    counts as dead. `patience_s`: how long to retry the first connection. After a later cut the client reconnects
    without limit, with pauses of at most `redial_s`. Functions are called in the loop's thread: `token`, `on_connected`
    with the router's name, `on_disconnected` with the reason, `on_gap` with each Gap. `spaces` defines the spaces that
    `space=` and predicates may name: a mapping of names to the definitions that a topology file would hold. `outbox`: a
    file that stores messages to be confirmed until they are confirmed, which makes them survive this program; it
    requires a `name`, and one process at a time may use it.
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
class Client(AboutClient, DurableClient):
    """A client, made by `connect`, for the tasks of one event loop."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._running: Pump | None = None

    async def open(self) -> Self:
        """Connect. ConnectFailed if no address answers; NotAdmitted if the router does not admit this client."""
        if self._running is None:
            self._running = Pump(self._settings)
            try:
                await self._running.until_open()
            except BaseException:
                await self._running.stop()
                raise
        return self

    async def close(self, drain_s: float = DRAIN_S) -> None:
        """Drain for at most `drain_s`, then close the connection. The outcome of whatever has no answer by then is
        unknown."""
        if self._running is None:
            return
        try:
            await self._drain(drain_s)
        except TimeoutError:
            pass  # what has no answer fails now, as documented
        finally:
            await self._running.stop()

    async def __aenter__(self) -> Self:
        return await self.open()

    def __await__(self) -> Generator[None, None, Self]:
        return self.open().__await__()

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, _: TracebackType | None
    ) -> None:
        await self.close(DRAIN_S if kind is None else 0.0)

    @without_attributes
    async def publish(
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
        """Publish a message whose payload is `payload`, or `json` written as JSON, and return its id, a Receipt.

        Without `confirm`, return when the message is in the output, which may wait for credit from the router. With
        True or "accepted", return when the router has accepted the message; with "stored", when the message is on the
        router's disk or no durable subscription there matches it; with "held", when it is on the disks of all routers
        that store it. PublishRefused if the router refuses the message; PublishUnknown if the connection is cut before
        the router answers. With "stored" and "held", `is_stored` of the receipt is whether a durable subscription has
        the message; with `require_stored`, NotStored is raised unless one is known to have it. With `retry` the message
        is sent again after a cut, under its first id, until the router answers. With `space` the message belongs to
        that space; Refused if it violates the definition of the space, where this client has that. `ttl_s` after
        publication the message expires: routers and durable subscriptions then drop it and report a Gap.
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
            message = await pump.ask(partial(self._take_over, attributes, payload, confirm, retry, ttl_s))
            return required(receipt_of(message.id, message.is_stored), require_stored=require_stored)
        if len(pump.outbox.output) >= FLUSH_BYTES:  # asyncio only
            pump.flush()
            await asyncio.sleep(0)
        elif not pump.flush_due:
            pump.written()
        return id_

    async def publish_again(self, refused: PublishRefused) -> Receipt:
        """Send a refused message again, under its first id, and return its receipt when the router has accepted it.
        After LOG_FULL only those durable subscriptions receive it that had no room for it, so none stores it twice.
        PublishRefused while one of them still has no room."""
        pump = self._pump
        message = await pump.ask(lambda waiter: pump.outbox.publish_again(refused, waiter))
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
        """Publish without waiting, and return the id of the message. Return None, without effect, if no router is
        connected, or if credit or room for output is used up."""
        if others:
            raise names_of_others("try_publish", others, Client.try_publish)
        pump = self._running or self._pump
        attributes = self._of_space(attributes, space)
        id_ = pump.sender.try_publish(attributes, payload_of(payload, json), time_ns())
        if id_ is None:
            pump.outbox.check_open()
        elif not pump.flush_due:  # asyncio only
            pump.written()
        return id_

    async def publish_many(
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
        """Publish `messages` in order and return how many were published and how many are stored. `space` and `ttl_s`
        apply to each message. With `confirm`, raise the first failure; with `require_stored`, also raise NotStored for
        the first message that no durable subscription is known to have; later messages may have been sent by then. With
        `on_failed`, each PublishRefused and PublishUnknown is passed to that function and not raised."""
        check_required(confirm, require_stored=require_stored)
        if not (confirm or retry):
            count = 0
            for attributes, payload in items(messages):
                await self.publish(attributes, payload, space=space, ttl_s=ttl_s)
                count += 1
            return Receipts(count)
        begins = (
            partial(self._take_over, self._of_space(attributes, space), payload, confirm, retry, ttl_s)
            for attributes, payload in items(messages)
        )
        receipts = Receipts()
        async for message in self._pump.ask_each(begins, WINDOW):
            if on_failed is not None and isinstance(message, PublishRefused | PublishUnknown):
                on_failed(message)
            elif isinstance(message, BaseException):
                raise message
            else:
                receipt = receipt_of(message.id, message.is_stored)
                receipts = counted(receipts, required(receipt, require_stored=require_stored))
        return receipts

    async def trace(
        self,
        attributes: Mapping[str, Value],
        payload: bytes = b"",
        *,
        timeout_s: float = TRAIL_S,
        space: str | None = None,
    ) -> Trail[TraceRecord]:
        """Publish a confirmed message, and return a report from each router that it passed.

        Return when all of these routers have reported, or after `timeout_s`; see `Trail.is_complete`.
        """
        return await self._follow(TraceRecord, self._of_space(attributes, space), payload, timeout_s)

    async def route(
        self, attributes: Mapping[str, Value], *, timeout_s: float = TRAIL_S, space: str | None = None
    ) -> Trail[DryRunReport]:
        """Return which routers and clients a message would reach: as `trace`, but nothing is delivered."""
        return await self._follow(DryRunReport, self._of_space(attributes, space), b"", timeout_s)

    async def request(
        self,
        attributes: Mapping[str, Value],
        payload: bytes = b"",
        *,
        json: object = ABSENT,
        timeout_s: float = REQUEST_S,
    ) -> Message:
        """Publish a question, and return the first answer; see `respond`.

        Unanswered if none arrives within `timeout_s`: the question, its answer or the responder was lost, or a
        subscriber received the question and does not answer. Unanswered at once if the router is synchronised with its
        neighbours and finds no subscriber, responder or durable subscription that matches.
        """
        pump = self._pump
        questions = pump.core.questions
        deadline = monotonic() + patience_of("timeout_s", timeout_s)
        payload = payload_of(payload, json)
        try:
            if not questions.is_open:
                await pump.ask(questions.open, timeout_s=timeout_s)
            asked = await pump.ask(
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
        self,
        *predicates: str | Predicate,
        group: str | None = None,
        wait: Literal["home", "network"] = "network",
        dialect: str | None = None,
    ) -> Responder:
        """Make a responder to questions that satisfy one of `predicates`: `async with client.respond(...) as
        questions`, then `async for question in questions: await question.answer(...)`. `group`: as in `subscribe`, one
        responder of the group receives each question. The responder starts when every router within reach has its
        subscription: any question that is published afterwards, at any of them, reaches it. With `wait="home"` it
        starts when the router of this client has the subscription. `dialect`: as in `subscribe`."""
        decided = [decided_in(each, dialect, exact_for=GROUP if group is not None else None) for each in predicates]
        is_exact = group is not None
        wanted = tuple(questions_in(each, self._settings.spaces, is_exact=is_exact) for each in decided)
        return Responder(Subscription(self._pump, wanted, options_of(True, wait, group)), self.publish)

    def subscribe(
        self,
        *predicates: str | Predicate,
        own_messages: bool = False,
        wait: Literal["home", "network"] = "home",
        group: str | None = None,
        space: str | None = None,
        dialect: str | None = None,
    ) -> Subscription:
        """Make a subscription to messages that satisfy one of `predicates`, each of which has an id of its own: `async
        with client.subscribe(...) as messages`.

        `own_messages`: also receive messages that this client publishes. `wait`: the subscription starts when the
        router of this client has it ("home"), or when every router within reach has it ("network"). `group`: each
        message that matches subscriptions with this group name is delivered to one of them, across all routers.
        `space`: the space that the predicates are about, one of those given to `connect`. `dialect`: the predicates are
        filters of another system, such as "mqtt". What a predicate cannot say of one, a residual program decides at the
        router; with `group`, and for what no program can say, Refused.
        """
        options = options_of(own_messages, wait, group, self._settings.spaces, space)
        wanted = tuple(decided_in(each, dialect, exact_for=GROUP if group is not None else None) for each in predicates)
        return Subscription(self._pump, wanted, options)

    async def authenticate(self, token: str | bytes) -> None:
        """Show the router the next token of this client, before the one before expires or is removed: return when the
        router has accepted it. Subscriptions and all else stay; later connections use it, too. TokenRefused if the
        router refuses it, and then the token before stays in use; Refused if the router has no such request."""
        pump = self._pump
        await pump.ask(lambda waiter: pump.core.authenticate(token, waiter))

    async def drain(self) -> None:
        """Start nothing new, and finish what was started. On return the router has read all published messages and
        answered those that were to be confirmed; iterators end after they have yielded what arrived until then."""
        await self._drain(None)

    def __repr__(self) -> str:
        return f"<tamis.Client {described(self.name, self.router, self.address)}>"

    async def _drain(self, timeout_s: float | None) -> None:
        core = self._pump.core
        await self._pump.ask(lambda waiter: core.drain(waiter, round(DRAIN_S * 1000)), timeout_s=timeout_s)

    def _take_over(
        self,
        attributes: Mapping[str, Value],
        payload: bytes,
        confirm: Confirm,
        retry: bool,
        ttl_s: Duration | None,
        waiter: Waiter,
    ) -> Unconfirmed:
        """Publish a message through the outbox; settle `waiter` when it is sent, or when the level of `confirm` is
        reached."""
        level = level_of(confirm)
        now_ns = time_ns()
        return self._pump.outbox.publish(
            *(attributes, payload, now_ns, waiter),
            confirm=level.is_answered or retry,  # an answer tells when to stop retrying
            retry=retry,
            durable=level.is_stored,
            every_home=level.is_held,
            expires_ns=expires_ns_of(ttl_s, now_ns),
        )

    def _of_space(self, attributes: Mapping[str, Value], space: str | None) -> Mapping[str, Value]:
        return attributes if space is None else message_of(attributes, space, self._settings.spaces)

    async def _follow(
        self, of: type[AnyReport], attributes: Mapping[str, Value], payload: bytes, timeout_s: float
    ) -> Trail[AnyReport]:
        trails = self._pump.core.trails
        return await self._pump.follow(
            lambda taken, complete: trails.begin(of, attributes, payload, time_ns(), taken, complete),
            trails.end,
            patience_of("timeout_s", timeout_s),
        )

    @property
    def _pump(self) -> Pump:
        if self._running is None:
            raise RuntimeError("connect first: `async with tamis.connect(...) as client:`")
        return self._running
