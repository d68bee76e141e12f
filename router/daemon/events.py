"""What happens to a router, told to all listeners: the records and the log now, others (a live map) as they come.

Law: listeners register once, before the router moves anything, and are called at once, in the order in which they
registered. Telling of an event without listeners builds nothing and takes a look into one dict. A listener that raises
is a bug: it is reported, and neither the other listeners nor the caller notice. Nothing is told of a single message;
what messages did is told as the counters of an interface, once a second. What happens to links, clients and keeps is
in `link_events.py`, `client_events.py` and `keep_events.py`.
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
    """What the counters of a connection have gained since the last such event: messages delivered, dropped, refused.

    `name` is empty until the peer has greeted."""

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
    """Tell listeners what happens. `failed` is called where a listener has raised, while its exception is being
    handled."""

    def __init__(self, failed: Callable[[str], None]) -> None:
        self._failed = failed
        self._listeners: dict[Callable[..., Any], list[Callable[[Any], None]]] = {}

    def listen(self, kind: type[Event], listener: Callable[[Event], None]) -> None:
        """Call `listener` with each event of this kind, from now on."""
        self._listeners.setdefault(kind, []).append(listener)

    def is_heard(self, kind: type[object]) -> bool:
        """Is there a listener for events of this kind? Ask before finding out what takes effort."""
        return kind in self._listeners

    def tell(self, kind: Callable[Params, Any], *args: Params.args, **more: Params.kwargs) -> None:
        """Tell that something of this kind has happened; the event is built from the arguments if there is a
        listener."""
        listeners = self._listeners.get(kind)
        if listeners is None:
            return
        event = kind(*args, **more)
        for listener in listeners:
            try:
                listener(event)
            except Exception:  # a bug of the listener
                self._failed(f"a listener failed: {type(event).__name__}")
