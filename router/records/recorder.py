"""Events of a router as records: the part of the records that runs on the loop.

    events ── recorder (events as they occur) ────────┐
               └─ seconds  (figures each second) ─────────┴─> writer

Law: adding a record takes the loop a few microseconds; fields that take longer are computed by the writing thread.
Routers are identified by their ids, connections by their numbers in this run.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Generator, Mapping
from importlib.metadata import version
from pathlib import Path
from typing import Any, Final

from tamis.configs.sections.records import RecordSettings
from tamis.configs.settings import RouterSettings
from tamis.native.records import RecordRing
from tamis.native.table import Table
from tamis.protocol.json_form import encode_filter
from tamis.protocol.keys import filter_key
from tamis.protocol.language import parse
from tamis.protocol.sampling import threshold_of
from tamis.protocol.wire.numbers import stable_number
from tamis.protocol.wire.packed_filters import decode_filter
from tamis.router.core.routing.paths import Graph
from tamis.router.core.routing.trees import Trees
from tamis.router.daemon.client_events import SubscriptionRemoved, SubscriptionsAdded
from tamis.router.daemon.events import ConnectionEnded, EventBus, InterfaceCounted, LifeChanged
from tamis.router.daemon.link_events import (
    ControlPassed,
    LinkCameUp,
    LinkWentDown,
    TopologyChanged,
    UnlinkedCounted,
)
from tamis.router.records.control import said_of
from tamis.router.records.converting import CLOSED
from tamis.router.records.durables import DurableRecords
from tamis.router.records.files import Bounds
from tamis.router.records.lines import RecordLines
from tamis.router.records.writer import Writer
from tamis.serving.cannot_start import CannotStart

EVENTS_PER_SLICE: Final = 200


class Recorder:
    """Passes events to the writer. Call `start` before the switch forwards a message, and `close` after the switch has
    closed. `later`: runs a generator in slices."""

    def __init__(
        self,
        settings: RouterSettings,
        chosen: RecordSettings,
        epoch: int,
        later: Callable[[Generator[None, None, None]], None],
    ) -> None:
        self._settings, self._chosen, self._later = settings, chosen, later
        if chosen.format == "parquet":
            _load_pyarrow()
        lines = RecordLines(settings.id, epoch)
        self.messages = _messages(chosen, lines)
        bounds = Bounds(chosen.file_bytes_max, chosen.rotate.seconds, chosen.keep)
        folder, ending = Path(chosen.folder) / settings.id, CLOSED[chosen.format]
        self._writer = Writer(folder, bounds, lines, self.messages, ending=ending)
        self._named: dict[int, tuple[str, int]] = {}
        self._held: dict[int, dict[int, tuple[bytes, ...]]] = {}
        """Connection to subscription id to packed filters."""
        self._topologies = 0

    def listen(self, events: EventBus) -> None:
        """Start to record events."""
        events.listen(LifeChanged, lambda event: self.life(event.what))
        events.listen(LinkCameUp, self._link_up)
        events.listen(LinkWentDown, self._link_down)
        events.listen(ControlPassed, self._control)
        events.listen(TopologyChanged, self._topology)
        events.listen(InterfaceCounted, self._interface)
        events.listen(UnlinkedCounted, self._unlinked)
        events.listen(SubscriptionsAdded, self._subscribed)
        events.listen(SubscriptionRemoved, self._unsubscribed)
        events.listen(ConnectionEnded, lambda event: self._later(self._gone(event)))
        DurableRecords(self._writer.note, _with_filters).listen(events)

    @property
    def trouble(self) -> str:
        """Why records cannot be written now, as a sentence; "" if they can."""
        return self._writer.trouble

    @property
    def lost(self) -> int:
        """The number of records lost in this run."""
        return self._writer.lost

    def start(self) -> None:
        self._name(stable_number(self._settings.id), self._settings.id, 0)
        self._writer.start()
        self.life("started")

    def close(self) -> None:
        self.life("stopped")
        self._writer.close()
        self.messages.close()

    def _name(self, number: int, router: str, hops: int) -> None:
        """Set the id and the distance in hops of a router number, for later records of messages."""
        if self._named.get(number) != (router, hops):
            self._named[number] = (router, hops)
            self._writer.name(number, json.dumps(router).encode(), hops)

    # --- the router --------------------------------------------------------------------------------------------------

    def life(self, what: str) -> None:
        settings = self._settings
        if what == "ready":  # the router listens, so no other process of it writes here
            self._writer.compress_earlier()
        self.note(
            "life",
            what=what,
            version=version("tamis"),
            sampling=str(self._chosen.messages),
            engine=settings.engine.name,
            strategy=settings.strategy.facts.recorded,
            broadcast=settings.broadcast,
        )

    def note(self, kind: str, **fields: object) -> None:
        """Add a record of `kind`; fields with None are left out."""
        self._writer.note(kind, fields)

    # --- neighbours --------------------------------------------------------------------------------------------------

    def _link_up(self, event: LinkCameUp) -> None:
        number = stable_number(event.neighbour)
        if number not in self._named:
            self._name(number, event.neighbour, 1)
        self.note("link", what="up", **_without_peer(event))

    def _link_down(self, event: LinkWentDown) -> None:
        self.note("link", what="down", **_without_peer(event) | {"reason": event.reason or None})

    def _control(self, event: ControlPassed) -> None:
        head = {"neighbour": event.neighbour, "way": event.way, "bytes": event.size}
        self._writer.note("control", lambda: head | said_of(event.body, event.sender, self._name_of))

    def _name_of(self, number: int) -> str:
        name, _ = self._named.get(number, (str(number), 0))
        return name

    def _topology(self, event: TopologyChanged) -> None:
        trees, graph = event.trees, event.graph
        names = {router: event.name_of(router) for router in graph.neighbours.keys() | trees.routers}
        for router, hops in trees.hops.items():
            self._name(router, names[router], hops)
        self._topologies += 1
        head = {"generation": self._topologies, "cause": event.cause}
        self._writer.note("topology", lambda: head | _shape(trees, graph, names))

    # --- each second -------------------------------------------------------------------------------------------------

    def _interface(self, event: InterfaceCounted) -> None:
        gained, name = event.gained, event.name or None
        self.note(
            "interface",
            interface=gained.connection,
            neighbour=name if event.is_link else None,
            client=None if event.is_link else name,
            messages_in=gained.messages_in,
            messages_out=gained.messages_out,
            bytes_in=gained.bytes_in,
            bytes_out=gained.bytes_out,
            dropped=gained.dropped,
            refused=gained.refused,
            queued_bytes=gained.queued_bytes,
        )

    def _unlinked(self, event: UnlinkedCounted) -> None:
        """Record the losses of a neighbour without a link, which has no interface."""
        self.note("interface", neighbour=event.neighbour, dropped={"no_link": event.messages})

    # --- clients -----------------------------------------------------------------------------------------------------

    def _subscribed(self, event: SubscriptionsAdded) -> None:
        filters, group = event.filters, event.frame.group or None
        self._held.setdefault(event.connection, {}).update(filters)
        for subscription, packed in filters.items():
            head = _head(event.client, event.connection, subscription)
            said = head | {"what": "added", "own": event.frame.wants_own, "cause": "asked", "group": group}
            if residual := event.frame.residuals.get(subscription):
                said |= {"residual": residual.hex()}
            self._writer.note("subscription", _with_filters(said, packed))

    def _unsubscribed(self, event: SubscriptionRemoved) -> None:
        packed = self._held.get(event.connection, {}).pop(event.subscription, ())
        self._removed(_head(event.client, event.connection, event.subscription), packed, "asked")

    def _removed(self, head: dict[str, object], packed: tuple[bytes, ...], cause: str) -> None:
        self._writer.note("subscription", _with_filters(head | {"what": "removed", "cause": cause}, packed))

    def _gone(self, event: ConnectionEnded) -> Generator[None, None, None]:
        """Record, in slices, the end of the subscriptions of an ended connection."""
        held = self._held.pop(event.connection, {})
        for number, subscription in enumerate(sorted(held), 1):
            self._removed(_head(event.name, event.connection, subscription), held[subscription], "gone")
            if number % EVENTS_PER_SLICE == 0:
                yield


def _load_pyarrow() -> None:
    """Import what writes Parquet, now, as the loop would wait later. CannotStart: it is not installed."""
    try:
        import tamis.protocol.record_columns  # noqa: F401
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] != "pyarrow":
            raise
        raise CannotStart("records: format: parquet needs pyarrow: pip install 'tamis[parquet]'") from error


def _without_peer(event: LinkCameUp | LinkWentDown) -> dict[str, Any]:
    """Return the fields of an event without its address, which is not recorded."""
    return {key: value for key, value in event._asdict().items() if key != "peer"}


def _head(client: str, connection: int, subscription: int) -> dict[str, object]:
    return {"client": client, "connection": connection, "subscription": subscription}


def _shape(trees: Trees, graph: Graph, names: Mapping[int, str]) -> dict[str, object]:
    """Return the routers and edges of a topology. The writing thread calls this, which is safe because trees and graph
    never change."""
    edges = (
        f"{min(names[one], names[other])} {max(names[one], names[other])} {cost}"
        for one, others in graph.neighbours.items()
        for other, cost in others.items()
        if one < other
    )
    return {"routers": sorted(names[router] for router in trees.routers), "edges": sorted(edges)}


def _with_filters(head: dict[str, object], packed: tuple[bytes, ...]) -> Callable[[], dict[str, object]]:
    """Return a function that returns `head` with the filters decoded. The writing thread calls it, because decoding
    takes a tenth of a millisecond."""

    def said() -> dict[str, object]:
        filters = [decode_filter(one) for one in packed]
        return head | {
            "filters": [json.dumps(encode_filter(one), separators=(",", ":"), ensure_ascii=False) for one in filters],
            "keys": [f"{filter_key(one):016x}" for one in filters],
        }

    return said


def _messages(chosen: RecordSettings, lines: RecordLines) -> RecordRing:
    where = chosen.messages.where
    kept = lines.prefix("kept")
    if where is None:
        return RecordRing(lines.prefix("message"), threshold_of(chosen.messages.share), stored_prefix=kept)
    wanted = Table()
    for one in parse(where).filters:
        wanted.add(one, 0)
    return RecordRing(lines.prefix("message"), 0, wanted, kept)
