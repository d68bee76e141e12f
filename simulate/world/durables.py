"""Clients that create and remove durable subscriptions."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from tamis.protocol.wire.home_bodies import StatedDurable, packed_durable
from tamis.router.core.commands import DurablesKnown, DurablesStoredAt
from tamis.router.core.custody.frames import Message
from tamis.simulate.faults.workload import Wish
from tamis.simulate.nodes.clock import Clock
from tamis.simulate.nodes.disk import Disk
from tamis.simulate.nodes.node import Node
from tamis.simulate.nodes.run_parts import RunParts
from tamis.simulate.world.recorder import RunRecorder


@dataclass(frozen=True, slots=True)
class Created:
    """A durable subscription and its router."""

    router: int
    name: str
    packed: bytes


class DurablesWorld(Protocol):
    """The part of the world that durable subscriptions use."""

    clock: Clock
    kit: RunParts
    recorder: RunRecorder
    by_number: dict[int, Node]
    wishes: tuple[Wish, ...]
    contents: list[int]
    decided: list[int]


class SimulatedDurables:
    def __init__(self, world: DurablesWorld) -> None:
        self._world = world
        self._waiting: dict[int, Created] = {}
        self._backups: dict[int, Disk] = {}
        self._tickets = self._logs = 1

    def create(self, node: Node, name: str, number_of_wish: int) -> None:
        """Create a durable subscription at a router, as a client of it does, with the filter of a wish."""
        if not node.alive or node.is_leaving:
            return
        self._tickets += 1
        number, ticket = node.disk.next_number(), self._tickets
        wish, contents = self._world.wishes[number_of_wish], self._world.contents[number_of_wish]
        packed = packed_durable(StatedDurable(name, f"owner {ticket}", (wish.packed,), 0, 0, 0))

        def written() -> None:
            node.disk.own[number] = packed
            if wish.program is not None:
                node.disk.programs[packed] = wish.program
            self._world.recorder.durables.made(node.number, name, packed)
            self._world.recorder.custody.made(node.number, packed, contents, self._world.decided[number_of_wish])

        def then() -> None:
            self._waiting[ticket] = Created(node.number, name, packed)
            node.create_durable(number, packed, ticket)

        node.disk.write(written, then)

    def remove(self, node: Node, index: int) -> None:
        """Remove one of the durable subscriptions of a router."""
        if not node.alive or not node.disk.own:
            return
        number = sorted(node.disk.own)[index % len(node.disk.own)]

        def written() -> None:
            packed = node.disk.own.pop(number, None)
            if packed is not None:
                self._world.recorder.durables.removed(node.number, packed)
                self._world.recorder.custody.removed(node.number, packed)

        node.disk.write(written, lambda: node.remove_durable(number))

    def lose_disk(self, node: Node) -> None:
        """Give a router that is down an empty disk."""
        self._logs += 1
        node.disk = node.new_disk(self._logs)
        self._backups.pop(node.number, None)
        self._world.recorder.durables.disk_lost(node.number)
        self._world.recorder.custody.disk_lost(node.number)
        self._world.recorder.bounds.disk_lost(node.number)

    def back_up(self, node: Node) -> None:
        self._backups[node.number] = node.disk.backup()
        self._world.recorder.custody.backed_up(node.number)
        self._world.recorder.bounds.backed_up(node.number)

    def put_back(self, node: Node) -> None:
        """Put the disk of a router that is down back to its backup."""
        backup = self._backups.pop(node.number)
        node.disk = backup
        self._world.recorder.durables.put_back(node.number, backup.log, backup.own.values())
        self._world.recorder.custody.put_back(node.number)
        self._world.recorder.bounds.put_back(node.number)

    def has_backup(self, node: Node) -> bool:
        return node.number in self._backups

    def filled(self, home: int, message: Message, content: int, durables: list[bytes]) -> None:
        """Read a message from the durable subscriptions that a home stores it for."""
        programs = self._world.by_number[home].disk.programs
        decided = self._world.kit.programs.at_client
        taken = [packed for packed in durables if decided(home, programs.get(packed), 1 << content)]
        self._world.recorder.custody.filled(home, message, content, taken)

    def answered(self, router: int, answer: DurablesKnown) -> None:
        created = self._waiting.pop(answer.ticket)
        truth = self._world.recorder.durables
        truth.missed(len(answer.missing))
        for holder in answer.holding:
            self._world.recorder.custody.named(router, created.packed, holder.router)
            disk = self._world.by_number[holder.router].disk
            on_disk = disk.others[router].durables.values() if router in disk.others else ()
            if not disk.was_put_back:
                truth.confirmed(router, created.packed, holder.router, on_disk)

    def stored_at(self, router: int, command: DurablesStoredAt) -> None:
        for holder in command.holders:
            disk = self._world.by_number[holder.router].disk
            if disk.was_put_back:
                continue
            is_there = router in disk.others or disk.log != holder.log
            told = holder.log, holder.life, holder.before
            self._world.recorder.durables.said_to_store(router, holder.router, told, disk.written, is_there=is_there)
