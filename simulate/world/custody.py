"""Publishers that wait until their messages are stored, or held.

Law: a publisher that has no answer tries again: at the same router, and then at another one, to which it has moved.
"""

from __future__ import annotations

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


@dataclass(slots=True, eq=False)
class _Waiting:
    """A publisher that waits for an answer about a message."""

    message: Message
    content: int
    level: Level
    router: int
    """Index of the router that it uses."""
    tries: int = 0
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
        world.recorder.on_custody_answered = self._answered
        world.recorder.custody.statements = self._on_disk

    def publish(self, router: int, message: SimulatedMessage) -> None:
        """Publish a message at a router, and wait until it is stored, or held, by the publisher."""
        level = (Level.STORED, Level.HELD)[message.publisher % 2]
        self._try(_Waiting((message.publisher, message.counter), message.content, level, router))

    def _try(self, waiting: _Waiting) -> None:
        node = self._world.nodes[waiting.router]
        if waiting.is_answered:
            return
        if node.alive and not node.is_leaving and node.custody is not None:
            is_stored = waiting.level is Level.STORED
            self._world.recorder.custody.asked(node.number, waiting.message, waiting.content, is_stored)
            node.custody.publish(waiting.message, waiting.content, LevelWaiter(waiting, waiting.level))
        if waiting.tries < len(PATIENCE_US):
            self._world.clock.after(PATIENCE_US[waiting.tries], self._try_again, waiting)

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
        waiter.is_answered |= result is not CustodyRefusal.NOT_IN_STEP

    def _on_disk(self, router: int) -> Mapping[int, list[bytes]]:
        others = self._world.by_number[router].disk.others
        return {home: list(stored.durables.values()) for home, stored in others.items()}
