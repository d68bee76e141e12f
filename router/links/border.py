"""What may cross the link to one neighbour: the routers that it may speak for, and messages by predicates.

Law: a statement has an issuer, and one of an issuer that is not behind the neighbour has no effect, as if it had not
come. A router that reads the same file does not send it, so one that comes is an alarm. Messages of such a router get
no route over the link (`routes.py`). The switch holds the predicates.
"""

from __future__ import annotations

from dataclasses import replace

from tamis.configs.settings import LinkSettings
from tamis.native.guards import NO_GUARD, Border, GuardRules
from tamis.native.results import OutOfMemory
from tamis.native.switch import Switch
from tamis.protocol.errors import Refused
from tamis.protocol.language import parse
from tamis.protocol.wire.custody_bodies import CustodyBody
from tamis.protocol.wire.home_bodies import DurablesHeld, DurablesStatement
from tamis.protocol.wire.numbers import stable_number
from tamis.protocol.wire.routing_bodies import (
    Body,
    Held,
    LinkState,
    ReceiverAdvertisement,
    SenderRequest,
    UpdateReply,
)
from tamis.serving.cannot_start import CannotStart


class LinkBorder:
    """The border of the link to one neighbour. `refused`: statements, and parts of them, without effect."""

    def __init__(self, settings: LinkSettings) -> None:
        self._settings = settings
        self.behind, self._mine = _numbers(settings.behind), _numbers(settings.speaks_for)
        self.refused = 0
        self._in_switch: Border | None = None

    def put_into(self, switch: Switch) -> None:
        """Make the guards of the link in the switch; CannotStart if they have more tests than a guard may have."""
        settings = self._settings
        came = leaves = NO_GUARD
        if settings.is_partner:
            try:
                came, leaves = (switch.new_guard(_rules(each)) for each in (settings.came, settings.leaves))
            except (OutOfMemory, Refused) as error:
                raise CannotStart(f"the link to {settings.neighbour}: `passes` cannot be held: {error}") from None
        if settings.is_partner or self.behind is not None:
            self._in_switch = Border(came, leaves, self.behind)

    def begin(self, switch: Switch, connection: int) -> None:
        """Hold to the border on the link over this connection, from the next message on."""
        if self._in_switch is not None:
            switch.border(connection, self._in_switch)

    def brings(self, router: int) -> bool:
        """Return whether the neighbour may speak for a router, by its number."""
        return self.behind is None or router in self.behind

    def hears(self, body: CustodyBody) -> bool:
        """Return whether the neighbour may bring a frame of custody; one that it may not is counted."""
        may = self.brings(body.sender)
        self.refused += not may
        return may

    def tells(self, body: CustodyBody) -> bool:
        """Return whether a frame of custody may be passed on to the neighbour."""
        return self._mine is None or body.sender in self._mine

    def heard(self, body: Body) -> Body | None:
        """Return what the neighbour may state of `body`; None if nothing. The rest is counted."""
        left, refused = _bounded(body, self.behind)
        self.refused += refused
        return left

    def told(self, body: Body) -> Body | None:
        """Return what this router may state of `body` to the neighbour; None if nothing."""
        return _bounded(body, self._mine)[0]


def _bounded(body: Body, behind: frozenset[int] | None) -> tuple[Body | None, int]:
    """Return what is left of a body that may speak for these routers (None: all), and how many statements are not."""
    if behind is None:
        return body, 0
    match body:
        case LinkState():
            return _of(stable_number(body.issuer), body, behind)
        case ReceiverAdvertisement() | DurablesStatement():
            return _of(body.issuer, body, behind)
        case SenderRequest():
            return _of(body.requester, body, behind)
        case UpdateReply():
            entries = tuple(entry for entry in body.entries if entry.issuer in behind)
            refused = len(body.entries) - len(entries)
            return (replace(body, entries=entries) if refused else body), refused
        case Held():
            holders = tuple(holder for holder in body.holders if holder in behind)
            refused = len(body.holders) - len(holders)
            return (replace(body, holders=holders) if refused and holders else body if holders else None), refused
        case DurablesHeld():
            logs = tuple(holder for holder in body.holders if holder.router in behind)
            refused = len(body.holders) - len(logs)
            return (replace(body, holders=logs) if refused and logs else body if logs else None), refused
    return body, 0


def _of(issuer: int, body: Body, behind: frozenset[int]) -> tuple[Body | None, int]:
    return (body, 0) if issuer in behind else (None, 1)


def _numbers(routers: tuple[str, ...] | None) -> frozenset[int] | None:
    return None if routers is None else frozenset(map(stable_number, routers))


def _rules(predicate: str | None) -> GuardRules:
    return GuardRules() if predicate is None else GuardRules(parse(predicate).filters)
