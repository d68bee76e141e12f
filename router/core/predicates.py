"""R2, R3: the part that hears what others ask for.

Law: what is fresher than everything of its issuer is passed on first, and applied if that can be; what cannot is asked
for. What is older than what is held is corrected, and so is an issuer of whom two things are said.
"""

from __future__ import annotations

from collections.abc import Callable

from tamis.protocol.wire.routing_bodies import AdvertisedFilter, Entry, Held, ReceiverAdvertisement, UpdateReply
from tamis.router.core.commands import Install
from tamis.router.core.desk import Desk
from tamis.router.core.events import Body
from tamis.router.core.flood import Flood
from tamis.router.core.freshness import Verdict, Version
from tamis.router.core.held import Confirmations
from tamis.router.core.rib import Change, Gap


class Predicates:
    """`heard_of` is told of every issuer of which something was kept."""

    def __init__(self, desk: Desk, flood: Flood, heard_of: Callable[[int], None]) -> None:
        self._desk = desk
        self.flood = flood
        self.confirmations = Confirmations()
        self._heard_of = heard_of

    # --- what comes

    def hear(self, body: ReceiverAdvertisement, came_from: int) -> None:
        desk, version = self._desk, Version(body.epoch, body.seq)
        if not desk.believes(body.issuer, body.epoch, came_from):
            return
        if body.issuer == desk.me:
            self._hear_of_me(version, body.digest)
            return
        if not desk.has_room_for(body.issuer):
            return
        if self.flood.is_fresh(body.issuer, version):
            desk.flood(body, came_from)
            if body.confirm:
                self.confirmations.asked(body.issuer, version)
        verdict = desk.rib.judge(body.issuer, version, body.digest)
        if verdict is Verdict.NEWER:
            self._take(body, version)
        elif verdict is Verdict.OLDER:
            self._correct(body.issuer, body.epoch, came_from)
        elif verdict is Verdict.CONFLICT:
            self._tell_issuer(body.issuer, body)

    def hear_entry(self, entry: Entry, came_from: int) -> None:
        """What a reply says of one issuer; passed on if it is news."""
        desk, version = self._desk, Version(entry.epoch, entry.seq)
        if not desk.believes(entry.issuer, entry.epoch, came_from):
            return
        if entry.issuer == desk.me:
            self._hear_of_me(version, entry.digest)
            return
        if not desk.has_room_for(entry.issuer):
            return
        is_fresh = self.flood.is_fresh(entry.issuer, version)
        if is_fresh:
            desk.flood(_as_advertisement(entry), came_from)
        verdict = desk.rib.judge(entry.issuer, version, entry.digest)
        if verdict is Verdict.NEWER:
            if not is_fresh:  # a gap is closed; whoever asked meanwhile has it still
                desk.timers.set_earlier(("digests", 0), desk.now_us + desk.times.base_wait_us)
            self._heard_of(entry.issuer)
            self._replace(entry.issuer, version, entry.digest, entry.filters)
        elif verdict is Verdict.OLDER:
            self._correct(entry.issuer, entry.epoch, came_from)
        elif verdict is Verdict.CONFLICT:
            self._tell_issuer(entry.issuer, _as_reply(entry, entry.issuer))

    def _hear_of_me(self, version: Version, digest: bytes) -> None:
        desk = self._desk
        mine = desk.rib.entries[desk.me]
        if version > mine.version or (version == mine.version and digest != mine.digest):
            desk.hear_of_me(version)

    # --- what is kept

    def _take(self, body: ReceiverAdvertisement, version: Version) -> None:
        self._heard_of(body.issuer)
        if body.full:
            self._replace(body.issuer, version, body.digest, body.added)
            return
        try:
            change = self._desk.rib.apply(body)
        except Gap:
            self._desk.rib.put_off(body)
            self._desk.timers.set_earlier(("gap", body.issuer), self._desk.now_us + self._desk.times.base_wait_us)
        else:
            self._accepted(body.issuer, change)

    def _replace(self, issuer: int, version: Version, digest: bytes, filters: tuple[AdvertisedFilter, ...]) -> None:
        self._accepted(issuer, self._desk.rib.replace(issuer, version, digest, dict(filters)))

    def _accepted(self, issuer: int, change: Change) -> None:
        desk = self._desk
        self._install(issuer, change)
        while (pending := desk.rib.next_pending(issuer)) is not None:
            try:
                self._install(issuer, desk.rib.apply(pending))
            except Gap:
                break
        version = desk.rib.entries[issuer].version
        if not self.is_behind(issuer):
            desk.timers.cancel(("gap", issuer))
        if self.confirmations.holds(issuer, version, desk.me):
            desk.timers.set_earlier(("held", 0), desk.now_us + desk.times.held_merge_us)

    def _install(self, issuer: int, change: Change) -> None:
        if change.added or change.removed:
            self._desk.out.append(Install(issuer, change.added, change.removed))

    def is_behind(self, issuer: int) -> bool:
        """Has something newer been heard of than is held?"""
        newest, held = self.flood.newest(issuer), self._desk.rib.version(issuer)
        return newest is not None and (held is None or held < newest)

    # --- what is put right

    def _correct(self, issuer: int, epoch: int, neighbour: int) -> None:
        """A neighbour holds something older."""
        desk = self._desk
        if desk.is_corrected(issuer, epoch, neighbour):
            held = desk.rib.entries[issuer].as_entry(issuer)
            desk.send(desk.links.by_neighbour[neighbour], _as_reply(held, neighbour))

    def _tell_issuer(self, issuer: int, heard: Body) -> None:
        held = self._desk.rib.entries[issuer].as_entry(issuer)
        self._desk.tell_issuer(issuer, _as_reply(held, issuer), heard)

    def pass_held(self, body: Held) -> None:
        """Of another issuer: towards it, with whatever else there is to say."""
        desk = self._desk
        self.confirmations.add(body.issuer, Version(body.epoch, body.seq), body.holders)
        desk.timers.set_earlier(("held", 0), desk.now_us + desk.times.held_merge_us)

    def say_held(self) -> None:
        for body in self.confirmations.take():
            self._desk.send_towards(body.issuer, body)

    def forget(self, issuer: int) -> None:
        self.flood.forget(issuer)
        self.confirmations.forget(issuer)
        self._desk.timers.cancel(("gap", issuer))


def _as_advertisement(entry: Entry) -> ReceiverAdvertisement:
    return ReceiverAdvertisement(
        entry.issuer, entry.epoch, entry.seq, True, 0, entry.filters, (), entry.digest, len(entry.filters), False
    )


def _as_reply(entry: Entry, to: int) -> UpdateReply:
    """That nobody asked for."""
    return UpdateReply(to, 0, 0, (entry,))
