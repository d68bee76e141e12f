"""The frames between routers: by kind and by second, and the outcome of each statement."""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass, field

from tamis.protocol.wire.edge_bodies import EdgeHeld, EdgeRequest, EdgeStatement
from tamis.protocol.wire.home_bodies import DurablesHeld, DurablesStatement
from tamis.protocol.wire.routing_bodies import (
    Body,
    LinkState,
    ReceiverAdvertisement,
    SenderRequest,
    SpaceStatement,
    UpdateReply,
)
from tamis.simulate.account.wall import Wall


@dataclass(slots=True)
class Statement:
    """The outcome of one statement. `frames` and `bytes` count sent frames, not received ones."""

    from_us: int
    frames: int = 0
    bytes: int = 0
    added: int = 0
    removed: int = 0
    is_whole: bool = True
    """True while every frame of this statement stated the whole predicate, none a change."""
    heard_us: int | None = None
    """When a router received it last."""
    heard_by: list[str] = field(default_factory=list)


class Control:
    def __init__(self, wall: Wall) -> None:
        self._wall = wall
        self.frames: dict[str, Counter[str]] = defaultdict(Counter)
        """Maps `ROUTER in|out KIND REASON` to the numbers of frames, bytes, and filters added and removed."""
        self.statements: dict[str, Statement] = {}
        """Maps `LSA ISSUER EPOCH SEQ` or `RA ISSUER EPOCH SEQ` to the outcome of the statement."""
        self.seconds: dict[str, dict[int, Counter[str]]] = defaultdict(lambda: defaultdict(Counter))
        """Maps a router and a second to the frames and bytes that it received."""

    def framed(self, router: int, way: str, sender: int, body: Body, size: int) -> None:
        name, (added, removed) = self._wall.name_of(router), _filters(body)
        frames = self.frames[f"{name} {way} {_what(body)} {self._why(body, self._wall.name_of(sender))}"]
        frames.update(frames=1, bytes=size, added=added, removed=removed)
        if way == "in":
            self.seconds[name][self._wall.second(router)].update(frames=1, bytes=size)
        if isinstance(body, LinkState | ReceiverAdvertisement):
            statement = self._statement(body)
            if isinstance(body, ReceiverAdvertisement) and (not body.full or statement.is_whole):
                statement.added, statement.removed, statement.is_whole = added, removed, body.full
            self._spread(statement, name, way, size)

    def _why(self, body: Body, sender: str) -> str:
        if isinstance(body, SenderRequest):
            return "age" if body.digest else "repair"
        if isinstance(body, UpdateReply):
            return "repair"
        if isinstance(body, SpaceStatement):
            return "flood"
        if isinstance(body, EdgeStatement | EdgeHeld | EdgeRequest):
            return "repair" if isinstance(body, EdgeRequest) else "change"
        issuer = body.issuer if isinstance(body, LinkState) else self._wall.name_of(body.issuer)
        if issuer != sender:
            return "flood"
        return "link" if isinstance(body, LinkState) else "change"

    def _statement(self, body: LinkState | ReceiverAdvertisement) -> Statement:
        issuer = body.issuer if isinstance(body, LinkState) else self._wall.name_of(body.issuer)
        key = f"{_what(body)} {issuer} {body.epoch} {body.seq}"
        return self.statements.setdefault(key, Statement(self._wall.true_us))

    def _spread(self, statement: Statement, name: str, way: str, size: int) -> None:
        if way == "out":
            statement.frames += 1
            statement.bytes += size
        else:
            statement.heard_us = self._wall.true_us
            if name not in statement.heard_by:
                statement.heard_by.append(name)


def _filters(body: Body) -> tuple[int, int]:
    """Return how many filters `body` adds and removes."""
    if isinstance(body, ReceiverAdvertisement | EdgeStatement):
        return len(body.added), len(body.removed)
    if isinstance(body, UpdateReply):
        return sum(len(entry.filters) for entry in body.entries), 0
    return 0, 0


def _what(body: Body) -> str:
    if isinstance(body, LinkState):
        return "LSA"
    if isinstance(body, ReceiverAdvertisement):
        return "RA"
    if isinstance(body, SenderRequest):
        return "SR"
    if isinstance(body, SpaceStatement):
        return "SPACE"
    if isinstance(body, DurablesStatement | DurablesHeld):
        return "DURABLES" if isinstance(body, DurablesStatement) else "DURABLES_HELD"
    if isinstance(body, EdgeStatement | EdgeHeld | EdgeRequest):
        return _OF_EDGES[type(body)]
    return "UR" if isinstance(body, UpdateReply) else "HELD"


_OF_EDGES = {EdgeStatement: "EA", EdgeHeld: "EH", EdgeRequest: "ER"}
