"""What happens to a router, told to all listeners: the records and the log now, others (a live map) as they come.

Law: listeners register once, before the router moves anything, and are called at once, in the order in which they
registered. Telling of an event without listeners builds nothing and takes a look into one dict. A listener that raises
is a bug: it is reported, and neither the other listeners nor the caller notice. Nothing is told of a single message;
what messages did is told as the counters of an interface, once a second.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, ParamSpec, TypeVar

from tamis.native.subscribe_frame import SubscribeFrame
from tamis.native.switch_figures import Increment
from tamis.protocol.wire.routing_bodies import Body

if TYPE_CHECKING:
    from tamis.native.keeps import KeepFigures
    from tamis.protocol.wire.keep_bodies import KeepTerms
    from tamis.router.core.ways.paths import Graph
    from tamis.router.core.ways.trees import Trees

Params = ParamSpec("Params")
Happening = TypeVar("Happening")


class LifeChanged(NamedTuple):
    """The router has become `ready`, or is `stopping`."""

    what: str


class LinkCameUp(NamedTuple):
    """A neighbour has greeted from the address `peer`; `interface` is the number of the connection."""

    neighbour: str
    peer: str
    session: int
    interface: int
    cost: int


class LinkWentDown(NamedTuple):
    """The session of a neighbour has ended; `reason` is empty where none is known."""

    neighbour: str
    peer: str
    session: int
    interface: int
    reason: str


class ControlPassed(NamedTuple):
    """A body came from a neighbour or left for it, in frames of `size` bytes; `sender` is the router that sent it."""

    neighbour: str
    way: Literal["in", "out"]
    body: Body
    size: int
    sender: int


class TopologyChanged(NamedTuple):
    """The trees by which messages go have changed to `trees`; `cause` is what happened before that."""

    trees: Trees
    graph: Graph
    name_of: Callable[[int], str]
    cause: str


class SubscriptionsAdded(NamedTuple):
    """The subscriptions `ids` of a frame are in force."""

    client: str
    connection: int
    ids: list[int]
    frame: SubscribeFrame

    @property
    def filters(self) -> Mapping[int, tuple[bytes, ...]]:
        """The packed filters by subscription. They are unpacked when they are first read."""
        filters = self.frame.filters
        return {id_: filters[id_] for id_ in self.ids}


class SubscriptionRemoved(NamedTuple):
    """A client has taken a subscription back."""

    client: str
    connection: int
    subscription: int


class KeepChanged(NamedTuple):
    """The keep `number` was `made`, `found` in the log at the start, with stretches of positions in `doubts`, or
    `forgotten`, for the `cause`."""

    what: Literal["made", "found", "forgotten"]
    number: int
    name: str
    owner: str
    terms: KeepTerms
    doubts: int = 0
    cause: str = ""


class KeepAttended(NamedTuple):
    """A client has attached to a keep, or left it."""

    what: Literal["attached", "detached"]
    number: int
    name: str
    client: str
    connection: int
    attachment: int


class KeepCounted(NamedTuple):
    """How a keep stands has changed within the last second."""

    number: int
    figures: KeepFigures


class InterfaceCounted(NamedTuple):
    """What the counters of a connection have gained since the last such event: messages delivered, dropped, refused.

    `name` is empty until the peer has greeted."""

    gained: Increment
    name: str
    is_link: bool


class UnlinkedCounted(NamedTuple):
    """`messages` messages for a neighbour found no link to it."""

    neighbour: str
    messages: int


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


class Happenings:
    """Tell listeners what happens. `failed` is called where a listener has raised, while its exception is being
    handled."""

    def __init__(self, failed: Callable[[str], None]) -> None:
        self._failed = failed
        self._listeners: dict[Callable[..., Any], list[Callable[[Any], None]]] = {}

    def listen(self, kind: type[Happening], listener: Callable[[Happening], None]) -> None:
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
