"""A hostile router: the forged frames that it sends besides those of its core.

Law: the liar has the place and links of one router, and may state anything about any other router. A forgery that may
be accepted until its issuer has made a new statement (R9) taints the round, which the truth records; one that must not
be accepted taints nothing. A router whose only link leads to the liar is its victim and receives no lies. The liar does
not lie about itself, since that would harm no other router; about an edge it lies for all routers behind its end. A
router whose clock is ahead accepts more, until its neighbours refuse its epochs.
"""

from __future__ import annotations

from collections.abc import Callable
from random import Random
from typing import Final, Protocol

from tamis.protocol.wire.edge_bodies import EdgeFilter, EdgeHeld, EdgeRequest, EdgeStatement
from tamis.protocol.wire.numbers import predicate_digest
from tamis.protocol.wire.routing_bodies import (
    Adjacency,
    AdvertisedFilter,
    Body,
    Entry,
    EpochRefused,
    Held,
    Known,
    LinkState,
    ReceiverAdvertisement,
    Scope,
    SenderRequest,
    UpdateReply,
)
from tamis.simulate.faults.faults import DAY_MS
from tamis.simulate.faults.workload import CONTENTS, Wish
from tamis.simulate.nodes import control, view
from tamis.simulate.nodes.clock import Clock
from tamis.simulate.nodes.message import Packet, SimulatedMessage
from tamis.simulate.nodes.node import DATA_BYTES, Node
from tamis.simulate.twin.forwarder import TransitId
from tamis.simulate.world.recorder import RunRecorder

TOP: Final = 2**64 - 1
EXTREMES: Final = (0, 1, 2**63 - 1, 2**63, TOP)
NOBODY: Final = 0xDEAD
ABSURD_MS: Final = (3 * DAY_MS, 30 * DAY_MS, 3_650 * DAY_MS)
EPOCH_AHEAD_MS: Final = (0, 1, 3_600_000, 20 * 3_600_000)
LIES_FROM: Final = 1 << 40
"""The first number of publishers and serials of messages that were never published."""


class LiarsWorld(Protocol):
    """The part of the world that a liar uses."""

    clock: Clock
    recorder: RunRecorder
    nodes: list[Node]
    by_number: dict[int, Node]
    wishes: tuple[Wish, ...]

    def unix_ms(self) -> int:
        """Return the correct time."""


class ByzantinePeer:
    def __init__(self, world: LiarsWorld, node: Node) -> None:
        self._world = world
        self.node = node

    def owns(self, router: int) -> bool:
        """Return whether `router` has no neighbour but the liar."""
        edges = self._world.recorder.truth.edges(self._world.clock.now_us)
        return {other for edge in edges if router in edge for other in edge if other != router} <= {self.node.number}

    def lie(self, random: Random, may_be_believed: bool) -> None:
        """Send a few forged frames to one neighbour that is no victim; send nothing if there is none."""
        links = [number for number, (link, _) in sorted(self.node.links.items()) if link.open and not self.owns(number)]
        if not links:
            return
        to = self._world.by_number[random.choice(links)]
        self._world.recorder.counts["lies"] += 1
        if random.random() < 0.25:
            self._carry(random, to, may_be_believed)
            return
        is_absurd = not may_be_believed or random.random() < 0.5
        about = random.choice([node for node in self._world.nodes if node is not self.node])
        has_edges = bool(view.edges_to(self.node, to.number))
        body = random.choice((*LIES, *LIES_OF_EDGES) if has_edges else LIES)(self, random, about, to, is_absurd)
        is_believed = not is_absurd or any(node.clock_off_ms > 0 for node in self._world.nodes)
        if is_believed and not isinstance(body, HARMLESS):
            self._world.recorder.truth.is_tainted = True
            self._world.recorder.truth.forged.add(about.number)
            self._world.recorder.truth.are_edges_forged |= isinstance(body, EdgeStatement)
        link, side = self.node.links[to.number]
        session = link.believed[side]
        if session is not None:
            link.send(side, session.number, control.size(body), body)

    # Numbers.

    def _epoch(self, random: Random, about: Node, is_absurd: bool) -> int:
        if is_absurd:
            return random.choice((*EXTREMES, *(self._world.unix_ms() + ahead for ahead in ABSURD_MS)))
        held, _ = view.versions(self.node).get(about.number, (self._world.unix_ms(), 0))
        return held + random.choice(EPOCH_AHEAD_MS)

    def _seq(self, random: Random) -> int:
        return random.choice((2, 1_000_000, 2**63, TOP))

    def _filters(self, random: Random) -> tuple[AdvertisedFilter, ...]:
        wishes = random.sample(self._world.wishes, random.randrange(3))
        return tuple(AdvertisedFilter(id_, wish.packed) for id_, wish in zip(EXTREMES[1:], wishes, strict=False))

    # Lies.

    def _state(self, random: Random, about: Node, _: Node, is_absurd: bool) -> Body:
        others = random.sample(self._world.nodes, random.randrange(min(3, len(self._world.nodes))))
        links = tuple(
            Adjacency(other.number, random.choice(EXTREMES), random.choice((1, 2**32 - 1))) for other in others
        )
        return LinkState(about.name, self._epoch(random, about, is_absurd), self._seq(random), links)

    def _whole(self, random: Random, about: Node, _: Node, is_absurd: bool) -> Body:
        filters = self._filters(random)
        return ReceiverAdvertisement(
            *(about.number, self._epoch(random, about, is_absurd), self._seq(random), True, 0, filters, ()),
            *(predicate_digest(filters), len(filters), random.random() < 0.5),
        )

    def _change(self, random: Random, about: Node, _: Node, is_absurd: bool) -> Body:
        seq, filters = self._seq(random), self._filters(random)
        return ReceiverAdvertisement(
            *(about.number, self._epoch(random, about, is_absurd), seq, False, seq - 1, filters, (TOP,)),
            *(bytes(16), TOP, True),
        )

    def _reply(self, random: Random, about: Node, to: Node, is_absurd: bool) -> Body:
        filters = self._filters(random)
        entry = Entry(about.number, self._epoch(random, about, is_absurd), TOP, predicate_digest(filters), filters)
        return UpdateReply(to.number, random.choice(EXTREMES), TOP, (entry,), False, 2**32 - 1, (TOP,))

    def _request(self, random: Random, about: Node, _: Node, is_absurd: bool) -> Body:  # noqa: ARG002
        known = (Known(about.number, random.choice(EXTREMES), random.choice(EXTREMES), bytes(16)),)
        return SenderRequest(self.node.number, TOP, random.choice(EXTREMES), Scope.NEIGHBOUR, b"", known, known)

    def _held(self, random: Random, _: Node, to: Node, is_absurd: bool) -> Body:  # noqa: ARG002
        everybody = tuple(node.number for node in self._world.nodes)
        return Held(to.number, random.choice((2**63, TOP)), random.choice(EXTREMES), everybody)

    def _refusal(self, random: Random, about: Node, to: Node, is_absurd: bool) -> Body:  # noqa: ARG002
        epoch = view.versions(to)[to.number][0]
        whom = random.choice((to, about))
        return EpochRefused(whom.number, random.choice((epoch, 0, TOP)), random.choice((*EXTREMES, epoch - 1)))

    def _nobody(self, random: Random, _: Node, to: Node, is_absurd: bool) -> Body:  # noqa: ARG002
        return ReceiverAdvertisement(0, random.choice(EXTREMES), TOP, True, 0, (), (), predicate_digest(()), 0, True)

    # Lies about edges: about the routers behind the liar, or about others.

    def _edge_said(self, random: Random, _: Node, to: Node, is_absurd: bool) -> Body:
        """Forge a statement that the routers behind the liar have other filters; an absurd one is about other routers,
        or does not follow from earlier statements."""
        place, seq = random.choice(view.edges_to(self.node, to.number)), self._seq(random)
        wishes = random.sample(self._world.wishes, random.randrange(3))
        added = tuple(EdgeFilter(id_, wish.packed, False) for id_, wish in enumerate(wishes))
        digest = predicate_digest((each.id, each.filter) for each in added)
        wrong = random.choice(("root", "behind", "base", "digest")) if is_absurd else ""
        return EdgeStatement(
            random.choice(EXTREMES) if wrong == "root" else place.root,
            place.before if wrong != "behind" else bytes(16),
            random.choice(EXTREMES),
            seq,
            wrong != "base",
            seq - 1 if wrong == "base" else 0,
            added,
            (),
            digest if wrong != "digest" else bytes([1]) * 16,
            len(added),
            random.random() < 0.8,
            random.random() < 0.5,
        )

    def _edge_held(self, random: Random, _: Node, to: Node, is_absurd: bool) -> Body:  # noqa: ARG002
        place, epoch = random.choice(view.edges_to(self.node, to.number)), view.versions(to)[to.number][0]
        return EdgeHeld(place.root, place.behind, random.choice((epoch, *EXTREMES)), random.choice((0, 2**63, TOP)))

    def _edge_request(self, random: Random, _: Node, to: Node, is_absurd: bool) -> Body:
        place = random.choice(view.edges_to(self.node, to.number))
        return EdgeRequest(random.choice(EXTREMES) if is_absurd else place.root, place.behind)

    # Messages.

    def _carry(self, random: Random, to: Node, may_be_believed: bool) -> None:
        """Send a message that was never published: of an epoch that no clock allows, or from a router that is not the
        source's parent."""
        source = random.choice(self._world.nodes)
        latest_ms = max(node.unix_ms() for node in self._world.nodes)
        epoch = random.choice((2**63, TOP, latest_ms + 4 * DAY_MS))
        if may_be_believed and not to.forwarder.takes_from(source.number, self.node.number):
            epoch = view.versions(to).get(source.number, (0, 0))[0]
        serial = LIES_FROM + self._world.recorder.counts["lies"]
        message = SimulatedMessage(serial, random.randrange(len(CONTENTS)), LIES_FROM, serial)
        link, side = self.node.links[to.number]
        link.carry(side, DATA_BYTES, Packet(TransitId(source.number, epoch, random.choice(EXTREMES)), 255, message))


LIES: Final[tuple[Callable[[ByzantinePeer, Random, Node, Node, bool], Body], ...]] = (
    *(
        ByzantinePeer._state,
        ByzantinePeer._whole,
        ByzantinePeer._change,
        ByzantinePeer._reply,
        ByzantinePeer._state,
        ByzantinePeer._whole,
    ),
    *(ByzantinePeer._request, ByzantinePeer._held, ByzantinePeer._refusal, ByzantinePeer._nobody),
)
LIES_OF_EDGES: Final = (
    ByzantinePeer._edge_said,
    ByzantinePeer._edge_said,
    ByzantinePeer._edge_held,
    ByzantinePeer._edge_request,
)
HARMLESS: Final = SenderRequest | Held | EpochRefused | EdgeHeld | EdgeRequest
"""The kinds of bodies of which routers must not accept any forgery, so that a forgery taints nothing."""
