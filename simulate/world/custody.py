"""Publishers that wait until their messages are stored, or held.

Law: a publisher that has no answer, or is refused for want of room, tries again: at the same router, and then at
another one, to which it has moved. One that was refused comes back to where that was a few times, and again after a
start of that router.
"""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, Protocol

from tamis.router.core.custody.commands import CustodyRefusal, Level
from tamis.router.core.custody.entry import LevelWaiter
from tamis.router.core.custody.frames import Message
from tamis.simulate.nodes.clock import Clock
from tamis.simulate.nodes.message import SimulatedMessage
from tamis.simulate.nodes.node import Node
from tamis.simulate.world.recorder import RunRecorder

PATIENCE_US: Final = (150_000, 1_500_000)
"""How long a publisher waits for an answer before its second try, and before its third."""

BACK_US: Final = 3_000_000
"""How long a publisher that was refused waits until it comes back."""
BACK_MAX: Final = 3
REFUSED_MAX: Final = 20
FOR_NOW: Final = (CustodyRefusal.NOT_IN_STEP, CustodyRefusal.NO_ROOM)
"""Refusals after which a publisher tries again."""


@dataclass(slots=True, eq=False)
class _Waiting:
    """A publisher that waits for an answer about a message."""

    message: Message
    content: int
    level: Level
    router: int
    """Index of the router that it uses."""
    tries: int = 0
    backs: int = 0
    is_answered: bool = False


class CustodyWorld(Protocol):
    """The part of the world that these publishers use."""

    clock: Clock
    recorder: RunRecorder
    nodes: list[Node]
    by_number: dict[int, Node]


class StoringPublishers:
    def __init__(self, world: CustodyWorld) -> None:
        self._world = world
        self._refused: defaultdict[int, deque[_Waiting]] = defaultdict(lambda: deque(maxlen=REFUSED_MAX))
        """Publishers that found no room at a router, the last ones."""
        world.recorder.on_custody_answered = self._answered
        world.recorder.custody.statements = self._on_disk

    def publish(self, router: int, message: SimulatedMessage) -> None:
        """Publish a message at a router, and wait until it is stored, or held, by the publisher."""
        level = (Level.STORED, Level.HELD)[message.publisher % 2]
        self._try(_Waiting((message.publisher, message.counter), message.content, level, router))

    def started(self, router: int) -> None:
        """Let publishers that found no room at a router come back to it, now that it has started."""
        for waiting in self._refused.pop(router, ()):
            waiting.backs = 0
            self._world.clock.after(BACK_US, self._come_back, (waiting, router))

    def _try(self, waiting: _Waiting) -> None:
        if not waiting.is_answered:
            self._ask(waiting, self._world.nodes[waiting.router])
            if waiting.tries < len(PATIENCE_US):
                self._world.clock.after(PATIENCE_US[waiting.tries], self._try_again, waiting)

    def _ask(self, waiting: _Waiting, node: Node) -> None:
        if node.alive and not node.is_leaving and node.custody is not None:
            is_stored = waiting.level is Level.STORED
            self._world.recorder.custody.asked(node.number, waiting.message, waiting.content, is_stored)
            node.custody.publish(waiting.message, waiting.content, LevelWaiter(waiting, waiting.level))

    def _come_back(self, where: tuple[_Waiting, int]) -> None:
        waiting, router = where
        if not waiting.is_answered:
            self._ask(waiting, self._world.by_number[router])

    def _try_again(self, waiting: _Waiting) -> None:
        waiting.tries += 1
        if waiting.tries == len(PATIENCE_US):
            waiting.router = (waiting.router + waiting.message[1]) % len(self._world.nodes)
        self._try(waiting)

    def _answered(self, router: int, waiter: object, result: Level | CustodyRefusal) -> None:
        assert isinstance(waiter, _Waiting)  # noqa: S101 - none else waits
        truth, is_stored = self._world.recorder.custody, waiter.level is Level.STORED
        if isinstance(result, Level):
            truth.confirmed(router, waiter.message, is_stored)
        else:
            truth.refused(router, waiter.message, is_stored)
        if result is CustodyRefusal.NO_ROOM:
            self._refused[router].append(waiter)
        if result in FOR_NOW and waiter.backs < BACK_MAX:
            waiter.backs += 1
            self._world.clock.after(BACK_US, self._come_back, (waiter, router))
        waiter.is_answered |= result not in FOR_NOW

    def _on_disk(self, router: int) -> Mapping[int, list[bytes]]:
        others = self._world.by_number[router].disk.others
        return {home: list(stored.durables.values()) for home, stored in others.items()}
