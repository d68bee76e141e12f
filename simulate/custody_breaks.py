"""Leave out one rule of custody (docs/design/rules.md, C1 to C15), to show the failures that it prevents.

Law: as in `breaks.py`. A letter marks another way to leave out the same rule.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import replace
from typing import Any, Final

from tamis.protocol.wire.custody_bodies import ChainGap, CustodyAck, CustodyAsk, CustodyBody
from tamis.router.core.commands import StoreDurables
from tamis.router.core.custody.chain import Chain
from tamis.router.core.custody.commands import Command, Confirm, CustodyRefusal, Level, Refuse
from tamis.router.core.custody.entry import EntryCustody, LevelWaiter
from tamis.router.core.custody.frames import Directed, Message
from tamis.router.core.custody.home import HomeCustody
from tamis.router.core.custody.records import Doubt, Entered, Passed, Record
from tamis.simulate.breaks import BREAKS, Boastful, Break
from tamis.simulate.nodes.custody import PASSING_ON, NodeCustody
from tamis.simulate.nodes.disk import Disk
from tamis.simulate.nodes.run_parts import RunParts

# Entries and homes.


class DropsSilently(EntryCustody):
    """C7 left out: the chains have nothing in place of what was given up."""

    def _give_up(self, chain: Chain, numbers: tuple[int, ...]) -> None:
        chain.give_up(numbers)
        chain._links = type(chain._links)(link for link in chain._links if link.message is not None)
        chain.bytes = sum(link.size for link in chain._links)


class HoldsGaps(EntryCustody):
    """C8 left out: a number that was given up is like any other."""

    def _answer(self, n: int) -> list[Command]:
        self._open[n].is_given_up = False
        return super()._answer(n)


class NeverReturns(EntryCustody):
    """C3 left out: a home that asks for less than it had is not believed."""

    def asked(self, frame: CustodyAsk, now_us: int) -> list[Command]:
        chain = self.chains.get(frame.home)
        return super().asked(replace(frame, have=max(frame.have, chain.have)) if chain else frame, now_us)


class CountsAll(HomeCustody):
    """C7 left out: a home counts all numbers that its entry gave up."""

    def _store(
        self,
        of: Any,  # noqa: ANN401 - as the home has it
        chain: Any,  # noqa: ANN401 - as the home has it
        frame: Directed | ChainGap,
        is_wanted: Callable[[Directed], bool],
    ) -> list[Command]:
        if isinstance(frame, ChainGap):
            chain.have = 0
        return super()._store(of, chain, frame, is_wanted)


class NeverOld(EntryCustody):
    """C15 left out: a message waits for ever."""

    def _old_us(self, _: Chain) -> int | None:
        return None


class GivesUpAll(EntryCustody):
    """C15 left out: with a message that has waited for too long, later ones are given up."""

    def _past(self, chain: Chain, now_us: int) -> tuple[int, ...]:
        return chain.entered_until(now_us) if super()._past(chain, now_us) else ()


class GivesUpForRoom(EntryCustody):
    """C15 left out: an entry that refuses gives up for room, too."""

    def _past(self, chain: Chain, now_us: int) -> tuple[int, ...]:
        return super()._past(chain, now_us) or (chain.oldest() if chain.is_full else ())


class TakesWithoutRoom(EntryCustody):
    """C15 left out: an entry that refuses takes what has no room."""

    def _homes_with_room(
        self, size: int, wanting: Collection[int], had: Collection[int], level: Level
    ) -> tuple[tuple[int, ...], bool]:
        return super()._homes_with_room(-size, wanting, had, level)[0] or tuple(sorted(wanting)), False


class RefusesWithRoom(EntryCustody):
    """C15 left out: an entry refuses what has room."""

    def _homes_with_room(
        self, size: int, wanting: Collection[int], had: Collection[int], level: Level
    ) -> tuple[tuple[int, ...], bool]:
        return super()._homes_with_room(4 * size, wanting, had, level)


class ConfirmsRefused(EntryCustody):
    """C15 left out: a message without room is confirmed as stored."""

    def enter(
        self, message: Message, size: int, wanting: Collection[int], waiter: LevelWaiter, now_us: int
    ) -> list[Command]:
        commands = super().enter(message, size, wanting, waiter, now_us)
        is_refused = Refuse(waiter.who, CustodyRefusal.NO_ROOM) in commands and waiter.level is Level.STORED
        return [*commands[:-1], Confirm(waiter.who, Level.STORED)] if is_refused else commands


class ForgetsRefused(EntryCustody):
    """C15 left out: a start takes a message that a home had no room for as one that each home has."""

    def _recover(self, record: Record) -> None:
        super()._recover(replace(record, is_partial=False) if isinstance(record, Entered) else record)


def drop_from_chains(entry: EntryCustody, n: int) -> None:
    """C6 left out: let go of a message that no home has acknowledged."""
    for chain in entry.chains.values():
        chain._links = type(chain._links)(link for link in chain._links if link.n != n)
        chain._go_back()


# Routers.


class ConfirmsEarly(NodeCustody):
    """C1 left out: `stored` is confirmed before the record is on disk."""

    def write(self, record: Record) -> None:
        super().write(record)
        if isinstance(record, Entered):
            self._carry_out(self.entry.committed(record))


class ConfirmsAgain(NodeCustody):
    """C1 left out: a second try is confirmed while the first is not on disk."""

    def publish(self, message: Message, content: int, waiter: LevelWaiter) -> None:
        is_known = message in self.entry._numbers
        super().publish(message, content, waiter)
        if is_known and waiter.level is Level.STORED:
            self._observer.custody_answered(self.me, waiter.who, waiter.level)


class CountsOn(NodeCustody):
    """C2 left out: a life goes on `ahead` of the last number on disk."""

    ahead = 0

    def recall(self) -> None:
        super().recall()
        self.entry._last = self.ahead + max(
            (each.n for each in self.disk.records if isinstance(each, Entered)), default=0
        )


class Jumps(CountsOn):
    ahead = 3


class NoClock(Disk):
    """C2 left out: a life is one above that of the folder, which may be a backup."""

    def next_life(self, before: int) -> int:
        return before + 1


class TakesAll(NodeCustody):
    """C3 left out: a home takes what comes past a gap."""

    def hear(self, frame: Directed | CustodyBody) -> None:
        super().hear(replace(frame, previous=0) if isinstance(frame, Directed | ChainGap) else frame)


class NotReturning(NodeCustody):
    entry_kind = NeverReturns


class AcknowledgesEarly(NodeCustody):
    """C4 left out: a home acknowledges what is not on disk."""

    def write(self, record: Record) -> None:
        super().write(record)
        if isinstance(record, PASSING_ON):
            self.committed(record)


class Volatile(NodeCustody):
    """C5 left out: what a home passes over is acknowledged, and in no record."""

    def write(self, record: Record) -> None:
        if isinstance(record, Passed):
            self.committed(record)
        else:
            super().write(record)


class TrimsEarly(NodeCustody):
    """C6 left out: an entry lets go of a message when it is confirmed."""

    def committed(self, record: Record) -> None:
        super().committed(record)
        if isinstance(record, Entered):
            drop_from_chains(self.entry, record.n)


class DroppingSilently(NodeCustody):
    entry_kind = DropsSilently


class CountingAll(NodeCustody):
    home_kind = CountsAll


class HoldingGaps(NodeCustody):
    entry_kind = HoldsGaps


class LogBlind(NodeCustody):
    """C9 left out: neither end looks at the log of the home."""

    def know(self, command: StoreDurables) -> None:
        super().know(replace(command, log=1) if command.issuer not in self.home.lives else command)

    def hear(self, frame: Directed | CustodyBody) -> None:
        chain = self.entry.chains.get(frame.home)
        if isinstance(frame, CustodyAck | CustodyAsk) and chain is not None:
            frame = replace(frame, home_log=chain.home_log)
        elif isinstance(frame, Directed | ChainGap):
            frame = replace(frame, home_log=self.home.log)
        super().hear(frame)


class Undoubting(NodeCustody):
    """C10 left out: a home does not look at the log of the entry."""

    def write(self, record: Record) -> None:
        if not isinstance(record, Doubt):
            super().write(record)


class SureOfItself(NodeCustody):
    """C10 left out: a home that was put back to a backup says nothing of what it lacks."""

    def write(self, record: Record) -> None:
        if not (isinstance(record, Doubt) and self.disk.was_put_back):
            super().write(record)


class Doubling(NodeCustody):
    """C11 left out: a home does not know ids that came by another entry."""

    def hear(self, frame: Directed | CustodyBody) -> None:
        self.home._ids.clear()
        super().hear(frame)


class Amnesic(NodeCustody):
    """C13 left out: entries forget statements when they end."""

    def recall(self) -> None:
        pass


class OutOfStep(NodeCustody):
    """C14 left out: an entry takes messages before it is in step."""

    def recall(self) -> None:
        super().recall()
        self.entry.is_in_step = True


class YoungAtStart(NodeCustody):
    """C15 left out: a start does not know since when messages wait."""

    def recall(self) -> None:
        super().recall()
        for chain in self.entry.chains.values():
            chain._links = type(chain._links)(link._replace(at_us=self._clock.now_us) for link in chain._links)


def _bounds(kind: type[EntryCustody], *invariants: int) -> Break:
    return _custody(type(kind.__name__, (NodeCustody,), {"entry_kind": kind}), *invariants)


def _custody(kind: type[NodeCustody], *invariants: int, topology: str = "random:8", operations: int = 300) -> Break:
    return Break(lambda kit: replace(kit, custody=kind), frozenset(invariants), topology, operations, "custody")


def _other_disk(kit: RunParts) -> RunParts:
    return replace(kit, disk=NoClock)


def _boastful(kit: RunParts) -> RunParts:
    return replace(kit, parts=replace(kit.parts, durables=Boastful))


CUSTODY_BREAKS: Final[dict[str, Break]] = {
    "C1": _custody(ConfirmsEarly, 20),
    "C1b": _custody(ConfirmsAgain, 20),
    "C2": _custody(CountsOn, 19),
    "C2b": _custody(Jumps, 19),
    "C2c": Break(_other_disk, frozenset({19}), "random:5", 300, "custody"),
    "C3": _custody(TakesAll, 19, 20),
    "C3b": _custody(NotReturning, 19),
    "C4": _custody(AcknowledgesEarly, 20),
    "C5": _custody(Volatile, 20),
    "C6": _custody(TrimsEarly, 19),
    "C7": _custody(DroppingSilently, 19),
    "C7b": _custody(CountingAll, 19),
    "C8": _custody(HoldingGaps, 20),
    "C9": _custody(LogBlind, 19),
    "C10": _custody(Undoubting, 19),
    "C10b": _custody(SureOfItself, 19),
    "C11": _custody(Doubling, 19),
    "C12": Break(_boastful, frozenset({17}), "random:8", 300, "custody"),
    "C13": _custody(Amnesic, 19, 20),
    "C14": _custody(OutOfStep, 19, 20),
    "C15": _bounds(NeverOld, 21),
    "C15b": _bounds(GivesUpAll, 21),
    "C15c": _custody(YoungAtStart, 21),
    "C15d": _bounds(TakesWithoutRoom, 21),
    "C15e": _bounds(GivesUpForRoom, 21),
    "C15f": _bounds(RefusesWithRoom, 21),
    "C15g": _bounds(ConfirmsRefused, 20),
    "C15h": _bounds(ForgetsRefused, 19),
}
ALL_BREAKS: Final = {**BREAKS, **CUSTODY_BREAKS}
