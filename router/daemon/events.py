"""The events of a router, sent to all listeners: the records, the log, and others such as a live map.

Law: listeners register once, before the router moves any message, and are called at once, in the order of registration.
An event without listeners is not built, and costs one look-up in a dict. An exception of a listener is a bug: it is
reported, and affects neither the other listeners nor the caller. No event is about a single message; the counters of an
interface summarise messages once a second. Events of links, clients and durable subscriptions are in `link_events.py`,
`client_events.py` and `durable_events.py`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple, ParamSpec, TypeVar

from tamis.native.switch_figures import Increment

Params = ParamSpec("Params")
Event = TypeVar("Event")


class LifeChanged(NamedTuple):
    """The router has become `ready`, or is `stopping`."""

    what: str


class InterfaceCounted(NamedTuple):
    """The increments of a connection's counters since the last such event: messages delivered, dropped, refused.

    `name` is empty until the greeting of the peer is complete."""

    gained: Increment
    name: str
    is_link: bool


class ConnectionEnded(NamedTuple):
    """A connection has ended, and with it the subscriptions of its client."""

    name: str
    connection: int


class SecondPassed(NamedTuple):
    """`number` seconds have passed since the start."""

    number: int


class Alarmed(NamedTuple):
    """The router has raised the alarm `text`."""

    text: str


class EventBus:
    """The bus that sends events to listeners. `failed` is called after a listener has raised, while its exception is
    being handled."""

    def __init__(self, failed: Callable[[str], None]) -> None:
        self._failed = failed
        self._listeners: dict[Callable[..., Any], list[Callable[[Any], None]]] = {}

    def listen(self, kind: type[Event], listener: Callable[[Event], None]) -> None:
        """Call `listener` with each event of this kind, from now on."""
        self._listeners.setdefault(kind, []).append(listener)

    def is_heard(self, kind: type[object]) -> bool:
        """Return whether events of this kind have a listener; callers check it before costly work for an event."""
        return kind in self._listeners

    def tell(self, kind: Callable[Params, Any], *args: Params.args, **more: Params.kwargs) -> None:
        """Send an event of this kind; it is built from the arguments if it has a listener."""
        listeners = self._listeners.get(kind)
        if listeners is None:
            return
        event = kind(*args, **more)
        for listener in listeners:
            try:
                listener(event)
            except Exception:  # a bug of the listener
                self._failed(f"a listener failed: {type(event).__name__}")
